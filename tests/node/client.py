"""A cluster client outside of the cluster, as an application would use one.

    client.py look HOST PORT [--tls CA]
        prints as JSON what each node says of all nodes, by CLUSTER SHARDS, SLOTS and MOVED
    client.py own HOST PORT [HOST:PORT...] [--tls CA]
        prints as JSON by which names the server at each address knows all nodes, itself too
    client.py keys HOST PORT PREFIX COUNT [--tls CA]
        writes COUNT keys where they are missing, and reads all of them
    client.py write HOST PORT PREFIX [--tls CA]
        writes on until its standard input ends, then waits until all it was told is written can be
        read, and prints what it saw as JSON

It is told the one address HOST:PORT and learns the others from the cluster.
"""

import json
import sys
import threading
import time

import valkey
from valkey.backoff import ConstantBackoff
from valkey.cluster import ValkeyCluster
from valkey.exceptions import ValkeyError
from valkey.retry import Retry

SLOTS = 16384


def arguments():
    args = sys.argv[1:]
    tls = {}
    if "--tls" in args:
        at = args.index("--tls")
        # The names in the certificate are those that the nodes announce.
        tls = {"ssl": True, "ssl_ca_certs": args[at + 1], "ssl_check_hostname": True}
        del args[at : at + 2]
    return args, tls


def cluster(host, port, tls):
    return ValkeyCluster(
        host,
        int(port),
        decode_responses=True,
        socket_timeout=2,
        socket_connect_timeout=1,
        cluster_error_retry_attempts=3,
        retry=Retry(ConstantBackoff(0.1), 1),
        **tls,
    )


def single(host, port, tls):
    return valkey.Valkey(host, int(port), decode_responses=True, socket_timeout=3, socket_connect_timeout=2, **tls)


def slots(node):
    """Each node as one of them names it: (host, port) of each replica and primary, by the first slot."""
    return [[first, last, [[n[0], n[1]] for n in nodes]] for first, last, *nodes in node.execute_command("CLUSTER SLOTS")]


def members(node, asked):
    """Each living node as one of them names it, those too that still load their data: SLOTS leaves them out."""
    found = set()
    for shard in node.execute_command("CLUSTER SHARDS"):
        shard = dict(zip(shard[::2], shard[1::2]))
        for member in shard["nodes"]:
            member = dict(zip(member[::2], member[1::2]))
            if member["health"] != "fail":
                # A node that names no host for itself means the one that was asked.
                found.add((member["endpoint"] or asked, member.get("tls-port") or member["port"]))
    return sorted(found)


def key_of_slot(wanted):
    from valkey.crc import key_slot

    for number in range(10 * SLOTS):
        if key_slot(b"k%d" % number) == wanted:
            return f"k{number}"
    raise AssertionError(f"no key for slot {wanted}")


def moved(node, ranges):
    """Where a node sends us for the first slot of each range that is not its own."""
    seen = []
    for first, _, _ in ranges:
        try:
            node.execute_command("GET", key_of_slot(first))
        except valkey.exceptions.ResponseError as error:
            word, _, where = str(error).split()
            assert word == "MOVED", error
            name, port = where.rsplit(":", 1)
            seen.append([name, int(port)])
    return seen


def look(host, port, tls):
    seen = {"asked": [host, int(port)], "nodes": {}}
    for name, number in members(single(host, port, tls), host):
        node = single(name, number, tls)
        ranges = slots(node)
        seen["nodes"][f"{name}:{number}"] = {
            "id": node.execute_command("CLUSTER MYID"),
            "role": node.execute_command("ROLE")[0],
            "members": members(node, name),
            "slots": sorted({(n[0] or name, n[1]) for r in ranges for n in r[2]}),
            "covered": sum(r[1] - r[0] + 1 for r in ranges),
            "moved": moved(node, ranges),
        }
    json.dump(seen, sys.stdout)


def own(host, port, *more, tls):
    named = {}
    for address in [f"{host}:{port}", *more]:
        name, number = address.rsplit(":", 1)
        named[address] = members(single(name, number, tls), name)
    json.dump(named, sys.stdout)


def keys(host, port, prefix, count, tls):
    client = cluster(host, port, tls)
    names = [f"{prefix}{number}" for number in range(int(count))]
    written = sum(1 for name in names if client.set(name, f"value of {name}", nx=True))
    wrong = [name for name in names if client.get(name) != f"value of {name}"]
    json.dump({"written": written, "wrong": wrong, "shards": len(client.get_primaries())}, sys.stdout)


def write(host, port, prefix, tls):
    client = cluster(host, port, tls)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    print("writing", file=sys.stderr, flush=True)
    told, faults, longest, last = {}, {}, 0.0, time.monotonic()
    number = 0
    while not ended.is_set():
        name = f"{prefix}{number % 500}"
        try:
            client.set(name, number)
            told[name] = number
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        except (ValkeyError, OSError) as error:
            # Whether it was written is not known: either value may be read.
            told.pop(name, None)
            kind = type(error).__name__
            faults[kind] = faults.get(kind, 0) + 1
        number += 1
        time.sleep(0.005)
    lost = dict(told)
    end = time.monotonic() + 20
    while lost and time.monotonic() < end:
        for name, value in list(lost.items()):
            try:
                if client.get(name) == str(value):
                    del lost[name]
            except (ValkeyError, OSError):
                time.sleep(0.1)
        time.sleep(0.1)
    json.dump({"writes": number, "told": len(told), "lost": lost, "faults": faults, "longest": round(longest, 2)}, sys.stdout)


def main():
    (command, *args), tls = arguments()
    {"look": look, "own": own, "keys": keys, "write": write}[command](*args, tls=tls)


main()
