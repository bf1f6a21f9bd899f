#!/usr/bin/env bash
# Runs the packages of examples/kpt by kpt, in copies of them under git, and looks
# at what becomes of their files:
#
#   tools/test-kpt.sh [exec] [container]
#
# with the function as a program (`exec`), as a container (`container`, needs the
# image of `make image`), or both.
#
#   FUNCTION   the program (default: what `make build` built)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

choose_forms "$@"
[[ -z $write ]] || die "has nothing to write"
need git
kpt=$("$here/kpt.sh")
function=$(program)
examples=$here/../examples/kpt
image=$(sed -n 's/^ *- image: //p' "$examples/config-file/Kptfile")
if [[ " ${forms[*]} " == *" container "* ]]; then
    containers=$("$here/containers.sh")
    PATH=$containers:$PATH
    docker image inspect "$image" >/dev/null || die "$image must be there: run \`make image\`"
    export KRM_FN_RUNTIME=docker KPT_FN_RUNTIME=docker
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$function" "$work/bin/expose-valkey"
PATH=$work/bin:$PATH
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@example.org
export GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@example.org

commit() {
    git add -A
    git commit -q --allow-empty -m "$1"
}

# begin NAME PACKAGE: a fresh copy of a package, committed, to work in.
begin() {
    title="$form: $1"
    rm -rf "$work/package"
    cp -r "$examples/$2" "$work/package"
    cd "$work/package"
    if [[ $form == exec ]]; then
        sed -i 's/- image: .*/- exec: expose-valkey/' Kptfile
    fi
    git init -q
    commit package
}

wrong() {
    cat "$work/said" >&2 || :
    die "$title: $*"
}

passed() {
    echo "$title"
}

# render [ARGUMENT...], which must succeed; refused is a render that must not.
render() {
    "$kpt" fn render "${how[@]}" "$@" >"$work/said" 2>&1 || wrong "kpt fn render failed"
}

refused() {
    if "$kpt" fn render "${how[@]}" "$@" >"$work/said" 2>&1; then
        wrong "kpt fn render succeeded"
    fi
}

# says TEXT: kpt has printed it, in one line.
says() {
    grep -qF -- "$1" "$work/said" || wrong "kpt did not say: $1"
}

# changed [FILE...]: these files are new or changed since the last commit, and no others.
changed() {
    local expected found
    expected=$(printf '%s\n' "$@" | sort)
    found=$(git status --porcelain --untracked-files=all | cut -c4- | sort)
    [[ $found == "$expected" ]] || wrong "changed files must be <$expected>, are <$found>"
}

# holds FILE KIND COUNT
holds() {
    local found
    found=$(grep -cx "kind: $2" "$1" || :)
    [[ $found == "$3" ]] || wrong "$1 must hold $3 of kind $2, holds $found"
}

# move FROM TO KIND [NAME-PATTERN]: moves documents to another file, as a user does.
move() {
    mkdir -p "$(dirname "$2")"
    awk -v to="$2" -v kind="kind: $3" -v name="${4:-.}" '
        BEGIN { RS = "---\n" }
        index($0, kind "\n") && match($0, "\n  name: [^\n]*" name) { printf "%s%s", moved++ ? "---\n" : "", $0 >to; next }
        { printf "%s%s", kept++ ? "---\n" : "", $0 }' "$1" >"$work/kept"
    mv "$work/kept" "$1"
    [[ -s $2 ]] || die "$title: no $3 was moved to $2"
}

