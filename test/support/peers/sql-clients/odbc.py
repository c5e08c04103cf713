"""Works with PostgreSQL's ODBC driver, as Excel, Tableau and Power BI can; prints a line for each check."""

import datetime
import decimal
import os
import threading

import pyodbc
from checks import checks_of, end, same

check = checks_of("ODBC")
endless = "select sum(a.n * b.n) from generate_series(1, 1000000) a(n), generate_series(1, 1000000) b(n)"


def connect(**options):
    words = {
        "Driver": os.environ["ODBC_DRIVER"],
        "Server": "127.0.0.1",
        "Port": os.environ["PGPORT"],
        "Database": "millrace",
        "UID": os.environ["PGUSER"],
        "PWD": "{" + os.environ["PGPASSWORD"] + "}",
        **options,
    }
    return pyodbc.connect(";".join(f"{name}={value}" for name, value in words.items()), autocommit=True)


def state_of(work):
    try:
        work()
        return "none"
    except pyodbc.Error as error:
        return error.args[0]


db = connect()


@check("what the driver says of the server")
def _():
    same("PostgreSQL", db.getinfo(pyodbc.SQL_DBMS_NAME))
    same("millrace", db.getinfo(pyodbc.SQL_DATABASE_NAME))


@check("tables, columns, keys, statistics, types")
def _():
    cursor = db.cursor()
    same([("public", "app", "TABLE")], [row[1:4] and (row[1], row[2], row[3]) for row in cursor.tables(table="app")])
    assert "requests" in [row[2] for row in cursor.tables()]
    assert cursor.tables(table="%", catalog="", schema="", tableType="").fetchall() is not None
    assert cursor.tables(tableType="TABLE").fetchall() != []
    assert cursor.tables(tableType="VIEW").fetchall() is not None
    columns = {row.column_name: row.type_name for row in cursor.columns(table="app")}
    same(("text", "float8", "timestamptz"), (columns["level"], columns["ms"], columns["p_timestamp"]))
    same([], cursor.primaryKeys("app").fetchall())
    same([], cursor.foreignKeys("app").fetchall())
    cursor.statistics("app").fetchall()
    cursor.rowIdColumns("app").fetchall()
    cursor.procedures().fetchall()
    assert "int8" in [row[0] for row in cursor.getTypeInfo()]


for server_prepare in ("1", "0"):

    @check(f"types and parameters, UseServerSidePrepare={server_prepare}")
    def _():
        with connect(UseServerSidePrepare=server_prepare) as connection:
            row = connection.execute(
                "select level, ms, ok from app where ms > ? and level = ? order by id", 70.5, "warn"
            ).fetchone()
            same(("warn", 72.86), (row[0], row[1]))
            values = connection.execute(
                "select 7::int4, 9007199254740993::int8, 0.1::float8, 1.50::numeric(10,2), 'ü'::text, date '2024-02-29', "
                "timestamp '2024-02-29 12:34:56.123456', null::text"
            ).fetchone()
            same(
                [
                    7,
                    9007199254740993,
                    0.1,
                    decimal.Decimal("1.50"),
                    "ü",
                    datetime.date(2024, 2, 29),
                    datetime.datetime(2024, 2, 29, 12, 34, 56, 123456),
                    None,
                ],
                list(values),
            )
            moment = datetime.datetime(2024, 2, 29, 12, 34, 56)
            row = connection.execute("select ?::timestamp, ?::int4, ?::text", moment, 5, "it's ü").fetchone()
            same([moment, 5, "it's ü"], list(row))


@check("UseDeclareFetch: cursors of the server")
def _():
    with connect(UseDeclareFetch="1", Fetch="100") as connection:
        connection.autocommit = False
        rows = connection.execute("select n from generate_series(1, 1234) as g(n)").fetchall()
        same(list(range(1, 1235)), [row[0] for row in rows])
        connection.rollback()


@check("a transaction with an error in it, and writes")
def _():
    with connect() as connection:
        connection.autocommit = False
        same("42P01", state_of(lambda: connection.execute("select * from nope")))
        connection.rollback()
        same(60, connection.execute("select count(*) from app").fetchone()[0])
        connection.commit()
        same("25006", state_of(lambda: connection.execute("insert into app (level) values ('x')")))
        connection.rollback()


@check("cancel")
def _():
    cursor = db.cursor()
    threading.Timer(0.3, cursor.cancel).start()
    same("57014", state_of(lambda: cursor.execute(endless)))
    same(1, db.execute("select 1").fetchone()[0])


end()
