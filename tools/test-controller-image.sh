#!/usr/bin/env bash
# Looks at the controller's image: its size, its binary, its user, and that it starts
# without a file system to write to, without rights, as any user.
#
#   tools/test-controller-image.sh IMAGE
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

[[ $# == 1 ]] || die "must be called with the name of an image"
image=$1
most_image=20000000

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
docker cp "$container:/usr/bin/expose-valkey-controller" "$work/controller"
headers=$(readelf --wide --program-headers --dynamic "$work/controller")
! grep -E 'INTERP|\(NEEDED\)' <<<"$headers" >&2 || die "the binary must be static"

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/../controller/Cargo.toml" | head -n 1)
for user in 65534:65534 1000:1000; do
    printed=$(docker run --rm --user "$user" --network none --read-only --cap-drop ALL "$image" --version)
    [[ $printed == "expose-valkey-controller $version" ]] || die "$image must print its version as user $user, not: $printed"
done
# Outside of Kubernetes it says what is missing, and does not hang.
code=0
docker run --rm --network none --read-only --cap-drop ALL "$image" status 2>"$work/said" || code=$?
if [[ $code != 1 ]] || ! grep --quiet '^\[error\]' "$work/said"; then
    die "without Kubernetes it must end with an error: $(<"$work/said")"
fi
echo "$image: $size bytes"
