-- JSON events. Columns of fields are added as they appear: `<field>:num`, `<field>:str`, `<field>:bool`. What has no
-- room among them goes into `p_overflow`, a map. Those of the first events are there from the beginning, and so are those of
-- a field that leads the order key.
CREATE TABLE IF NOT EXISTS {database}.{events}
(
    `p_timestamp` DateTime64(6, 'UTC') CODEC(DoubleDelta, ZSTD(1)){columns}
)
ENGINE = MergeTree
PARTITION BY toDate(`p_timestamp`)
ORDER BY ({keyNames}`p_timestamp`)
SETTINGS {tableSettings}, {arrivalSettings}{keySettings};
