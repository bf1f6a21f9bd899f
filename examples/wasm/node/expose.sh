#!/bin/sh
# The function in Node.js. In a repository of your own, keep expose-valkey.wasm
# and wasi.mjs beside this script.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
exec node --no-warnings "$here/../wasi.mjs" "$here/../../../target/wasm/expose-valkey.wasm" "$@"
