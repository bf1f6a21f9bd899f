// Runs the web page's module in Node.js over many lists:
//
//   node web.mjs PKG FOLDER LIST...
//
// For x.yaml: FOLDER/x.out is the list, x.err the findings, x.code the exit code
// that the program would have.
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [pkg, folder, ...lists] = process.argv.slice(2);
globalThis.exposeValkeyPanicked = (message) => { throw new Error(message); };
const { initSync, run } = await import(pathToFileURL(resolve(pkg, "expose_valkey.js")));
initSync({ module: readFileSync(join(pkg, "expose_valkey_bg.wasm")) });
for (const path of lists) {
    const name = join(folder, basename(path, ".yaml"));
    const { text, failed, findings } = JSON.parse(run(readFileSync(path, "utf8")));
    writeFileSync(`${name}.out`, text);
    writeFileSync(`${name}.err`, findings.map((finding) => `${finding}\n`).join(""));
    writeFileSync(`${name}.code`, failed ? "1\n" : "0\n");
}
