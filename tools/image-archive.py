#!/usr/bin/env python3
"""Packs a folder into an archive of one container image, the same bytes for the same files.

    tools/image-archive.py NAME FOLDER OUT.tar [ENTRYPOINT...]
"""

import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile

name, folder, out, *entrypoint = sys.argv[1:]
blobs = {}


def blob(data, kind):
    digest = hashlib.sha256(data).hexdigest()
    blobs[digest] = data
    return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}


def ownerless(entry):
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


raw = io.BytesIO()
with tarfile.open(fileobj=raw, mode="w") as tar:
    for path in sorted(pathlib.Path(folder).rglob("*")):
        tar.add(path, str(path.relative_to(folder)), recursive=False, filter=ownerless)
layer = blob(gzip.compress(raw.getvalue(), 1, mtime=0), "layer.v1.tar+gzip")
config = {
    "architecture": "amd64",
    "os": "linux",
    "config": {"Entrypoint": entrypoint},
    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(raw.getvalue()).hexdigest()]},
}
manifest = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.oci.image.manifest.v1+json",
    "config": blob(json.dumps(config).encode(), "config.v1+json"),
    "layers": [layer],
}
entry = blob(json.dumps(manifest).encode(), "manifest.v1+json")
entry["annotations"] = {"io.containerd.image.name": name}
files = {
    "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
    "index.json": json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode(),
}
files |= {f"blobs/sha256/{digest}": data for digest, data in blobs.items()}
with tarfile.open(out, "w") as tar:
    for path, data in files.items():
        info = tarfile.TarInfo(path)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
