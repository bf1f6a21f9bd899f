#!/usr/bin/env bash
# The WebAssembly modules in the tools that people use: kpt with both of its
# runtimes, Kustomize with Node.js and wasmtime, a registry, and a browser.
#
#   wasm/tests/tools.sh PROGRAM [SCREENSHOTS]
#
# PROGRAM is the native one; the modules are those of tools/wasm.sh, with
# target/wasm/panics.wasm. Needs Go, gcc, Node.js, npm and Python, and installs
# Chromium by apt-get if it is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=../../tools/lib.sh
. "$root/tools/lib.sh"

[[ $# == 1 || $# == 2 ]] || die "must be called with the native program, and a folder if screenshots shall stay"
program=$(realpath "$1")
module=$root/target/wasm/expose-valkey-kpt.wasm
wasi_module=$root/target/wasm/expose-valkey.wasm
panics=$root/target/wasm/panics.wasm
for file in "$module" "$wasi_module" "$panics" "$root/docs/playground/pkg/expose_valkey_bg.wasm"; do
    [[ -e $file ]] || die "tools/wasm.sh must be run first: there is no ${file##*/}"
done
work=$(mktemp -d)
registry=
trap '[[ -z $registry ]] || kill "$registry"; rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*" >&2; failures=$((failures + 1)); }
step() { echo "=== $*"; }
kpt=$("$root/tools/kpt.sh")
kustomize=$("$root/tools/kustomize.sh")
crane_version=v0.21.6
crane=$cache/crane-$crane_version/crane
[[ -x $crane ]] || GOBIN=${crane%/*} GOFLAGS='' CGO_ENABLED=0 go install -trimpath "github.com/google/go-containerregistry/cmd/crane@$crane_version" >&2 || die "crane could not be built"
# The temporary files of kpt's runtimes stay in here.
export TMPDIR=$work/tmp
mkdir "$TMPDIR"

# package FOLDER EXEC: a package with a cluster, a Gateway, a file of others with comments, and a pipeline of one function.
package() {
    mkdir -p "$1"
    cp "$root"/examples/gateway/base/{cluster,gateway}.yaml "$1/"
    # Octal, comments, quoting: not for us to change.
    printf '# kept\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other # kept as well\ndata: {mode: "0644", "a": '"'b'"'}\n' >"$1/other.yaml"
    printf 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n  annotations:\n    config.kubernetes.io/local-config: "true"\npipeline:\n  mutators:\n  - %s\n' "$2" >"$1/Kptfile"
}
# Without what names the function: the pipeline, and what kpt notes down about it.
same() { diff -r -x Kptfile -x fn-results "$1" "$2" >&2; }

step "kpt fn render and eval"
package "$work/native" "exec: $program"
"$kpt" fn render "$work/native" --allow-exec >"$work/log" 2>&1 || fail "kpt with the native program: $(<"$work/log")"
[[ -e $work/native/cache-external-access.yaml ]] || fail "the native program added no file: $(ls "$work/native")"
for runtime in wasmtime nodejs; do
    export KPT_FN_WASM_RUNTIME=$runtime
    package "$work/$runtime" "exec: $module"
    "$kpt" fn render "$work/$runtime" --allow-alpha-wasm --allow-exec >"$work/log" 2>&1 || fail "$runtime: kpt fn render: $(<"$work/log")"
    same "$work/native" "$work/$runtime" || fail "$runtime: kpt fn render writes other files than the native program"
    package "$work/$runtime-eval" "exec: $module"
    "$kpt" fn eval "$work/$runtime-eval" --allow-alpha-wasm --exec "$module" >"$work/log" 2>&1 || fail "$runtime: kpt fn eval: $(<"$work/log")"
    same "$work/native" "$work/$runtime-eval" || fail "$runtime: kpt fn eval writes other files than the native program"
    # What kpt prints by itself counts as text of the host: none of its runtimes may have complained.
    if grep -E 'ERROR|NOT IMPLEMENTED|bad address' "$work/log"; then fail "$runtime complains"; fi

    # A broken cluster, and a panic: told, and every file is still there.
    for kind in finding panic; do
        broken=$work/$runtime-$kind
        wasm=$module
        words='must be a whole number from 1 to 16384, got 0'
        package "$broken" "exec: $module"
        sed -i 's/shards: 3/shards: 0/; s/domain: .*/domain: "-"/' "$broken/cluster.yaml"
        if [[ $kind == panic ]]; then
            wasm=$panics
            words='as asked'
            package "$broken" "exec: $panics"
            echo '# panic, please' >>"$broken/cluster.yaml"
        fi
        cp -r "$broken" "$work/before"
        for command in render eval; do
            arguments=("$broken" --allow-alpha-wasm --allow-exec)
            [[ $command == render ]] || arguments=("$broken" --allow-alpha-wasm --exec "$wasm")
            if "$kpt" fn "$command" "${arguments[@]}" --truncate-output=false >"$work/log" 2>&1; then fail "$runtime: kpt fn $command ends well though there is a $kind"; fi
            grep -q -F "$words" "$work/log" || fail "$runtime: kpt fn $command does not show the $kind: $(<"$work/log")"
            [[ $kind == panic ]] || grep -q -F 'externalAccess.domain' "$work/log" || fail "$runtime: kpt fn $command does not show the second finding: $(<"$work/log")"
            # kpt notes down in the Kptfile how a run ended; the user's files must be as they were.
            same "$work/before" "$broken" || fail "$runtime: kpt fn $command changed files in spite of a $kind"
            [[ -s $broken/Kptfile ]] || fail "$runtime: kpt fn $command took the Kptfile"
        done
        rm -rf "$work/before"
    done
done

step "one image for containers and for kpt's WebAssembly"
# A port of its own choice, told in its log.
mkdir "$work/registry"
"$crane" registry serve --address 127.0.0.1:0 --disk "$work/registry" >"$work/registry.log" 2>&1 &
registry=$!
for _ in $(seq 50); do
    port=$(sed -n 's/.*serving on port \([0-9]*\).*/\1/p' "$work/registry.log")
    [[ -n $port ]] && break
    sleep 0.1
done
[[ -n $port ]] || die "the registry did not start: $(<"$work/registry.log")"
mkdir -p "$work/image/usr/bin"
cp "$program" "$work/image/usr/bin/expose-valkey"
cp "$root"/image/{passwd,group} "$work/image/"
tar -C "$work/image" -cf "$work/linux.tar" usr passwd group
image=127.0.0.1:$port/expose-valkey
"$crane" append --oci-empty-base -f "$work/linux.tar" -t "$image:linux" >/dev/null 2>&1 || fail "the linux image could not be pushed"
"$crane" mutate --set-platform linux/amd64 --entrypoint /usr/bin/expose-valkey --user 65534:65534 -t "$image:linux" "$image:linux" >/dev/null || fail "the linux image could not be named"
"$root/tools/wasm-image.sh" "$image:linux" "$image:v1" || fail "the images could not be joined"
platforms=$("$crane" manifest "$image:v1" | python3 -c 'import json, sys; print(sorted("{os}/{architecture}".format(**entry["platform"]) for entry in json.load(sys.stdin)["manifests"]))')
[[ $platforms == "['js/wasm', 'linux/amd64']" ]] || fail "the tag holds $platforms"
for runtime in wasmtime nodejs; do
    export KPT_FN_WASM_RUNTIME=$runtime
    package "$work/$runtime-image" "image: $image:v1"
    "$kpt" fn render "$work/$runtime-image" --allow-alpha-wasm >"$work/log" 2>&1 || fail "$runtime: kpt fn render with the image: $(<"$work/log")"
    same "$work/native" "$work/$runtime-image" || fail "$runtime: the image writes other files than the native program"
done
"$crane" export --platform linux/amd64 "$image:v1" - | tar -xOf - usr/bin/expose-valkey | cmp - "$program" || fail "the linux image does not hold the program"

step "Kustomize with Node.js and wasmtime"
venv=$cache/wasmtime-50.0.1
[[ -e $venv/ready ]] || { python3 -m venv "$venv" && "$venv/bin/pip" install -q wasmtime==50.0.1 && touch "$venv/ready"; } || die "PyPI's wasmtime could not be installed"
export PYTHON=$venv/bin/python
for host in node wasmtime; do
    "$kustomize" build --enable-alpha-plugins --enable-exec "$root/examples/wasm/$host" >"$work/printed" 2>"$work/log" || fail "$host: $(<"$work/log")"
    diff "$root/examples/gateway/expected.yaml" "$work/printed" >&2 || fail "$host prints something else"
done
cd "$root"
for command in 'ports -f' 'render -f' 'check -f'; do
    read -ra words <<<"$command"
    expected=$("$program" "${words[@]}" examples/gateway/base 2>&1)
    for host in "node --no-warnings examples/wasm/wasi.mjs" "$PYTHON examples/wasm/wasi.py"; do
        read -ra run <<<"$host"
        [[ $("${run[@]}" "$wasi_module" "${words[@]}" examples/gateway/base 2>&1) == "$expected" ]] || fail "$host: $command prints something else"
    done
done
# Ten megabytes, through the script that users are given.
python3 - >"$work/large.yaml" <<'EOF'
print("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:")
print("- {apiVersion: valkey.io/v1alpha1, kind: ValkeyCluster, metadata: {name: c}, spec: {shards: 300, externalAccess: {enabled: true}}}")
for index in range(10500):
    print(f"- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: m{index}}}, data: {{text: {'x' * 900}}}}}")
EOF
"$program" <"$work/large.yaml" >"$work/expected.yaml" || fail "the native program refuses the large list"
node --no-warnings examples/wasm/wasi.mjs "$wasi_module" <"$work/large.yaml" | cmp "$work/expected.yaml" - || fail "node: the large list"
"$PYTHON" examples/wasm/wasi.py "$wasi_module" <"$work/large.yaml" | cmp "$work/expected.yaml" - || fail "wasmtime: the large list"
for arguments in --nonsense 'ports -f missing.yaml'; do
    read -ra words <<<"$arguments"
    code=0 expected=0
    "$program" "${words[@]}" >/dev/null 2>&1 || expected=$?
    node --no-warnings examples/wasm/wasi.mjs "$wasi_module" "${words[@]}" >/dev/null 2>"$work/log" || code=$?
    [[ $code == "$expected" && $code != 0 && -s $work/log ]] || fail "node: $arguments ends with $code, not $expected"
done

step "the playground in a browser"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $chromium ]]; then
    if [[ $EUID != 0 ]] || ! command -v apt-get >/dev/null; then die "Chromium must be installed"; fi
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium; } >&2 || die "apt-get could not install chromium"
    chromium=$(command -v chromium)
fi
playwright=$cache/playwright-core-1.56.1
[[ -e $playwright/node_modules/playwright-core/index.js ]] ||
    npm install --silent --no-save --prefix "$playwright" playwright-core@1.56.1 >&2 || die "npm could not install playwright-core"
shots=${2:-$work/shots}
mkdir -p "$shots"
timeout 300 node "$here/browser.mjs" "$playwright/node_modules/playwright-core" "$chromium" "$root/docs/playground" "$program" "$shots" || fail "the playground"

((failures == 0)) || die "$failures failures"
echo "all tools do with the modules what they do with the program"
