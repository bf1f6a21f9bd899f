#!/usr/bin/env bash
# Runs the commands of the README, each block of ```sh as it stands there, in the
# clone. Those that are given as arguments have been run before and are left out:
#
#   tools/readme-commands.sh 'make demo' 'make test'
#
# Programs that the README takes for granted must be on PATH: kustomize, kpt,
# docker, and expose-valkey from its own `cargo install`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"
cd "$here/.."

for program in cargo docker kpt kustomize make; do need "$program"; done
mapfile -t commands < <(awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside && NF' README.md)
for done in "$@"; do
    printf '%s\n' "${commands[@]}" | grep -qxF -- "$done" || die "\`$done\` must be a command of the README"
done
for command in "${commands[@]}"; do
    if printf '%s\n' "$@" | grep -qxF -- "$command"; then
        continue
    fi
    echo "\$ $command"
    bash -euo pipefail -c "$command" </dev/null >/dev/null || die "the README's \`$command\` failed"
done
