"""The examples of `announce: Command` with the operator that is released today."""

import os
import sys

from node import *

OPERATOR = os.environ["VALKEY_OPERATOR"]
NODE = "192.0.2.1"
FLAGS = ["/config/valkey.conf", "--cluster-announce-ip", "--primaryuser _replication", "--primaryauth"]


class Example:
    """One example on the node: its objects, and what the function says of its ports."""

    def __init__(self, name):
        self.name = name
        self.folder = copy(f"examples/operator/{name}", name)
        (cluster,) = [o for o in self.objects(self.plain()) if o["kind"] == "ValkeyCluster"]
        self.cluster, self.namespace = cluster["metadata"]["name"], cluster["metadata"]["namespace"]
        namespace(self.namespace)
        for gateway in [o for o in self.objects(self.plain()) if o["kind"] == "Gateway"]:
            gateway_class(gateway["spec"]["gatewayClassName"])

    @staticmethod
    def objects(text):
        return [o for o in yaml.safe_load_all(text) if o]

    def plain(self):
        """The cluster as it is without the function: reached from inside only."""
        return run(KUSTOMIZE, "build", self.folder / "base")

    def exposed(self):
        return rendered(self.folder / "exec")

    def table(self):
        """(shard, node) → (hostname, client port), by the function."""
        printed = run(FUNCTION, "ports", "-f", self.folder / "base", "-f", self.folder / "exec/expose.yaml", "-o", "json")
        return {(row["shard"], row["node"]): (row["hostname"], row["clientPort"]) for row in json.loads(printed)}

    def shards(self):
        return 1 + max(shard for shard, _ in self.table())

    def workloads(self):
        """The template of each node's StatefulSet: what changes in it restarts the node."""
        return {o["metadata"]["name"]: o["spec"]["template"] for o in get("statefulsets", None, self.namespace, f"valkey.io/cluster={self.cluster}")}

    def own(self):
        return f"fn.valkey.io/cluster={self.cluster}"

    def rolled(self, what, as_wanted, limit=240):
        """Waits until all nodes run a template as wanted and the cluster is Ready."""

        def holds():
            sets = get("statefulsets", None, self.namespace, f"valkey.io/cluster={self.cluster}")
            current = [
                o["status"].get("updatedReplicas") == 1 and o["status"].get("readyReplicas") == 1
                and o["status"]["observedGeneration"] == o["metadata"]["generation"] and as_wanted(command_of(o["spec"]["template"]))
                for o in sets
            ]
            return len(current) == len(self.table()) and all(current)

        wait(what, holds, limit)
        settled(self.namespace, self.cluster, self.shards())

    def reached(self, outside=True):
        """Each node is reached by its own name and port, and names all others by theirs."""
        table = self.table()
        hosts(NODE, sorted({host for host, _ in table.values()}))
        first = table[0, 0]

        def holds():
            look = client("look", first)
            all_named(look, table.values())
            for key, pod in pods(self.namespace, self.cluster).items():
                # The node behind the port is that one, and no neighbour.
                there = kubectl("exec", "-n", self.namespace, pod["metadata"]["name"], "-c", "server", "--", "valkey-cli", "cluster", "myid").strip()
                host, port = table[key]
                check(look["nodes"][f"{host}:{port}"]["id"] == there, f"{host}:{port} is not node {key}")
            return look

        return wait("every node is reached by its own name and port", holds, 60)

    def keys(self, written):
        report = client("keys", self.table()[0, 0], "key", 300)
        check(not report["wrong"], f"keys are lost or wrong: {report['wrong'][:5]}")
        check(report["written"] == written, f"{report['written']} keys were missing, not {written}")
        check(report["shards"] == self.shards(), f"the client sees {report['shards']} shards")


def command_of(template):
    (server,) = [c for c in template["spec"]["containers"] if c["name"] == "server"]
    return " ".join(server["command"])


