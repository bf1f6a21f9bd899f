#!/usr/bin/env bash
# Runs a command in a network, mounts and process numbers of its own, with its own
# /etc/hosts; nothing outside can be reached, and all of it goes when COMMAND ends:
#
#   tools/isolated.sh [-h 'ADDRESS NAME...']... COMMAND...
#
# Needs root.
set -euo pipefail

hosts=$(mktemp)
trap 'rm -f "$hosts"' EXIT
echo '127.0.0.1 localhost' >"$hosts"
while getopts h: option; do
    [[ $option == h ]] || exit 2
    echo "$OPTARG" >>"$hosts"
done
shift $((OPTIND - 1))

# --kill-child with --pid ends what COMMAND left running.
# shellcheck disable=SC2016 # the inner shell expands it
unshare --net --mount --pid --fork --kill-child --mount-proc bash -c '
    set -euo pipefail
    mount --bind "$1" /etc/hosts
    shift
    ip link set lo up
    "$@"
' bash "$hosts" "$@"
