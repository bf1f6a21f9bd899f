"""The controller, run from deploy/ by its own image, announcing live for the released operator."""

import os
import sys

from deployed import *

OPERATOR = os.environ["VALKEY_OPERATOR"]
NODE = "192.0.2.1"


class Cluster:
    """One cluster that is announced live: its example, changed where a test asks for it."""

    def __init__(self, name, example, *changes):
        self.name = name
        self.folder = copy(f"examples/operator/{example}", name)
        for where, old, new in changes:
            change(self.folder / where, old, new)
        objects = self.objects()
        (cluster,) = [o for o in objects if o["kind"] == "ValkeyCluster"]
        self.cluster, self.namespace = cluster["metadata"]["name"], cluster["metadata"]["namespace"]
        self.written = f"{name}-"
        self.ca = None
        self.secrets = [f"internal-{self.cluster}-system-passwords"]
        namespace(self.namespace)
        for gateway in [o for o in objects if o["kind"] == "Gateway"]:
            gateway_class(gateway["spec"]["gatewayClassName"])
        tls = cluster["spec"].get("networking", {}).get("tls") or cluster["spec"].get("tls")
        if tls:
            self.secrets.append(tls["certificates"]["server"]["secretName"])
            self.certify(tls["certificates"]["server"]["secretName"], objects)

    def objects(self):
        return [o for o in yaml.safe_load_all(rendered(self.folder / "exec")) if o]

    def certify(self, secret, objects):
        """What cert-manager would make of the Certificate that the function emits."""
        (certificate,) = [o for o in objects if o["kind"] == "Certificate"]
        check(certificate["spec"]["secretName"] == secret, f"the Certificate is for {certificate['spec']['secretName']}, not for {secret}")
        # With the names of the shard that is to come: an issuer's answer to a new name is not what is tested.
        known = certificate["spec"]["dnsNames"]
        names = ",".join(f"DNS:{name}" for name in known + [name.replace("shard-2", "shard-3") for name in known if "shard-2" in name])
        work = WORK / self.name
        self.ca = work / "ca.crt"
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30", "-subj", "/CN=test-valkey-ca",
            "-keyout", work / "ca.key", "-out", self.ca)
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=valkey", "-keyout", work / "tls.key", "-out", work / "tls.csr")
        (work / "names").write_text(f"subjectAltName={names}\n")
        run("openssl", "x509", "-req", "-in", work / "tls.csr", "-CA", self.ca, "-CAkey", work / "ca.key", "-CAcreateserial", "-days", "30",
            "-extfile", work / "names", "-out", work / "tls.crt")
        kubectl("create", "secret", "generic", secret, "-n", self.namespace, "--type=kubernetes.io/tls", f"--from-file=tls.crt={work / 'tls.crt'}",
                f"--from-file=tls.key={work / 'tls.key'}", f"--from-file=ca.crt={self.ca}")

    def apply(self):
        # cert-manager is not here: its part is done above.
        apply(yaml.safe_dump_all([o for o in self.objects() if o["kind"] not in ("Certificate", "Namespace")]))

    def services(self):
        return get("services", None, self.namespace, f"fn.valkey.io/cluster={self.cluster},fn.valkey.io/announce=live")

    def table(self):
        """(shard, node) → (host, port), by what Kubernetes allocated."""
        found = {}
        for service in self.services():
            labels, notes = service["metadata"]["labels"], service["metadata"].get("annotations", {})
            (port,) = service["spec"]["ports"]
            kind = service["spec"]["type"]
            if kind == "NodePort":
                address, number = NODE, port["nodePort"]
            elif kind == "LoadBalancer":
                address, number = service["status"]["loadBalancer"]["ingress"][0]["ip"], port["port"]
            else:
                address, number = NODE, int(notes["fn.valkey.io/client-port"])
            name = notes.get("fn.valkey.io/hostname")
            if name:
                hosts(address, [name])
            found[int(labels["fn.valkey.io/shard-index"]), int(labels["fn.valkey.io/node-index"])] = (name or address, number)
        return found

    def count(self):
        return len(self.services())

    def ready(self, limit=180):
        shards = 1 + max(shard for shard, _ in self.table())
        wait("all pods are ready", lambda: all_ready(self.namespace, self.cluster, self.count()), limit)
        return shards

    def named(self):
        """What the server at each address outside calls all nodes that it knows."""
        table = self.table()
        (first, *more) = table.values()
        named = client("own", first, *(f"{host}:{port}" for host, port in more), ca=self.ca)
        return {(host, port): list(map(tuple, named[f"{host}:{port}"])) for host, port in table.values()}

    def told(self, limit):
        """Each server outside calls itself what it should, within the limit; returns the time that it took."""

        def holds():
            for own, names in self.named().items():
                check(own in names, f"the server at {own} names {names}")
            return True

        start = time.monotonic()
        wait(f"all servers of {self.cluster} are told", holds, limit, every=0.2)
        return time.monotonic() - start

    def joined(self):
        """The operator has all servers in the cluster. Its one worker dials pods that are gone first, those of other clusters too."""

        def holds():
            named = self.named()
            for own, names in named.items():
                check(len(names) == len(named), f"the server at {own} knows {names}")
            return True

        wait(f"the operator has made one cluster of {self.cluster}", holds, 60, every=0.2)

    def announced(self, limit=10, synced=False):
        """All nodes are announced right within the limit; returns what was seen."""
        table = self.table()

        first = next(iter(table.values()))

        def holds(synced):
            look = client("look", first, ca=self.ca)
            all_named(look, table.values(), synced)
            return look

        return wait(f"all nodes of {self.cluster} are {'synced' if synced else 'announced right'}", lambda: holds(synced), limit, every=0.2)

    def roles(self, look):
        """(shard, node) → role, by what the servers say."""
        return {key: look["nodes"][f"{host}:{port}"]["role"] for key, (host, port) in self.table().items()}

    def node_of(self, role):
        return next(key for key, has in sorted(self.roles(self.announced()).items()) if has == role)

    def pod(self, key):
        return f"valkey-{self.cluster}-{key[0]}-{key[1]}-0"

    def replace(self, role):
        """Deletes the pod of a node with that role, and waits until its successor is ready."""
        pod = self.pod(self.node_of(role))
        before = get("pod", pod, self.namespace)["metadata"]["uid"]
        kubectl("delete", "pod", pod, "-n", self.namespace, "--wait=false")
        wait("the pod is replaced", lambda: get("pod", pod, self.namespace)["metadata"]["uid"] != before, 60)
        self.ready()

    def keys(self, missing=0):
        first = next(iter(self.table().values()))
        report = client("keys", first, "key", 200, ca=self.ca)
        check(not report["wrong"] and report["written"] == missing, f"keys are lost: {report}")

    def writing(self, what):
        first = next(iter(self.table().values()))
        return writing(first, f"{self.name}-{what}-", ca=self.ca)

    def during(self, what, change, limit=10):
        """A change under a client that writes: within 10 s of the last readiness each server is told, and once the operator has it
        in the cluster, all others name it right within 10 s."""
        with self.writing(what.replace(" ", "-")) as report:
            time.sleep(1)
            change()
            told = self.told(limit)
            self.joined()
            start = time.monotonic()
            self.announced(limit)
            took = time.monotonic() - start
            self.announced(60, synced=True)
        say(f"{what}: all told {told:.1f} s after the last readiness, announced {took:.1f} s after the last join; {report['writes']} writes, {sum(report['faults'].values())} refused, "
            f"none lost, silent for {report['longest']} s at most")

    def not_ours(self):
        """Nothing of the operator's was written by us."""
        for kind in ("valkeyclusters", "valkeynodes", "statefulsets", "pods", "configmaps", "secrets", "services"):
            for o in json.loads(kubectl("get", kind, "-n", self.namespace, "-o", "json", "--show-managed-fields"))["items"]:
                managers = [f["manager"] for f in o["metadata"].get("managedFields", [])]
                check(kind in ("configmaps",) and o["metadata"]["labels"].get("app.kubernetes.io/managed-by") == MANAGER if MANAGER in managers else True,
                      f"{kind}/{o['metadata']['name']} was written by {MANAGER}")

    # What may happen to a cluster.

    def come_up(self):
        self.apply()
        settled(self.namespace, self.cluster, 3)
        self.ready()
        self.announced(20)
        one_endpoint_each(self.namespace, {f"valkey-{self.cluster}-{s}-{n}": self.pod((s, n)) for s, n in self.table()})
        self.keys(missing=200)
        self.not_ours()
        say("up: every node is reached from outside by its own address")

    def recreate_service(self):
        name = self.services()[1]["metadata"]["name"]
        before = self.services()[1]["metadata"]["uid"]
        kubectl("delete", "service", name, "-n", self.namespace)
        self.apply()
        check(get("service", name, self.namespace)["metadata"]["uid"] != before, "the Service is the old one")
        if get("service", name, self.namespace)["spec"]["type"] == "LoadBalancer":
            wait("the load balancer has an address", lambda: get("service", name, self.namespace)["status"]["loadBalancer"]["ingress"], 20)
        one = {name: name + "-0"}
        wait("the Service has its endpoint", lambda: one_endpoint_each(self.namespace, one) or True)

    def scale(self, old, new):
        change(self.folder / "base", f"shards: {old}", f"shards: {new}")
        self.apply()
        if new < old:
            for service in self.services():
                if int(service["metadata"]["labels"]["fn.valkey.io/shard-index"]) >= new:
                    # As a GitOps tool prunes what is no longer in Git, once the shard is empty.
                    wait("the shard is gone", lambda: all(key[0] < new for key in pods(self.namespace, self.cluster)), 120)
                    kubectl("delete", "service", "-n", self.namespace, service["metadata"]["name"])
        settled(self.namespace, self.cluster, new)
        self.ready()

    def life(self):
        self.come_up()
        self.during("a replica's pod deleted", lambda: self.replace("slave"))
        self.during("a primary's pod deleted", lambda: self.replace("master"))
        self.during("a Service deleted and re-created", self.recreate_service)
        self.during("a shard more", lambda: self.scale(3, 4))
        self.keys()
        self.during("a shard less", lambda: self.scale(4, 3))
        self.keys()
        self.not_ours()