def ours(command):
    return "cluster-announce-hostname" in command


def expose(example):
    apply(example.exposed())
    example.rolled("all servers run the command that announces", ours)
    for name, template in example.workloads().items():
        missing = [flag for flag in FLAGS if flag not in command_of(template)]
        check(not missing, f"the command of {name} lacks the operator's {missing}")
    services = {f"valkey-{example.cluster}-{s}-{n}": f"valkey-{example.cluster}-{s}-{n}-0" for s, n in example.table()}
    wait("each Service has its endpoint", lambda: one_endpoint_each(example.namespace, services) or True)
    example.reached()
    example.keys(written=300)
    say("reached from outside; all keys written and read")
    operators = f"valkey.io/cluster={example.cluster}"
    stands_still([("statefulsets", example.namespace, operators), ("valkeynodes", example.namespace, operators), ("services", example.namespace, example.own())])
    say("nothing was written for 20 s")


def grow(example):
    before = example.workloads()
    gateway = example.folder / "base/gateway.yaml"
    if gateway.exists():
        # Two ports more for the new shard.
        with gateway.open("a") as file:
            for node in range(2):
                file.write(f"  - name: {example.cluster}-3-{node}\n    protocol: TCP\n    port: {9006 + node}\n")
    change(example.folder / "base", "shards: 3", "shards: 4")
    apply(example.exposed())
    example.rolled("the new shard is there", ours)
    example.reached()
    example.keys(written=0)
    after = example.workloads()
    restarted = [name for name in before if after[name] != before[name]]
    check(not restarted, f"a new shard restarted {restarted}")
    say("a shard more: its nodes are reached, all keys are there, no other node restarted")


def fail_over(example):
    """A primary's pod goes, while a client writes on with the connections that it has."""
    look = example.reached()
    table = example.table()
    key = next(key for key in table if look["nodes"][":".join(map(str, table[key]))]["role"] == "master")
    pod = f"valkey-{example.cluster}-{key[0]}-{key[1]}-0"
    with writing(table[0, 0], "fail-over") as report:
        time.sleep(2)
        kubectl("delete", "pod", pod, "-n", example.namespace, "--wait=false")
        time.sleep(3)
        wait("the pod is replaced", lambda: all_ready(example.namespace, example.cluster, len(table)), 90)
        look = example.reached()
        time.sleep(2)
    host, port = table[key]
    say(f"a primary was replaced under a client that wrote on: {report['writes']} writes, {sum(report['faults'].values())} refused, none lost, silent for {report['longest']} s at most")
    example.keys(written=0)


def command_gateway():
    example = Example("command-gateway")
    expose(example)
    grow(example)
    fail_over(example)


def command_nodeport():
    """From inside only to `announce: Command`, and back."""
    example = Example("command-nodeport")
    apply(example.plain())
    example.rolled("the cluster is there without the function", lambda command: not ours(command))
    inside = example.workloads()
    expose(example)
    fail_over(example)
    apply(example.plain())
    kubectl("delete", "service", "-n", example.namespace, "-l", example.own())
    example.rolled("the servers run the operator's own command again", lambda command: not ours(command))
    check(example.workloads() == inside, "the servers are not as they were before")
    pod = pods(example.namespace, example.cluster)[0, 0]["status"]["podIP"]
    report = client("keys", (pod, 6379), "key", 300, outside=False)
    check(not report["wrong"] and not report["written"], f"keys are lost: {report}")
    say("taken away again: the servers are as they were, and all keys are there")


TESTS = {"command-gateway": command_gateway, "command-nodeport": command_nodeport}


def main():
    chosen = sys.argv[1:] or list(TESTS)
    definitions(ROOT / "testdata/crds/main")
    with gateway(WORK / "envoy"), operator(OPERATOR):
        failed = together(*[(name, TESTS[name]) for name in chosen])
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; logs are in {WORK}")
    print(f"all passed: {', '.join(chosen)}")


main()
