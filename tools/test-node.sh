#!/usr/bin/env bash
# Runs the tests of tests/node on a real Kubernetes node with real operators, a real
# Gateway and a client outside:
#
#   tools/test-node.sh command [NAME...]        examples for the operator that is released today
#   tools/test-node.sh live [NAME...]           the controller, announcing for that operator
#   tools/test-node.sh read-back [NAME...]      the controller, for the API that has externalAccess
#
# NAMEs choose some of a suite's tests; without any, all run.
#
#   VALKEY_OPERATOR         the released operator, a program for this machine
#   VALKEY_OPERATOR_PR281   the one with externalAccess of its own (read-back only)
#   FUNCTION                the function (default: what `make build` built)
#
# docs/todays-operator.md says how to build an operator. Logs stay in
# $EXPOSE_VALKEY_CACHE/node-SUITE. Needs root on Debian; see tools/cluster.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

suite=${1:-}
case $suite in
command | live) operator=VALKEY_OPERATOR ;;
read-back) operator=VALKEY_OPERATOR_PR281 ;;
*) die "must be called with command, live or read-back" ;;
esac
shift
[[ -x ${!operator:-} ]] || die "$operator must be the path of an operator: see docs/todays-operator.md"

FUNCTION=$(program)
KUSTOMIZE=$("$here/kustomize.sh")
ENVOY_GATEWAY=$("$here/envoy-gateway.sh" build)
gateway=$(cd / && GOFLAGS='' go mod download -json sigs.k8s.io/gateway-api@v1.6.3 | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
GATEWAY_DEFINITIONS=$gateway/config/crd/standard
[[ -e $GATEWAY_DEFINITIONS ]] || die "the Gateway API's definitions could not be fetched"
python=$("$here/python.sh" "$here/../tests/node/requirements.txt")
WORK=$cache/node-$suite
if [[ $suite != command ]]; then
    # Built by `make controller-image`, under the name that deploy/ has.
    image=$(sed -n 's/^ *image: *//p' "$here/../deploy/base/deployment.yaml")
    mkdir -p "$cache/images"
    IMAGES=$cache/images/controller.tar
    rm -f "$IMAGES"
    "$("$here/containers.sh")/docker" save -o "$IMAGES" "$image" >/dev/null || die "$image could not be saved: run \`make controller-image\`"
    export IMAGES
fi
export "${operator?}" FUNCTION KUSTOMIZE ENVOY_GATEWAY GATEWAY_DEFINITIONS WORK
exec "$here/cluster.sh" "$WORK" "$python" "$here/../tests/node/${suite/-/_}.py" "$@"
