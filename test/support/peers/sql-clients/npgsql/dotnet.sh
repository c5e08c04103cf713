#!/usr/bin/env bash
# The part of the command `dotnet` that the tests need, since no registry of theirs has .NET's own: `dotnet
# run` compiles the C# of a folder, with Npgsql, by Mono's compiler, and runs it on .NET Core. `dotnet exec
# FILE` runs what `dotnet compile` has made. install.sh puts it beside all of that.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
framework=$(echo "$here"/core/dotnetcore2/bin/shared/Microsoft.NETCore.App/*)

# compile FOLDER FILE…: makes Program.exe in the folder, with what it needs to run.
compile() {
  local into=$1
  shift
  mcs -nostdlib -noconfig -warnaserror -langversion:7 -out:"$into/Program.exe" -r:"$here/Npgsql.dll" \
    $(printf -- '-r:%s ' "$framework"/{netstandard,System.*}.dll) "$@"
  cp "$here/Npgsql.dll" "$into"
  # Without ICU, which a machine may not have.
  echo '{"runtimeOptions":{"framework":{"name":"Microsoft.NETCore.App","version":"3.1.0"},"configProperties":{"System.Globalization.Invariant":true}}}' \
    >"$into/Program.runtimeconfig.json"
}
run() { LD_LIBRARY_PATH=$here/openssl "$here/core/dotnetcore2/bin/dotnet" exec "$1"; }

case ${1-} in
  compile) compile "${@:2}" ;;
  exec) run "$2" ;;
  run)
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    compile "$scratch" ./*.cs
    run "$scratch/Program.exe"
    ;;
  *) echo "usage: dotnet run | dotnet exec FILE" >&2 && exit 2 ;;
esac
