#!/usr/bin/env bash
# Runs a command beside a real Kubernetes of one node (kubelet, containerd, kube-proxy,
# all controllers) in a network of its own; all of it goes when the command ends:
#
#   tools/cluster.sh [-h 'ADDRESS NAME...']... FOLDER COMMAND...
#
# COMMAND finds KUBECONFIG set, and kubectl, ctr, valkey-cli and valkey-server on PATH.
#   192.0.2.1                 the node; NodePorts answer there, Gateways may listen there
#   192.0.2.50 to .89         given to Services of type LoadBalancer, in order of arrival
#   ip netns exec outside …   runs as a client outside of the cluster, at 192.0.2.100
#   198.51.100.0/24           pods;  203.0.113.0/24  Services
# Each -h is a line of /etc/hosts, inside and outside, not in pods. FOLDER is emptied
# first, and takes data, keys and logs.
#
#   IMAGES   more image archives for the node, as `docker save` writes them; while it
#            runs: ctr -n k8s.io images import FILE
#
# It is ready within ten seconds. Two at once do not disturb each other. Needs root on
# Debian, and what tools/cluster-programs.sh needs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

if [[ ${IN_CLUSTER:-} != yes ]]; then
    [[ $EUID == 0 ]] || die "must be called as root"
    hosts=()
    while getopts h: option; do
        [[ $option == h ]] || exit 2
        hosts+=(-h "$OPTARG")
    done
    shift $((OPTIND - 1))
    (($# > 1)) || die "must be called with a folder and a command"
    programs=$("$here/cluster-programs.sh")
    rm -rf "$1"
    mkdir -p "$1"
    # Control groups are the machine's, whatever the namespace: a folder for each run.
    group=/expose-valkey-$$
    for controller in /sys/fs/cgroup/*/; do mkdir "$controller$group" 2>/dev/null || :; done
    for file in cpuset.cpus cpuset.mems; do
        [[ ! -e /sys/fs/cgroup/cpuset/$file ]] || cat "/sys/fs/cgroup/cpuset/$file" >"/sys/fs/cgroup/cpuset$group/$file"
    done
    status=0
    CLUSTER_PROGRAMS=$programs CGROUP=$group IN_CLUSTER=yes "$here/isolated.sh" "${hosts[@]}" "$0" "$@" || status=$?
    for ((i = 0; i < 50; i++)); do
        find /sys/fs/cgroup/*"$group" -depth -type d -exec rmdir {} + 2>/dev/null && break
        sleep 0.1
    done
    exit "$status"
fi

dir=$(cd "$1" && pwd)
shift
ip=192.0.2.1
export PATH=$CLUSTER_PROGRAMS:$PATH

# Sockets, locks and named networks lie under /run: this run has its own.
mount -t tmpfs tmpfs /run
mkdir -p /run/lock
umount /sys/fs/cgroup/unified 2>/dev/null || :
sysctl -qw net.ipv4.ip_forward=1
ip link add node0 type bridge
ip addr add $ip/24 dev node0
ip link set node0 up
ip route add default dev node0
for ((i = 50; i < 90; i++)); do ip addr add 192.0.2.$i/32 dev node0; done
ip netns add outside
ip link add to-outside type veth peer name eth0 netns outside
ip link set to-outside master node0 up
ip -n outside addr add 192.0.2.100/24 dev eth0
ip -n outside link set lo up
ip -n outside link set eth0 up

start() { # start NAME COMMAND...
    local name=$1
    shift
    setsid "$@" >"$dir/$name.log" 2>&1 </dev/null &
    echo $! >"$dir/$name.pid"
}
fail() { # fail MESSAGE LOG
    echo "${0##*/}: $1" >&2
    tail -n 20 "$dir/$2.log" >&2 || :
    exit 1
}
until_ok() { # until_ok MESSAGE LOG COMMAND...
    local message=$1 log=$2
    shift 2
    for ((i = 0; i < 600; i++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    fail "$message" "$log"
}

openssl genrsa -out "$dir/sa.key" 2048 2>/dev/null
openssl ecparam -name prime256v1 -genkey -noout -out "$dir/ca.key"
openssl req -x509 -new -key "$dir/ca.key" -subj /CN=test-ca -days 30 -out "$dir/ca.crt"
sign() { # sign NAME SUBJECT EXTENSIONS
    openssl ecparam -name prime256v1 -genkey -noout -out "$dir/$1.key"
    openssl req -new -key "$dir/$1.key" -subj "$2" |
        openssl x509 -req -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -CAcreateserial \
            -days 30 -extfile <(echo "$3") -out "$dir/$1.crt" 2>/dev/null
}
kubeconfig() { # kubeconfig NAME SUBJECT
    sign "$1" "$2" extendedKeyUsage=clientAuth
    cat >"$dir/$1.kubeconfig" <<END
apiVersion: v1
kind: Config
clusters:
- {name: test, cluster: {server: "https://$ip:26443", certificate-authority-data: $(base64 -w0 "$dir/ca.crt")}}
users:
- name: $1
  user:
    client-certificate-data: $(base64 -w0 "$dir/$1.crt")
    client-key-data: $(base64 -w0 "$dir/$1.key")
contexts: [{name: test, context: {cluster: test, user: $1}}]
current-context: test
END
}
sign server /CN=kube-apiserver "subjectAltName=IP:$ip,IP:127.0.0.1,IP:203.0.113.1,DNS:localhost,DNS:kubernetes.default.svc"
sign to-kubelet /O=system:masters/CN=to-kubelet extendedKeyUsage=clientAuth
kubeconfig admin /O=system:masters/CN=admin
kubeconfig controllers /CN=system:kube-controller-manager
kubeconfig scheduler /CN=system:kube-scheduler
kubeconfig kubelet /O=system:nodes/CN=system:node:node
kubeconfig proxy /CN=system:kube-proxy
export KUBECONFIG=$dir/admin.kubeconfig

start etcd etcd --data-dir "$dir/etcd" --unsafe-no-fsync --log-level warn
start kube-apiserver kube-apiserver --etcd-servers http://127.0.0.1:2379 \
    --bind-address 0.0.0.0 --advertise-address $ip --secure-port 26443 \
    --tls-cert-file "$dir/server.crt" --tls-private-key-file "$dir/server.key" \
    --client-ca-file "$dir/ca.crt" --cert-dir "$dir" \
    --kubelet-client-certificate "$dir/to-kubelet.crt" --kubelet-client-key "$dir/to-kubelet.key" \
    --kubelet-preferred-address-types InternalIP \
    --service-account-key-file "$dir/sa.key" --service-account-signing-key-file "$dir/sa.key" \
    --service-account-issuer https://kubernetes.default.svc --service-cluster-ip-range 203.0.113.0/24 \
    --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction --allow-privileged=true

mkdir -p "$dir/cni"
cat >"$dir/cni/10-pods.conflist" <<END
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "pods0", "isGateway": true, "hairpinMode": true, "ipam": {"type": "host-local",
   "ranges": [[{"subnet": "198.51.100.0/24"}]], "dataDir": "$dir/ipam", "routes": [{"dst": "0.0.0.0/0"}]}}]}
