"""Reads results in every form with pandas, polars and DuckDB, and compares each value with PostgreSQL's text.

Reads from stdin {"url", "authorization", "folder", "results": [{"name", "sql", "type", "cells", "isRounded",
"hasOthers"}]}. "type" is the label of the type of the column x and "cells" are PostgreSQL's texts of it, null for NULL.
"isRounded" says that their last digits do not count, "hasOthers" that there are columns behind x. Prints one line for
each difference; none is success.
"""
import datetime
import decimal
import io
import json
import math
import re
import sys
import urllib.request

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet

request = json.load(sys.stdin)
differences = []


def fetch(sql, form):
    body = json.dumps({"query": sql}).encode()
    headers = {"authorization": request["authorization"], "content-type": "application/json"}
    call = urllib.request.Request(request["url"] + "/api/v1/query?format=" + form, body, headers)
    try:
        with urllib.request.urlopen(call) as reply:
            return reply.read()
    except urllib.error.HTTPError as error:
        raise RuntimeError(error.read().decode()) from None


# What PostgreSQL's text means.


def timestamp(text):
    day, time = text.removesuffix("+00").split(" ")
    return datetime.datetime.fromisoformat(day + "T" + time.ljust(9, ".").ljust(15, "0") if "." in time else day + "T" + time)


def elements(text):
    """The elements of PostgreSQL's text of an array."""
    items = []
    for quoted, plain in re.findall(r'"((?:[^"\\]|\\.)*)"|([^,{}"]+)', text[1:-1]):
        if plain:
            items.append(None if plain == "NULL" else plain)
        else:
            items.append(re.sub(r"\\(.)", r"\1", quoted))
    return items


def meaning(label, text):
    if text is None:
        return None
    if label.endswith("[]"):
        return [meaning(label[:-2], item) for item in elements(text)]
    if label == "boolean":
        return text == "t"
    if label in ("smallint", "integer", "bigint"):
        return int(text)
    if label == "double precision":
        return float(text)
    if label == "numeric":
        return decimal.Decimal(text)
    if label.startswith("timestamp"):
        return timestamp(text)
    if label == "date":
        return datetime.date.fromisoformat(text)
    if label == "map":
        return json.loads(text)
    return text


# What a library gives, as plain Python.


def plain(value, label):
    if isinstance(value, (list, tuple, numpy.ndarray, polars.Series, pyarrow.Array)):
        if label == "map":
            pairs = [(each["key"], each["value"]) if isinstance(each, dict) else tuple(each) for each in value]
            return dict(pairs)
        return [plain(each, label.removesuffix("[]")) for each in value]
    if isinstance(value, dict) and label == "map":
        return plain_map(value)
    if value is None or value is pandas.NA or value is pandas.NaT:
        return None
    if isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, pandas.Timestamp):
        value = value.to_pydatetime()
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).replace(tzinfo=None) if value.tzinfo else value
    return value


def plain_map(value):
    # DuckDB has given maps as {"key": [...], "value": [...]}.
    if set(value) == {"key", "value"} and isinstance(value["key"], list):
        return dict(zip(value["key"], value["value"]))
    return value


def same(got, wanted, is_rounded=False):
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(got) != len(wanted):
            return False
        return all(same(one, other, is_rounded) for one, other in zip(got, wanted))
    if wanted is None or got is None:
        return got is wanted
    if isinstance(wanted, float):
        return isinstance(got, float) and (got == wanted or (math.isnan(got) and math.isnan(wanted)))
    if isinstance(wanted, decimal.Decimal):
        if is_rounded:
            return math.isclose(got, wanted, rel_tol=1e-15)
        return not isinstance(got, float) and decimal.Decimal(got) == wanted
    return type(got) is type(wanted) and got == wanted


def check(result, how, values):
    label = result["type"]
    got = [plain(value, label) for value in values]
    wanted = [meaning(label, cell) for cell in result["cells"]]
    if not same(got, wanted, result["isRounded"]):
        differences.append(f"{result['name']} ({label}), {how}: {got!r}, PostgreSQL has {wanted!r}")


# The forms.


def read_columns(result, form):
    data = fetch(result["sql"], form)
    if form == "arrow":
        table = pyarrow.ipc.open_stream(data).read_all()
        table.validate(full=True)
        kind = table.schema.field("x").type
        frames = {
            "pandas": table.to_pandas(types_mapper=pandas.ArrowDtype),
            "polars": polars.read_ipc_stream(io.BytesIO(data)),
        }
        table.to_pandas()  # the types of NumPy, which lose digits of integers with NULLs
        duck = duckdb.from_arrow(table)
    else:
        path = request["folder"] + "/result.parquet"
        with open(path, "wb") as file:
            file.write(data)
        table = pyarrow.parquet.read_table(path)
        table.validate(full=True)
        kind = table.schema.field("x").type
        frames = {
            "pandas": pandas.read_parquet(path, dtype_backend="pyarrow"),
            "polars": polars.read_parquet(path),
        }
        pandas.read_parquet(path)
        duck = duckdb.from_parquet(path)
    check(result, f"{form} with pyarrow", table.column("x").to_pylist())
    check(result, f"{form} with pandas", list(frames["pandas"]["x"]))
    check(result, f"{form} with polars", frames["polars"]["x"].to_list())
    check(result, f"{form} with DuckDB", [row[0] for row in duck.fetchall()])
    text = str(kind)
    if "decimal256" in text or "union" in text or "dictionary" in text or text == "null" or "binary" in text:
        differences.append(f"{result['name']}, {form}: has the type {text}")


