#!/usr/bin/env bash
# Unpacks Debian's newest Valkey (9.1 or newer, with TLS) and its libraries into a
# folder of its own, installing nothing, and prints the folder of its programs
# valkey-server, valkey-cli and valkey-benchmark:
#
#   PATH=$(tools/valkey.sh):$PATH
#
#   DEBIAN_SUITE   where it is taken from (default: forky)
#
# Needs Debian's apt and its mirror.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

suite=${DEBIAN_SUITE:-forky}
folder=$cache/valkey-$suite

lock valkey
if [[ ! -d $folder ]]; then
    need apt-get
    need dpkg-deb
    new=$(mktemp -d -p "$cache")
    chmod 755 "$new"
    trap 'rm -rf "$new"' EXIT
    mkdir -p "$new"/apt/lists/partial "$new"/apt/cache/archives/partial "$new"/deb "$new"/root "$new"/bin
    # shellcheck disable=SC2016 # apt expands it
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
    [[ -n $mirror ]] || die "apt must know a mirror of Debian"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$new/apt/sources.list"
    apt=(-q -o Dir::Etc::sourcelist="$new/apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$new/apt/lists"
        -o Dir::Cache="$new/apt/cache" -o APT::Sandbox::User=root)
    apt-get "${apt[@]}" update >&2
    # glibc too: that of this machine may be older.
    (cd "$new/deb" && apt-get "${apt[@]}" download valkey-tools libc6 libatomic1 libjemalloc2 liblzf1 libssl3t64 \
        libsystemd0 libstdc++6 libgcc-s1 libcap2 libzstd1 zlib1g) >&2
    for package in "$new"/deb/*.deb; do dpkg-deb -x "$package" "$new/root"; done
    for name in valkey-server valkey-cli valkey-benchmark; do
        # The server is a program that knows by its name what it is.
        program=$name
        [[ $name != valkey-server ]] || program=valkey-check-rdb
        cat >"$new/bin/$name" <<END
#!/usr/bin/env bash
root=\$(dirname "\$(dirname "\$(readlink -f "\$0")")")/root
lib=\$root/usr/lib/$(uname -m)-linux-gnu
exec -a $name "\$lib"/ld-linux-*.so.* --argv0 $name --library-path "\$lib" "\$root/usr/bin/$program" "\$@"
END
        chmod +x "$new/bin/$name"
    done
    rm -rf "$new/apt" "$new/deb"
    "$new/bin/valkey-server" --version >&2
    mv "$new" "$folder"
fi
echo "$folder/bin"
