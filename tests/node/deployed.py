"""The controller on the node: from deploy/, by its own image, with its own ServiceAccount."""

import os

from node import *

MANAGER = "expose-valkey-controller"
PLACE = "expose-valkey"


def install(secrets=()):
    """deploy/base, and a Role for the Secrets of each namespace: (namespace, names)."""
    apply(run(KUSTOMIZE, "build", ROOT / "deploy/base"))
    for place, names in secrets:
        folder = WORK / "secrets" / place
        folder.mkdir(parents=True)
        # As deploy/README.md has it.
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": f"{MANAGER}-secrets"},
                "rules": [{"apiGroups": [""], "resources": ["secrets"], "resourceNames": sorted(names), "verbs": ["get"]}]}
        (folder / "kustomization.yaml").write_text(yaml.safe_dump({
            "namespace": place, "resources": [os.path.relpath(ROOT / "deploy/cluster-secrets", folder)], "patches": [{"patch": yaml.safe_dump(role)}],
        }))
        namespace(place)
        apply(run(KUSTOMIZE, "build", folder))
    running(wanted())


def wanted():
    return int(get("deployment", MANAGER, PLACE)["spec"]["replicas"])


def running(count):
    def holds():
        status = get("deployment", MANAGER, PLACE).get("status", {})
        alive = [pod for pod in get("pods", None, PLACE) if not pod["metadata"].get("deletionTimestamp")]
        return len(alive) == count and status.get("readyReplicas", 0) == count

    wait(f"{count} controllers run", holds, 60)


def replicas(count):
    kubectl("scale", "deployment", MANAGER, "-n", PLACE, f"--replicas={count}")
    running(count)


def restart():
    kubectl("delete", "pods", "-n", PLACE, "--all")
    running(wanted())


def leader():
    return get("lease", MANAGER, PLACE)["spec"]["holderIdentity"]


def logs():
    return "\n".join(kubectl("logs", "-n", PLACE, pod["metadata"]["name"], "--tail=60") for pod in get("pods", None, PLACE))


def events(namespace, reason=None):
    """(reason, note) of our events in a namespace."""
    found = json.loads(kubectl("get", "events.events.k8s.io", "-n", namespace, "-o", "json"))["items"]
    return [(e["reason"], e.get("note", "")) for e in found if e.get("reportingController", "").endswith(MANAGER) and reason in (None, e["reason"])]


def together_or_fail(*tests):
    if failed := together(*tests):
        (WORK / "controller.log").write_text(logs())
        raise SystemExit(f"failed: {', '.join(failed)}; logs are in {WORK}")
