#!/usr/bin/env bash
# Holds the WebAssembly modules against the program: every list of the test data
# and of the examples through each host, byte for byte.
#
#   wasm/tests/test.sh PROGRAM
#
# PROGRAM is the native one. The modules are those of tools/wasm.sh. Needs Go,
# Node.js and Python; fetches Go modules, and by pip and npm what it runs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=../../tools/lib.sh
. "$root/tools/lib.sh"

[[ $# == 1 ]] || die "must be called with the native program"
program=$(realpath "$1")
kpt_module=$root/target/wasm/expose-valkey-kpt.wasm
wasi_module=$root/target/wasm/expose-valkey.wasm
playground=$root/docs/playground
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*" >&2; failures=$((failures + 1)); }
step() { echo "=== $*"; }

for tool in go node python3 gcc; do need "$tool"; done
[[ -e $kpt_module && -e $wasi_module && -e $playground/pkg/expose_valkey_bg.wasm ]] || die "tools/wasm.sh must be run first"

step shape
# assert_shape MODULE EXPECTED: imports and exports that the host needs, all of them and no other
shape() { "$root/tools/wasm-module.py" shape "$1" | grep -v -x -e 'export global .*' | LC_ALL=C sort; }
diff - <(shape "$kpt_module") <<'EOF' || fail "the kpt module has another shape"
export function getsp
export function resume
export function run
export memory mem
import function go runtime.resetMemoryDataView
import function go runtime.wasmWrite
import function go syscall/js.stringVal
import function go syscall/js.valueCall
import function go syscall/js.valueGet
import function go syscall/js.valueIndex
import function go syscall/js.valueLoadString
import function go syscall/js.valuePrepareString
import function go syscall/js.valueSet
EOF
wasi_shape=$(shape "$wasi_module")
for export in 'function _start' 'memory memory'; do grep -q -x "export $export" <<<"$wasi_shape" || fail "the WASI module has no $export"; done
if grep '^import' <<<"$wasi_shape" | grep -v '^import function wasi_snapshot_preview1 '; then fail "the WASI module has other imports"; fi
for module in "$kpt_module" "$wasi_module" "$playground/pkg/expose_valkey_bg.wasm"; do
    size=$(stat -c %s "$module")
    echo "$size ${module##*/}"
    ((size < 1000000)) || fail "${module##*/} is too large: $size bytes"
done

step tools
gohost_key=$(cat "$here/gohost/main.go" "$here/gohost/go.mod" "$here/gohost/go.sum" | cksum)
gohost=$cache/gohost-${gohost_key%% *}
[[ -x $gohost ]] || (cd "$here/gohost" && GOFLAGS='' CGO_ENABLED=1 go build -trimpath -o "$gohost" . 2>"$work/log") || die "gohost could not be built: $(<"$work/log")"
venv=$cache/wasmtime-50.0.1
[[ -x $venv/bin/python && -e $venv/ready ]] || { python3 -m venv "$venv" && "$venv/bin/pip" install -q wasmtime==50.0.1 && touch "$venv/ready"; } || die "PyPI's wasmtime could not be installed"
wasm_exec=$(go env GOROOT)/lib/wasm/wasm_exec.js
[[ -e $wasm_exec ]] || die "Go's wasm_exec.js is not in $(go env GOROOT)/lib/wasm"

step lists
mkdir "$work/lists"
header=$'apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n'
for input in "$root"/testdata/cases/*/input.yaml; do
    cp "$input" "$work/lists/case-$(basename "$(dirname "$input")").yaml"
done
for input in "$root"/testdata/parity/*/*/input.yaml; do
    folder=$(dirname "$input")
    name=parity-$(basename "$(dirname "$folder")")-$(basename "$folder")
    { printf '%sitems:\n' "$header" && sed -e '/^---$/d' -e 's/^/  /' -e '0,/^  [^# ]/s/^  \([^# ]\)/- \1/' "$input"; } >"$work/lists/$name.yaml"
done
for example in "$root"/examples/*/base; do
    "$program" render -f "$example" --in-list >"$work/lists/example-$(basename "$(dirname "$example")").yaml"
done
: >"$work/lists/edge-empty.yaml"
printf '%sitems: []\n' "$header" >"$work/lists/edge-no-items.yaml"
printf 'kind: Pod\n' >"$work/lists/edge-no-list.yaml"
printf '%sitems:\n- {kind: A, text: [\n' "$header" >"$work/lists/edge-no-yaml.yaml"
printf '%sitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: "\xf0\x9d\x84\x9e"}} # \xc3\xbc\xe2\x82\xac\n' "$header" >"$work/lists/edge-bytes.yaml"
# As deep as goes, and deeper.
deep() { printf '%sitems:\n- {apiVersion: valkey.io/v1alpha1, kind: ValkeyCluster, metadata: {name: d}, spec: {shards: 1, externalAccess: {enabled: true}, deep: %s%s}}\n' "$header" "$(printf '[%.0s' $(seq "$1"))" "$(printf ']%.0s' $(seq "$1"))"; }
deep 120 >"$work/lists/edge-deep.yaml"
deep 5000 >"$work/lists/edge-deeper.yaml"
# 10 MB, with findings in it and a cluster of many nodes.
{
    printf '%sitems:\n' "$header"
    for shards in 300 2; do
        printf -- '- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {name: large-%s}\n  spec: {shards: %s, replicas: 2, externalAccess: {enabled: true}}\n' "$shards" "$shards"
    done
    text=$(printf 'x%.0s' $(seq 900))
    for index in $(seq 10500); do printf -- '- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: m%s}\n  data: {text: "%s"}\n' "$index" "$text"; done
} >"$work/lists/large.yaml"
(($(stat -c %s "$work/lists/large.yaml") > 10000000)) || fail "the large list is not large"
lists=("$work"/lists/*.yaml)
echo "${#lists[@]} lists"
((${#lists[@]} > 140)) || fail "lists are missing"

step native
mkdir "$work/native"
for list in "${lists[@]}"; do
    name=$work/native/$(basename "$list" .yaml)
    code=0
    "$program" <"$list" >"$name.out" 2>"$name.err" || code=$?
    echo "$code" >"$name.code"
done
for code in 0 1; do grep -q -x "$code" "$work"/native/*.code || fail "no list ends with $code"; done

# compare HOST: lists, findings and exit codes are the program's.
compare() {
    local list name file
    for list in "${lists[@]}"; do
        name=$(basename "$list" .yaml)
        # The only text that is the program's own: it reads standard input.
        if [[ $name == edge-empty ]]; then [[ $(cat "$work/$1/$name.code") == 1 ]] || fail "$1: $name"; continue; fi
        for file in out err code; do
            cmp "$work/native/$name.$file" "$work/$1/$name.$file" >&2 || fail "$1: $name.$file"
        done
    done
}
# compare_kpt HOST: the list is the program's; one with errors is none, and its message tells all of them.
compare_kpt() {
    local list name expected
    for list in "${lists[@]}"; do
        name=$(basename "$list" .yaml)
        if [[ $(<"$work/native/$name.code") == 0 ]]; then
            cmp "$work/native/$name.out" "$work/$1/$name.out" >&2 || fail "$1: $name"
        elif [[ -e $work/$1/$name.out ]]; then
            fail "$1: $name is a list, though it failed"
        elif [[ $name == edge-empty ]]; then
            grep -q '\[error\] ' "$work/$1/$name.err" || fail "$1: $name says nothing"
        else
            expected=$(<"$work/native/$name.err")
            if [[ $2 == node ]]; then
                expected="|-"$'\n'$(sed -e 's/^/  /' -e 's/kind: ResourceList/kind ResourceList/g' <<<"$expected")
            fi
            [[ $(<"$work/$1/$name.err") == "$expected" ]] || fail "$1: $name says $(<"$work/$1/$name.err")"
        fi
    done
}

# host NAME AT-ONCE COMMAND...: runs a host over all lists, so many in one process, within minutes.
host() {
    local name=$1 many=$2 start=$SECONDS
    shift 2
    step "$name"
    mkdir "$work/$name"
    # Not too many: a host may set aside gigabytes of addresses for each memory.
    printf '%s\0' "${lists[@]}" | timeout 300 xargs -0 -n "$many" "$@" "$work/$name" || fail "$name ended with $?"
    echo "$((SECONDS - start)) s"
}
host kpt-wasmtime 40 "$gohost" "$kpt_module"
compare_kpt kpt-wasmtime wasmtime
host kpt-node 40 node "$here/go-run.mjs" "$wasm_exec" "$kpt_module"
compare_kpt kpt-node node
host wasi-node 1 node --no-warnings "$here/wasi.mjs" "$wasi_module"
compare wasi-node
host wasi-wasmtime 40 "$venv/bin/python" "$here/wasi.py" "$wasi_module"
compare wasi-wasmtime
host web 40 node "$here/web.mjs" "$playground/pkg"
compare web

step limits
# Just above what the exchange buffer holds, and output that is: both are told, not lost.
mkdir "$work/limits" "$work/limits-out"
{ printf '%sitems: []\n# ' "$header" && head -c 67108864 /dev/zero | tr '\0' x && echo; } >"$work/limits/input.yaml"
{
    printf '%sitems:\n- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {name: c}\n  spec: {shards: 100, externalAccess: {enabled: true}}\n# ' "$header"
    head -c 67100000 /dev/zero | tr '\0' x && echo
} >"$work/limits/output.yaml"
for runtime in wasmtime node; do
    run=("$gohost" "$kpt_module")
    [[ $runtime == wasmtime ]] || run=(node "$here/go-run.mjs" "$wasm_exec" "$kpt_module")
    rm -f "$work"/limits-out/*
    "${run[@]}" "$work/limits-out" "$work"/limits/*.yaml || fail "$runtime at its limits ended with $?"
    grep -q 'the list that is given has 671[0-9]* bytes, and the WASM module can pass on at most 67108864' "$work/limits-out/input.err" || fail "$runtime does not tell of a large input"
    grep -q 'the list that comes out has 67[0-9]* bytes' "$work/limits-out/output.err" || fail "$runtime does not tell of a large output"
done

# A panic is told, in the words that it had.
panics=$root/target/wasm/panics.wasm
[[ -e $panics ]] || die "tools/wasm.sh panics must be run first"
printf '%sitems: [] # panic, please\n' "$header" >"$work/limits/panic.yaml"
"$gohost" "$panics" "$work/limits-out" "$work/limits/panic.yaml" || fail "a panic in wasmtime ended with $?"
node "$here/go-run.mjs" "$wasm_exec" "$panics" "$work/limits" "$work/limits/panic.yaml" || fail "a panic in node ended with $?"
for folder in limits-out limits; do
    grep -q 'panicked at .*as asked.*please report it' <(tr '\n' ' ' <"$work/$folder/panic.err") || fail "a panic is not told: $(<"$work/$folder/panic.err")"
done

((failures == 0)) || die "$failures failures"
echo "all hosts agree with the program"
