#!/usr/bin/env bash
# Builds a program, expose-valkey or the one that is named, as one static binary for
# the Linux of this machine's kind, as it is released, and prints its path:
#
#   binary=$(tools/static-binary.sh [expose-valkey-controller])
#
# With Rust's musl target where it is installed, else with the C library of the
# machine linked in. Needs cargo, and readelf to look at the result.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

[[ $# -le 1 ]] || die "must be called with the name of one program, or none"
package=${1:-expose-valkey}
need cargo
need rustc
need readelf
cd "$here/.."

host=$(rustc -vV | sed -n 's/^host: //p')
[[ $host == *-linux-* ]] || die "must run on Linux, not on $host"
musl=${host/-gnu/-musl}
if [[ -d $(rustc --print sysroot)/lib/rustlib/$musl ]]; then
    target=$musl
else
    target=$host
    export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static"
fi

cargo build --locked --profile release-lto --package "$package" --bin "$package" --target "$target" >&2
binary=${CARGO_TARGET_DIR:-target}/$target/release-lto/$package
headers=$(readelf --wide --program-headers --dynamic "$binary")
! grep -E 'INTERP|\(NEEDED\)' <<<"$headers" >&2 || die "$binary is not static"
echo "$binary"
