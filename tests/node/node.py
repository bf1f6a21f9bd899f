"""What tests on a real Kubernetes node share: kubectl, waiting, the operator, the client outside."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path(os.environ["WORK"])
FUNCTION = os.environ["FUNCTION"]
KUSTOMIZE = os.environ["KUSTOMIZE"]
START = time.monotonic()
local = threading.local()


class Fault(Exception):
    """What did not hold, in words."""


def say(text):
    print(f"{time.monotonic() - START:6.1f} s  {getattr(local, 'name', '')}: {text}", flush=True)


def check(holds, text):
    if not holds:
        raise Fault(text)


def run(*command, input=None, cwd=None):
    done = subprocess.run([str(part) for part in command], input=input, cwd=cwd, text=True, capture_output=True)
    if done.returncode:
        raise Fault(f"`{' '.join(map(str, command))[:300]}` failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def kubectl(*args, input=None):
    return run("kubectl", *args, input=input)


def apply(text, *flags):
    """As a GitOps tool does: server-side, so that a field that is no longer named goes."""
    return kubectl("apply", "--server-side", "--field-manager=gitops", *flags, "-f", "-", input=text)


def get(kind, name=None, namespace="default", selector=None):
    args = ["get", kind, "-n", namespace, "-o", "json"]
    if name:
        return json.loads(kubectl(*args, name))
    if selector:
        args += ["-l", selector]
    return json.loads(kubectl(*args))["items"]


def wait(what, holds, limit=60, every=0.3):
    """Waits until `holds` returns something true, and returns it."""
    end = time.monotonic() + limit
    why = ""
    while True:
        try:
            if found := holds():
                return found
            why = ""
        except (Fault, KeyError, IndexError) as error:
            why = f": {error}"
        if time.monotonic() > end:
            raise Fault(f"{what}: not within {limit} s{why}")
        time.sleep(every)


def namespace(name):
    apply(f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n")


def definitions(*files):
    """Applies CustomResourceDefinitions, and waits until they are served."""
    for file in files:
        kubectl("apply", "--server-side", "--force-conflicts", "-f", file)
    names = [o["metadata"]["name"] for file in files for path in ([file] if pathlib.Path(file).is_file() else sorted(pathlib.Path(file).glob("*.yaml")))
             for o in yaml.safe_load_all(pathlib.Path(path).read_text()) if o and o["kind"] == "CustomResourceDefinition"]
    for name in names:
        wait(f"{name} is served", lambda: kubectl("wait", "--for=condition=Established", f"crd/{name}", "--timeout=1s"))


@contextlib.contextmanager
def process(name, *command, environment=None):
    """Runs a program beside the test; its output goes to WORK/NAME.log."""
    with open(WORK / f"{name}.log", "ab") as log:
        child = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        try:
            yield child
        finally:
            child.terminate()
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def operator(path, port=8089, name="operator"):
    return process(name, path, "--kubeconfig", os.environ["KUBECONFIG"], "--health-probe-bind-address", f"127.0.0.1:{port}")


hosts_lock = threading.Lock()


def hosts(address, names):
    """Makes names known to clients, outside too."""
    with hosts_lock:
        text = pathlib.Path("/etc/hosts").read_text()
        lines = [line for line in text.splitlines() if not set(line.split()[1:]) & set(names)]
        # In place: the file is mounted.
        with open("/etc/hosts", "r+") as file:
            file.write("\n".join([*lines, f"{address} {' '.join(names)}"]) + "\n")
            file.truncate()


def client(command, address, *args, ca=None, outside=True):
    """Runs client.py in the network outside, or on the node, which reaches pods; returns what it prints."""
    host, port = address
    tls = ["--tls", str(ca)] if ca else []
    where = ["ip", "netns", "exec", "outside"] if outside else []
    return json.loads(run(*where, sys.executable, ROOT / "tests/node/client.py", command, host, port, *args, *tls))


@contextlib.contextmanager
def writing(address, prefix, ca=None):
    """A client outside that writes all the while; yields a dict that has its report at the end."""
    host, port = address
    tls = ["--tls", str(ca)] if ca else []
    child = subprocess.Popen(["ip", "netns", "exec", "outside", sys.executable, ROOT / "tests/node/client.py", "write", host, str(port), prefix, *tls],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    report = {}
    try:
        if child.stderr.readline() != "writing\n":
            raise Fault(f"the client could not begin: {child.stderr.read()}")
        yield report
        out, error = child.communicate(timeout=120)
        check(child.returncode == 0, f"the client that writes failed: {error}")
        report.update(json.loads(out))
    finally:
        child.kill()
        child.wait()
    check(not report["lost"], f"writes that were acknowledged are lost: {report['lost']}")
    check(report["told"], f"nothing was written: {report}")


def settled(namespace, cluster, shards):
    def holds():
        status = get("valkeycluster", cluster, namespace).get("status", {})
        return status.get("state") == "Ready" and status.get("readyShards") == shards

    wait(f"cluster {cluster} is Ready", holds, 180)


def versions(*selections):
    """The resourceVersion of each object of (kind, namespace, label selector)."""
    return {
        (kind, o["metadata"]["name"]): o["metadata"]["resourceVersion"]
        for kind, where, selector in selections
        for o in get(kind, None, where, selector)
    }


def pods(namespace, cluster):
    """The pods of a cluster by (shard, node)."""
    return {
        (int(labels["valkey.io/shard-index"]), int(labels["valkey.io/node-index"])): pod
        for pod in get("pods", None, namespace, f"valkey.io/cluster={cluster}")
        if not pod["metadata"].get("deletionTimestamp") and (labels := pod["metadata"]["labels"])
    }


def all_ready(namespace, cluster, count):
    found = pods(namespace, cluster)
    ready = [c for pod in found.values() for c in pod.get("status", {}).get("conditions", []) if c["type"] == "Ready" and c["status"] == "True"]
    return len(found) == count and len(ready) == count


def one_endpoint_each(namespace, services):
    """Each Service leads to the pod of its node, and to no other."""
    for name, pod in services.items():
        found = [e["targetRef"]["name"] for s in get("endpointslices", None, namespace, f"kubernetes.io/service-name={name}") for e in s.get("endpoints") or []]
        check(found == [pod], f"Service {name} leads to {found}, not to {pod}")


@contextlib.contextmanager
def gateway(work):
    """Envoy Gateway, which opens what listeners there are on the node's address."""
    definitions(os.environ["GATEWAY_DEFINITIONS"], os.environ["ENVOY_GATEWAY"] + "/crds.yaml")
    with process("envoy-gateway", ROOT / "tools/envoy-gateway.sh", "run", work):
        yield


