#!/usr/bin/env bash
# Builds the WebAssembly modules:
#
#   tools/wasm.sh             all three
#   tools/wasm.sh kpt web     some of them
#   tools/wasm.sh panics      for the tests: the first, that panics when asked
#
#   target/wasm/expose-valkey-kpt.wasm   for kpt's WebAssembly runtimes
#   target/wasm/expose-valkey.wasm       for WASI hosts: the program
#   docs/playground/pkg/                 for the playground page
#
# Uses the Rust on PATH if it has the targets wasm32-unknown-unknown and
# wasm32-wasip1, or can get them by rustup; else, on Debian, the packages of
# rustc-web, which build the standard library themselves (some minutes, once).
# Installs what it needs by apt-get as root: binaryen, and those.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
cd "$here/.."

# The crate and the tool must have the same version.
bindgen=0.2.130
modules=("$@")
((${#modules[@]})) || modules=(kpt wasi web)
build=$(realpath -m "${CARGO_TARGET_DIR:-target}")/wasm-build
out=$PWD/target/wasm
# No flag more than the oldest host knows: wasmtime 1.0, in kpt.
features=(--enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int --enable-mutable-globals
    --enable-reference-types --enable-multivalue)

install_packages() {
    local missing=() package
    for package; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    if [[ $EUID != 0 ]] || ! command -v apt-get >/dev/null; then
        die "must be installed: ${missing[*]} (or call this as root on Debian)"
    fi
    export DEBIAN_FRONTEND=noninteractive
    local install=(apt-get install -y -q --no-install-recommends "${missing[@]}")
    "${install[@]}" >&2 || { apt-get update -q >&2 && "${install[@]}" >&2; } || die "apt-get could not install ${missing[*]}"
}

has_targets() {
    local libraries
    libraries=$(rustc --print sysroot 2>/dev/null)/lib/rustlib
    [[ -d $libraries/wasm32-unknown-unknown && -d $libraries/wasm32-wasip1 ]]
}

lock wasm
need python3
command -v wasm-opt >/dev/null || install_packages binaryen
cargo=(cargo)
if ! has_targets && { [[ -e /usr/share/doc/rustc-web ]] ||
    ! { command -v rustup >/dev/null && rustup target add wasm32-unknown-unknown wasm32-wasip1 >&2; }; }; then
    install_packages rustc-web cargo-web rust-web-src lld-19 wasi-libc
    # Any other set of flags would build the standard library again.
    export RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-19 CARGO_TARGET_WASM32_WASIP1_LINKER=wasm-ld-19
    libc=/usr/lib/wasm32-wasi
    export CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS="-C target-feature=-crt-static -C link-self-contained=no -L $libc -C link-arg=$libc/crt1-command.o"
    # Small before fast, as with our own code.
    cargo=(/usr/bin/cargo -Z "build-std=std,panic_abort" -Z build-std-features=optimize_for_size)
fi
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
mkdir -p "$out"

# compile TARGET PACKAGE [ARGUMENT...]
compile() {
    "${cargo[@]}" build --quiet --locked --profile wasm --target-dir "$build" --target "$1" -p "${@:2}" >&2
}

# kpt_module OUT [ARGUMENT...]
kpt_module() {
    compile wasm32-unknown-unknown expose-valkey-kpt "${@:2}"
    wasm-opt -Oz --converge "${features[@]}" "$build/wasm32-unknown-unknown/wasm/expose_valkey_kpt.wasm" -o "$out/kpt.new"
    # After the last tool that would undo it.
    "$here/wasm-module.py" multiply "$out/kpt.new" "$out/$1"
    rm "$out/kpt.new"
}

for module in "${modules[@]}"; do
    case $module in
    kpt) kpt_module expose-valkey-kpt.wasm ;;
    panics) kpt_module panics.wasm --features panics ;;
    wasi)
        compile wasm32-wasip1 expose-valkey
        wasm-opt -Oz --converge "${features[@]}" "$build/wasm32-wasip1/wasm/expose-valkey.wasm" -o "$out/expose-valkey.wasm"
        ;;
    web)
        tool=$("$here/cargo-tool.sh" wasm-bindgen-cli "$bindgen" wasm-bindgen)
        compile wasm32-unknown-unknown expose-valkey-web
        # Before the tool adds its table, of a kind that an older wasm-opt takes for another.
        wasm-opt -Oz --converge "${features[@]}" "$build/wasm32-unknown-unknown/wasm/expose_valkey_web.wasm" -o "$out/web.new"
        "$tool" --target web --no-typescript --remove-name-section --remove-producers-section \
            --out-name expose_valkey --out-dir "$out/web" "$out/web.new"
        rm "$out/web.new"
        mkdir -p docs/playground/pkg
        cp "$out/web/expose_valkey.js" "$out/web/expose_valkey_bg.wasm" docs/playground/pkg/
        ;;
    *) die "\`$module\` must be kpt, wasi, web or panics" ;;
    esac
done
