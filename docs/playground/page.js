import { draw } from "./drawing.js";
import { examples } from "./examples.js";

const $ = (id) => document.getElementById(id);
const [text, marks, status, broken] = ["text", "marks", "status", "broken"].map($);
const LARGE = 1_000_000; // characters that a text field still takes gladly
const MARKED = 200_000; // characters that are marked
const ROWS = 300;
const SHOWN = 200_000; // characters of one kind that are shown

const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
};

// === the text: in the field, or beside it if it is too large for that ===

let large = null;

const input = () => large ?? text.value;

function setText(value, name = "") {
    large = value.length > LARGE ? value : null;
    text.readOnly = large !== null;
    text.value = large === null ? value : value.slice(0, 20_000);
    $("large").hidden = large === null;
    $("large").firstElementChild.textContent = large === null ? "" : `${name || "The text"} has ${(value.length / 1e6).toFixed(1)} million characters: only its beginning is shown, all of it is read.`;
    text.scrollTop = 0;
    for (const button of $("examples").children) button.setAttribute("aria-pressed", String(examples[button.dataset.index].text === value));
    changed(0);
}

text.addEventListener("input", () => {
    for (const button of $("examples").children) button.setAttribute("aria-pressed", "false");
    changed(150);
});
text.addEventListener("paste", (event) => {
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (pasted.length + text.value.length <= LARGE) return;
    event.preventDefault();
    setText(pasted);
});
text.addEventListener("scroll", () => { [marks.scrollTop, marks.scrollLeft] = [text.scrollTop, text.scrollLeft]; });
$("clear").addEventListener("click", () => { setText(""); text.focus(); });

const read = async (file) => file && setText(await file.text(), file.name);
$("file").addEventListener("change", async (event) => { await read(event.target.files[0]); event.target.value = ""; });
addEventListener("dragover", (event) => { event.preventDefault(); $("editor").classList.add("drop"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) $("editor").classList.remove("drop"); });
addEventListener("drop", (event) => {
    event.preventDefault();
    $("editor").classList.remove("drop");
    const [file] = event.dataTransfer.files;
    if (file) read(file);
    else if (event.dataTransfer.getData("text/plain")) setText(event.dataTransfer.getData("text/plain"));
});

examples.forEach(({ name, text: value }, index) => {
    const button = make("button", { type: "button", textContent: name });
    button.dataset.index = index;
    button.addEventListener("click", () => setText(value));
    $("examples").append(button);
});

// === the worker: one question at a time, and always the newest text next ===

let worker, timer;
let busy = false;
let waiting = false;
let asked = 0;

function changed(delay) {
    clearTimeout(timer);
    mark([]);
    timer = setTimeout(ask, delay);
}

function ask() {
    waiting = busy;
    if (busy) return;
    busy = true;
    asked += 1;
    if (large !== null) say("Working …");
    worker.postMessage({ id: asked, text: input() });
}

function start() {
    worker = new Worker("worker.js", { type: "module" });
    worker.onerror = (event) => { event.preventDefault(); fail(event.message || "The worker could not be started."); };
    worker.onmessage = ({ data }) => {
        if (data.ready) return;
        if (data.broken !== undefined) return fail(data.broken, data.id !== undefined);
        busy = false;
        if (waiting) return ask();
        broken.hidden = true;
        show(data.result);
    };
}

// After a panic the worker's memory cannot be trusted: the next question goes to a new one.
function fail(message, again = false) {
    worker.terminate();
    busy = false;
    broken.textContent = again ? `${message}\n\nThis is a bug of expose-valkey: please report it, with the text above. You can go on: change the text.` : message;
    broken.hidden = false;
    clear();
    say("The function stopped before it was done.", true);
    if (again) start();
    if (again && waiting) ask();
}

// === what is shown ===

function say(message, error = false) {
    status.textContent = message;
    status.classList.toggle("error", error);
}

const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

let shown = { ports: [], objects: [] };

function clear() {
    for (const section of ["findings", "drawing", "ports", "objects"]) $(`${section}-section`).hidden = true;
}

function show(result) {
    shown = result;
    const errors = result.findings.filter((finding) => finding.severity === "error").length;
    if (input().trim() === "") say("Nothing here yet: paste a ValkeyCluster, or take an example.");
    else if (errors) say(`${count(errors, "error")}: nothing is rendered until ${errors === 1 ? "it is" : "they are"} put right.`, true);
    else if (result.clusters === 0) say("There is no ValkeyCluster in the text.");
    else say(`${result.exposed} of ${count(result.clusters, "cluster")} with external access: ${count(result.ports.length, "node")}, ${count(result.objects.length, "object")}.`);
    const nothing = input().trim() === "";
    showFindings(nothing ? [] : result.findings);
    const ports = errors ? [] : result.ports;
    showPorts(ports);
    $("drawing-section").hidden = ports.length === 0;
    draw(ports, $("drawing"));
    showObjects(result.objects);
}

