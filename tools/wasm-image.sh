#!/usr/bin/env bash
# Joins a container image and the module for kpt under one tag, of which each
# runtime takes its part:
#
#   tools/wasm-image.sh IMAGE TAG
#
# IMAGE is in a registry; TAG is made there. Needs Go, and what tools/wasm.sh
# has built.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

[[ $# == 2 ]] || die "must be called with an image and the tag to make"
module=$here/../target/wasm/expose-valkey-kpt.wasm
[[ -e $module ]] || die "tools/wasm.sh must be run first"
version=v0.21.6
crane=$cache/crane-$version/crane
lock crane
if [[ ! -x $crane ]]; then
    need go
    GOBIN=${crane%/*} GOFLAGS='' CGO_ENABLED=0 go install -trimpath "github.com/google/go-containerregistry/cmd/crane@$version" >&2 ||
        die "crane could not be built"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# kpt takes the first file of the image, whatever its name; equal bytes give an equal image.
tar -C "${module%/*}" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$work/layer.tar" "${module##*/}"
part=${2%:*}:${2##*:}-wasm
"$crane" append --oci-empty-base -f "$work/layer.tar" -t "$part" >&2
"$crane" mutate --set-platform js/wasm -t "$part" "$part" >&2
"$crane" index append -m "$1" -m "$part" -t "$2" >&2
