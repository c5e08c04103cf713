-- Metric samples. `metric_id` is a hash of the metric's name that keeps the samples of a metric together;
-- `series_id` is a hash of the sorted labels, the same on every node.
CREATE TABLE IF NOT EXISTS {database}.{samples}
(
    `metric_id` UInt32 CODEC(ZSTD(1)),
    `series_id` UInt64 CODEC(ZSTD(1)),
    `timestamp` DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    `value` Float64 CODEC(Gorilla, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toDate(`timestamp`)
ORDER BY (`metric_id`, `series_id`, `timestamp`)
SETTINGS {tableSettings};

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
