// Runs a WASI program in Node.js over many lists:
//
//   node --no-warnings wasi.mjs PROGRAM.wasm FOLDER LIST...
//
// For x.yaml: FOLDER/x.out and x.err are what it wrote, x.code is its exit code.
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { WASI } from "node:wasi";

const [program, folder, ...lists] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(program));
for (const path of lists) {
    const name = join(folder, basename(path, ".yaml"));
    const [stdin, stdout, stderr] = [openSync(path, "r"), openSync(`${name}.out`, "w"), openSync(`${name}.err`, "w")];
    const wasi = new WASI({ version: "preview1", args: ["expose-valkey"], stdin, stdout, stderr, returnOnExit: true });
    const code = wasi.start(new WebAssembly.Instance(module, wasi.getImportObject()));
    [stdin, stdout, stderr].forEach(closeSync);
    writeFileSync(`${name}.code`, `${code}\n`);
}
