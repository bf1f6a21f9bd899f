// Runs a WASI program in Node.js, 20 or later:
//
//   node --no-warnings wasi.mjs PROGRAM.wasm [ARGUMENT...]
//
// The program sees the current folder and nothing else of the machine.
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [program, ...args] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, ...args], preopens: { ".": "." }, returnOnExit: true });
const { instance } = await WebAssembly.instantiate(await readFile(program), wasi.getImportObject());
process.exitCode = wasi.start(instance);
