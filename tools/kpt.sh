#!/usr/bin/env bash
# Builds kpt's function commands (`kpt fn …`, `kpt alpha wasm …`; see kptfn/)
# from their Go module, once, and prints the path of the binary, named kpt.
#
#   kpt=$(tools/kpt.sh)
#
# Needs Go and a C compiler, as kpt's own WASM runtime is linked by cgo. The
# first call takes some minutes, later ones none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

# The folder is named by the sources, so that a change of them builds again.
sources=$(cat "$here/kptfn/main.go" "$here/kptfn/go.mod" "$here/kptfn/go.sum" | cksum)
folder=$cache/kpt-${sources%% *}

lock kpt
if [[ ! -x $folder/kpt ]]; then
    need go
    need "${CC:-gcc}"
    mkdir -p "$folder"
    new=$(mktemp -d "$folder/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    (cd "$here/kptfn" && GOFLAGS='' CGO_ENABLED=1 go build -trimpath -ldflags '-s -w' -o "$new/kpt" .) >&2 ||
        die "kpt could not be built"
    mv -f "$new/kpt" "$folder/kpt"
fi
echo "$folder/kpt"
