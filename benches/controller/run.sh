#!/usr/bin/env bash
# Measures the controller's read-back on many clusters, beside the operator's own
# process on the same API server, and prints a table of time, requests and memory:
#
#   benches/controller/run.sh [CLUSTERS]        default: 1000, of three shards with a replica each
#
#   CONTROLLER              the controller
#   VALKEY_OPERATOR_PR281   the operator that has externalAccess
#   FUNCTION                the function (default: what `make build` built)
#
# There is an API server and nothing else: the script itself marks ValkeyNodes Ready,
# as soon as they change. Ends with 1 if the controller uses a third of the operator's
# memory or more, or if a second start of it writes anything. Needs Go, Python, openssl.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tools=$here/../../tools
# shellcheck source=../../tools/lib.sh
. "$tools/lib.sh"

clusters=${1:-1000}
for name in CONTROLLER VALKEY_OPERATOR_PR281; do
    [[ -x ${!name:-} ]] || die "$name must be the path of a program"
done
FUNCTION=$(program)
python=$("$tools/python.sh" "$here/requirements.txt")
work=$(mktemp -d)
trap '"$tools/apiserver.sh" stop "$work/api"; rm -rf "$work"' EXIT
cat >"$work/policy.yaml" <<'END'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
END
KUBECONFIG=$(APISERVER_FLAGS="--service-node-port-range=20000-39999 --audit-policy-file=$work/policy.yaml --audit-log-path=$work/audit.log" \
    "$tools/apiserver.sh" start "$work/api")
PATH=$("$tools/kubernetes.sh" kubectl):$PATH
export FUNCTION CONTROLLER VALKEY_OPERATOR_PR281 KUBECONFIG
kubectl apply --server-side -f "$here/../../testdata/crds/pr281" >/dev/null
kubectl wait --for=condition=Established --timeout=60s crd --all >/dev/null
# Established is not served yet.
for _ in {1..60}; do
    kubectl get valkeyclusters,valkeynodes >"$work/served" 2>&1 && break
    sleep 0.5
done
kubectl get valkeyclusters,valkeynodes >"$work/served" 2>&1 || die "the operator's kinds are not served: $(cat "$work/served")"
"$python" "$here/measure.py" "$clusters" "$work"
