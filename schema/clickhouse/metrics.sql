-- Metric samples. `metric_id` is a hash of the metric's name that keeps the samples of a metric together;
-- `series_id` is a hash of the sorted labels, the same on every node. `start_timestamp`, here and below, is since
-- when a counter counts, 1970 for unknown.
CREATE TABLE IF NOT EXISTS {database}.{samples}
(
    `metric_id` UInt32 CODEC(ZSTD(1)),
    `series_id` UInt64 CODEC(ZSTD(1)),
    `timestamp` DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    `value` Float64 CODEC(ZSTD(1)),
    `start_timestamp` DateTime64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toDate(`timestamp`)
ORDER BY (`metric_id`, `series_id`, `timestamp`)
SETTINGS {tableSettings};

ALTER TABLE {database}.{samples}
    ADD COLUMN IF NOT EXISTS `start_timestamp` DateTime64(3, 'UTC') CODEC(ZSTD(1));

-- The labels of each series, once for each day on which it has samples, so that both leave together when the
-- retention ends. Repeats are replaced in merges; readers must expect them until then.
CREATE TABLE IF NOT EXISTS {database}.{series}
(
    `date` Date,
    `series_id` UInt64,
    `metric_id` UInt32,
    `metric_name` LowCardinality(String),
    `labels` Map(LowCardinality(String), String)
)
ENGINE = ReplacingMergeTree
PARTITION BY `date`
ORDER BY (`metric_name`, `series_id`)
SETTINGS {tableSettings};

-- What OTLP says of a series beside its labels: what its metric is; what its resource and its scope have that is no
-- attribute (entity_refs is JSON text); and attributes that have no label, because another one has their name.
ALTER TABLE {database}.{series}
    ADD COLUMN IF NOT EXISTS `type` LowCardinality(String),
    ADD COLUMN IF NOT EXISTS `unit` LowCardinality(String),
    ADD COLUMN IF NOT EXISTS `temporality` LowCardinality(String),
    ADD COLUMN IF NOT EXISTS `is_monotonic` Bool,
    ADD COLUMN IF NOT EXISTS `resource_schema_url` LowCardinality(String),
    ADD COLUMN IF NOT EXISTS `scope_schema_url` LowCardinality(String),
    ADD COLUMN IF NOT EXISTS `resource_dropped_attributes` UInt32,
    ADD COLUMN IF NOT EXISTS `scope_dropped_attributes` UInt32,
    ADD COLUMN IF NOT EXISTS `entity_refs` String,
    ADD COLUMN IF NOT EXISTS `shadowed_attributes` Map(LowCardinality(String), String);

-- Exemplars: single observations of a series, with labels of their own such as a trace id.
CREATE TABLE IF NOT EXISTS {database}.{exemplars}
(
    `metric_id` UInt32 CODEC(ZSTD(1)),
    `series_id` UInt64 CODEC(ZSTD(1)),
    `timestamp` DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    `value` Float64 CODEC(ZSTD(1)),
    `labels` Map(LowCardinality(String), String)
)
ENGINE = MergeTree
PARTITION BY toDate(`timestamp`)
ORDER BY (`metric_id`, `series_id`, `timestamp`)
SETTINGS {tableSettings};

-- Native histograms as they were sent, nothing lost: with integer counts (`count_int`, deltas from one bucket to
-- the next) or, where `is_float`, with counts that may be fractions (`count_float`, counts of each bucket). A span
-- is an offset from the last one and a number of buckets. Schema -53 has its bounds in `custom_values`, others are
-- exponential. Reset hint: 0 unknown, 1 yes, 2 no, 3 gauge.
CREATE TABLE IF NOT EXISTS {database}.{histograms}
(
    `metric_id` UInt32 CODEC(ZSTD(1)),
    `series_id` UInt64 CODEC(ZSTD(1)),
    `timestamp` DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    `start_timestamp` DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    `is_float` Bool,
    `count_int` UInt64 CODEC(ZSTD(1)),
    `count_float` Float64 CODEC(ZSTD(1)),
    `sum` Float64 CODEC(ZSTD(1)),
    `schema` Int8,
    `zero_threshold` Float64 CODEC(ZSTD(1)),
    `zero_count_int` UInt64 CODEC(ZSTD(1)),
    `zero_count_float` Float64 CODEC(ZSTD(1)),
    `reset_hint` UInt8,
    `negative_offsets` Array(Int32) CODEC(ZSTD(1)),
    `negative_lengths` Array(UInt32) CODEC(ZSTD(1)),
    `negative_deltas` Array(Int64) CODEC(ZSTD(1)),
    `negative_counts` Array(Float64) CODEC(ZSTD(1)),
    `positive_offsets` Array(Int32) CODEC(ZSTD(1)),
    `positive_lengths` Array(UInt32) CODEC(ZSTD(1)),
    `positive_deltas` Array(Int64) CODEC(ZSTD(1)),
    `positive_counts` Array(Float64) CODEC(ZSTD(1)),
    `custom_values` Array(Float64) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toDate(`timestamp`)
ORDER BY (`metric_id`, `series_id`, `timestamp`)
SETTINGS {tableSettings};

-- The smallest and the largest observation, which OTLP's exponential histograms have. Their scale is the schema.
ALTER TABLE {database}.{histograms}
    ADD COLUMN IF NOT EXISTS `min` Nullable(Float64) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS `max` Nullable(Float64) CODEC(ZSTD(1));

-- What a metric is. By its name and not by series: 1.0 sends metadata by metric family, in requests without any
-- series; and a description repeated for each series and day would be most of what `series` holds. The newest
-- wins; the date is that of receipt, and what is sent day after day is stored once for each day.
CREATE TABLE IF NOT EXISTS {database}.{metadata}
(
    `date` Date,
    `metric_name` String,
    `type` LowCardinality(String),
    `unit` String,
    `description` String,
    `received_at` DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(`received_at`)
PARTITION BY `date`
ORDER BY `metric_name`
SETTINGS {tableSettings};

-- How a metric of OTLP aggregates, and attributes of its own.
ALTER TABLE {database}.{metadata}
    ADD COLUMN IF NOT EXISTS `temporality` LowCardinality(String),
    ADD COLUMN IF NOT EXISTS `is_monotonic` Bool,
    ADD COLUMN IF NOT EXISTS `metadata` Map(LowCardinality(String), String);
