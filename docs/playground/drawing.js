// The way from a client to each node, as a drawing for each cluster.

const MOST = 24; // nodes of one cluster that are drawn

const svg = (name, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
};

const full = (row) => (row.namespace ? `${row.namespace}/${row.cluster}` : row.cluster);

// What a box of each column says: a line, and a fainter one.
const columns = {
    client: { title: "Client", weight: 1.45, of: (row) => [row.hostname ?? "any address", row.clientPort ? `port ${row.clientPort}` : "port: Kubernetes allocates"] },
    listener: { title: "Gateway listener", weight: 0.85, of: (row) => (row.gateway ? [row.gateway.name, `port ${row.gateway.port ?? "–"}`] : null) },
    service: { title: "Service port", weight: 1.2, of: (row) => [row.service.name, `${row.service.type}, port ${row.service.port}`] },
    node: { title: "Node", weight: 1, of: (row) => [`${row.cluster}-${row.shard}-${row.node}`, `shard ${row.shard}, ${row.node === 0 ? "first primary" : `replica ${row.node}`}`] },
};

function drawCluster(rows) {
    const shown = rows.slice(0, MOST);
    const names = ["client", "listener", "service", "node"].filter((name) => shown.some((row) => columns[name].of(row)));
    const box = { height: 40, gap: 14, top: 30, apart: 40 };
    const width = 900;
    const unit = (width - box.apart * (names.length - 1)) / names.reduce((sum, name) => sum + columns[name].weight, 0);
    const widths = names.map((name) => columns[name].weight * unit);
    const left = (column) => widths.slice(0, column).reduce((sum, each) => sum + each + box.apart, 0);
    // A Service leads to several nodes, and a name to several ports: more room between shards than within one.
    let y = box.top;
    const tops = shown.map((row, index) => {
        if (index > 0) y += box.height + (shown[index - 1].shard === row.shard ? 6 : box.gap);
        return y;
    });
    const height = y + box.height + 4;
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": shown.map((row) => names.map((name) => columns[name].of(row)?.join(" ") ?? "").join(" to ")).join("; ") });
    names.forEach((name, column) => picture.append(svg("text", { x: left(column), y: 16, class: "title" }, columns[name].title)));
    shown.forEach((row, index) => {
        names.forEach((name, column) => {
            const [first, second] = columns[name].of(row) ?? ["–", ""];
            const most = Math.floor((widths[column] - 20) / 7.4);
            const short = (text) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
            picture.append(
                svg("rect", { x: left(column) + 1, y: tops[index], width: widths[column] - 2, height: box.height, rx: 6, class: name }),
                svg("text", { x: left(column) + 10, y: tops[index] + 17 }, svg("title", {}, first), short(first)),
                svg("text", { x: left(column) + 10, y: tops[index] + 33, class: "small" }, short(second)),
            );
            if (column === 0) return;
            const [x, middle] = [left(column), tops[index] + box.height / 2];
            picture.append(
                svg("path", { d: `M${x - box.apart + 3} ${middle}H${x - 9}` }),
                svg("path", { d: `M${x - 10} ${middle - 4}l8 4-8 4z`, class: "arrow" }),
            );
        });
    });
    return picture;
}

export function draw(rows, into) {
    const clusters = new Map();
    for (const row of rows) {
        if (!clusters.has(full(row))) clusters.set(full(row), []);
        clusters.get(full(row)).push(row);
    }
    const figures = [...clusters].slice(0, 8).map(([name, of]) => {
        const figure = document.createElement("figure");
        const caption = document.createElement("figcaption");
        caption.textContent = of.length > MOST ? `${name}: the first ${MOST} of ${of.length} nodes` : `${name}: ${of.length} nodes`;
        const scroll = document.createElement("div");
        scroll.className = "scroll";
        scroll.tabIndex = 0;
        scroll.setAttribute("role", "region");
        scroll.setAttribute("aria-label", `The way to each node of ${name}`);
        scroll.append(drawCluster(of));
        figure.append(caption, scroll);
        return figure;
    });
    into.replaceChildren(...figures);
}
