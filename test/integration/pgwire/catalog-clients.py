"""Connects with the Python clients, reads what they read of the catalog, and prints a line for each check."""

import asyncio
import os
import sys

import asyncpg
import pandas
import psycopg
import sqlalchemy as sa
from psycopg.types import TypeInfo

host, port = "127.0.0.1", int(os.environ["PGPORT"])
user, password, database = "admin", os.environ["PGPASSWORD"], "millrace"
failed = 0


def check(name):
    def run(work):
        global failed
        try:
            work()
            print("ok", name)
        except Exception as error:
            failed += 1
            print("failed", name, type(error).__name__, str(error)[:500])

    return run


def url(driver):
    return sa.URL.create(
        "postgresql+" + driver, username=user, password=password, host=host, port=port, database=database
    )


def inspect(connection):
    inspector = sa.inspect(connection)
    assert "app" in inspector.get_table_names()
    assert "public" in inspector.get_schema_names()
    assert inspector.has_table("app") and not inspector.has_table("nope")
    names = [column["name"] for column in inspector.get_columns("app")]
    assert "level" in names and "p_timestamp" in names
    for method in "view_names materialized_view_names sequence_names enums domains".split():
        assert getattr(inspector, "get_" + method)() is not None
    for method in (
        "pk_constraint foreign_keys indexes unique_constraints check_constraints table_comment table_options"
    ).split():
        getattr(inspector, "get_" + method)("app")
    assert ("public", "app") in inspector.get_multi_columns(schema="public")


for driver in ("psycopg2", "psycopg"):
    engine = sa.create_engine(url(driver))

    @check(f"SQLAlchemy {driver}: inspection")
    def _():
        with engine.connect() as connection:
            inspect(connection)

    @check(f"SQLAlchemy {driver}: reflection")
    def _():
        metadata = sa.MetaData()
        metadata.reflect(engine)
        with engine.connect() as connection:
            assert len(connection.execute(sa.select(metadata.tables["app"]).limit(1)).all()) == 1

    @check(f"SQLAlchemy {driver}: a schema")
    def _():
        table = sa.Table("app", sa.MetaData(), schema="public", autoload_with=engine)
        with engine.connect() as connection:
            assert len(connection.execute(sa.select(table.c.level)).all()) > 0

    @check(f"pandas {driver}")
    def _():
        assert len(pandas.read_sql("select * from app", engine)) == len(pandas.read_sql_table("app", engine))

    engine.dispose()


def connect():
    return psycopg.connect(host=host, port=port, user=user, password=password, dbname=database)


@check("psycopg 3: binary")
def _():
    with connect() as connection:
        query = "select oid, relname, relkind from pg_class where relname = %s"
        rows = connection.cursor(binary=True).execute(query, ("app",)).fetchall()
        assert rows[0][1:] == ("app", "r"), rows


@check("psycopg 3: server cursor and pipeline")
def _():
    with connect() as connection:
        with connection.cursor(name="c") as cursor:
            assert len(cursor.execute("select relname from pg_class").fetchmany(7)) == 7
        with connection.pipeline():
            one, who = connection.execute("select 1"), connection.execute("select current_user")
            assert one.fetchone() == (1,) and who.fetchone() == ("admin",)


@check("psycopg 3: types")
def _():
    with connect() as connection:
        assert TypeInfo.fetch(connection, "hstore") is None
        assert TypeInfo.fetch(connection, "jsonb").array_oid == 3807


async def use_asyncpg():
    connection = await asyncpg.connect(host=host, port=port, user=user, password=password, database=database)
    assert len(await connection.fetch("select * from app limit 3")) == 3
    assert await connection.fetchval("select relname from pg_class where oid = $1", 1259) == "pg_class"
    await connection.reload_schema_state()
    await connection._introspect_types({3802, 1009}, 10)
    await connection.set_type_codec("json", encoder=str, decoder=str, schema="pg_catalog")
    await connection.reset()
    await connection.close()


async def use_async_engine():
    from sqlalchemy.ext.asyncio import create_async_engine

    engine = create_async_engine(url("asyncpg"))
    async with engine.connect() as connection:
        await connection.run_sync(inspect)
    await engine.dispose()


@check("asyncpg: types")
def _():
    asyncio.run(use_asyncpg())


@check("SQLAlchemy asyncpg: inspection")
def _():
    asyncio.run(use_async_engine())


sys.exit(1 if failed else 0)