def gateway_class(name):
    apply(f"""apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: {name}}}
spec:
  controllerName: gateway.envoyproxy.io/gatewayclass-controller
  parametersRef: {{group: gateway.envoyproxy.io, kind: EnvoyProxy, name: host, namespace: default}}
""")


def stands_still(selections, seconds=20, limit=90):
    """For 20 s nothing is written. What is still settling may take a while; what writes in a loop never ends."""
    start = since = time.monotonic()
    before = versions(*selections)
    check(before, "nothing is there to stand still")
    while time.monotonic() < since + seconds:
        time.sleep(1)
        now = versions(*selections)
        if now != before:
            moved = sorted({key for key in before | now if before.get(key) != now.get(key)})
            check(time.monotonic() < start + limit, f"written again and again though nothing changes: {moved}")
            before, since = now, time.monotonic()


def all_named(look, expected, synced=True):
    """Every node names every node as expected, wherever it names one: in CLUSTER SHARDS, CLUSTER SLOTS and MOVED.

    CLUSTER SLOTS has a replica only once it is `synced`, which takes a while, whatever it announces.
    """
    expected = sorted(map(tuple, expected))
    for asked, said in look["nodes"].items():
        members, named = (sorted(map(tuple, said[key])) for key in ("members", "slots"))
        check(members == expected, f"{asked} names {members}, not {expected}")
        check(named == expected if synced else set(named) <= set(expected), f"{asked} gives slots to {named}, not to {expected}")
        check(said["covered"] == 16384, f"{asked} knows {said['covered']} slots")
        stray = [where for where in map(tuple, said["moved"]) if where not in expected]
        check(not stray and said["moved"], f"{asked} moves clients to {said['moved']}")
    check(len(look["nodes"]) == len(expected), f"{len(look['nodes'])} nodes answer, not {len(expected)}")


def rendered(folder):
    return run(KUSTOMIZE, "build", "--enable-alpha-plugins", "--enable-exec", folder)


def copy(example, name):
    """A copy of an example that finds the function as the example does."""
    target = WORK / name / "examples" / pathlib.Path(example).relative_to("examples")
    target.parent.mkdir(parents=True)
    run("cp", "-r", ROOT / example, target)
    for config in target.rglob("*.yaml"):
        text = config.read_text()
        config.write_text(re.sub(r"path: [./]*expose-valkey$", f"path: {FUNCTION}", text, flags=re.M))
    return target


def change(folder, old, new):
    """Replaces a text in the one file of a folder that has it."""
    files = [path for path in folder.rglob("*.yaml") if path.name != "expected.yaml" and old in path.read_text()]
    check(len(files) == 1, f"{old!r} is in {files}")
    files[0].write_text(files[0].read_text().replace(old, new))


def together(*tests):
    """Runs (name, function) pairs side by side; returns the names of those that failed."""
    failed = []

    def one(name, function):
        local.name = name
        try:
            function()
            say("passed")
        except Exception as error:
            say(f"FAILED: {error if isinstance(error, Fault) else repr(error)}")
            if not isinstance(error, Fault):
                import traceback

                traceback.print_exc()
            failed.append(name)

    threads = [threading.Thread(target=one, args=test) for test in tests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed
