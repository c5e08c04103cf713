-- OpenTelemetry log records. `timestamp` is the record's own time, else when it was observed, else when it was
-- received; `observed_timestamp` is 1970 for unknown. Ids are lower-case hexadecimal, empty for none. Values that are
-- no strings are JSON text; keys of maps are sorted.
CREATE TABLE IF NOT EXISTS {database}.{logs}
(
    `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    `observed_timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    `trace_id` String CODEC(ZSTD(1)),
    `span_id` String CODEC(ZSTD(1)),
    `trace_flags` UInt32 CODEC(ZSTD(1)),
    `severity_number` Int32 CODEC(ZSTD(1)),
    `severity_text` LowCardinality(String) CODEC(ZSTD(1)),
    `service_name` LowCardinality(String) CODEC(ZSTD(1)),
    `event_name` LowCardinality(String) CODEC(ZSTD(1)),
    `body` String CODEC(ZSTD(1)),
    `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    `dropped_attributes_count` UInt32 CODEC(ZSTD(1)),
    `resource_attributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    `resource_dropped_attributes_count` UInt32 CODEC(ZSTD(1)),
    `resource_schema_url` LowCardinality(String) CODEC(ZSTD(1)),
    `resource_entity_refs` LowCardinality(String) CODEC(ZSTD(1)),
    `scope_name` LowCardinality(String) CODEC(ZSTD(1)),
    `scope_version` LowCardinality(String) CODEC(ZSTD(1)),
    `scope_attributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    `scope_dropped_attributes_count` UInt32 CODEC(ZSTD(1)),
    `scope_schema_url` LowCardinality(String) CODEC(ZSTD(1)),
    INDEX `trace_id_filter` `trace_id` TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX `attributes_filter` mapValues(`attributes`) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX `resource_attributes_filter` mapValues(`resource_attributes`) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX `scope_attributes_filter` mapValues(`scope_attributes`) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toDate(`timestamp`)
ORDER BY (toStartOfFiveMinutes(`timestamp`), `service_name`, `timestamp`)
SETTINGS {tableSettings}, {arrivalSettings};
