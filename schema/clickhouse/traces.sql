-- OpenTelemetry spans, one a row. `timestamp` is when the span began; `duration_ns` is the lowest number of its type
-- where the end is unknown. Ids are lower-case hexadecimal, empty for none. Values that are no strings are JSON text;
-- keys of maps are sorted. Events and links are arrays of equal lengths, a column for each of their fields.
CREATE TABLE IF NOT EXISTS {database}.{spans}
(
    `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    `duration_ns` Int64 CODEC(ZSTD(1)),
    `trace_id` String CODEC(ZSTD(1)),
    `span_id` String CODEC(ZSTD(1)),
    `parent_span_id` String CODEC(ZSTD(1)),
    `trace_state` String CODEC(ZSTD(1)),
    `trace_flags` UInt32 CODEC(ZSTD(1)),
    `service_name` LowCardinality(String) CODEC(ZSTD(1)),
    `name` LowCardinality(String) CODEC(ZSTD(1)),
    `kind` Int32 CODEC(ZSTD(1)),
    `status_code` Int32 CODEC(ZSTD(1)),
    `status_message` String CODEC(ZSTD(1)),
    `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    `dropped_attributes_count` UInt32 CODEC(ZSTD(1)),
    `events_timestamp` Array(DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
    `events_name` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `events_attributes` Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    `events_dropped_attributes_count` Array(UInt32) CODEC(ZSTD(1)),
    `dropped_events_count` UInt32 CODEC(ZSTD(1)),
    `links_trace_id` Array(String) CODEC(ZSTD(1)),
    `links_span_id` Array(String) CODEC(ZSTD(1)),
    `links_trace_state` Array(String) CODEC(ZSTD(1)),
    `links_flags` Array(UInt32) CODEC(ZSTD(1)),
    `links_attributes` Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    `links_dropped_attributes_count` Array(UInt32) CODEC(ZSTD(1)),
    `dropped_links_count` UInt32 CODEC(ZSTD(1)),
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
