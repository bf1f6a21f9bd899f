// Runs a WASI program in Node.js, 20 or later:
//
//   node --no-warnings wasi.mjs PROGRAM.wasm [ARGUMENT...]
//
// The program sees the current folder and nothing else of the machine.
import { readFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { WASI } from "node:wasi";

// Node.js lets programs call WASI in a way that crashes it on large input
// (https://github.com/nodejs/node/issues/46777).
setFlagsFromString("--no-turbo-fast-api-calls");

const [program, ...args] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, ...args], preopens: { ".": "." }, returnOnExit: true });
const { instance } = await WebAssembly.instantiate(await readFile(program), wasi.getImportObject());
process.exitCode = wasi.start(instance);