function showFindings(findings) {
    $("findings-section").hidden = findings.length === 0;
    $("findings").replaceChildren(...findings.slice(0, ROWS).map((finding) => {
        const head = make("div", { className: "head" }, make("span", { className: "severity", textContent: finding.severity }));
        if (finding.field) head.append(make("code", { textContent: finding.field }));
        if (finding.line && large === null) {
            const button = make("button", { type: "button", textContent: `line ${finding.line}` });
            button.addEventListener("click", () => go(finding));
            head.append(button);
        } else if (finding.line) head.append(make("span", { textContent: `line ${finding.line}` }));
        if (finding.object) head.append(make("span", { className: "of", textContent: finding.object }));
        return make("li", { className: finding.severity }, head, make("p", { textContent: finding.message }));
    }));
    mark(findings);
}

// Selects what a finding is about.
function go({ line, from, to }) {
    const lines = text.value.split("\n");
    const start = from ?? lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    text.focus();
    text.setSelectionRange(start, to ?? start + (lines[line - 1]?.length ?? 0));
    const height = parseFloat(getComputedStyle(text).lineHeight);
    text.scrollTop = Math.max(0, (line - 4) * height);
}

function mark(findings) {
    const value = text.value;
    if (large !== null || value.length > MARKED) return marks.replaceChildren();
    const lines = value.split("\n");
    const places = findings.filter((finding) => finding.line).map(({ from, to, line, severity }) => {
        if (from !== null) return { from, to, severity };
        const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
        return { from: start, to: start + (lines[line - 1]?.length ?? 0), severity };
    }).sort((a, b) => a.from - b.from);
    const parts = [];
    let at = 0;
    for (const { from, to, severity } of places) {
        if (from < at || to <= from) continue;
        parts.push(value.slice(at, from), make("mark", { className: severity, textContent: value.slice(from, to) }));
        at = to;
    }
    // A last line that is empty needs something in it to have a height.
    marks.replaceChildren(...parts, `${value.slice(at)}\n `);
    [marks.scrollTop, marks.scrollLeft] = [text.scrollTop, text.scrollLeft];
}

const HEAD = ["Cluster", "Shard", "Node", "Hostname", "Client port", "Service", "Service port", "Listener"];

const cells = (row) => [
    row.namespace ? `${row.namespace}/${row.cluster}` : row.cluster,
    row.shard,
    row.node,
    row.hostname ?? "–",
    row.clientPort ?? (row.gateway ? "–" : "allocated"),
    row.service.name,
    row.service.port,
    row.gateway ? `${row.gateway.name}:${row.gateway.port ?? "–"}` : "–",
];

function showPorts(rows) {
    const table = $("ports");
    $("ports-section").hidden = rows.length === 0;
    table.tHead.replaceChildren(make("tr", {}, ...HEAD.map((name) => make("th", { scope: "col", textContent: name }))));
    table.tBodies[0].replaceChildren(...rows.slice(0, ROWS).map((row) => make("tr", {}, ...cells(row).map((cell, column) =>
        make("td", { textContent: cell, className: cell === "–" || cell === "allocated" ? "none" : column === 4 ? "number" : "" })))));
    $("more-ports").hidden = rows.length <= ROWS;
    $("more-ports").textContent = `The first ${ROWS} of ${rows.length} nodes: “Copy as text” takes all.`;
}

const documents = (objects) => objects.map((object) => object.yaml).join("---\n");

function showObjects(objects) {
    $("objects-section").hidden = objects.length === 0;
    const kinds = new Map();
    for (const object of objects) {
        if (!kinds.has(object.kind)) kinds.set(object.kind, []);
        kinds.get(object.kind).push(object);
    }
    const open = new Set([...$("objects").querySelectorAll("details[open]")].map((each) => each.dataset.kind));
    $("objects").replaceChildren(...[...kinds].map(([kind, of], index) => {
        const yaml = documents(of);
        const copyButton = make("button", { type: "button", textContent: "Copy" });
        copyButton.setAttribute("aria-label", `Copy ${kind} objects`);
        copyButton.addEventListener("click", () => copy(yaml, copyButton));
        const downloadButton = make("button", { type: "button", textContent: "Download" });
        downloadButton.setAttribute("aria-label", `Download ${kind} objects`);
        downloadButton.addEventListener("click", () => download(yaml, `${kind.toLowerCase()}.yaml`));
        const details = make("details", { open: open.size ? open.has(kind) : index === 0 },
            make("summary", {}, `${kind} `, make("span", { textContent: `× ${of.length}` })),
            make("div", { className: "buttons" }, copyButton, downloadButton),
            make("pre", { tabIndex: 0, textContent: yaml.length > SHOWN ? `${yaml.slice(0, SHOWN)}\n… “Download” has all of it.` : yaml }));
        details.dataset.kind = kind;
        return details;
    }));
}

async function copy(value, button) {
    const label = button.textContent;
    try {
        await navigator.clipboard.writeText(value);
        button.textContent = "Copied";
    } catch {
        button.textContent = "Not allowed by the browser";
    }
    setTimeout(() => { button.textContent = label; }, 1500);
}

function download(value, name) {
    const url = URL.createObjectURL(new Blob([value], { type: "application/yaml" }));
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

$("copy-ports").addEventListener("click", (event) => {
    copy([HEAD, ...shown.ports.map(cells)].map((row) => row.join("\t")).join("\n"), event.target);
});
$("download-all").addEventListener("click", () => download(documents(shown.objects), "external-access.yaml"));

start();
setText(examples[0].text);
