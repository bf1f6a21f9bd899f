#!/usr/bin/env bash
# Builds programs of Kubernetes and etcd from their Go modules, once for each
# version, and prints the folder that holds them:
#
#   folder=$(tools/kubernetes.sh kube-apiserver kubectl etcd)
#
# Needs Go. The first call takes some ten minutes, later ones none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

kubernetes=1.36.3
etcd=3.6.16
folder=$cache/kubernetes-$kubernetes-etcd-$etcd

(($#)) || die "must be called with the names of programs"
lock kubernetes
missing=()
for program; do
    [[ -x $folder/$program ]] || missing+=("$program")
done
if ((${#missing[@]})); then
    need go
    mkdir -p "$folder"
    new=$(mktemp -d "$folder/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    cd "$new"
    export GOFLAGS='' CGO_ENABLED=0

    # k8s.io/kubernetes asks for the modules of its own repository as v0.0.0 with
    # local replacements: they are pointed at the published ones instead.
    cat >go.mod <<END
module programs

go 1.26

require k8s.io/kubernetes v$kubernetes

require go.etcd.io/etcd/server/v3 v$etcd
END
    module=$(go mod download -json "k8s.io/kubernetes@v$kubernetes" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
    sed -n 's/^\t\(k8s\.io\/[^ ]*\) v0\.0\.0$/\1/p' "$module" | sort -u |
        while read -r name; do
            echo "replace $name => $name v0.${kubernetes#1.}"
        done >>go.mod

    # Without a version kubectl and others refuse what the server says of itself.
    minor=${kubernetes#1.}
    stamp=
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        stamp+=" -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*} -X $package.gitVersion=v$kubernetes"
        stamp+=" -X $package.gitTreeState=clean"
    done

    packages=()
    for program in "${missing[@]}"; do
        case $program in
        etcd) packages+=(go.etcd.io/etcd/server/v3) ;;
        *) packages+=("k8s.io/kubernetes/cmd/$program") ;;
        esac
    done
    mkdir bin
    go build -mod=mod -trimpath -ldflags "-s -w$stamp" -o bin/ "${packages[@]}" >&2 ||
        die "${missing[*]} of Kubernetes $kubernetes and etcd $etcd could not be built"
    [[ ! -e bin/server ]] || mv bin/server bin/etcd
    mv -f bin/* "$folder/"
fi
echo "$folder"
