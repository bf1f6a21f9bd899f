#!/usr/bin/env bash
# Looks at deploy/: it builds, with all that its README.md adds to it; an API server
# takes it; and the controller's ServiceAccount may do what the controller does,
# and nothing of what it does not.
#
#   tools/test-deploy.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

kustomize=$("$here/kustomize.sh")
work=$(mktemp -d)
trap '"$here/apiserver.sh" stop "$work/api"; rm -rf "$work"' EXIT
KUBECONFIG=$("$here/apiserver.sh" start "$work/api")
export KUBECONFIG
kubectl=$("$here/kubernetes.sh" kubectl)/kubectl

"$kubectl" apply --server-side -f "$here/../testdata/crds/pr281" >/dev/null

# Each kustomization of the README, where its paths say that it lies.
cp -r "$here/../deploy" "$work/deploy"
count=0
while IFS= read -r line; do
    case $line in
    '```yaml')
        count=$((count + 1)) inside=yes
        mkdir "$work/$count"
        ;;
    '```') inside= ;;
    *) [[ ! ${inside-} ]] || printf '%s\n' "$line" >>"$work/$count/kustomization.yaml" ;;
    esac
done <"$here/../deploy/README.md"
((count == 4)) || die "deploy/README.md must show 4 kustomizations, not $count"
for ((i = 1; i <= count; i++)); do
    "$kustomize" build "$work/$i" >"$work/$i.yaml" || die "kustomization $i of deploy/README.md must build"
done
! grep -q CLUSTER "$work/1.yaml" || die "the names of Secrets must be those of the README"
[[ $(grep -c 'kind: ClusterRoleBinding' "$work/2.yaml") == 1 ]] ||
    die "with some namespaces only, only the right to Kubernetes nodes must be for the whole cluster"

"$kustomize" build "$work/deploy/base" | "$kubectl" apply --server-side -f - >/dev/null
"$kubectl" create namespace team-a >/dev/null
"$kubectl" apply --server-side -f "$work/1.yaml" -f "$work/3.yaml" >/dev/null
"$kubectl" apply --server-side --dry-run=server -f "$work/2.yaml" >/dev/null

# can EXPECTED VERB RESOURCE [ARGUMENT...]
can() {
    local said
    said=$("$kubectl" auth can-i "${@:2}" --as system:serviceaccount:expose-valkey:expose-valkey-controller 2>/dev/null || :)
    [[ $said == "$1" ]] || die "may the controller ${*:2}? It must be $1, not $said"
}
can yes watch valkeyclusters.valkey.io --all-namespaces
can yes patch valkeyclusters.valkey.io --subresource=status -n team-a
can yes patch valkeynodes.valkey.io -n team-a
can yes create events.events.k8s.io -n team-a
can yes update leases.coordination.k8s.io/expose-valkey-controller -n expose-valkey
can yes get secrets/internal-cache-system-passwords -n team-a
can no create valkeynodes.valkey.io -n team-a
can no patch valkeyclusters.valkey.io -n team-a
can no delete valkeynodes.valkey.io -n team-a
can no patch services -n team-a
can no create pods --subresource=exec -n team-a
can no get secrets/other -n team-a
can no list secrets -n team-a
can no get secrets/internal-cache-system-passwords -n default
can no update leases.coordination.k8s.io/expose-valkey-controller -n team-a
can no get configmaps -n team-a
echo "deploy/: built in $((count + 1)) ways, and its rights are as they should be"
