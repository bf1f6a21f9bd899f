"""Fills an API server with clusters, and measures who looks after them. See run.sh."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import ssl
import subprocess
import sys
import threading
import time

import urllib3
import yaml

COUNT, WORK = int(sys.argv[1]), pathlib.Path(sys.argv[2])
SHARDS, NODES = 3, 2
CLUSTER = f"""apiVersion: valkey.io/v1alpha1
kind: ValkeyCluster
metadata: {{name: cluster-0000, namespace: default}}
spec: {{shards: {SHARDS}, replicas: {NODES - 1}, externalAccess: {{enabled: true, serviceType: NodePort}}}}
"""
VALKEY = "/apis/valkey.io/v1alpha1/namespaces/default"
PATHS = {"ValkeyCluster": f"{VALKEY}/valkeyclusters", "ValkeyNode": f"{VALKEY}/valkeynodes", "Service": "/api/v1/namespaces/default/services"}


class Api:
    def __init__(self):
        config = yaml.safe_load(pathlib.Path(os.environ["KUBECONFIG"]).read_text())
        (cluster,), (user,) = config["clusters"], config["users"]
        context = ssl.create_default_context(cafile=cluster["cluster"]["certificate-authority"])
        context.load_cert_chain(user["user"]["client-certificate"], user["user"]["client-key"])
        self.url = cluster["cluster"]["server"]
        self.pool = urllib3.PoolManager(maxsize=32, block=True, ssl_context=context, headers={"User-Agent": "bench"})

    def call(self, method, path, body=None, kind="application/json", **options):
        data = None if body is None else json.dumps(body)
        answer = self.pool.request(method, self.url + path, body=data, headers={"Content-Type": kind, "User-Agent": "bench"}, **options)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.data[:300]}")
        return answer if options else json.loads(answer.data)


class Kubelet(threading.Thread):
    """Marks each ValkeyNode Ready as soon as it changes: what the operator and a kubelet would do in seconds."""

    def __init__(self, api):
        super().__init__(daemon=True)
        self.api = api
        self.workers = concurrent.futures.ThreadPoolExecutor(8)

    def run(self):
        while True:
            try:
                self.watch()
            except (urllib3.exceptions.HTTPError, RuntimeError, ValueError) as error:
                print(f"watching again: {error}", file=sys.stderr, flush=True)
                time.sleep(1)

    def watch(self):
        """Lists, and watches for half a minute: what a watch has missed is in the next list."""
        answer = self.api.call("GET", PATHS["ValkeyNode"])
        for node in answer["items"]:
            self.workers.submit(self.mark, node)
        since = answer["metadata"]["resourceVersion"]
        stream = self.api.call("GET", f"{PATHS['ValkeyNode']}?watch=1&timeoutSeconds=30&resourceVersion={since}", preload_content=False)
        text = b""
        for part in stream.stream(65536):
            *lines, text = (text + part).split(b"\n")
            for line in lines:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise RuntimeError(event["object"].get("message", "the watch failed"))
                if event["type"] in ("ADDED", "MODIFIED"):
                    self.workers.submit(self.mark, event["object"])
        stream.release_conn()

    def mark(self, node):
        generation = node["metadata"]["generation"]
        if node.get("status", {}).get("observedGeneration") == generation:
            return
        role = "primary" if node["metadata"]["name"].endswith("-0") else "replica"
        status = {"ready": True, "observedGeneration": generation, "role": role, "podIP": "198.51.100.1"}
        self.api.call("PATCH", f"{PATHS['ValkeyNode']}/{node['metadata']['name']}/status", {"status": status}, "application/merge-patch+json")


def fill(api):
    printed = subprocess.run([os.environ["FUNCTION"], "render", "-f", "-"], input=CLUSTER, text=True, capture_output=True, check=True).stdout
    one = [yaml.safe_load(CLUSTER), *[o for o in yaml.safe_load_all(printed) if o and o["kind"] != "ValkeyCluster"]]
    kinds = [o["kind"] for o in one]
    assert (kinds.count("Service"), kinds.count("ValkeyNode")) == (SHARDS, SHARDS * NODES), kinds
    texts = [(o["kind"], json.dumps(o)) for o in one]

    def make(job):
        number, (kind, text) = job
        api.call("POST", PATHS[kind], json.loads(text.replace("cluster-0000", f"cluster-{number:04}")))

    with concurrent.futures.ThreadPoolExecutor(12) as workers:
        list(workers.map(make, [(number, text) for number in range(COUNT) for text in texts]))


def unsettled(api):
    """Clusters and nodes that do not have their ports yet."""
    clusters = [o for o in api.call("GET", PATHS["ValkeyCluster"])["items"] if len(o.get("status", {}).get("externalEndpoints") or []) != SHARDS]
    nodes = [o for o in api.call("GET", PATHS["ValkeyNode"])["items"] if not o["spec"].get("externalAccessClientPort")]
    return clusters + nodes


def explain(api, cluster):
    """What the controller said of a cluster that is not settled, and what its nodes are like."""
    said = [line for line in (WORK / "controller.log").read_text().splitlines() if cluster in line]
    nodes = [o for o in api.call("GET", PATHS["ValkeyNode"])["items"] if o["metadata"]["labels"]["valkey.io/cluster"] == cluster]
    for node in nodes:
        said.append(json.dumps([node["metadata"]["name"], node["metadata"]["generation"], node["spec"].get("externalAccessClientPort"), node.get("status")]))
    print(*said, sep="\n", file=sys.stderr)


def requests(agent):
    """Requests of a program by verb, from the API server's audit log."""
    counts = {}
    with open(WORK / "audit.log") as log:
        for line in log:
            entry = json.loads(line)
            if entry.get("userAgent", "").startswith(agent):
                verb = entry["verb"]
                counts[verb] = counts.get(verb, 0) + 1
    return counts


