#!/usr/bin/env bash
# Makes sure that container functions can run, and prints a folder to put first
# on PATH; `docker` is then a container runtime that works:
#
#   PATH=$(tools/containers.sh):$PATH
#
# Where a docker daemon answers, the folder holds a link to that docker and
# nothing else. Else it is the folder of tools/docker, which stands in for it on
# Debian, as root; podman and what it needs are installed by apt-get if missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

# A docker that is our own stand-in, from an earlier call, is not the machine's.
engine=
while read -r found; do
    if [[ ! $found -ef $here/docker ]]; then
        engine=$found
        break
    fi
done < <(type -ap docker)

if [[ -n $engine ]] && timeout 20 "$engine" info >/dev/null 2>&1; then
    folder=$cache/docker-engine
    mkdir -p "$folder"
    if [[ ! $folder/docker -ef $engine ]]; then
        ln -s "$engine" "$folder/docker.$$"
        mv -f "$folder/docker.$$" "$folder/docker"
    fi
    echo "$folder"
    exit 0
fi

lock containers
missing=()
for package in podman crun netavark iptables; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
if ((${#missing[@]})); then
    [[ $EUID == 0 ]] || die "a docker daemon must be running (or call this as root on Debian, to install podman)"
    need apt-get
    export DEBIAN_FRONTEND=noninteractive
    install=(apt-get install -y -q --no-install-recommends "${missing[@]}")
    "${install[@]}" >&2 || { apt-get update -q >&2 && "${install[@]}" >&2; } ||
        die "apt-get could not install ${missing[*]}"
fi
[[ $EUID == 0 ]] || die "a docker daemon must be running (or call this as root on Debian)"
"$here/docker" info >/dev/null || die "podman is installed, but does not run here"
echo "$here"
