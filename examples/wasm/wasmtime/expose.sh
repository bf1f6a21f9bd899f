#!/bin/sh
# The function in wasmtime: the program of that name, or the Python package. In a
# repository of your own, keep expose-valkey.wasm and wasi.py beside this script.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
module=$here/../../../target/wasm/expose-valkey.wasm
if command -v wasmtime >/dev/null; then
    exec wasmtime run --dir . "$module" "$@"
fi
exec "${PYTHON:-python3}" "$here/../wasi.py" "$module" "$@"
