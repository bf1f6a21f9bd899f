"""The controller with the API that has externalAccess: alone, through faults, and beside its operator."""

import os
import signal
import sys

from deployed import *

OPERATOR = os.environ["VALKEY_OPERATOR_PR281"]
DEFINITIONS = ROOT / "testdata/crds/pr281"


class Cluster:
    """examples/nodeport in a namespace of its own, with ports that Kubernetes allocates."""

    def __init__(self, name):
        self.folder = copy("examples/nodeport", name)
        change(self.folder / "base", "namespace: shop", f"namespace: {name}")
        # What this node has: an image of the servers, and none of the exporter.
        change(self.folder / "base", "  replicas: 1\n", "  replicas: 1\n  image: docker.io/valkey/valkey:9.1.2\n  exporter: {enabled: false}\n")
        change(self.folder / "exec", "      nodePorts:\n        base: 31000\n", "      enabled: true\n")
        self.name, self.namespace = "queue", name
        namespace(name)

    def objects(self):
        return [o for o in yaml.safe_load_all(rendered(self.folder / "exec")) if o]

    def apply(self):
        apply(yaml.safe_dump_all(self.objects()))

    def ports(self):
        """(shard, node) → the NodePort that Kubernetes allocated."""
        return {
            (int(s["metadata"]["labels"]["valkey.io/shard-index"]), int(port["name"].removeprefix("vk-n"))): port["nodePort"]
            for s in get("services", None, self.namespace, f"valkey.io/cluster={self.name},valkey.io/shard-index")
            for port in s["spec"]["ports"]
        }

    def published(self):
        """All six ports, in the status of the cluster and in the ValkeyNodes."""
        ports = self.ports()
        check(len(ports) == 6, f"there are {len(ports)} ports")
        status = {
            (e["shardIndex"], n): port
            for e in get("valkeycluster", self.name, self.namespace).get("status", {}).get("externalEndpoints", []) for n, port in enumerate(e["nodePorts"])
        }
        check(status == ports, f"status has {status}, Services have {ports}")
        nodes = {
            tuple(int(n["metadata"]["labels"][f"valkey.io/{key}-index"]) for key in ("shard", "node")): n["spec"].get("externalAccessClientPort")
            for n in get("valkeynodes", None, self.namespace, f"valkey.io/cluster={self.name}")
        }
        check(nodes == ports, f"ValkeyNodes have {nodes}, Services have {ports}")
        return ports

    def settles(self, what, limit=30):
        ports = wait(f"{what}: the ports are published", self.published, limit)
        say(f"{what}: the ports are published")
        return ports

    def selections(self):
        return [(kind, self.namespace, "") for kind in ("valkeyclusters", "valkeynodes", "services")]

    def stands_still(self):
        stands_still(self.selections())
        say("nothing was written for 20 s")

    def recreate(self):
        """A Service is made anew: Kubernetes allocates other ports."""
        before = self.ports()
        kubectl("delete", "service", "valkey-queue-shard-1", "-n", self.namespace)
        self.apply()
        after = self.ports()
        check(after != before, f"the Service has the ports that it had: {before}, {after}")

    def own_fields_only(self):
        """What is ours, by the API server's own books."""
        allowed = {
            "ValkeyCluster": {("f:status", "f:externalEndpoints")},
            "ValkeyNode": {("f:spec", "f:externalAccessClientPort")},
        }
        for kind in ("valkeyclusters", "valkeynodes", "services"):
            for o in json.loads(kubectl("get", kind, "-n", self.namespace, "-o", "json", "--show-managed-fields"))["items"]:
                for entry in o["metadata"]["managedFields"]:
                    if entry["manager"] == MANAGER:
                        check(entry["operation"] == "Apply", f"{o['metadata']['name']} was written by {entry['operation']}")
                        fields = {(top, name) for top, inner in entry["fieldsV1"].items() for name in inner}
                        stray = fields - allowed.get(o["kind"], set())
                        check(not stray, f"{MANAGER} owns {stray} of {o['kind']} {o['metadata']['name']}")


def filled(value):
    """A value without the empty maps that Go's structs leave behind."""
    if not isinstance(value, dict):
        return value
    return {key: inner for key, inner in ((key, filled(inner)) for key, inner in value.items()) if inner != {}}


