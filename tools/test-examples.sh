#!/usr/bin/env bash
# Runs every example by Kustomize and compares with its expected.yaml:
#
#   tools/test-examples.sh [exec] [container]
#
# as a program (`exec`), as a container (`container`, needs the image of
# `make image`), or both. With `--write` the answer of the program becomes what is
# expected, and what must be read before it is committed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

choose_forms "$@"

kustomize=$("$here/kustomize.sh")
if [[ " ${forms[*]} " == *" container "* ]]; then
    containers=$("$here/containers.sh")
    PATH=$containers:$PATH
fi
cd "$here/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=
count=0
for folder in examples/*/exec/ examples/*/*/exec/; do
    example=${folder%/exec/}
    for form in "${forms[@]}"; do
        flags=(--enable-alpha-plugins)
        [[ $form == container ]] || flags+=(--enable-exec)
        # A warning of the function is a fault of the example.
        if ! "$kustomize" build "${flags[@]}" "$example/$form" >"$work/printed" 2>"$work/said" || [[ -s $work/said ]]; then
            cat "$work/said" >&2
            failed=yes
        elif [[ $write ]]; then
            cp "$work/printed" "$example/expected.yaml"
        elif ! diff -u "$example/expected.yaml" "$work/printed" >&2; then
            failed=yes
        else
            echo "$example/$form: $(grep -c '^kind:' "$work/printed") objects, as expected"
        fi
        count=$((count + 1))
    done
done
((count)) || die "there are no examples"
[[ ! $failed ]] || die "an example did not print what it should"
