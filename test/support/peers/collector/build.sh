#!/usr/bin/env bash
# Builds the Collector of the tests, where the tests look for it (`test/support/peers/collector.ts`): in a folder named by what it
# is made of. Takes the modules from Go's proxy, and some minutes of a core the first time.
set -euo pipefail
cd "$(dirname "$0")"
key=$(cat main.go go.mod go.sum | sha256sum | cut -c1-16)
folder=${TMPDIR:-/tmp}/millrace-collector-$key
[ ! -x "$folder/collector" ] || exit 0
mkdir -p "$folder"
CGO_ENABLED=0 go build -mod=readonly -trimpath -o "$folder/collector.$$" .
mv "$folder/collector.$$" "$folder/collector"
