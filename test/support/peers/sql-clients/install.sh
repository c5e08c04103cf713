#!/usr/bin/env bash
# Gets and builds the SQL clients of the tests, where the tests look for them (`test/support/peers/sql-
# clients.ts`): in a folder named by what it is made of. Drivers come from Maven, PyPI, crates.io and Go's
# module proxy; the first time takes about three minutes. Npgsql and .NET are in none of these under their
# own names: packages for Python carry them. What cannot be had is left out: its test is skipped. Clients
# that are packages of Debian are not here.
set -uo pipefail
cd "$(dirname "$0")"
key=$(cat install.sh Jdbc.java go/main.go go/go.mod go/go.sum rust/src/main.rs rust/Cargo.toml rust/Cargo.lock npgsql/Program.cs npgsql/dotnet.sh | sha256sum | cut -c1-16)
folder=${TMPDIR:-/tmp}/millrace-sql-clients-$key
mkdir -p "$folder"

# get NAME COMMAND…: runs the command with a folder that gets the name when all of it is there.
get() {
  local name=$1 scratch=$folder/.$1.$$
  shift
  [ ! -e "$folder/$name" ] || return 0
  mkdir -p "$scratch"
  if "$@" "$scratch" >"$scratch.log" 2>&1; then mv "$scratch" "$folder/$name" && rm -f "$scratch.log"; else
    echo "could not get the SQL client $name: its test will be skipped"
    tail -3 "$scratch.log"
    rm -rf "$scratch"
  fi
}

jdbc() {
  mvn --batch-mode --quiet dependency:copy -Dartifact=org.postgresql:postgresql:42.7.4 -DoutputDirectory="$1" -Dmdep.stripVersion &&
    javac -cp "$1/postgresql.jar" -d "$1" Jdbc.java
}
# The documentation's programs in Go and Rust are compiled with these modules and crates.
go_drivers() {
  (cd go && CGO_ENABLED=0 go build -mod=readonly -o "$1/clients" .) && cp go/go.mod go/go.sum "$1"
}
rust_driver() {
  cargo build --locked --quiet --manifest-path rust/Cargo.toml --target-dir "$1/target" &&
    mv "$1/target/debug/sql-clients" "$1/clients" &&
    rm -rf "$1/target" &&
    mkdir -p "$1/page/src" && cp rust/Cargo.lock "$1/page" && echo 'fn main() {}' >"$1/page/src/main.rs" &&
    sed -n '/^```toml file=Cargo.toml$/,/^```$/{/^```/d;p}' ../../../../docs/query/sql-clients.md >"$1/page/Cargo.toml" &&
    (cd "$1/page" && CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false cargo build --quiet)
}
# In a folder of their own: the version of DuckDB must be that of the extension.
modules() {
  local into=${!#}
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$into" "${@:1:$#-1}"
}
# With the folder in which DuckDB looks for extensions that are installed.
duckdb() {
  modules duckdb==1.5.5 duckdb-extension-postgres-scanner==1.5.5 "$1" &&
    PYTHONPATH=$1 python3 -c 'import duckdb, pathlib, shutil, sys
platform = duckdb.sql("PRAGMA platform").fetchone()[0]
for file in pathlib.Path(sys.argv[1]).glob("*/extensions/*/*.duckdb_extension"):
    shutil.copytree(file.parent, pathlib.Path(sys.argv[1], "extensions", file.parent.name, platform))' "$1"
}
# wheel FOLDER PACKAGE PATTERN: takes files out of a package for Python 3.11 on Linux on x64.
wheel() {
  local scratch
  scratch=$(mktemp -d)
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --platform manylinux2014_x86_64 \
    --python-version 3.11 --implementation cp --abi cp311 --abi abi3 --abi none --dest "$scratch" "$2" &&
    python3 -c 'import sys, zipfile, fnmatch
archive = zipfile.ZipFile(sys.argv[1])
names = [name for name in archive.namelist() if fnmatch.fnmatch(name, sys.argv[3])]
archive.extractall(sys.argv[2], names)
sys.exit(0 if names else 1)' "$scratch"/*.whl "$1" "$3"
  local outcome=$?
  rm -rf "$scratch"
  return $outcome
}
# Npgsql 4.0, .NET Core 3.1, and the OpenSSL 1.1 that it wants.
npgsql() {
  wheel "$1/core" dotnetcore2==3.1.23 'dotnetcore2/bin/*' && chmod +x "$1/core/dotnetcore2/bin/dotnet" &&
    wheel "$1/engine" azureml-dataprep==4.12.1 '*/Npgsql.dll' && find "$1/engine" -name Npgsql.dll -exec mv {} "$1" \; && rm -r "$1/engine" &&
    wheel "$1/openssl" psycopg2-binary==2.9.6 'psycopg2_binary.libs/*' && mv "$1"/openssl/*/* "$1/openssl" &&
    mv "$1"/openssl/libssl-*.so.1.1 "$1/openssl/libssl.so.1.1" &&
    ln -s "$(cd "$1/openssl" && echo libcrypto-*.so.1.1)" "$1/openssl/libcrypto.so.1.1" &&
    mkdir "$1/bin" "$1/checks" && cp npgsql/dotnet.sh "$1/bin/dotnet" &&
    "$1/bin/dotnet" compile "$1/checks" npgsql/Program.cs
}

get jdbc jdbc
get go go_drivers
get rust rust_driver
get adbc modules adbc-driver-manager==1.13.0 adbc-driver-postgresql==1.13.0
get duckdb duckdb
get odbc modules pyodbc==5.5.0
get npgsql npgsql
