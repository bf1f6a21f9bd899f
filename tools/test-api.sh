#!/usr/bin/env bash
# Has a Kubernetes API server check what the function prints, by
# `kubectl apply --server-side --dry-run=server`: the examples, the inputs of
# testdata/parity/pr281 and those of testdata/api, under the definitions of the
# operator (testdata/crds/pr281), of several releases of the Gateway API, and of
# cert-manager and external-dns.
#
#   tools/test-api.sh
#
#   FUNCTION   the program (default: what `make build` built)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

need go
function=$(program)
assets=$("$here/kubernetes.sh" kube-apiserver kubectl etcd)
cd "$here/.."

work=$(mktemp -d)
trap '"$here/apiserver.sh" stop "$work/api"; rm -rf "$work"' EXIT
kubectl() {
    "$assets/kubectl" --kubeconfig "$work/api/kubeconfig" --cache-dir "$work/cache" "$@"
}

# definitions MODULE@VERSION PATH: where they are.
definitions() {
    local folder
    folder=$(cd "$work" && GOFLAGS='' go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    [[ -e $folder/$2 ]] || die "$1 has no $2"
    echo "$folder/$2"
}
certificates=$(definitions github.com/cert-manager/cert-manager@v1.19.1 deploy/crds/cert-manager.io_certificates.yaml)
records=$(definitions sigs.k8s.io/external-dns@v0.19.0 config/crd/standard/dnsendpoints.externaldns.k8s.io.yaml)

# Inputs that the function refuses, and those that have nothing to expose.
refused=(
    gateway-baseport-0 gateway-baseport-70000 gateway-ports-past-65535 hostname-empty-domain hostname-without-domain
    name-49 name-64 name-dotted shards-omitted
)
nothing=(ea-disabled ea-empty-object minimal)
# ValkeyNodes that this server refuses, and its reason, which it has against the
# ValkeyCluster as well: they are handed on as they are, for an operator that may
# know more.
declare -A reasons=(
    [unknown-fields]='field not declared in schema|typed patch object .*: errors:$'
    [quantity-float-rejected]='spec.resources.requests.cpu: Invalid value: "number"'
)
is_one_of() { # is_one_of NAME LIST...
    local name=$1
    shift
    [[ " $* " == *" $name "* ]]
}

# The functionConfig that a Kptfile has in a few keys.
{
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: keys}\n'
    sed -n 's/^ *configMap:$/data:/; /^data:/,$p' examples/kpt/config-map/Kptfile | sed 's/^        /  /'
} >"$work/keys.yaml"

# render NAME ARGUMENT...: its objects, with what else is in them, as $work/out/NAME.yaml.
render() {
    local name=$1
    shift
    if ! "$function" render "$@" -f "$crds" >"$work/out/$name.yaml" 2>"$work/said"; then
        is_one_of "$name" "${refused[@]}" || { cat "$work/said" >&2 && die "$name must be rendered"; }
        rm "$work/out/$name.yaml"
        return
    fi
    if is_one_of "$name" "${refused[@]}"; then die "$name must be refused"; fi
    if is_one_of "$name" "${nothing[@]}"; then
        [[ ! -s $work/out/$name.yaml ]] || die "$name must expose nothing"
        rm "$work/out/$name.yaml"
    elif [[ ! -s $work/out/$name.yaml ]]; then
        die "$name must expose something"
    fi
}

