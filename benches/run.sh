#!/usr/bin/env bash
# Measures a built expose-valkey against the Go programs of this folder and
# prints a table for a large list and one for a single cluster (see compare/):
#
#   benches/run.sh target/release/expose-valkey [-runs N] [-items N] [-clusters N]
#   benches/run.sh -emit FILE.yaml      only writes the lists: FILE.yaml, FILE-single.yaml
#
# Needs Go. The first call builds for a minute or two.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../tools/lib.sh
. "$here/../tools/lib.sh"

folder=$cache/benches

# build NAME: the program of that folder, as it stands now.
build() {
    (cd "$here/$1" && GOFLAGS='' CGO_ENABLED=0 go build -trimpath -o "$new/$1" .) >&2 ||
        die "$1 could not be built"
    mv -f "$new/$1" "$folder/$1"
}

(($#)) || die "must be called with the program to measure, or with -emit FILE"
need go
lock benches
mkdir -p "$folder"
new=$(mktemp -d "$folder/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
build compare
case $1 in
-*) "$folder/compare" "$@" ;;
*)
    ours=$1
    shift
    [[ -f $ours && -x $ours ]] || die "$ours must be a program"
    build go-peer
    build go-noop
    "$folder/compare" -ours "$(realpath "$ours")" -peer "$folder/go-peer" -noop "$folder/go-noop" "$@"
    ;;
esac
