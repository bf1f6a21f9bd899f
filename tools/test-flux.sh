#!/usr/bin/env bash
# Holds examples/flux, the hooks for pre-commit and the GitHub Action: the committed
# objects are up to date, and each of the three says so when they are not.
#
#   tools/test-flux.sh [exec] [container]
#
# `container` runs the Action, and needs the image of `make image`.
#
#   FUNCTION   the program (default: what `make build` built)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

choose_forms "$@"
[[ -z $write ]] || die "has nothing to write"
need go
function=$(program)
kustomize=$("$here/kustomize.sh")
assets=$("$here/kubernetes.sh" kube-apiserver kubectl etcd)
root=$(cd "$here/.." && pwd)
example=$root/examples/flux
image=$(sed -n 's/^ *- image: //p' "$root/examples/kpt/config-file/Kptfile")

work=$(mktemp -d)
trap '"$here/apiserver.sh" stop "$work/api"; rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$function" "$work/bin/expose-valkey"
PATH=$work/bin:$PATH

# What each of them runs, as it is written there; all in a folder with `manifests`.
hook() { # hook ID: its entry, with the arguments that the documentation gives
    local entry
    entry=$(sed -n "/^- id: $1\$/,/^- id:/s/^  entry: //p" "$root/.pre-commit-hooks.yaml")
    [[ $entry == expose-valkey* ]] || die "there is no hook $1"
    # shellcheck disable=SC2086 # pre-commit splits it as well
    $entry -f manifests -o manifests/external-access.yaml
}
action() { # action WRITE: the script of the Action
    MANIFESTS=$'manifests\n' OUTPUT=manifests/external-access.yaml CONFIG=$config WRITE=$1 IMAGE=$image \
        bash -c "$(sed '1,/^    run: |$/d; s/^      //' "$root/action.yml")"
}

# fresh COMMAND..., stale COMMAND...: what a check must make of it.
fresh() {
    "$@" >"$work/printed" 2>"$work/said" || { cat "$work/said" >&2 && die "$*: an up-to-date file must pass"; }
    [[ ! -s $work/printed && ! -s $work/said ]] || die "$*: an up-to-date file is no news"
}
stale() {
    local status=0
    cp manifests/external-access.yaml "$work/before"
    "$@" >"$work/printed" 2>"$work/said" || status=$?
    [[ $status == 1 ]] || { cat "$work/said" >&2 && die "$*: a stale file must give exit code 1, not $status"; }
    cmp "$work/before" manifests/external-access.yaml || die "$*: a check must not write"
    # A unified diff: another tool can apply it, and then all is well.
    patch --quiet -p0 --output="$work/patched" manifests/external-access.yaml "$work/printed" ||
        die "$*: what is printed must be a unified diff"
    grep -q 'not up to date' "$work/said" || die "$*: it must say what to do"
    expose-valkey render -f manifests >"$work/rendered" 2>/dev/null
    cmp "$work/rendered" "$work/patched" || die "$*: the diff must lead to what would be written"
}
written() {
    "$@" >"$work/printed" 2>"$work/said" || { cat "$work/said" >&2 && die "$*: it must write the file"; }
    fresh expose-valkey render -f manifests -o manifests/external-access.yaml --check
}

cd "$work"
cp -r "$example/manifests" manifests
need patch
config=
checks=('expose-valkey render -f manifests -o manifests/external-access.yaml --check')
writes=('expose-valkey render -f manifests -o manifests/external-access.yaml')
if [[ " ${forms[*]} " == *" exec "* ]]; then
    checks+=('hook expose-valkey-check')
    writes+=('hook expose-valkey-render')
fi
if [[ " ${forms[*]} " == *" container "* ]]; then
    containers=$("$here/containers.sh")
    PATH=$containers:$PATH
    docker image inspect "$image" >/dev/null || die "$image must be there: run \`make image\`"
    checks+=('action false')
    writes+=('action true')
fi
for i in "${!checks[@]}"; do
    read -ra check <<<"${checks[i]}"
    read -ra write <<<"${writes[i]}"
    rm -r manifests
    cp -r "$example/manifests" manifests
    fresh "${check[@]}"
    sed -i 's/replicas: 1/replicas: 2/' manifests/cluster.yaml
    stale "${check[@]}"
    written "${write[@]}"
    fresh "${check[@]}"
    grep -q 'name: cache-1-2$' manifests/external-access.yaml || die "${write[*]}: the new nodes must be there"
    # An edit by hand, and an error in the cluster: that one is written nowhere.
    sed -i 's/port: 9000$/port: 9999/' manifests/external-access.yaml
    stale "${check[@]}"
    written "${write[@]}"
    cp manifests/external-access.yaml before
    sed -i 's/basePort: 9000/basePort: 0/' manifests/cluster.yaml
    for command in "${checks[i]}" "${writes[i]}"; do
        status=0
        $command >"$work/printed" 2>"$work/said" || status=$?
        [[ $status == 1 && ! -s $work/printed ]] || die "$command: an error must give exit code 1 and no output"
        grep -q 'basePort: must be 1 to 65535, got 0 (manifests/cluster.yaml:' "$work/said" || die "$command: it must name the error"
        cmp before manifests/external-access.yaml || die "$command: an error must write nothing"
    done
    echo "${checks[i]}: fresh, stale and broken are told apart"
