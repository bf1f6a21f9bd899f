"""Runs a WASI program in wasmtime from PyPI (`pip install wasmtime`):

    python3 wasi.py PROGRAM.wasm [ARGUMENT...]

The program sees the current folder and nothing else of the machine.
"""

import sys

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig

engine = Engine()
linker = Linker(engine)
linker.define_wasi()
config = WasiConfig()
config.argv = sys.argv[1:]
config.inherit_stdin()
config.inherit_stdout()
config.inherit_stderr()
config.preopen_dir(".", ".")
store = Store(engine)
store.set_wasi(config)
try:
    linker.instantiate(store, Module.from_file(engine, sys.argv[1])).exports(store)["_start"](store)
except ExitTrap as end:
    sys.exit(end.code)