CLUSTERS = {
    "nodeport": lambda: Cluster("nodeport", "live-nodeport"),
    "hostnames": lambda: Cluster(
        "hostnames",
        "live-nodeport",
        ("base", "namespace: shop", "namespace: named"),
        ("exec", "serviceType: NodePort", "serviceType: NodePort\n      domain: jobs.example.org"),
    ),
    "loadbalancer": lambda: Cluster("loadbalancer", "live-loadbalancer"),
    "sni": lambda: Cluster("sni", "live-sni"),
}


class Operator:
    """The operator's process, which a test may restart."""

    def __init__(self):
        self.context = None

    def start(self):
        self.context = operator(OPERATOR)
        self.context.__enter__()

    def stop(self):
        self.context.__exit__(None, None, None)


def main():
    chosen = sys.argv[1:] or list(CLUSTERS)
    definitions(ROOT / "testdata/crds/main")
    with gateway(WORK / "envoy"):
        program = Operator()
        program.start()
        clusters = [CLUSTERS[name]() for name in chosen]
        secrets = {}
        for cluster in clusters:
            secrets.setdefault(cluster.namespace, []).extend(cluster.secrets)
        install(secrets.items())
        together_or_fail(*[(c.name, c.life) for c in clusters])

        def restart_operator():
            program.stop()
            program.start()
            time.sleep(5)

        def each(what, change):
            """One change for all, while each cluster has a client that writes."""
            done = threading.Barrier(len(clusters) + 1)

            def one(cluster):
                cluster.during(what, lambda: (done.wait(60), done.wait(200)))

            def act():
                done.wait(60)
                change()
                done.wait(60)

            together_or_fail(("all", act), *[(c.name, lambda c=c: one(c)) for c in clusters])

        each("the operator restarted", restart_operator)
        each("the controller restarted", restart)

        def away():
            replicas(0)
            for cluster in clusters:
                cluster.replace("slave")
            replicas(2)

        each("the controller away while a pod was replaced", away)
        for cluster in clusters:
            cluster.keys()
            cluster.not_ours()
        program.stop()
    print(f"all passed: {', '.join(chosen)}")


main()
