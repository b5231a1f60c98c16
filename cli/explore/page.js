const all = (selector) => [...document.querySelectorAll(selector)];
const one = (selector) => document.querySelector(selector);
const choose = (group, attribute, value) => all(group).forEach((e) => e.classList.toggle("on", e.dataset[attribute] === value));

// Views, stages, depths.
function showView(name) {
  choose(".view", "view", name);
  ["stages", "passes", "times"].forEach((section) => (one("#" + section).hidden = section !== name));
}
function showStage(name) {
  choose(".tab", "stage", name);
  choose(".pane", "stage", name);
  scrollToChosen();
}
function showDepth(number) {
  choose(".depth", "depth", number);
  unfoldTo(Number(number));
  redraw();
  fit();
}

function redraw() {
  draw();
  markNodes();
}

// One or several operations are marked in the graph and in every stage.
let chosen = new Set();
function markNodes() {
  all(".node").forEach((e) => e.classList.toggle("chosen", e.dataset.ops.split(" ").some((n) => n !== "" && chosen.has(n))));
}
function mark(numbers, label) {
  chosen = new Set(numbers.map(String));
  all("pre i[data-op]").forEach((e) => e.classList.toggle("chosen", chosen.has(e.dataset.op)));
  markNodes();
  one("#chosen").textContent = label;
  scrollToChosen();
}
function scrollToChosen() {
  const line = one(".pane.on i.chosen");
  const pane = one(".pane.on");
  if (line && line.closest("details")) line.closest("details").open = true;
  if (line) pane.scrollTop = line.offsetTop - pane.offsetTop - pane.clientHeight / 2;
}
document.addEventListener("click", (event) => {
  const target = event.target;
  const line = target.closest("pre i[data-op]");
  const node = target.closest(".node");
  if (target.dataset.view) showView(target.dataset.view);
  else if (target.classList.contains("tab")) showStage(target.dataset.stage);
  else if (target.classList.contains("depth")) showDepth(target.dataset.depth);
  else if (target.id === "fit") fit();
  else if (node && !moved) mark(node.dataset.ops.split(" "), node.dataset.path || node.querySelector("text").textContent);
  else if (line) mark([line.dataset.op], line.textContent.trim().slice(0, 90));
});
// A double click on a folded module unfolds it alone; on an operation it folds the module that holds it.
document.addEventListener("dblclick", (event) => {
  const node = event.target.closest(".node");
  if (!node || !node.dataset.path) return;
  if (node.classList.contains("module")) open.add(node.dataset.path);
  else fold(node.dataset.path);
  all(".depth").forEach((e) => e.classList.remove("on"));
  redraw();
});

// Zoom with the wheel, move with the mouse.
const view = { x: 0, y: 0, scale: 1 };
let moved = false;
const canvas = one("#canvas");
const apply = () => (one("#picture").style.transform = `translate(${view.x}px,${view.y}px) scale(${view.scale})`);
function fit() {
  const box = one("#picture svg");
  view.scale = Math.min(1, (canvas.clientWidth - 20) / box.width.baseVal.value);
  view.x = (canvas.clientWidth - box.width.baseVal.value * view.scale) / 2;
  view.y = 5;
  apply();
}
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const { left, top } = canvas.getBoundingClientRect();
  const x = event.clientX - left, y = event.clientY - top;
  const scale = Math.min(4, Math.max(0.05, view.scale * Math.exp(-event.deltaY / 500)));
  view.x = x - ((x - view.x) * scale) / view.scale;
  view.y = y - ((y - view.y) * scale) / view.scale;
  view.scale = scale;
  apply();
}, { passive: false });
canvas.addEventListener("pointerdown", (event) => {
  const start = { x: event.clientX - view.x, y: event.clientY - view.y, left: event.clientX, top: event.clientY };
  moved = false;
  const move = (e) => {
    moved = moved || Math.hypot(e.clientX - start.left, e.clientY - start.top) > 4;
    view.x = e.clientX - start.x;
    view.y = e.clientY - start.y;
    apply();
  };
  document.addEventListener("pointermove", move);
  document.addEventListener("pointerup", () => document.removeEventListener("pointermove", move), { once: true });
});

showView("stages");
showStage(one(".tab").dataset.stage);
showDepth(all(".depth").at(-1).dataset.depth);
// #stage=llvm&op=3&depth=0&open=layers.0 in the address shows that at once.
const wanted = new URLSearchParams(location.hash.slice(1));
if (wanted.get("view")) showView(wanted.get("view"));
if (wanted.get("stage")) showStage(wanted.get("stage"));
if (wanted.get("depth")) showDepth(wanted.get("depth"));
if (wanted.get("open")) wanted.get("open").split(",").forEach((path) => open.add(path)), redraw();
if (wanted.get("op")) mark([wanted.get("op")], `operation ${wanted.get("op")}`);
