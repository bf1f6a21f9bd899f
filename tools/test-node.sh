#!/usr/bin/env bash
# Runs the tests of tests/node on a real Kubernetes node with real operators, a real
# Gateway and a client outside:
#
#   tools/test-node.sh operator [NAME...]       examples for the operator that is released today
#   tools/test-node.sh controller [NAME...]     the controller, with both operators
#
# NAMEs choose some of a suite's tests; without any, all run.
#
#   VALKEY_OPERATOR         the released operator, a program for this machine
#   VALKEY_OPERATOR_PR281   the one with externalAccess of its own (controller only)
#   FUNCTION                the function (default: what `make build` built)
#
# docs/todays-operator.md says how to build an operator. Logs stay in
# $EXPOSE_VALKEY_CACHE/node-SUITE. Needs root on Debian; see tools/cluster.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

suite=${1:-}
[[ $suite == operator || $suite == controller ]] || die "must be called with operator or controller"
shift
operators=(VALKEY_OPERATOR)
[[ $suite == operator ]] || operators+=(VALKEY_OPERATOR_PR281)
for name in "${operators[@]}"; do
    [[ -x ${!name:-} ]] || die "$name must be the path of an operator: see docs/todays-operator.md"
    export "${name?}"
done

FUNCTION=$(program)
KUSTOMIZE=$("$here/kustomize.sh")
ENVOY_GATEWAY=$("$here/envoy-gateway.sh" build)
gateway=$(cd / && GOFLAGS='' go mod download -json sigs.k8s.io/gateway-api@v1.6.3 | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
GATEWAY_DEFINITIONS=$gateway/config/crd/standard
[[ -e $GATEWAY_DEFINITIONS ]] || die "the Gateway API's definitions could not be fetched"
python=$("$here/python.sh" "$here/../tests/node/requirements.txt")
WORK=$cache/node-$suite
export FUNCTION KUSTOMIZE ENVOY_GATEWAY GATEWAY_DEFINITIONS WORK
exec "$here/cluster.sh" "$WORK" "$python" "$here/../tests/node/$suite.py" "$@"
