#!/usr/bin/env bash
# Builds a cargo tool from crates.io, once for each version, and prints the path
# of its binary:
#
#   deny=$(tools/cargo-tool.sh cargo-deny 0.20.2)
#   bindgen=$(tools/cargo-tool.sh wasm-bindgen-cli 0.2.130 wasm-bindgen)
#
# The third argument is the program's name where it is not the crate's.
# Needs cargo. The first call takes minutes, later ones none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

[[ $# == 2 || $# == 3 ]] || die "must be called with the name of a crate and its version, and its program's name if that differs"
name=$1
version=$2
program=${3:-$name}
folder=$cache/$name-$version

lock "$name"
if [[ ! -x $folder/$program ]]; then
    need cargo
    mkdir -p "$folder"
    new=$(mktemp -d "$folder/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    # The tool's own lock file first; it may ask for a version that was taken back.
    install=(cargo install --root "$new" --target-dir "$new/target" "$name" --version "=$version")
    cd "$new" # away from a .cargo/config.toml that is not meant for the tool
    "${install[@]}" --locked >&2 || "${install[@]}" >&2 || die "$name $version could not be built"
    [[ -x $new/bin/$program ]] || die "$name $version holds no program of that name"
    mv -f "$new/bin/$program" "$folder/$program"
fi
echo "$folder/$program"
