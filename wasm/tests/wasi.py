"""Runs a WASI program in wasmtime over many lists, as wasi.mjs does in Node.js:

    python wasi.py PROGRAM.wasm FOLDER LIST...
"""

import pathlib
import sys

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig

program, folder, *lists = sys.argv[1:]
engine = Engine()
module = Module.from_file(engine, program)
linker = Linker(engine)
linker.define_wasi()
for path in map(pathlib.Path, lists):
    name = str(pathlib.Path(folder) / path.stem)
    config = WasiConfig()
    config.argv = ["expose-valkey"]
    config.stdin_file = str(path)
    config.stdout_file = name + ".out"
    config.stderr_file = name + ".err"
    store = Store(engine)
    store.set_wasi(config)
    code = 0
    try:
        linker.instantiate(store, module).exports(store)["_start"](store)
    except ExitTrap as end:
        code = end.code
    pathlib.Path(name + ".code").write_text(f"{code}\n")
