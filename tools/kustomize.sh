#!/usr/bin/env bash
# Builds kustomize from its Go module, once, and prints the path of the binary.
#
#   kustomize=$(tools/kustomize.sh)
#
# Needs Go. The first call takes a minute or two, later ones none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

version=v5.8.1
folder=$cache/kustomize-$version

lock kustomize
if [[ ! -x $folder/kustomize ]]; then
    need go
    mkdir -p "$folder"
    new=$(mktemp -d "$folder/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    GOBIN=$new GOFLAGS='' CGO_ENABLED=0 go install -trimpath "sigs.k8s.io/kustomize/kustomize/v5@$version" >&2 ||
        die "kustomize $version could not be built"
    mv -f "$new/kustomize" "$folder/kustomize"
fi
echo "$folder/kustomize"