def from_json(label, value):
    """JSON has texts for what it has no type for."""
    if value is None or label == "map":
        return value
    if label.endswith("[]"):
        return [from_json(label[:-2], each) for each in value]
    if label == "double precision":
        return float(value)
    if label == "numeric":
        return decimal.Decimal(value) if isinstance(value, str) else value
    if label.startswith("timestamp"):
        return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    if label == "date":
        return datetime.date.fromisoformat(value)
    return value


def without_nan(label, value):
    if isinstance(value, list):
        return [without_nan(label, each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def read_json(result):
    label = result["type"]
    exact = label.startswith("numeric")
    wanted = [without_nan(label, meaning(label, cell)) for cell in result["cells"]]
    for form in ("json", "ndjson"):
        text = fetch(result["sql"], form).decode()
        rows = json.loads(text, parse_float=str if exact else float) if form == "json" else [
            json.loads(line, parse_float=str if exact else float) for line in text.splitlines()
        ]
        got = [plain(from_json(label, row["x"]), label) for row in rows]
        if not same(got, wanted, result["isRounded"]):
            differences.append(f"{result['name']} ({label}), {form}: {got!r}, PostgreSQL has {wanted!r}")
        # pandas refuses numbers of 20 digits and more.
        if not rows or exact:
            continue
        lines = form == "ndjson"
        count = len(wanted)
        if len(pandas.read_json(io.StringIO(text), lines=lines, dtype=False)) != count:
            differences.append(f"{result['name']}, {form} with pandas")
        frame = (polars.read_ndjson if lines else polars.read_json)(io.BytesIO(text.encode()))
        path = f"{request['folder']}/result.{form}"
        with open(path, "w") as file:
            file.write(text)
        duck = duckdb.sql(f"select x from read_json_auto('{path}')").fetchall()
        if len(frame) != count or len(duck) != count:
            differences.append(f"{result['name']}, {form} with polars or DuckDB")
        if label in ("bigint", "integer", "smallint", "text"):
            check(result, f"{form} with polars", frame["x"].to_list())


def csv_cells(text):
    """RFC 4180 with one column; what is nothing at all is None, which is NULL."""
    return [
        plain_text or None if quoted is None else quoted.replace('""', '"')
        for quoted, plain_text in (match.groups() for match in re.finditer(r'(?:"((?:[^"]|"")*)"|([^"\n]*))\n', text))
    ]


def from_csv(label, text):
    if text is None:
        return None
    if label.startswith("timestamp") and not label.endswith("[]"):
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    if label == "boolean":
        return text == "true"
    return meaning(label, text)


def read_csv(result):
    label = result["type"]
    text = fetch(result["sql"], "csv").decode()
    header, *cells = csv_cells(text)
    if header != "x":
        differences.append(f"{result['name']}, csv: the header is {header}")
    got = [plain(from_csv(label, cell), label) for cell in cells]
    wanted = [meaning(label, cell) for cell in result["cells"]]
    if not same(got, wanted, result["isRounded"]):
        differences.append(f"{result['name']} ({label}), csv: {got!r}, PostgreSQL has {wanted!r}")
    if label.endswith("[]") and cells != result["cells"]:
        differences.append(f"{result['name']} ({label}), csv: {cells!r}, PostgreSQL has {result['cells']!r}")
    # The libraries, with every cell as text. pandas cannot tell NULL from an empty text.
    path = request["folder"] + "/result.csv"
    with open(path, "w", newline="") as file:
        file.write(text)
    frame = pandas.read_csv(path, dtype=str, keep_default_na=False, skip_blank_lines=False)
    if list(frame["x"]) != ["" if cell is None else cell for cell in cells]:
        differences.append(f"{result['name']}, csv with pandas: {list(frame['x'])!r}")
    frame = polars.read_csv(path, infer_schema=False)
    if frame["x"].to_list() != cells:
        differences.append(f"{result['name']}, csv with polars: {frame['x'].to_list()!r} for {cells!r}")
    duck = duckdb.sql(
        f"select x from read_csv('{path}', all_varchar=true, header=true, delim=',', quote='\"', escape='\"', allow_quoted_nulls=false, null_padding=false)"
    ).fetchall()
    if cells and [row[0] for row in duck] != cells:
        differences.append(f"{result['name']}, csv with DuckDB: {duck!r} for {cells!r}")


for each in request["results"]:
    for form in ("arrow", "parquet"):
        try:
            read_columns(each, form)
        except Exception as error:
            differences.append(f"{each['name']}, {form}: {type(error).__name__}: {error}")
    for read in () if each["hasOthers"] else (read_json, read_csv):
        try:
            read(each)
        except Exception as error:
            differences.append(f"{each['name']}, {read.__name__}: {type(error).__name__}: {error}")
print("\n".join(differences))