# Everything that there is to check, under the definitions in $crds.
render_all() {
    local folder file
    rm -rf "$work/out"
    mkdir "$work/out"
    for folder in examples/*/exec/; do
        folder=${folder%/exec/}
        render "example-${folder#*/}" -f "$folder/base" -c "$folder/exec/expose.yaml"
    done
    render example-kpt-config-file -f examples/kpt/config-file
    render example-flux -f examples/flux/manifests
    render example-kpt-config-map -f examples/kpt/config-map -c "$work/keys.yaml"
    for folder in testdata/parity/pr281/*/; do
        render "$(basename "$folder")" -f "$folder/input.yaml"
    done
    for file in testdata/api/*.yaml; do
        [[ $file != *v1alpha2* || $channel == experimental ]] || continue
        render "$(basename "$file" .yaml)" -f "$file"
    done
}

# documents PATTERN FILE: the documents that have a whole line of that pattern.
documents() {
    awk -v pattern="(^|\n)($1)\n" 'BEGIN { RS = "---\n" } $0 ~ pattern { printf "%s%s", n++ ? "---\n" : "", $0 }' "$2"
}

total=0
# apply NAME FILE: all of its objects must be accepted.
apply() {
    local count reason=''
    count=$(grep -c '^kind:' "$2" || :)
    ((count)) || return 0
    ! grep -q '^kind: ValkeyNode$' "$2" || reason=${reasons[$1]:-}
    if kubectl apply --server-side --dry-run=server -f "$2" >"$work/applied" 2>"$work/said"; then
        [[ ! $reason ]] || die "$1 must not be accepted"
        [[ $(grep -c '(server dry run)$' "$work/applied") == "$count" ]] || die "not all objects of $1 were applied"
    elif [[ $reason ]]; then
        ! grep -vE "$reason" "$work/said" >&2 || die "$1 is not accepted for another reason than: $reason"
        count=$(grep -c '(server dry run)$' "$work/applied" || :)
    else
        head -c 3000 "$work/said" >&2
        die "$version $channel: $1 is not accepted"
    fi
    total=$((total + count))
}

serve() {
    "$here/apiserver.sh" stop "$work/api"
    rm -rf "$work/api" "$work/cache"
    "$here/apiserver.sh" start "$work/api" >/dev/null
    # A file for Kustomize lies beside the definitions in some releases.
    local file files=(-f testdata/crds/pr281 -f "$certificates" -f "$records")
    for file in "$crds"/gateway*.yaml; do files+=(-f "$file"); done
    kubectl apply --server-side "${files[@]}" >/dev/null || die "the definitions of $version $channel are not accepted"
    # Right after apply they have no conditions yet, which `wait` takes for an error.
    for ((i = 0; i < 100; i++)); do
        kubectl wait --for=condition=Established crd --all >/dev/null 2>&1 && break
        sleep 0.2
    done
    ((i < 100)) || die "the definitions of $version $channel are not served"
}

first=yes
for set in '1.6.3 standard' '1.6.3 experimental' '1.5.1 experimental' '1.5.1 standard'; do
    read -r version channel <<<"$set"
    crds=$(definitions "sigs.k8s.io/gateway-api@v$version" "config/crd/$channel")
    render_all
    serve
    # Every namespace must be there, also for a dry run.
    cat "$work"/out/*.yaml examples/*/expected.yaml examples/*/*/expected.yaml testdata/parity/pr281/*/input.yaml |
        sed -n 's/^  namespace: //p' | sort -u | while read -r namespace; do
        [[ $namespace == default ]] || kubectl create namespace "$namespace" >/dev/null
    done

    # A server that accepts anything would prove nothing.
    for bad in 'TLSRoute spec.parentRefs.port' 'Service spec.ports.port' 'ValkeyNode spec.workloadType'; do
        read -r kind field <<<"$bad"
        case $kind in
        TLSRoute) documents 'kind: TLSRoute' "$work/out/sni.yaml" | sed 's/^    port: .*/    port: 70000/' ;;
        Service) documents 'kind: Service' "$work/out/sni.yaml" | sed 's/^    port: .*/    port: 70000/' ;;
        ValkeyNode) documents 'kind: ValkeyNode' "$work/out/sni.yaml" | sed 's/^  workloadType: .*/  workloadType: Job70000/' ;;
        esac >"$work/bad.yaml"
        grep -q 70000 "$work/bad.yaml" || die "$kind: $field could not be made wrong"
        if kubectl apply --server-side --dry-run=server -f "$work/bad.yaml" >/dev/null 2>&1; then
            die "$version $channel: a wrong $kind, $field, must be refused"
        fi
    done

    total=0
    for file in "$work"/out/*.yaml; do
        name=$(basename "$file" .yaml)
        case $set in
        '1.6.3 standard') cp "$file" "$work/checked.yaml" ;;
        # No TCPRoute at all.
        '1.5.1 standard') documents 'kind: (ListenerSet|TLSRoute)' "$file" >"$work/checked.yaml" ;;
        *) documents 'apiVersion: gateway.networking.k8s.io/[a-z0-9]*' "$file" >"$work/checked.yaml" ;;
        esac
        apply "$name" "$work/checked.yaml"
    done
    if [[ $first ]]; then
        # The clusters themselves, their Gateways, and all that the examples promise.
        for file in examples/*/expected.yaml examples/*/*/expected.yaml examples/flux/manifests/{cluster,gateway,external-access}.yaml; do
            [[ $file == examples/operator/* ]] || apply "$file" "$file"
        done
        # Those for the operator that is released, under its definitions.
        kubectl apply --server-side --force-conflicts -f testdata/crds/main >/dev/null
        for ((i = 0; i < 100; i++)); do
            kubectl explain valkeyclusters.spec.networking >/dev/null 2>&1 && break
            sleep 0.2
        done
        for file in examples/operator/*/expected.yaml; do
            apply "$file" "$file"
        done
        first=
    fi
    # A Gateway that the function has put listeners into.
    documents 'kind: Gateway' examples/kustomize-overlay/overlay/expected.yaml >"$work/checked.yaml"
    apply 'edited Gateway' "$work/checked.yaml"
    versions=$(cat "$work"/out/*.yaml | documents 'kind: TCPRoute' - | sed -n 's/^apiVersion: .*\///p' | sort | uniq -c | tr -s ' \n' ' ')
    case $set in
    '1.6.3 standard') [[ $versions == *' v1 ' && $versions != *v1alpha2* ]] || die "routes must be v1: $versions" ;;
    '1.6.3 experimental') [[ $versions == *' v1 6 v1alpha2 ' ]] || die "routes must be v1, 6 v1alpha2: $versions" ;;
    '1.5.1 experimental') [[ $versions == *' v1alpha2 ' && $versions != *'v1 '* ]] || die "routes must be v1alpha2: $versions" ;;
    esac
    ((total > 10)) || die "$set: only $total objects were checked"
    echo "Gateway API $version, $channel channel: $total objects accepted"
done
