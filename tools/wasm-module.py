#!/usr/bin/env python3
"""Reads a WebAssembly module, and changes one thing in it where it must.

    tools/wasm-module.py shape MODULE            its imports and exports, a line each
    tools/wasm-module.py multiply MODULE OUT     multiplications in place of small shifts

kpt embeds wasmtime 1.0, which computes an address that is a number shifted left
by 1, 2 or 3 in 64 bits where WebAssembly says 32 (CVE-2023-26489): compiled Rust
then reads out of bounds, in correct code. It does no such thing to a number that
is multiplied by 2, 4 or 8, which is the same and takes as many bytes.
"""

import sys


class Module:
    def __init__(self, data):
        if data[:8] != b"\0asm\1\0\0\0":
            raise SystemExit("not a WebAssembly module")
        self.data = bytearray(data)
        self.at = 8

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        """An integer that fits into no fixed number of bytes; the sign of one that has it is not looked at."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def numbers(self, count):
        for _ in range(count):
            self.number()

    def name(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def sections(self):
        self.at = 8
        while self.at < len(self.data):
            kind = self.byte()
            size = self.number()
            end = self.at + size
            yield kind
            self.at = end

    def limits(self):
        self.numbers(2 if self.byte() & 1 else 1)

    def shape(self):
        kinds = ["function", "table", "memory", "global"]
        for section in self.sections():
            if section == 2:
                for _ in range(self.number()):
                    name = f"{self.name()} {self.name()}"
                    kind = self.byte()
                    if kind == 0:
                        self.number()
                    elif kind == 1:
                        self.byte()
                        self.limits()
                    elif kind == 2:
                        self.limits()
                    else:
                        self.at += 2
                    yield f"import {kinds[kind]} {name}"
            elif section == 7:
                for _ in range(self.number()):
                    name = self.name()
                    kind = self.byte()
                    self.number()
                    yield f"export {kinds[kind]} {name}"

    def instruction(self):
        """Steps over one instruction and returns its first byte."""
        code = self.byte()
        if code in (0x02, 0x03, 0x04, 0x0C, 0x0D, 0x10, 0x41, 0x42, 0xD0, 0xD2) or 0x20 <= code <= 0x26:
            self.number()
        elif code == 0x11 or 0x28 <= code <= 0x3E:
            self.numbers(2)
        elif code == 0x0E:
            self.numbers(self.number() + 1)
        elif code == 0x1C:
            self.numbers(self.number())
        elif code in (0x3F, 0x40):
            self.at += 1
        elif code in (0x43, 0x44):
            self.at += 4 if code == 0x43 else 8
        elif code == 0xFC:
            wide = self.number()
            if wide > 17:
                raise SystemExit(f"unknown instruction fc {wide}")
            self.numbers(0 if wide < 8 else 2 if wide in (8, 10, 12, 14) else 1)
        elif code not in (0x00, 0x01, 0x05, 0x0B, 0x0F, 0x1A, 0x1B, 0xD1) and not 0x45 <= code <= 0xC4:
            raise SystemExit(f"unknown instruction {code:x}")
        return code

    def multiply(self):
        """Turns `i32.const k, i32.shl` into `i32.const 2^k, i32.mul`, and returns how often."""
        changed = 0
        for section in self.sections():
            if section != 10:
                continue
            for _ in range(self.number()):
                size = self.number()
                end = self.at + size
                for _ in range(self.number()):
                    self.numbers(2)
                constant = None
                while self.at < end:
                    start = self.at
                    code = self.instruction()
                    if code == 0x74 and constant is not None and self.data[constant] in (1, 2, 3):
                        self.data[constant] = 1 << self.data[constant]
                        self.data[start] = 0x6C
                        changed += 1
                    constant = start + 1 if code == 0x41 and self.at == start + 2 else None
        return changed


def main(arguments):
    match arguments:
        case ["shape", path]:
            with open(path, "rb") as file:
                print(*Module(file.read()).shape(), sep="\n")
        case ["multiply", path, out]:
            with open(path, "rb") as file:
                module = Module(file.read())
            if module.multiply() == 0:
                raise SystemExit("there is no shift in this module: it is not as it was expected")
            with open(out, "wb") as file:
                file.write(module.data)
        case _:
            raise SystemExit(__doc__)


main(sys.argv[1:])