for form in "${forms[@]}"; do
    if [[ $form == exec ]]; then
        how=(--allow-exec)
        run=(--exec expose-valkey)
    else
        how=(--image-pull-policy ifNotPresent)
        run=(--image "$image" --image-pull-policy ifNotPresent)
    fi

    begin "a package with a functionConfig: new objects in one new file, nothing else changes" config-file
    render
    changed cache-external-access.yaml
    holds cache-external-access.yaml Service 3
    holds cache-external-access.yaml ValkeyNode 6
    holds cache-external-access.yaml TCPRoute 6
    # portsPerShard of the functionConfig: shard 2 begins at 9000 + 2 * 3.
    grep -q 'port: 9006$' cache-external-access.yaml || wrong "expose.yaml had no effect"
    ! grep -nE 'internal.config|config.kubernetes.io/(path|index|local-config)' cache-external-access.yaml ||
        wrong "kpt's bookkeeping was copied"
    passed

    title="$form: a second render changes no byte"
    commit rendered
    render
    changed
    passed

    title="$form: objects that were moved stay where they are"
    move cache-external-access.yaml nodes/cache.yaml ValkeyNode
    move cache-external-access.yaml nodes/last.yaml Service shard-2
    commit moved
    render
    changed
    sed -i 's/replicas: 1/replicas: 2/' cluster.yaml
    git add cluster.yaml
    render
    holds nodes/cache.yaml ValkeyNode 6
    holds cache-external-access.yaml ValkeyNode 3
    # portsPerShard left room: the nodes that were there are not touched.
    changed cluster.yaml cache-external-access.yaml nodes/last.yaml
    git diff --exit-code >"$work/said" -- Kptfile cluster.yaml expose.yaml app || wrong "a file of the user changed"
    passed

    title="$form: scale-in removes what is stale, and leaves no empty file"
    commit scaled
    sed -i 's/shards: 3/shards: 2/' cluster.yaml
    git add cluster.yaml
    render --results-dir "$work/results"
    [[ ! -e nodes/last.yaml ]] || wrong "nodes/last.yaml must be gone, as all in it was stale"
    holds nodes/cache.yaml ValkeyNode 4
    holds cache-external-access.yaml ValkeyNode 2
    holds cache-external-access.yaml TCPRoute 6
    holds cache-external-access.yaml Service 2
    git diff --exit-code >"$work/said" -- Kptfile cluster.yaml expose.yaml app || wrong "a file of the user changed"
    cat "$work/results"/*.yaml >"$work/said"
    says 'rule: stale-removed'
    says 'path: nodes/last.yaml'
    passed

    title="$form: external access turned off takes all of it away"
    commit scaled-in
    sed -i 's/enabled: true/enabled: false/' cluster.yaml
    git add cluster.yaml
    render
    [[ ! -e cache-external-access.yaml && ! -e nodes/cache.yaml ]] || wrong "the rendered files must be gone"
    git diff --exit-code >"$work/said" -- Kptfile cluster.yaml expose.yaml app || wrong "a file of the user changed"
    passed

    begin "a package with keys in its Kptfile" config-map
    render
    changed queue-external-access.yaml
    holds queue-external-access.yaml Service 3
    holds queue-external-access.yaml ValkeyNode 6
    commit rendered
    render
    changed
    passed

    begin "kpt fn eval with keys gives what the Kptfile gives" config-map
    "$kpt" fn eval . "${run[@]}" -- enabled=true serviceType=LoadBalancer domain=queue.example.org \
        preferredEndpointType=hostname >"$work/said" 2>&1 || wrong "kpt fn eval failed"
    changed queue-external-access.yaml
    commit evaluated
    render
    changed
    passed

    begin "kpt fn eval with a functionConfig gives what kpt fn render gives" config-file
    "$kpt" fn eval . "${run[@]}" --fn-config expose.yaml >"$work/said" 2>&1 || wrong "kpt fn eval failed"
    changed cache-external-access.yaml
    commit evaluated
    render
    changed
    passed

    begin "a broken cluster is named by file and field, and no file changes" config-file
    sed -i 's/basePort: 9000/basePort: 70000/; s/preferredEndpointType: hostname/preferredEndpointType: hostnam/' cluster.yaml
    commit broken
    refused --results-dir "$work/errors"
    changed
    says '[error] valkey.io/v1alpha1/ValkeyCluster/shop/cache spec.externalAccess.gateway.basePort: must be 1 to 65535, got 70000 (cluster.yaml)'
    says 'spec.externalAccess.preferredEndpointType: must be one of'
    cat "$work/errors"/*.yaml >"$work/said"
    says 'path: spec.externalAccess.gateway.basePort'
    says 'path: cluster.yaml'
    says 'rule: out-of-range'
    rm -r "$work/errors"
    passed

    title="$form: a broken cluster leaves what was rendered before as it was"
    git revert --no-edit HEAD >/dev/null
    render
    commit rendered
    sed -i 's/shards: 3/shards: none/' cluster.yaml
    commit broken
    refused
    changed
    passed

    begin "a misspelled key is named, and no file changes" config-map
    if "$kpt" fn eval . "${run[@]}" -- domian=queue.example.org >"$work/said" 2>&1; then
        wrong "kpt fn eval succeeded"
    fi
    # shellcheck disable=SC2016 # backquotes of the message
    says 'data.domian: there is no field `domian`: did you mean `domain`?'
    changed
    passed
done

# A program that is killed while it writes: kpt must not take half a list for a whole one.
form="exec"
how=(--allow-exec)
begin "the function is killed in the middle: no file changes" config-file
cat >"$work/bin/killed" <<'END'
#!/usr/bin/env bash
expose-valkey >"$0.whole"
head -c "$(($(stat -c %s "$0.whole") / 2))" "$0.whole"
kill -KILL $$
END
chmod +x "$work/bin/killed"
render
sed -i 's/shards: 3/shards: 4/' cluster.yaml
sed -i 's/exec: expose-valkey/exec: killed/' Kptfile
commit rendered
refused
[[ -s $work/bin/killed.whole ]] || wrong "the function was not run"
changed
passed
