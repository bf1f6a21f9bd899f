#!/usr/bin/env bash
# Runs the commands of the README, each block of ```sh as it stands there, in the
# clone. Those that are given as arguments have been run before and are left out:
#
#   tools/readme-commands.sh 'make demo' 'make test'
#
# Programs that the README takes for granted must be on PATH: kustomize, kpt,
# docker, kubectl, and expose-valkey from its own `cargo install`. The cluster that
# kubectl speaks to is an API server of the script's own.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
cd "$here/.."

for program in cargo docker kpt kubectl kustomize make; do need "$program"; done
mapfile -t commands < <(awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside && NF' README.md)
for done in "$@"; do
    printf '%s\n' "${commands[@]}" | grep -qxF -- "$done" || die "\`$done\` must be a command of the README"
done

api=$(mktemp -d)
trap 'tools/apiserver.sh stop "$api"; rm -rf "$api"' EXIT
KUBECONFIG=$(tools/apiserver.sh start "$api")
export KUBECONFIG

for command in "${commands[@]}"; do
    if printf '%s\n' "$@" | grep -qxF -- "$command"; then
        continue
    fi
    echo "\$ $command"
    bash -euo pipefail -c "$command" </dev/null >/dev/null || die "the README's \`$command\` failed"
done
