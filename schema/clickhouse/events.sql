-- JSON events. Columns of fields are added as they appear: `<field>:num`, `<field>:str`, `<field>:bool`.
CREATE TABLE IF NOT EXISTS {database}.{events}
(
    `p_timestamp` DateTime64(6, 'UTC') CODEC(DoubleDelta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toDate(`p_timestamp`)
ORDER BY `p_timestamp`
SETTINGS {tableSettings};
