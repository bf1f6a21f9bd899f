#!/usr/bin/env bash
# Sourced by the scripts of this folder; prints nothing by itself.
#
#   cache            the folder that keeps what the scripts build, outside the clone
#   die MESSAGE      says what went wrong and ends the script
#   need PROGRAM     ends the script unless PROGRAM is on PATH
#   program          prints the path of the function: $FUNCTION, or what `make build` built
#   choose_forms ARG…  sets `forms` to exec, container or both, and `write` after --write
#   lock NAME        waits until no other script holds NAME, where flock exists:
#                    two calls at once then build a thing once. Without flock both
#                    build it, and the last one to finish moves its own into place.

# shellcheck disable=SC2034 # read by the scripts that source this file
cache=${EXPOSE_VALKEY_CACHE:-$HOME/.cache/expose-valkey}

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

need() {
    command -v "$1" >/dev/null || die "\`$1\` must be on PATH"
}

choose_forms() {
    forms=() write=
    local arg
    for arg; do
        case $arg in
        exec | container) forms+=("$arg") ;;
        --write) write=yes forms=(exec) ;;
        *) die "must be called with exec, container or --write, not with $arg" ;;
        esac
    done
    ((${#forms[@]})) || forms=(exec container)
}

program() {
    local root target=${CARGO_TARGET_DIR:-target}
    root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    [[ $target == /* ]] || target=$root/$target
    local path=${FUNCTION:-$target/release/expose-valkey}
    [[ -x $path ]] || die "$path must be there: run \`make build\`"
    realpath "$path"
}

lock() {
    mkdir -p "$cache/locks"
    command -v flock >/dev/null || return 0
    exec 9>"$cache/locks/$1"
    flock 9
}
