#!/usr/bin/env bash
# Builds what a Kubernetes of one real node needs, and prints a folder of links to
# its programs, with the images of the node's first pods in images/:
#
#   folder=$(tools/cluster-programs.sh)
#
# From Go modules: Kubernetes, etcd, containerd. From Debian: runc, the CNI plugins,
# nftables, and Valkey with a shell around it, as docker.io/valkey/valkey:VERSION.
# Needs Go, Python, a C compiler, and root on Debian. The first call takes some twelve
# minutes on two cores, later ones none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

containerd=2.4.2
programs=(kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl etcd)

lock cluster
missing=()
for package in runc containernetworking-plugins nftables conntrack iproute2 busybox-static openssl util-linux procps; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
if ((${#missing[@]})); then
    [[ $EUID == 0 ]] || die "must be called as root on Debian, to install ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    install=(apt-get install -y -q --no-install-recommends "${missing[@]}")
    "${install[@]}" >&2 || { apt-get update -q >&2 && "${install[@]}" >&2; } ||
        die "apt-get could not install ${missing[*]}"
fi
for program in go python3 cc; do need "$program"; done

# The locks of the scripts called here are theirs.
kubernetes=$("$here/kubernetes.sh" "${programs[@]}")
valkey=$("$here/valkey.sh")
version=$("$valkey/valkey-server" --version | sed 's/.* v=\([^ ]*\).*/\1/')
folder=$cache/cluster-containerd-$containerd-valkey-$version

if [[ ! -d $folder ]]; then
    new=$(mktemp -d -p "$cache")
    chmod 755 "$new"
    trap 'rm -rf "$new"' EXIT
    mkdir -p "$new/made/images"
    cd "$new"
    GOFLAGS='' CGO_ENABLED=0 GOBIN=$new/made go install -trimpath -ldflags '-s -w' \
        "github.com/containerd/containerd/v2/cmd/"{containerd,containerd-shim-runc-v2,ctr}"@v$containerd" >&2 ||
        die "containerd $containerd could not be built"

    # A pod's first process holds its namespaces, and waits.
    mkdir pause
    cat >pause.c <<'END'
#include <signal.h>
#include <unistd.h>
static void stop(int signal) { (void)signal; _exit(0); }
int main(void) {
    signal(SIGTERM, stop);
    signal(SIGCHLD, SIG_IGN);
    for (;;) pause();
}
END
    cc -static -Os -s -o pause/pause pause.c
    "$here/image-archive.py" localhost/pause:dev pause made/images/pause.tar /pause

    # Valkey with its own libraries, and the shell and tools that probes call.
    cp -a "$valkey/../root" valkey
    rm -rf valkey/usr/share valkey/etc
    for name in bin lib lib64 sbin; do ln -sfn "usr/$name" "valkey/$name"; done
    mkdir -p valkey/etc valkey/data valkey/tmp valkey/usr/sbin
    chmod 1777 valkey/tmp valkey/data
    ln -sf valkey-check-rdb valkey/usr/bin/valkey-server
    cp "$(command -v busybox)" valkey/usr/bin/busybox
    for tool in $(busybox --list); do
        [[ -e valkey/usr/bin/$tool ]] || ln -s busybox "valkey/usr/bin/$tool"
    done
    printf '%s\n' root:x:0:0::/:/bin/sh valkey:x:999:999::/data:/bin/sh nobody:x:65534:65534::/:/bin/sh >valkey/etc/passwd
    "$here/image-archive.py" "docker.io/valkey/valkey:$version" valkey made/images/valkey.tar
    mv made "$folder"
fi
for program in "${programs[@]}"; do
    ln -sfn "$kubernetes/$program" "$folder/$program"
done
for program in valkey-server valkey-cli valkey-benchmark; do
    ln -sfn "$valkey/$program" "$folder/$program"
done
echo "$folder"
