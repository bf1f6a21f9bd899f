// Runs a WASI program in Node.js on a list:
//
//   node --no-warnings wasi.mjs PROGRAM.wasm FOLDER LIST
//
// For x.yaml: FOLDER/x.out and x.err are what it wrote, x.code is its exit code.
// One list for each process, as that is how users call it.
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { WASI } from "node:wasi";

// As in examples/wasm/wasi.mjs, which says why.
setFlagsFromString("--no-turbo-fast-api-calls");

const [program, folder, list] = process.argv.slice(2);
const name = join(folder, basename(list, ".yaml"));
const [stdin, stdout, stderr] = [openSync(list, "r"), openSync(`${name}.out`, "w"), openSync(`${name}.err`, "w")];
const wasi = new WASI({ version: "preview1", args: ["expose-valkey"], stdin, stdout, stderr, returnOnExit: true });
const { instance } = await WebAssembly.instantiate(readFileSync(program), wasi.getImportObject());
const code = wasi.start(instance);
writeFileSync(`${name}.code`, `${code}\n`);