@contextlib.contextmanager
def running(name, *command):
    with open(WORK / f"{name}.log", "wb") as log:
        child = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield child
            if child.poll() is not None:
                raise RuntimeError(f"{name} ended: {(WORK / f'{name}.log').read_text()[-2000:]}")
        finally:
            child.terminate()
            child.wait(30)


def peak(child):
    """The most memory that a process ever had resident, in MB."""
    for line in pathlib.Path(f"/proc/{child.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the process is gone")


def agent_of(program):
    return pathlib.Path(program).name


def main():
    api = Api()
    start = time.monotonic()
    kubelet = Kubelet(api)
    kubelet.start()
    fill(api)
    print(f"{COUNT} clusters, {COUNT * SHARDS} Services and {COUNT * SHARDS * NODES} ValkeyNodes made in {time.monotonic() - start:.0f} s", flush=True)
    while left := sum(1 for o in api.call("GET", PATHS["ValkeyNode"])["items"] if not o.get("status", {}).get("ready")):
        if time.monotonic() - start > 600:
            raise RuntimeError(f"{left} ValkeyNodes could not be marked Ready within 600 s")
        time.sleep(2)

    controller, operator = os.environ["CONTROLLER"], os.environ["VALKEY_OPERATOR_PR281"]
    start = time.monotonic()
    with running("controller", controller, "--no-leader-election", "--listen", "127.0.0.1:18080") as child:
        while left := unsettled(api):
            if time.monotonic() - start > 900:
                explain(api, left[0]["metadata"]["labels"].get("valkey.io/cluster") or left[0]["metadata"]["name"])
                raise RuntimeError(f"{len(left)} objects do not have their ports after 900 s")
            time.sleep(1)
        took, ours = time.monotonic() - start, peak(child)
        first = requests("expose-valkey-controller")
    print(f"controller: settled in {took:.0f} s, {sum(first.values())} requests {first}, {ours:.0f} MB at most", flush=True)

    start = time.monotonic()
    with running("controller", controller, "--no-leader-election", "--listen", "127.0.0.1:18080") as child:
        time.sleep(30)
        again = peak(child)
        second = {verb: count - first.get(verb, 0) for verb, count in requests("expose-valkey-controller").items() if count != first.get(verb, 0)}
    print(f"controller, started again: {sum(second.values())} requests {second}, {again:.0f} MB at most", flush=True)
    wrote = {verb: count for verb, count in second.items() if verb not in ("get", "list", "watch")}

    with running("operator", operator, "--kubeconfig", os.environ["KUBECONFIG"], "--health-probe-bind-address", "127.0.0.1:18081") as child:
        time.sleep(60)
        theirs = peak(child)
    print(f"operator: {theirs:.0f} MB at most in its first 60 s", flush=True)
    print(f"the controller needs {max(ours, again) / theirs:.2f} of the operator's memory")
    if wrote:
        sys.exit(f"a second start wrote: {wrote}")
    if max(ours, again) * 3 >= theirs:
        sys.exit("the controller must stay below a third of the operator's memory")


main()
