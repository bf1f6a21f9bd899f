// Uses the playground page in a real browser as a person would:
//
//   node browser.mjs PLAYWRIGHT_CORE CHROMIUM PLAYGROUND PROGRAM FOLDER
//
// FOLDER gets screenshots. PROGRAM is the native one: the page must show what it
// prints.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

const [playwright, executablePath, root, program, folder] = process.argv.slice(2);
const { chromium } = createRequire(import.meta.url)(playwright);

// A file server, and nothing more: whatever the page asks for must be in its folder.
const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".wasm": "application/wasm" };
const missing = [];
let panicky = false;
const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname).replace(/\/$/, "/index.html");
    try {
        let body = readFileSync(join(root, path));
        if (panicky && path === "/pkg/expose_valkey.js") {
            // A bug, in the words that only the test says.
            body = `${String(body).replace("export function explain(text) {", `export function explain(text) {
                if (text.includes("panic, please")) { globalThis.exposeValkeyPanicked("panicked at here:\\nas asked"); throw new WebAssembly.RuntimeError("unreachable"); }`)}`;
            assert(body.includes("panic, please"));
        }
        response.writeHead(200, { "content-type": types[extname(path)] ?? "text/plain" }).end(body);
    } catch {
        missing.push(path);
        response.writeHead(404).end();
    }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}/`;

const profile = mkdtempSync(join(tmpdir(), "playground-"));
const browser = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    acceptDownloads: true,
    permissions: ["clipboard-read", "clipboard-write"],
});
const complaints = [];
const requests = [];

async function open(options = {}) {
    const page = await browser.newPage();
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(`${error}`));
    page.on("request", (request) => requests.push(request.url()));
    await page.setViewportSize(options.size ?? { width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme: options.scheme ?? "light" });
    await page.goto(address);
    await settled(page, /node/);
    return page;
}

async function settled(page, words) {
    try {
        await page.waitForFunction((source) => new RegExp(source).test(document.getElementById("status").textContent), words.source, { timeout: 30_000 });
    } catch {
        const shown = await page.evaluate(() => [...document.querySelectorAll("#status, #broken, #findings")].map((each) => each.textContent).join("\n"));
        throw new Error(`${words} was not shown, but:\n${shown}\n${complaints.join("\n")}`);
    }
}

async function paste(page, text) {
    await page.focus("#text");
    await page.keyboard.press("Control+A");
    await page.evaluate((value) => navigator.clipboard.writeText(value), text);
    await page.keyboard.press("Control+V");
}

async function shownPorts(page) {
    return page.$$eval("#ports tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
}

function native(command, text) {
    return execFileSync(program, [command, "-f", "-"].concat(command === "ports" ? ["--output", "json"] : []), { input: text, encoding: "utf8" });
}

function expectedPorts(text) {
    return JSON.parse(native("ports", text)).map((row) => [
        row.namespace ? `${row.namespace}/${row.cluster}` : row.cluster, `${row.shard}`, `${row.node}`, row.hostname ?? "–",
        `${row.clientPort ?? (row.gateway ? "–" : "allocated")}`, row.service.name, `${row.service.port}`, row.gateway ? `${row.gateway.name}:${row.gateway.port}` : "–",
    ]);
}

async function downloaded(page, click) {
    const [download] = await Promise.all([page.waitForEvent("download"), click()]);
    return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
}

try {
    const page = await open();
    // Every example that is one click away: its ports are those that the program prints.
    const examples = await page.$$eval("#examples button", (buttons) => buttons.map((button) => button.textContent));
    assert.deepEqual(examples, ["Gateway", "Load balancers", "Node ports", "With mistakes"]);
    for (const name of examples.slice(0, 3)) {
        await page.click(`#examples button:text-is("${name}")`);
        const text = await page.inputValue("#text");
        const expected = expectedPorts(text);
        assert(expected.length >= 4);
        await page.waitForFunction((first) => document.querySelector("#ports tbody tr")?.cells[0].textContent === first, expected[0][0]);
        assert.deepEqual(await shownPorts(page), expected, name);
        assert.equal(await page.locator("#drawing svg rect.node").count(), expected.length);
        const [file, yaml] = await downloaded(page, () => page.click("#download-all"));
        assert.equal(file, "external-access.yaml");
        assert.equal(yaml, native("render", text), name);
    }
    await page.click('#examples button:text-is("Gateway")');
    await settled(page, /6 nodes/);
    await page.screenshot({ path: join(folder, "light.png"), fullPage: true });

    // Pasted, broken, put right.
    const cluster = (shards) => `# ü𝄞\napiVersion: valkey.io/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: pasted}\nspec:\n  shards: ${shards}\n  replicas: 1\n  externalAccess: {enabled: true, gateway: {gatewayRef: {name: edge}, basePort: 31000}}\n`;
    await paste(page, cluster("none"));
    await settled(page, /1 error/);
    assert(await page.isHidden("#ports-section") && await page.isHidden("#objects-section"));
    assert.match(await page.textContent("#findings"), /spec\.shards/);
    assert.deepEqual(await page.$$eval("#marks mark", (found) => found.map((mark) => mark.textContent)), ["none"]);
    await page.click("#findings button");
    assert.equal(await page.$eval("#text", (field) => field.value.slice(field.selectionStart, field.selectionEnd)), "none");
    await page.keyboard.type("2"); // what is selected is what is wrong
    await settled(page, /4 nodes/);
    assert.deepEqual(await shownPorts(page), expectedPorts(cluster("2")));
    assert.equal((await shownPorts(page))[3][4], "31003");
    const [name, services] = await downloaded(page, () => page.click('button[aria-label="Download Service objects"]'));
    assert.equal(name, "service.yaml");
    assert.equal(services.match(/^kind: Service$/gm).length, 2);
    await page.click('button[aria-label="Copy Service objects"]');
    await page.waitForFunction(() => document.querySelector('[aria-label="Copy Service objects"]').textContent === "Copied");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), services);

    // By keyboard alone: from the examples into the text, and on to the results.
    await page.focus("#examples button");
    const reached = [];
    for (let step = 0; step < 14; step += 1) {
        reached.push(await page.evaluate(() => document.activeElement.id || document.activeElement.tagName));
        await page.keyboard.press("Tab");
    }
    for (const id of ["text", "file", "copy-ports", "download-all"]) assert(reached.includes(id), `${id} of ${reached}`);

    // Not YAML, nothing, no cluster.
    await paste(page, "a: [");
    await settled(page, /1 error/);
    await paste(page, "kind: Pod\napiVersion: v1\nmetadata: {name: p}\n");
    await settled(page, /no ValkeyCluster/);
    await page.fill("#text", "");
    await settled(page, /Nothing here/);
    assert(await page.isHidden("#findings-section"));

    // Ten million characters, by a file: the page answers while they are read.
    const item = (index) => `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m${index}}\ndata: {text: "${"x".repeat(900)}"}\n`;
    const large = join(profile, "large.yaml");
    writeFileSync(large, cluster("2") + Array.from({ length: 10_500 }, (_, index) => item(index)).join(""));
    await page.setInputFiles("#file", large);
    await page.waitForSelector("#large:not([hidden])");
    assert.match(await page.textContent("#status"), /Working/);
    const longest = await page.evaluate(() => new Promise((done) => {
        let [last, longest] = [performance.now(), 0];
        const status = document.getElementById("status");
        const tick = (now) => {
            longest = Math.max(longest, now - last);
            last = now;
            if (/nodes/.test(status.textContent)) done(longest);
            else requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
    }));
    assert(longest < 1000, `the page did not move for ${longest} ms`);
    assert.equal((await shownPorts(page)).length, 4);
    await page.click("#clear");
    await settled(page, /Nothing here/);

    // Dark, with errors to see; and a phone.
    const dark = await open({ scheme: "dark" });
    await dark.screenshot({ path: join(folder, "dark.png"), fullPage: true });
    await dark.click('#examples button:text-is("With mistakes")');
    await settled(dark, /error/);
    assert((await dark.locator("#marks mark").count()) >= 2);
    await dark.screenshot({ path: join(folder, "dark-errors.png"), fullPage: true });
    const phone = await open({ size: { width: 390, height: 844 } });
    await phone.screenshot({ path: join(folder, "phone.png"), fullPage: true });
    const wide = await phone.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert(wide[0] <= 390, `a phone scrolls sideways: ${wide}`);
    assert.deepEqual(complaints, []);

    // A bug of ours: its text is shown, and the page goes on.
    panicky = true;
    const broken = await open();
    await broken.fill("#text", "panic, please");
    await broken.waitForSelector("#broken:not([hidden])");
    assert.match(await broken.textContent("#broken"), /as asked[^]*please report/);
    await broken.fill("#text", cluster("2"));
    await settled(broken, /4 nodes/);
    assert(await broken.isHidden("#broken"));

    assert.deepEqual(complaints, []);
    assert.deepEqual(missing, []);
    assert.deepEqual(requests.filter((url) => !url.startsWith(address) && !url.startsWith("blob:") && !url.startsWith("data:")), []);
} finally {
    await browser.close();
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
console.log("the page works");
