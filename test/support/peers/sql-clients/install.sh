#!/usr/bin/env bash
# Gets and builds the SQL clients of the tests, where the tests look for them (`test/support/peers/sql-clients.ts`): in a folder
# named by what it is made of. Drivers come from Maven, PyPI, crates.io and Go's module proxy; the first time takes about two
# minutes. What cannot be had is left out: its test is skipped. Clients that are packages of Debian are not here.
set -uo pipefail
cd "$(dirname "$0")"
key=$(cat install.sh Jdbc.java go/main.go go/go.mod go/go.sum rust/src/main.rs rust/Cargo.toml rust/Cargo.lock | sha256sum | cut -c1-16)
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
go_drivers() { (cd go && CGO_ENABLED=0 go build -mod=readonly -trimpath -o "$1/clients" .); }
rust_driver() {
  cargo build --locked --quiet --manifest-path rust/Cargo.toml --target-dir "$1/target" &&
    mv "$1/target/debug/sql-clients" "$1/clients" &&
    rm -rf "$1/target"
}
# In a folder of their own: the version of DuckDB must be that of the extension.
modules() {
  local into=${!#}
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$into" "${@:1:$#-1}"
}

get jdbc jdbc
get go go_drivers
get rust rust_driver
get adbc modules adbc-driver-manager==1.13.0 adbc-driver-postgresql==1.13.0
get duckdb modules duckdb==1.5.5 duckdb-extension-postgres-scanner==1.5.5
get odbc modules pyodbc==5.5.0
