"""Works with DuckDB's postgres extension, as its users do; prints a line for each check."""

import datetime
import os
from pathlib import Path

import duckdb
import duckdb_extension_postgres_scanner
from checks import checks_of, end, same

check = checks_of("DuckDB")


[extension] = Path(duckdb_extension_postgres_scanner.__file__).parent.glob("extensions/*/*.duckdb_extension")
db = duckdb.connect()
db.load_extension(str(extension))
words = "host=127.0.0.1 port={PGPORT} user={PGUSER} dbname=millrace".format(**os.environ)
db.execute(f"ATTACH '{words}' AS mr (TYPE postgres, READ_ONLY)")


@check("schemas, tables and columns")
def _():
    tables = db.execute("SELECT schema, name FROM (SHOW ALL TABLES) WHERE database = 'mr'").fetchall()
    assert ("public", "app") in tables and ("public", "requests") in tables, tables
    columns = {row[0]: row[1] for row in db.execute("DESCRIBE mr.public.app").fetchall()}
    same(("VARCHAR", "DOUBLE", "BOOLEAN"), (columns["level"], columns["ms"], columns["ok"]))
    same("TIMESTAMP WITH TIME ZONE", columns["p_timestamp"])


@check("a table, with filters that are pushed down")
def _():
    same([(60,)], db.execute("SELECT count(*) FROM mr.app").fetchall())
    same([("error", 2.99)], db.execute("SELECT level, ms FROM mr.app WHERE id = 2").fetchall())
    same([(11,)], db.execute("SELECT count(*) FROM mr.app WHERE ms > 10 AND level = 'warn'").fetchall())
    same([(9,)], db.execute("SELECT count(*) FROM mr.app WHERE ms IS NULL").fetchall())
    same([(30,)], db.execute("SELECT count(*) FROM mr.app WHERE level IN ('info', 'warn')").fetchall())
    same([(60,)], db.execute("SELECT count(*) FROM mr.app WHERE p_timestamp > now() - INTERVAL 1 HOUR").fetchall())
    same([("info",)], db.execute("SELECT level FROM mr.app WHERE message LIKE 'GET%' ORDER BY id LIMIT 1").fetchall())


@check("a join of a dataset with a table of DuckDB")
def _():
    db.execute("CREATE TABLE names AS SELECT * FROM (VALUES ('warn', 'W'), ('error', 'E')) t(level, letter)")
    rows = db.execute(
        "SELECT letter, count(*), round(avg(ms), 3) FROM mr.app JOIN names USING (level) GROUP BY letter ORDER BY letter"
    ).fetchall()
    same(["E", "W"], [row[0] for row in rows])
    same([15, 15], [row[1] for row in rows])


@check("postgres_query: types")
def _():
    row = db.execute(
        """SELECT * FROM postgres_query('mr', $$select true as b, 7::int2 as i2, 70000::int4 as i4, 9007199254740993::int8 as i8,
        0.1::float8 as f, 'ü'::text as t, date '2024-02-29' as d, timestamp '2024-02-29 12:34:56.123456' as ts,
        timestamptz '2024-02-29 12:34:56+02' as tz, array[1, null] as a, null::text as nil, 1.50::numeric(10,2) as n,
        '{"a": 1}'::jsonb as j$$)"""
    ).fetchone()
    same((True, 7, 70000, 9007199254740993, 0.1, "ü", "2024-02-29"), (*row[:6], str(row[6])))
    same("2024-02-29 12:34:56.123456", str(row[7]))
    same("2024-02-29T10:34:56+00:00", row[8].astimezone(datetime.timezone.utc).isoformat())
    same(([1, None], None, "1.50", '{"a": 1}'), (row[9], row[10], str(row[11]), row[12]))


@check("many rows")
def _():
    same(
        [(100000, 5000050000)],
        db.execute(
            "SELECT count(*), sum(n) FROM postgres_query('mr', 'select n, n::text as t from generate_series(1, 100000) as g(n)')"
        ).fetchall(),
    )


@check("a copy of a dataset as Parquet")
def _():
    path = Path(os.environ["SCRATCH"]) / "app.parquet"
    db.execute(f"COPY (SELECT * FROM mr.app) TO '{path}' (FORMAT parquet)")
    same([(60, 60)], db.execute(f"SELECT count(*), count(p_timestamp) FROM '{path}'").fetchall())


@check("logs: attributes, the schema of a dataset, postgres_scan")
def _():
    same([("/a",)], db.execute("SELECT attributes->>'path' FROM mr.requests").fetchall())
    same([(60,)], db.execute(f"SELECT count(*) FROM postgres_scan('{words}', 'public', 'app')").fetchall())


@check("a transaction, and writes")
def _():
    db.execute("BEGIN")
    same([(60,)], db.execute("SELECT count(*) FROM mr.app").fetchall())
    db.execute("COMMIT")
    db.execute(f"ATTACH '{words}' AS writable (TYPE postgres)")
    try:
        db.execute("INSERT INTO writable.app (level) VALUES ('x')")
        raise AssertionError("no error")
    except duckdb.Error as error:
        assert "read-only" in str(error), error


end()
