#!/usr/bin/env bash
# Runs examples/kustomize-overlay by Kustomize and compares with what lies beside
# each kustomization, and holds what docs/pipelines/kustomize.md says about the
# order of the function and of namePrefix, namespace and labels:
#
#   tools/test-kustomize.sh [exec] [container]
#
# with the function as a program (`exec`), as a container (`container`, needs the
# image of `make image`), or both. `tools/test-kustomize.sh --write` writes what the
# program prints as what is expected, to be read before it is committed.
#
#   FUNCTION   the program (default: what `make build` built)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

choose_forms "$@"

kustomize=$("$here/kustomize.sh")
function=$(program)
examples=$(cd "$here/../examples" && pwd)
example=$examples/kustomize-overlay
image=$(sed -n 's/^ *- image: //p' "$examples/kpt/config-file/Kptfile")
if [[ " ${forms[*]} " == *" container "* ]]; then
    containers=$("$here/containers.sh")
    PATH=$containers:$PATH
    docker image inspect "$image" >/dev/null || die "$image must be there: run \`make image\`"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmp "$here/../fn-config/kustomize/names.yaml" "$example/base/names.yaml" >&2 ||
    die "names.yaml of the example must be that of fn-config/kustomize"

# build FOLDER >OUTPUT: whatever the function says is a fault.
build() {
    "$kustomize" build "${flags[@]}" "$1" 2>"$work/said" || { cat "$work/said" >&2 && die "$form: $1 could not be built"; }
    [[ ! -s $work/said ]] || { cat "$work/said" >&2 && die "$form: $1 was built with warnings"; }
}

for form in "${forms[@]}"; do
    copy=$work/$form
    cp -r "$example" "$copy"
    if [[ $form == exec ]]; then
        flags=(--enable-alpha-plugins --enable-exec)
        sed -i "s#path: ../../expose-valkey#path: $function#" "$copy"/*/*.yaml
    else
        flags=(--enable-alpha-plugins)
        sed -i "s#exec:#container:#; s#path: ../../expose-valkey#image: $image#" "$copy"/*/*.yaml
    fi
    for name in overlay generator both; do
        build "$copy/$name" >"$work/printed"
        if [[ $write ]]; then
            cp "$work/printed" "$example/$name/expected.yaml"
        else
            diff -u "$example/$name/expected.yaml" "$work/printed" >&2 || die "$form: $name did not print what it should"
        fi
        echo "$form: $name: $(grep -c '^kind:' "$work/printed") objects, as expected"
    done
done

# What comes first: the function at the end of the inner kustomization, and the
# rest in an outer one. Both prefixes and selectors reach what must not change.
form='exec'
flags=(--enable-alpha-plugins --enable-exec)
# inner FIELD...: a kustomization with the function and these fields; outer: around it.
inner() {
    rm -rf "$work/order"
    cp -r "$example" "$work/order"
    sed -i "s#path: ../../expose-valkey#path: $function#" "$work"/order/*/*.yaml
    {
        printf 'resources: [../base]\ntransformers: [expose.yaml]\n'
        printf '%s\n' "$@"
    } >"$work/order/overlay/kustomization.yaml"
    mkdir "$work/order/outer"
}
outer() {
    {
        printf 'resources: [../overlay]\n'
        printf '%s\n' "$@"
    } >"$work/order/outer/kustomization.yaml"
}
# printed_has TEXT, printed_lacks TEXT: a whole line of the output.
printed_has() {
    grep -qx -- " *$1" "$work/printed" || die "order: the output must have: $1"
}
printed_lacks() {
    ! grep -x -- " *$1" "$work/printed" >&2 || die "order: the output must not have: $1"
}

# By now namespace and plain labels may come from outside: the same comes out.
for field in 'namespace: shop' 'labels: [{pairs: {team: web}}]'; do
    inner "$field"
    build "$work/order/overlay" >"$work/inside"
    inner
    outer "$field"
    build "$work/order/outer" >"$work/printed"
    diff -u "$work/inside" "$work/printed" >&2 || die "order: \`$field\` outside must give what it gives inside"
    echo "order: $field: the same inside and outside"
done

# A prefix from outside: references hold, but nothing is named after the cluster any more.
inner
outer 'namePrefix: prod-'
build "$work/order/outer" >"$work/printed"
printed_has 'name: prod-valkey-cache-shard-0'
printed_has '- name: prod-valkey-cache-shard-0'
printed_lacks 'valkey.io/cluster: prod-cache'
printed_has 'valkey.io/cluster: cache'
printed_has 'name: prod-cache'
echo 'order: a namePrefix outside breaks the names, as documented'

# The same with the cluster as configuration of a generator.
inner
printf 'namePrefix: prod-\n' >>"$work/order/generator/kustomization.yaml"
build "$work/order/generator" >"$work/printed"
printed_has 'name: prod-valkey-queue-shard-0'
printed_has 'valkey.io/cluster: queue'
echo 'order: a namePrefix over a generator breaks the names, as documented'

# Selectors from outside: no pod has that label.
inner
outer 'labels: [{pairs: {team: web}, includeSelectors: true}]'
build "$work/order/outer" >"$work/printed"
grep -A3 '^  selector:' "$work/printed" | grep -q '^    team: web' || die "order: selectors must have the label"
inner 'labels: [{pairs: {team: web}, includeSelectors: true}]'
build "$work/order/overlay" >"$work/printed"
! grep -A3 '^  selector:' "$work/printed" | grep '^    team: web' >&2 || die "order: selectors must not have the label"
printed_has 'team: web'
echo 'order: includeSelectors outside breaks the Services, as documented'

# Without names.yaml nothing follows the prefix.
inner 'namePrefix: prod-'
sed -i '/^configurations:/,/names.yaml/d' "$work/order/base/kustomization.yaml"
sed -i 's/listeners: Gateway/listeners: None/' "$work/order/overlay/expose.yaml"
"$kustomize" build "${flags[@]}" "$work/order/overlay" >"$work/printed" 2>/dev/null
printed_has 'name: prod-valkey'
printed_has '- name: valkey'
echo 'order: without names.yaml the routes miss the Gateway, as documented'
