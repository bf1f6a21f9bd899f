#!/usr/bin/env bash
# Starts etcd and a Kubernetes API server, and no other part of Kubernetes, on free
# ports of 127.0.0.1; prints the path of an administrator's kubeconfig when the
# server is ready:
#
#   KUBECONFIG=$(tools/apiserver.sh start FOLDER)
#   tools/apiserver.sh stop FOLDER
#
#   APISERVER_FLAGS   more flags for kube-apiserver, one word each
#
# FOLDER takes data, keys, logs and pids, 130 MB, and is left there by `stop`. Two
# servers in two folders do not disturb each other. Needs openssl, and Go for
# the first call (see kubernetes.sh).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

[[ $# == 2 && ($1 == start || $1 == stop) ]] || die "must be called with start or stop, and a folder"
folder=$2
read -ra flags <<<"${APISERVER_FLAGS:-}"

# end NAME: stops a server, and waits until it is gone.
end() {
    local pid
    [[ -e $folder/$1.pid ]] || return 0
    pid=$(<"$folder/$1.pid")
    kill "$pid" 2>/dev/null || :
    for ((i = 0; i < 100; i++)); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || :
    rm -f "$folder/$1.pid"
}

if [[ $1 == stop ]]; then
    end kube-apiserver
    end etcd
    exit 0
fi

need openssl
need setsid
need ss
assets=$("$here/kubernetes.sh" kube-apiserver kubectl etcd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# Keys: of a CA, the server, an administrator, and of ServiceAccounts' tokens.
cd "$folder"
openssl ecparam -name prime256v1 -genkey -noout -out ca.key
openssl req -x509 -new -key ca.key -subj /CN=test-ca -days 30 -out ca.crt
sign() { # sign NAME SUBJECT EXTENSIONS
    openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"
    openssl req -new -key "$1.key" -subj "$2" |
        openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile <(echo "$3") -out "$1.crt" 2>/dev/null
}
sign server /CN=kube-apiserver "subjectAltName=IP:127.0.0.1"
sign admin /O=system:masters/CN=admin "extendedKeyUsage=clientAuth"
openssl genrsa -out tokens.key 2048 2>/dev/null

# begin NAME PROGRAM [ARGUMENT...]: runs on when this script has ended.
begin() {
    local name=$1
    shift
    setsid "$@" >"$name.log" 2>&1 </dev/null 9>&- &
    echo $! >"$name.pid"
}
give_up() {
    tail -n 20 etcd.log kube-apiserver.log >&2 || :
    end kube-apiserver
    end etcd
    die "$1"
}
# alive NAME
alive() {
    kill -0 "$(<"$1.pid")" 2>/dev/null
}

# A port may be taken between the moment it is chosen and the moment it is
# opened: then others are tried.
used=
for ((attempt = 0; attempt < 5; attempt++)); do
    base=$((20000 + RANDOM % 10000))
    while ss -Hltn | grep -qE "127.0.0.1:($base|$((base + 1))|$((base + 2))) "; do
        base=$((base + 3))
    done
    client=http://127.0.0.1:$base
    peer=http://127.0.0.1:$((base + 1))
    port=$((base + 2))
    rm -rf data
    begin etcd "$assets/etcd" --name test --data-dir data --unsafe-no-fsync --log-level warn \
        --listen-client-urls "$client" --advertise-client-urls "$client" \
        --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "test=$peer"
    # No controllers run: the admission of ServiceAccounts would wait for them.
    begin kube-apiserver "$assets/kube-apiserver" --etcd-servers "$client" \
        --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$port" \
        --tls-cert-file server.crt --tls-private-key-file server.key --client-ca-file ca.crt --cert-dir . \
        --service-account-key-file tokens.key --service-account-signing-key-file tokens.key \
        --service-account-issuer https://kubernetes.default.svc \
        --service-cluster-ip-range 10.96.0.0/16 --authorization-mode RBAC \
        --disable-admission-plugins ServiceAccount --endpoint-reconciler-type none "${flags[@]}"
    cat >kubeconfig <<END
apiVersion: v1
kind: Config
clusters:
- name: test
  cluster: {server: "https://127.0.0.1:$port", certificate-authority: "$folder/ca.crt"}
users:
- name: admin
  user: {client-certificate: "$folder/admin.crt", client-key: "$folder/admin.key"}
contexts:
- name: test
  context: {cluster: test, user: admin}
current-context: test
END
    for ((i = 0; i < 1200; i++)); do
        if "$assets/kubectl" --kubeconfig kubeconfig get --raw /readyz >/dev/null 2>&1; then
            echo "$folder/kubeconfig"
            exit 0
        fi
        alive etcd || break
        alive kube-apiserver || break
        sleep 0.1
    done
    used=$(grep -l 'address already in use' etcd.log kube-apiserver.log || :)
    [[ $used ]] || give_up "the API server did not become ready"
    end kube-apiserver
    end etcd
done
give_up "no free ports were found"