END
cat >"$dir/containerd.toml" <<END
version = 3
root = "$dir/containerd"
state = "/run/containerd"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "localhost/pause:dev"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ["/usr/lib/cni"]
  conf_dir = "$dir/cni"
END
start containerd containerd --config "$dir/containerd.toml"
until_ok "containerd did not start" containerd ctr version
for image in "$CLUSTER_PROGRAMS"/images/*.tar ${IMAGES:-}; do
    ctr -n k8s.io images import "$image" >/dev/null 2>>"$dir/images.log" || fail "cannot load $image" images
done
until_ok "kube-apiserver did not start" kube-apiserver kubectl get --raw /readyz

cat >"$dir/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {x509: {clientCAFile: "$dir/ca.crt"}, anonymous: {enabled: false}}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: $CGROUP
failCgroupV1: false
failSwapOn: false
enforceNodeAllocatable: []
evictionHard: {nodefs.available: 0%, imagefs.available: 0%, nodefs.inodesFree: 0%, memory.available: 0%}
imageGCHighThresholdPercent: 100
podLogsDir: $dir/pod-logs
volumePluginDir: $dir/volume-plugins
clusterDNS: [203.0.113.10]
END
start kubelet kubelet --config "$dir/kubelet.yaml" --kubeconfig "$dir/kubelet.kubeconfig" \
    --root-dir "$dir/kubelet" --cert-dir "$dir/kubelet-pki" --hostname-override node --node-ip $ip
start kube-controller-manager kube-controller-manager --kubeconfig "$dir/controllers.kubeconfig" --leader-elect=false \
    --service-account-private-key-file "$dir/sa.key" --root-ca-file "$dir/ca.crt" --use-service-account-credentials
start kube-scheduler kube-scheduler --kubeconfig "$dir/scheduler.kubeconfig" --leader-elect=false
start kube-proxy kube-proxy --kubeconfig "$dir/proxy.kubeconfig" --hostname-override node \
    --proxy-mode nftables --cluster-cidr 198.51.100.0/24 --conntrack-max-per-core 0
until_ok "the node did not become ready" kubelet kubectl wait --for=condition=Ready node/node --timeout 1s
until_ok "no default ServiceAccount" kube-controller-manager kubectl get serviceaccount default
until_ok "kube-proxy did not start" kube-proxy nft list table ip kube-proxy

# What a cloud's controller does for Services of type LoadBalancer.
balance() {
    local next=50 namespace name address
    while sleep 0.3; do
        while read -r namespace name address; do
            [[ -n $namespace && -z $address ]] || continue
            kubectl -n "$namespace" patch service "$name" --subresource status --type merge \
                -p "{\"status\": {\"loadBalancer\": {\"ingress\": [{\"ip\": \"192.0.2.$next\"}]}}}" && next=$((next + 1))
        done < <(kubectl get services -A -o jsonpath='{range .items[?(@.spec.type=="LoadBalancer")]}{.metadata.namespace} {.metadata.name} {.status.loadBalancer.ingress[0].ip}{"\n"}{end}')
    done
}
balance >"$dir/balance.log" 2>&1 &

status=0
"$@" || status=$?
exit "$status"
