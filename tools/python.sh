#!/usr/bin/env bash
# Installs what a requirements file names, from PyPI, into an environment of its own,
# and prints its Python:
#
#   python=$(tools/python.sh tests/node/requirements.txt)
#
# Needs Python with venv.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

[[ $# == 1 && -r $1 ]] || die "must be called with a requirements file"
sum=$(cksum <"$1")
folder=$cache/python-${sum%% *}

lock python
if [[ ! -e $folder/ready ]]; then
    need python3
    rm -rf "$folder"
    python3 -m venv "$folder" || die "\`python3 -m venv\` failed: Debian's package is python3-venv"
    "$folder/bin/pip" install -q --disable-pip-version-check -r "$1" >&2 || die "pip could not install what $1 names"
    touch "$folder/ready"
fi
echo "$folder/bin/python"