def restart_api_server():
    pid = int((WORK / "kube-apiserver.pid").read_text())
    command = [part for part in pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0") if part]
    os.kill(pid, signal.SIGKILL)
    time.sleep(4)
    log = open(WORK / "kube-apiserver.log", "ab")
    child = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
    (WORK / "kube-apiserver.pid").write_text(f"{child.pid}\n")
    wait("the API server is back", lambda: kubectl("get", "--raw", "/readyz") == "ok", 60)


def alone():
    cluster = Cluster("alone")
    cluster.apply()
    first = cluster.settles("applied")
    cluster.own_fields_only()
    cluster.stands_still()
    cluster.recreate()
    second = cluster.settles("a Service re-created")
    check(first != second, "the ports are the old ones")

    was = leader()
    kubectl("delete", "pod", was.split("_")[0], "-n", PLACE, "--grace-period=0", "--force")
    cluster.recreate()
    cluster.settles("the leader killed", 60)
    check(leader() != was, "the Lease has the same holder")

    restart_api_server()
    cluster.recreate()
    cluster.settles("the API server killed and restarted", 90)

    stop = threading.Event()

    def touch():
        number = 0
        while not stop.is_set():
            number += 1
            for kind, name in (("valkeycluster", "queue"), ("valkeynode", "queue-1-0")):
                kubectl("annotate", kind, name, "-n", cluster.namespace, "--overwrite", f"example.org/touched={number}")

    other = threading.Thread(target=touch)
    other.start()
    try:
        cluster.recreate()
        cluster.settles("others write all the while")
    finally:
        stop.set()
        other.join()

    for definition in sorted(DEFINITIONS.glob("*.yaml")):
        kubectl("delete", "-f", definition)
    time.sleep(5)
    definitions(DEFINITIONS)
    # A definition that was there before is refused for a moment by discovery.
    wait("the objects are applied", lambda: cluster.apply() or True, 30)
    cluster.settles("the definitions removed and installed again", 90)
    cluster.own_fields_only()
    cluster.stands_still()

    # Switched off: what was ours goes, and nothing else.
    change(cluster.folder / "base", "    enabled: true\n", "    enabled: false\n")
    before = {n["metadata"]["name"]: n["spec"] for n in get("valkeynodes", None, cluster.namespace)}
    cluster.apply()
    wait("the ports are taken back", lambda: not get("valkeycluster", "queue", cluster.namespace).get("status", {}).get("externalEndpoints"), 30)
    wait("the nodes' ports are taken back", lambda: not [n for n in get("valkeynodes", None, cluster.namespace) if "externalAccessClientPort" in n["spec"]], 30)
    for node in get("valkeynodes", None, cluster.namespace):
        left = {key: value for key, value in before[node["metadata"]["name"]].items() if key != "externalAccessClientPort"}
        check(node["spec"] == left, f"more than the port of {node['metadata']['name']} has changed")
    say("switched off: the ports are taken back, and nothing else")


def beside():
    """Our objects come first, then the operator."""
    cluster = Cluster("beside")
    cluster.apply()
    ports = cluster.settles("applied")
    specs = lambda kind: {o["metadata"]["name"]: o["spec"] for o in get(kind, None, cluster.namespace, "valkey.io/cluster=queue,valkey.io/shard-index")}
    services, nodes = specs("services"), specs("valkeynodes")
    generations = lambda: {o["metadata"]["name"]: o["metadata"]["generation"] for o in get("valkeynodes", None, cluster.namespace)}
    before = generations()
    with operator(OPERATOR):
        settled(cluster.namespace, cluster.name, 3)
        check(specs("services") == services, "the operator changed the spec of our Services")
        for name, spec in filled(specs("valkeynodes")).items():
            changed = {key: (nodes[name].get(key), spec.get(key)) for key in spec.keys() | nodes[name].keys() if spec.get(key) != nodes[name].get(key)}
            check(set(changed) <= {"serverConfigHash"}, f"the operator changed ValkeyNode {name}: {changed}")
        # Once, for that hash.
        check(generations() == {name: number + 1 for name, number in before.items()}, f"generations were {before}, are {generations()}")
        hosts("192.0.2.1", [f"shard-{shard}.queue.example.org" for shard in range(3)])
        expected = [(f"shard-{shard}.queue.example.org", port) for (shard, _), port in ports.items()]
        wait("every node is reached by its own name and port", lambda: all_named(client("look", expected[0]), expected) or True, 60)
        say("adopted by the operator; every node is reached from outside")
        cluster.stands_still()
        cluster.recreate()
        ports = cluster.settles("a Service re-created", 120)
        expected = [(f"shard-{shard}.queue.example.org", port) for (shard, _), port in ports.items()]
        wait("every node announces its new port", lambda: all_named(client("look", expected[0]), expected) or True, 180)
        settled(cluster.namespace, cluster.name, 3)
        cluster.stands_still()
        say(f"events: {sorted({reason for reason, _ in events(cluster.namespace)})}")


def refused():
    """With the RBAC of deploy/ anything beyond its work is refused."""
    token = kubectl("create", "token", MANAGER, "-n", PLACE).strip()
    server = run("kubectl", "config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")

    def attempt(*args, input=None):
        # By the token alone: no certificate of an administrator.
        return subprocess.run(["kubectl", "--kubeconfig", "/dev/null", "--server", server, "--certificate-authority", WORK / "ca.crt", "--token", token, *args],
                              text=True, capture_output=True, input=input)

    allowed = attempt("get", "services", "-A")
    check(allowed.returncode == 0, f"the ServiceAccount may not do its work: {allowed.stderr}")
    for args in (
        ["get", "secrets", "-A"], ["get", "secrets", "-n", "kube-system"], ["get", "secret", "other", "-n", "default"], ["delete", "service", "kubernetes", "-n", "default"],
        ["patch", "service", "kubernetes", "-n", "default", "--type=merge", "-p", "{}"], ["delete", "pod", "x", "-n", PLACE],
        ["create", "configmap", "x", "-n", "default"], ["get", "deployments", "-A"], ["patch", "valkeycluster", "x", "-n", "default", "--type=merge", "-p", '{"spec":{"shards":1}}'],
        ["delete", "valkeycluster", "x", "-n", "default"], ["delete", "valkeynode", "x", "-n", "default"], ["get", "clusterroles"], ["create", "token", MANAGER, "-n", PLACE],
    ):
        done = attempt(*args)
        check(done.returncode != 0 and "orbidden" in done.stderr, f"`kubectl {' '.join(args)}` was not refused: {done.stdout}{done.stderr}")
    say("what is not its work is refused")


def main():
    # `alone` takes the definitions away for a while: the others come before or after.
    tests = {"refused": refused, "alone": alone, "beside": beside}
    chosen = sys.argv[1:] or list(tests)
    definitions(DEFINITIONS)
    install()
    for name in chosen:
        together_or_fail((name, tests[name]))
    print(f"all passed: {', '.join(chosen)}")


main()
