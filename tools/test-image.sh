#!/usr/bin/env bash
# Looks at the function's image: its size, its binary, its user, and that it works
# as Kustomize and kpt run it.
#
#   tools/test-image.sh IMAGE
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

[[ $# == 1 ]] || die "must be called with the name of an image"
image=$1
most_image=5000000
most_binary=3500000

containers=$("$here/containers.sh")
docker() { "$containers/docker" "$@"; }

size=$(docker image inspect --format '{{.Size}}' "$image")
((size < most_image)) || die "$image must be smaller than $most_image bytes, it has $size"
user=$(docker image inspect --format '{{.Config.User}}' "$image")
[[ $user == 65534:65534 ]] || die "$image must run as 65534:65534, not as $user"

# The binary from the image itself.
work=$(mktemp -d)
container=$(docker create "$image")
trap 'docker rm --force "$container" >/dev/null; rm -rf "$work"' EXIT
docker cp "$container:/usr/bin/expose-valkey" "$work/expose-valkey"
binary=$(stat --format %s "$work/expose-valkey")
((binary < most_binary)) || die "the binary must be smaller than $most_binary bytes, it has $binary"
headers=$(readelf --wide --program-headers --dynamic "$work/expose-valkey")
! grep -E 'INTERP|\(NEEDED\)' <<<"$headers" >&2 || die "the binary must be static"

# As nobody, by name; nothing to write to, no network, no rights.
"$work/expose-valkey" render --in-list -f "$here/../examples/gateway/base" >"$work/list.yaml"
for user in nobody 65534:65534 1000:1000; do
    docker run --rm --interactive --user "$user" --network none --read-only --cap-drop ALL "$image" \
        <"$work/list.yaml" >"$work/printed.yaml" || die "$image must work as user $user"
    cmp "$work/list.yaml" "$work/printed.yaml" || die "a second run must change nothing"
done
echo "$image: $size bytes, its static binary $binary"
