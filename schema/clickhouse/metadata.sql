-- What the service itself must remember: an append-only log. ClickHouse numbers the parts of a table in the order
-- in which they become visible, and keeps these numbers when it merges them: that is the order of the entries.
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

ALTER TABLE `millrace`.`metadata` MODIFY SETTING enable_block_number_column = 1;

-- The entry's own name, and the name of the entry that it takes the place of.
ALTER TABLE `millrace`.`metadata` ADD COLUMN IF NOT EXISTS `id` String, ADD COLUMN IF NOT EXISTS `base` String;

-- True for the oldest entry that is kept of a record: those before it were removed, and it takes effect whatever its
-- base is.
ALTER TABLE `millrace`.`metadata` ADD COLUMN IF NOT EXISTS `oldest` Bool;

-- The processes that share this store, and how far each has read the log above. Rows are wanted as long as a node
-- may trust what it has read, a day at most.
CREATE TABLE IF NOT EXISTS `millrace`.`nodes`
(
    `at` DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'),
    `node` String,
    `identities` UInt64,
    `tenants` UInt64,
    `leaves` Bool
)
ENGINE = MergeTree
ORDER BY (`node`, `at`)
TTL toDateTime(`at`) + INTERVAL 7 DAY
SETTINGS {tableSettings}, enable_block_number_column = 1;

ALTER TABLE `millrace`.`nodes` ADD COLUMN IF NOT EXISTS `datasets` UInt64;

-- The newest segment of the node's log that it has sealed.
ALTER TABLE `millrace`.`nodes` ADD COLUMN IF NOT EXISTS `segment` UInt64;

-- What was received of each dataset, by the day of receipt (UTC): events, records, spans or samples, and the bytes of
-- bodies as they were sent. A row for each segment of a log until it is merged.
CREATE TABLE IF NOT EXISTS `millrace`.`received`
(
    `tenant` String,
    `dataset` String,
    `day` Date,
    `events` UInt64,
    `bytes` UInt64
)
ENGINE = SummingMergeTree
ORDER BY (`tenant`, `dataset`, `day`)
SETTINGS {tableSettings};
