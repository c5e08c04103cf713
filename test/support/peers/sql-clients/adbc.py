"""Works with ADBC's driver, as pandas and polars do; prints a line for each check."""

import datetime
import os
import threading

import adbc_driver_postgresql.dbapi as adbc
import pandas
import polars
from checks import checks_of, end, same

check = checks_of("ADBC")


url = "postgresql://{PGUSER}@127.0.0.1:{PGPORT}/millrace".format(**os.environ)
db = adbc.connect(url, autocommit=True)


@check("types, by COPY in binary")
def _():
    with db.cursor() as cursor:
        cursor.execute(
            "select true as b, 7::int2 as i2, 70000::int4 as i4, 9007199254740993::int8 as i8, 0.1::float8 as f, 'ü'::text as t, "
            "date '2024-02-29' as d, timestamp '2024-02-29 12:34:56.123456' as ts, timestamptz '2024-02-29 12:34:56+02' as tz, "
            "array[1, null] as a, null::text as nil, '{\"a\": 1}'::jsonb as j, 1.50::numeric(10,2) as n"
        )
        row = cursor.fetch_arrow_table().to_pylist()[0]
        same((True, 7, 70000, 9007199254740993, 0.1, "ü"), tuple(row[name] for name in ("b", "i2", "i4", "i8", "f", "t")))
        same(datetime.date(2024, 2, 29), row["d"])
        same(datetime.datetime(2024, 2, 29, 12, 34, 56, 123456), row["ts"])
        same(datetime.datetime(2024, 2, 29, 10, 34, 56, tzinfo=datetime.timezone.utc), row["tz"])
        same(([1, None], None), (row["a"], row["nil"]))
        same("1.50", str(row["n"]))
        assert row["j"].replace(" ", "") == '{"a":1}', row["j"]


@check("parameters")
def _():
    with db.cursor() as cursor:
        cursor.execute("select count(*) as n from app where ms > $1 and level = $2", (10.0, "warn"))
        same([(11,)], cursor.fetchall())


@check("without COPY")
def _():
    with db.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
        cursor.execute("select level, ms from app where id = 2")
        same([("error", 2.99)], cursor.fetchall())


@check("many rows in batches")
def _():
    with db.cursor() as cursor:
        cursor.execute("select n, 'x' || n as t from generate_series(1, 100000) as g(n)")
        same(100000, sum(len(batch) for batch in cursor.fetch_record_batch()))


@check("objects: catalogs, schemas, tables, columns")
def _():
    catalogs = db.adbc_get_objects(depth="all").read_all().to_pylist()
    schemas = {each["db_schema_name"]: each for each in catalogs[0]["catalog_db_schemas"]}
    tables = {each["table_name"]: each for each in schemas["public"]["db_schema_tables"]}
    assert "level" in [each["column_name"] for each in tables["app"]["table_columns"]]
    same(["app"], [
        table["table_name"]
        for each in db.adbc_get_objects(depth="tables", db_schema_filter="public", table_name_filter="app").read_all().to_pylist()[0]["catalog_db_schemas"]
        for table in each["db_schema_tables"]
    ])
    assert "table" in db.adbc_get_table_types(), db.adbc_get_table_types()
    schema = db.adbc_get_table_schema("app", db_schema_filter="public")
    same("double", str(schema.field("ms").type))
    same("PostgreSQL", db.adbc_get_info()["vendor_name"])


@check("pandas and polars")
def _():
    same(60, len(pandas.read_sql("select * from app", db)))
    frame = polars.read_database("select id, level, p_timestamp from app order by id limit 3", db)
    same(["info", "warn", "error"], frame["level"].to_list())
    same(60, polars.read_database_uri("select * from app", url, engine="adbc").height)


@check("a transaction, and errors")
def _():
    with adbc.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("select 1")
        same([(1,)], cursor.fetchall())
        connection.commit()
        try:
            cursor.execute("select nope from app")
            raise AssertionError("no error")
        except adbc.ProgrammingError as error:
            same("42703", error.sqlstate)
        connection.rollback()
        try:
            cursor.execute("create table t (x int)")
            raise AssertionError("no error")
        except adbc.Error as error:
            same("25006", error.sqlstate)


@check("cancel")
def _():
    with db.cursor() as cursor:
        threading.Timer(0.3, cursor.adbc_cancel).start()
        try:
            cursor.execute(
                "select sum(a.n * b.n) from generate_series(1, 1000000) a(n), generate_series(1, 1000000) b(n)"
            )
            cursor.fetchall()
            raise AssertionError("no error")
        except adbc.Error as error:
            assert "cancel" in str(error).lower(), error
    with db.cursor() as cursor:
        cursor.execute("select 1")
        same([(1,)], cursor.fetchall())


end()
