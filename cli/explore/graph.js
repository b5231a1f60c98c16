"use strict";
// The graph: ops of folded modules are one node each. Modules fold and unfold one by one.
const graph = JSON.parse(document.getElementById("data").textContent);
const open = new Set(); // paths of the modules that are unfolded
const [WIDTH, HEIGHT, GAP_X, GAP_Y] = [190, 44, 24, 46];
const FILLS = { input: "#dbeafe", output: "#dbeafe", op: "#f8fafc", module: "#fef3c7" };
const prefixes = (path) => path.map((_, n) => path.slice(0, n + 1).join("."));
const deepest = Math.max(0, ...graph.nodes.map((node) => node.path.length));

function unfoldTo(depth) {
  open.clear();
  graph.nodes.forEach((node) => prefixes(node.path).slice(0, depth).forEach((path) => open.add(path)));
}
function fold(path) {
  [...open].filter((p) => p === path || p.startsWith(path + ".")).forEach((p) => open.delete(p));
}

// Nodes and edges that are shown.
function shown() {
  const nodes = [], places = new Map(), edges = new Map();
  const of = graph.nodes.map((node, number) => {
    const module = prefixes(node.path).find((path) => !open.has(path));
    const key = module === undefined ? number : module;
    if (!places.has(key)) {
      places.set(key, nodes.length);
      nodes.push(module === undefined ? { ...node, path: node.path.join(".") } : { label: module, kind: "module", path: module, detail: [], numbers: [] });
    }
    const target = nodes[places.get(key)];
    if (module !== undefined) {
      target.numbers.push(...node.numbers);
      target.detail.push(`${node.label} -> ${node.detail.join(", ")}`);
    }
    return places.get(key);
  });
  graph.edges.forEach(([source, target, label]) => {
    if (of[source] !== of[target] && !edges.has(`${of[source]} ${of[target]}`)) edges.set(`${of[source]} ${of[target]}`, [of[source], of[target], label]);
  });
  return { nodes, edges: [...edges.values()] };
}

// Layers by the longest way from an input; in each, ordered by where the predecessors stand.
function layout({ nodes, edges }) {
  const layers = nodes.map(() => 0), before = nodes.map(() => []);
  [...edges].sort((a, b) => a[1] - b[1]).forEach(([source, target]) => {
    before[target].push(source);
    if (source < target) layers[target] = Math.max(layers[target], layers[source] + 1);
  });
  const rows = [];
  nodes.forEach((_, n) => (rows[layers[n]] = rows[layers[n]] || []).push(n));
  const order = new Map();
  rows.forEach((row) => {
    const mean = (n) => before[n].reduce((sum, s) => sum + (order.get(s) || 0), 0) / (before[n].length || 1);
    row.sort((a, b) => mean(a) - mean(b)).forEach((n, place) => order.set(n, place - (row.length - 1) / 2));
  });
  const widest = Math.max(1, ...rows.map((row) => row.length));
  const x = (n) => (widest / 2 + order.get(n)) * (WIDTH + GAP_X) - WIDTH / 2;
  return { places: nodes.map((_, n) => [x(n), layers[n] * (HEIGHT + GAP_Y) + GAP_Y / 2]), width: widest * (WIDTH + GAP_X), height: rows.length * (HEIGHT + GAP_Y) };
}

const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const shortened = (text, limit) => (text.length <= limit ? text : "…" + text.slice(1 - limit));

function nodeText(node, [x, y]) {
  const count = `${node.numbers.length} operation${node.numbers.length === 1 ? "" : "s"}`;
  const below = node.kind === "module" ? count : node.path || node.detail[0] || "";
  const title = [node.path || node.label, ...node.detail.slice(0, 40)].join("\n");
  return `<g class="node ${node.kind}" data-ops="${node.numbers.join(" ")}" data-path="${escaped(node.path)}"><title>${escaped(title)}</title>` +
    `<rect x="${x}" y="${y}" width="${WIDTH}" height="${HEIGHT}" rx="6" fill="${FILLS[node.kind]}" stroke="#64748b"/>` +
    `<text x="${x + WIDTH / 2}" y="${y + 18}" text-anchor="middle" font-weight="600">${escaped(shortened(node.label, 26))}</text>` +
    `<text x="${x + WIDTH / 2}" y="${y + 35}" text-anchor="middle" fill="#475569" font-size="11">${escaped(shortened(below, 30))}</text></g>`;
}
function edgeText([x1, y1], [x2, y2], label) {
  const [ax, ay, bx] = [x1 + WIDTH / 2, y1 + HEIGHT, x2 + WIDTH / 2], bend = Math.max(20, (y2 - ay) / 2);
  return `<path d="M${ax} ${ay}C${ax} ${ay + bend} ${bx} ${y2 - bend} ${bx} ${y2}" fill="none" stroke="#94a3b8" marker-end="url(#arrow)"/>` +
    `<text x="${(ax + bx) / 2 + 6}" y="${(ay + y2) / 2 + 4}" fill="#64748b" font-size="10">${escaped(label)}</text>`;
}
function draw() {
  const visible = shown(), { places, width, height } = layout(visible);
  const arrow = '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#64748b"/></marker></defs>';
  const edges = visible.edges.map(([s, t, label]) => edgeText(places[s], places[t], label)).join("");
  const nodes = visible.nodes.map((node, n) => nodeText(node, places[n])).join("");
  document.getElementById("picture").innerHTML = `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" style="font: 12px system-ui, sans-serif">${arrow}${edges}${nodes}</svg>`;
}
