#!/usr/bin/env bash
# Builds a cargo tool from crates.io, once for each version, and prints the path
# of its binary:
#
#   deny=$(tools/cargo-tool.sh cargo-deny 0.20.2)
#
# Needs cargo. The first call takes minutes, later ones none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

[[ $# == 2 ]] || die "must be called with the name of a crate and its version"
name=$1
version=$2
folder=$cache/$name-$version

lock "$name"
if [[ ! -x $folder/$name ]]; then
    need cargo
    mkdir -p "$folder"
    new=$(mktemp -d "$folder/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    # The tool's own lock file first; it may ask for a version that was taken back.
    install=(cargo install --root "$new" --target-dir "$new/target" "$name" --version "=$version")
    cd "$new" # away from a .cargo/config.toml that is not meant for the tool
    "${install[@]}" --locked >&2 || "${install[@]}" >&2 || die "$name $version could not be built"
    [[ -x $new/bin/$name ]] || die "$name $version holds no program of that name"
    mv -f "$new/bin/$name" "$folder/$name"
fi
echo "$folder/$name"
