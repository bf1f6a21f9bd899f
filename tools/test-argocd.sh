#!/usr/bin/env bash
# Holds examples/argocd: runs the plugin's generate command as Argo CD does, its
# health checks by the Lua that Argo CD has, and has an API server check the patched
# repository server and the Applications.
#
#   tools/test-argocd.sh
#
#   FUNCTION   the program (default: what `make build` built)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

argocd=3.1.16
need go
function=$(program)
kustomize=$("$here/kustomize.sh")
assets=$("$here/kubernetes.sh" kube-apiserver kubectl etcd)
example=$(cd "$here/../examples/argocd" && pwd)

work=$(mktemp -d)
trap '"$here/apiserver.sh" stop "$work/api"; rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$function" "$work/bin/expose-valkey"

# The plugin: in the application's folder, manifests on standard output, and an
# exit code that is not 0 if there is an error. Nothing but its PATH is known to it.
sed -n '/^    args:$/,$p' "$example/plugin/plugin.yaml" | sed '1,2d; s/^      //' >"$work/generate.sh"
grep -q 'expose-valkey render' "$work/generate.sh" || die "the plugin's command was not found"
generate() {
    (cd "$work/app" && env -i PATH="$work/bin:/usr/bin:/bin" ARGOCD_APP_NAME=cache sh -c "$(<"$work/generate.sh")") \
        >"$work/printed" 2>"$work/said"
}
wrong() {
    cat "$work/said" >&2
    die "plugin: $*"
}

cp -r "$example/manifests" "$work/app"
generate || wrong "it must succeed"
[[ ! -s $work/said ]] || wrong "it must say nothing"
diff -u "$example/expected.yaml" "$work/printed" >&2 || wrong "it must print examples/argocd/expected.yaml"
diff -r "$example/manifests" "$work/app" >&2 || wrong "it must leave the folder as it was"
echo "plugin: $(grep -c '^kind:' "$work/printed") objects, as expected"

# Manifests of any kind, with what other tools and people leave beside them.
mkdir -p "$work/app/deep/er" "$work/app/.git"
printf '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "json"}}' >"$work/app/deep/er/config.json"
printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: with space\n...\n' >"$work/app/deep/with space.yml"
echo 'not: a manifest' >"$work/app/.git/hidden.yaml"
echo 'text' >"$work/app/README.md"
generate || wrong "it must succeed with other files in the folder"
mkdir "$work/parse"
cp "$work/printed" "$work/parse/all.yaml"
printf 'resources: [all.yaml]\n' >"$work/parse/kustomization.yaml"
"$kustomize" build "$work/parse" >"$work/parsed" 2>"$work/said" || wrong "what it prints must be manifests"
for name in json 'with space' cache-1-1 valkey-cache-shard-1; do
    grep -qx "  name: $name" "$work/parsed" || wrong "$name must come out"
done
! grep -E 'not: a|ExposeValkey' "$work/parsed" >&2 || wrong "hidden files must not come out"
echo 'plugin: manifests of all kinds come out, hidden files do not'

sed -i 's/serviceType: LoadBalancer/serviceType: Loadbalancer/' "$work/app/cluster.yaml"
! generate || wrong "it must fail when a cluster is wrong"
[[ ! -s $work/printed ]] || wrong "it must print nothing when a cluster is wrong"
grep -q 'serviceType.*cluster.yaml:11' "$work/said" || wrong "it must say what is wrong, and where"
echo 'plugin: an error prints nothing but the error'

