// Runs a module as the Node.js runtime of kpt does, with Go's own wasm_exec.js,
// but over many lists at once:
//
//   node go-run.mjs WASM_EXEC_JS MODULE FOLDER LIST...
//
// For x.yaml it writes FOLDER/x.out, or FOLDER/x.err with the message of a run
// that failed; after a trap the message is what the module wrote before it.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const [wasmExec, file, folder, ...lists] = process.argv.slice(2);
createRequire(import.meta.url)(wasmExec);
const module = new WebAssembly.Module(readFileSync(file));
let written = "";
globalThis.fs.writeSync = (fd, bytes) => {
    if (fd !== 2) throw new Error("the module wrote to standard output, where the list goes");
    written += new TextDecoder().decode(bytes);
    return bytes.length;
};

for (const path of lists) {
    const input = readFileSync(path, "utf8");
    const go = new Go();
    // Older names of the same, which kpt's copy has and Go's does not.
    go.importObject.go ??= go.importObject.gojs;
    const instance = new WebAssembly.Instance(module, go.importObject);
    delete globalThis.processResourceList;
    delete globalThis.processResourceListErrors;
    void go.run(instance);
    const name = join(folder, basename(path, ".yaml"));
    written = "";
    let answer;
    try {
        answer = globalThis.processResourceList(input);
    } catch (trap) {
        if (!(trap instanceof WebAssembly.RuntimeError)) throw trap;
        writeFileSync(`${name}.err`, written);
        continue;
    }
    if (written !== "") throw new Error(`the module wrote ${written}`);
    if (answer.includes("kind: ResourceList")) writeFileSync(`${name}.out`, answer);
    else writeFileSync(`${name}.err`, globalThis.processResourceListErrors(input));
}
