-- What the service itself must remember: an append-only log, read in order, the later entry of a key wins.
CREATE DATABASE IF NOT EXISTS `millrace`;

CREATE TABLE IF NOT EXISTS `millrace`.`metadata`
(
    `at` DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC'),
    `node` String,
    `tenant` String,
    `kind` LowCardinality(String),
    `key` String,
    `value` String
)
ENGINE = MergeTree
ORDER BY (`at`, `node`)
SETTINGS {tableSettings};