# Health: object, and what Argo CD must think of it.
(cd "$here/luahealth" && GOFLAGS='' go build -o "$work/luahealth" .)
health() { # health WANTED KIND GENERATION STATUS
    printf 'apiVersion: valkey.io/v1alpha1\nkind: %s\nmetadata: {name: it, generation: %s}\n%s\n' "$2" "$3" "$4" >"$work/object.yaml"
    local found
    found=$("$work/luahealth" "$example/health/argocd-cm.yaml" "$work/object.yaml")
    [[ $found == "$1" ]] || die "health: $2 of generation $3 with $4 must be $1, is $found"
}
health Progressing ValkeyCluster 1 ''
health Progressing ValkeyCluster 1 'status: {state: Initializing}'
health Progressing ValkeyCluster 1 'status: {state: Reconciling, message: one}'
health Progressing ValkeyCluster 1 'status: {state: Degraded}'
health Degraded ValkeyCluster 1 'status: {state: Failed}'
health Healthy ValkeyCluster 1 'status: {state: Ready}'
health Healthy ValkeyCluster 2 'status: {state: Ready, conditions: [{type: Ready, observedGeneration: 2}]}'
health Progressing ValkeyCluster 3 'status: {state: Ready, conditions: [{type: Other}, {type: Ready, observedGeneration: 2}]}'
health Progressing ValkeyNode 1 ''
health Progressing ValkeyNode 1 'status: {ready: false, observedGeneration: 1}'
health Healthy ValkeyNode 1 'status: {ready: true, observedGeneration: 1}'
health Healthy ValkeyNode 1 'status: {ready: true}'
health Progressing ValkeyNode 2 'status: {ready: true, observedGeneration: 1}'
echo 'health: 13 objects are judged as they should be'

# Argo CD's own Deployment and ConfigMap, with all three components.
module=$(cd "$work" && GOFLAGS='' go mod download -json "github.com/argoproj/argo-cd/v3@v$argocd" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
mkdir "$work/argocd"
cp "$module/manifests/base/repo-server/argocd-repo-server-deployment.yaml" "$module/manifests/base/config/argocd-cm.yaml" "$work/argocd"
cp -r "$example"/{plugin,kustomize,health} "$work/argocd"
chmod -R u+w "$work/argocd"
cat >"$work/argocd/kustomization.yaml" <<'END'
namespace: argocd
resources: [argocd-repo-server-deployment.yaml, argocd-cm.yaml]
components: [plugin, health]
END
"$kustomize" build "$work/argocd" >"$work/with-plugin.yaml"
sed -i 's/^components: .*/components: [kustomize, health]/' "$work/argocd/kustomization.yaml"
"$kustomize" build "$work/argocd" >"$work/with-kustomize.yaml"

"$here/apiserver.sh" start "$work/api" >/dev/null
kubectl() {
    "$assets/kubectl" --kubeconfig "$work/api/kubeconfig" --cache-dir "$work/cache" "$@"
}
kubectl apply --server-side -f "$module/manifests/crds/application-crd.yaml" >/dev/null
for ((i = 0; i < 100; i++)); do
    kubectl wait --for=condition=Established crd --all >/dev/null 2>&1 && break
    sleep 0.2
done
kubectl create namespace argocd >/dev/null
for file in "$work/with-plugin.yaml" "$work/with-kustomize.yaml" "$example/applications"; do
    kubectl apply --server-side --dry-run=server -f "$file" >/dev/null || die "$file is not accepted"
done

# What the API server made of the patches.
pod() { # pod FILE JSONPATH
    kubectl apply --server-side --dry-run=server -f "$1" -o jsonpath="{range .items[?(@.kind=='Deployment')]}{.spec.template.spec$2}{end}"
}
[[ $(pod "$work/with-plugin.yaml" '.containers[*].name') == *expose-valkey* ]] || die "the sidecar must be in the pod"
[[ $(pod "$work/with-kustomize.yaml" '.containers[*].name') == argocd-repo-server ]] || die "there must be no sidecar without the plugin"
for file in "$work/with-plugin.yaml" "$work/with-kustomize.yaml"; do
    [[ $(pod "$file" '.initContainers[?(@.name=="install-expose-valkey")].args[0]') == install ]] || die "the program must be installed"
    [[ $(pod "$file" '.initContainers[*].name') == *copyutil* ]] || die "Argo CD's own init container must stay"
done
grep -q 'kustomize.buildOptions: --enable-alpha-plugins --enable-exec' "$work/with-kustomize.yaml" || die "functions must be enabled"
echo "Argo CD $argocd: the patched repository server and the Applications are accepted"