done
if [[ " ${forms[*]} " == *" container "* ]]; then
    rm -r manifests
    cp -r "$example/manifests" manifests
    mv manifests/expose.yaml "with space.yaml"
    config='with space.yaml'
    fresh action false
    echo 'action: a functionConfig of its own is used'
fi

# As Flux reads a folder that has no kustomization: every manifest, and no local config.
rm -r manifests
cp -r "$example/manifests" manifests
(cd manifests && "$kustomize" create --autodetect --recursive)
"$kustomize" build manifests >applied
! grep 'ExposeValkey' applied >&2 || die "the functionConfig must not be applied"
for kind in ValkeyCluster Gateway ListenerSet Service ValkeyNode TCPRoute; do
    grep -qx "kind: $kind" applied || die "$kind must be applied"
done
[[ $(grep -c 'kustomize.toolkit.fluxcd.io/prune: disabled' applied) == "$(grep -cx 'kind: ValkeyNode' applied)" ]] ||
    die "every ValkeyNode must be kept from pruning"

# The commands of the artifact, as they are written; what is pushed is kept, and must be applied as the committed folder is.
cat >bin/flux <<'STUB'
#!/bin/sh
for argument; do
    case $argument in --path=*) cp -r "${argument#--path=}" "$PUSHED" ;; oci://*) echo "$argument" ;; esac
done
STUB
chmod +x bin/flux
mkdir -p repository/examples
cp -r "$example" repository/examples/flux
rm repository/examples/flux/manifests/external-access.yaml
commands=$(sed -n '/^cp -r examples\/flux/,/^```$/p' "$example/README.md" | sed '$d')
[[ $commands == *'flux push artifact'* ]] || die "examples/flux/README.md must say how an artifact is pushed"
grep -qF "$commands" "$root/docs/pipelines/flux.md" || die "docs/pipelines/flux.md must give the commands of the example"
(cd repository && git init --quiet && PUSHED=$work/pushed bash -euo pipefail -c "${commands/git rev-parse HEAD/echo 0}") >printed
url=$(sed -n 's/^  url: //p' "$example/oci/cache.yaml"):$(sed -n 's/^    tag: //p' "$example/oci/cache.yaml")
[[ $(<printed) == "$url" ]] || die "what is pushed to $(<printed) must be what the OCIRepository pulls, $url"
(cd pushed && "$kustomize" create --autodetect --recursive)
"$kustomize" build pushed >applied-from-artifact
cmp applied applied-from-artifact || die "the artifact must hold what would have been committed"
sed -i 's/basePort: 9000/basePort: 0/' repository/examples/flux/manifests/cluster.yaml
rm -r repository/artifact pushed
! (cd repository && PUSHED=$work/pushed bash -euo pipefail -c "$commands") >printed 2>said || die "an error must stop the commands"
[[ ! -e pushed ]] || die "an error must not be pushed"
echo 'artifact: what is pushed is what would have been committed'

# Flux's own definitions for what Flux is told.
"$here/apiserver.sh" start "$work/api" >/dev/null
kubectl() {
    "$assets/kubectl" --kubeconfig "$work/api/kubeconfig" --cache-dir "$work/cache" "$@"
}
for module in kustomize-controller@v1.9.6 source-controller@v1.9.6; do
    folder=$(GOFLAGS='' go mod download -json "github.com/fluxcd/$module" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    for file in "$folder"/config/crd/bases/*.yaml; do
        kubectl apply --server-side -f "$file" >/dev/null
    done
done
for ((i = 0; i < 100; i++)); do
    kubectl wait --for=condition=Established crd --all >/dev/null 2>&1 && break
    sleep 0.2
done
kubectl create namespace flux-system >/dev/null
for folder in cluster oci; do
    kubectl apply --server-side --dry-run=server -f "$example/$folder" >/dev/null || die "examples/flux/$folder is not accepted"
done
echo 'Flux: its objects are accepted, and it applies what it should'
