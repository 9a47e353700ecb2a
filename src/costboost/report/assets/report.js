// The page's script: the sliders' model, the charts, sortable tables, the light and dark style.
"use strict";
(function () {

// -- the sliders' model: the same definition as report/case.py --------------------------------

const ARRAYS = { float64: Float64Array, uint8: Uint8Array, uint16: Uint16Array };

function readBoard(model, buffer) {
  const header = model.rows, n = header.rows, k = model.classes.length, d = model.decisions.length;
  const arrays = (place) => new ARRAYS[place.type](buffer, place.at, place.length);
  const column = (spec) => ("constant" in spec ? new Float64Array(n).fill(spec.constant) : arrays(spec));
  const proba = header.proba.map(column), costs = header.costs.map((row) => row.map(column));
  const board = {
    n, k, d, truth: arrays(header.truth), weights: column(header.weights), products: [], prices: [],
  };
  for (let j = 0; j < k; j++) {
    for (let e = 0; e < d; e++) {
      if (header.costs[j][e].constant === 0) continue;
      const values = new Float64Array(n), p = proba[j], c = costs[j][e];
      for (let i = 0; i < n; i++) values[i] = p[i] * c[i];
      board.products.push({ truth: j, decision: e, values });
    }
  }
  for (let e = 0; e < d; e++) {
    if (header.prices) { board.prices.push(column(header.prices[e])); continue; }
    const price = new Float64Array(n);
    for (let i = 0; i < n; i++) price[i] = costs[board.truth[i]][e][i];
    board.prices.push(price);
  }
  return board;
}

function expectedCosts(board, factors) {
  const expected = Array.from({ length: board.d }, () => new Float64Array(board.n));
  for (const { truth, decision, values } of board.products) {
    const total = expected[decision], f = factors[truth][decision];
    for (let i = 0; i < board.n; i++) total[i] += f * values[i];
  }
  return expected;
}

// The cheapest decision of row i, the first of several; one decision may be left out.
function cheapest(expected, i, but) {
  if (but < 0 && expected.length === 2) return expected[1][i] <= expected[0][i] ? 1 : 0;
  let best = -1;
  for (let e = 0; e < expected.length; e++) {
    if (e !== but && (best < 0 || expected[e][i] < expected[best][i])) best = e;
  }
  return best;
}

function decide(board, expected, capacity, limited) {
  const decided = new Uint16Array(board.n);
  for (let i = 0; i < board.n; i++) decided[i] = cheapest(expected, i, -1);
  if (capacity === null) return decided;
  const rows = [], saved = new Float64Array(board.n), other = new Uint16Array(board.n);
  for (let i = 0; i < board.n; i++) {
    if (decided[i] !== limited) continue;
    rows.push(i);
    other[i] = cheapest(expected, i, limited);
    saved[i] = expected[other[i]][i] - expected[limited][i];
  }
  rows.sort((a, b) => saved[b] - saved[a] || a - b);
  let used = 0;
  for (const i of rows) {
    used += board.weights[i];
    if (used > capacity) decided[i] = other[i];
  }
  return decided;
}

// Neumaier's sum: rounding errors are carried along, so that cents stay right.
function account(board, decided, factors) {
  const { k, d } = board, size = k * d;
  const rows = new Float64Array(size), paid = new Float64Array(size), lost = new Float64Array(size);
  for (let i = 0; i < board.n; i++) {
    const cell = board.truth[i] * d + decided[i], x = board.prices[decided[i]][i] * board.weights[i];
    const sum = paid[cell] + x;
    lost[cell] += Math.abs(paid[cell]) >= Math.abs(x) ? (paid[cell] - sum) + x : (x - sum) + paid[cell];
    paid[cell] = sum;
    rows[cell] += board.weights[i];
  }
  const table = (get) => Array.from({ length: k }, (_, j) => Array.from({ length: d }, (_, e) => get(j, e)));
  const money = table((j, e) => factors[j][e] * (paid[j * d + e] + lost[j * d + e]));
  return {
    decided, rows: table((j, e) => rows[j * d + e]), paid: money,
    cost: money.flat().reduce((a, b) => a + b, 0),
  };
}

function operatingPoint(board, factors, capacity, limited) {
  return account(board, decide(board, expectedCosts(board, factors), capacity, limited), factors);
}

// -- words ------------------------------------------------------------------------------------------

// Whole from 100 on, as in Python; with cents where asked for.
function money(value, unit, cents) {
  const digits = cents || Math.abs(value) < 99.995 ? 2 : 0;
  const text = Math.abs(value).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const isZero = !/[1-9]/.test(text);
  return (value < 0 && !isZero ? "−" : "") + unit + (unit.length > 1 ? " " : "") + text;
}

function count(value) {
  const whole = Math.abs(value - Math.round(value)) < 1e-9;
  return value.toLocaleString("en-US", { maximumFractionDigits: whole ? 0 : 1 });
}

const byId = (id) => document.getElementById(id);
const content = (id) => JSON.parse(byId(id).textContent);

async function unpack(id) {
  const text = byId(id).textContent, bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  byId(id).textContent = "";
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function warn(text) {
  byId("warning").textContent = text;
  byId("warning").hidden = false;
}

// -- charts -----------------------------------------------------------------------------------------

const figures = content("figures"), model = content("model");

function colour(value) {
  if (Array.isArray(value)) return value.map(colour);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, colour(part)]));
  }
  if (typeof value !== "string" || value[0] !== "@") return value;
  const style = getComputedStyle(document.documentElement), name = (role) => style.getPropertyValue("--" + role).trim();
  if (value === "@scale") return [[0, name("low")], [1, name("high")]];
  return name(value.slice(1)) || value;
}

// A title in lines that fit: about seven pixels to a character.
function wrapped(text, pixels) {
  const most = Math.max(12, Math.floor(pixels / 7)), lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last && last.length + word.length >= most) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines.join("<br>");
}

function layoutOf(layout) {
  const axis = { gridcolor: "@grid", zerolinecolor: "@rule", linecolor: "@rule", automargin: true };
  const full = {
    height: 360, margin: { l: 64, r: 16, t: 16, b: 48 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: "@ink", family: getComputedStyle(document.body).fontFamily, size: 13 },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, hovermode: "closest", dragmode: false,
    hoverlabel: { bgcolor: "@card", bordercolor: "@rule", font: { color: "@ink" } },
    ...layout,
  };
  for (const name of ["xaxis", "yaxis", ...(layout.yaxis2 ? ["yaxis2"] : [])]) {
    const own = { ...axis, ...(layout[name] || {}) };
    if (own.title) {
      const [low, high] = own.domain || [0, 1];
      const room = name === "xaxis" ? (full.width || 800) - 90 : (full.height - 90) * (high - low);
      own.title = { ...own.title, text: wrapped(own.title.text, room), font: { size: 13 } };
    }
    full[name] = own;
  }
  return colour(full);
}

const CONFIG = { displaylogo: false, displayModeBar: false };

function draw(name) {
  const place = byId("plot-" + name);
  if (!window.Plotly || !place) return;
  const { data, layout: { least = 0, ...layout } } = figures[name], width = Math.max(place.clientWidth, least) || undefined;
  const more = {};
  let lines = data;
  if (width < 500) {  // a legend of one name a line, above a chart of the usual height
    lines = data.map((trace) => (trace.name ? { ...trace, name: wrapped(trace.name, width - 60) } : trace));
    more.height = (layout.height || 360) + 17 * lines.map((t) => (t.name || "").split("<br>").length).reduce((a, b) => a + b, -2);
  }
  window.Plotly.react(place, colour(lines), layoutOf({ ...layout, ...more, width }), CONFIG);
}

function drawAll() { for (const name of Object.keys(figures)) draw(name); }

// -- sliders ----------------------------------------------------------------------------------------

let board = null, stated = null;

const STATED = model.factors.indexOf(1);
const state = { levers: model.levers.map(() => STATED), capacity: null, limited: null };

function factorsNow() {
  const factors = model.classes.map(() => model.decisions.map(() => 1));
  model.levers.forEach((lever, place) => {
    for (const [j, e] of lever.cells) factors[j][e] = model.factors[state.levers[place]];
  });
  return factors;
}

function fill(body, rows) {
  body.replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    cells.forEach((text, place) => {
      const cell = document.createElement(place ? "td" : "th");
      if (!place) cell.scope = "row";
      if (typeof text !== "string") { cell.className = "number"; cell.dataset.value = text.value; text = text.text; }
      cell.textContent = text;
      row.append(cell);
    });
    return row;
  }));
}

function update() {
  if (!board) return;
  const factors = factorsNow(), unit = model.unit;
  const point = operatingPoint(board, factors, state.capacity, state.limited);
  const sum = (e, table) => table.reduce((a, row) => a + row[e], 0);
  const rows = model.decisions.map((_, e) => sum(e, point.rows)), total = rows.reduce((a, b) => a + b, 0);
  const constants = model.decisions.map((_, e) => account(board, new Uint16Array(board.n).fill(e), factors).cost);
  const best = constants.indexOf(Math.min(...constants));
  if (!stated) stated = point;
  byId("live-cost").textContent = money(point.cost, unit, true);
  byId("live-cost").dataset.value = point.cost;
  const change = point.cost - stated.cost, saved = constants[best] - point.cost;
  byId("live-change").textContent = Math.abs(change) < 0.005 ? "As at the stated costs."
    : `${money(Math.abs(change), unit)} ${change > 0 ? "more" : "less"} than at the stated costs.`;
  byId("live-constant").textContent =
    `${money(Math.abs(saved), unit)} ${saved >= 0 ? "less" : "more"} than deciding ${model.decisions[best]} for every row.`;
  fill(byId("live-counts").tBodies[0], model.decisions.map((name, e) => [
    name, { text: count(rows[e]), value: rows[e] },
    { text: (100 * rows[e] / total).toFixed(1) + " %", value: rows[e] / total },
    { text: money(sum(e, point.paid), unit, true), value: sum(e, point.paid) },
  ]));
  fill(byId("live-outcomes").tBodies[0], model.classes.flatMap((truth, j) => model.decisions.map((name, e) => [
    truth, name, { text: count(point.rows[j][e]), value: point.rows[j][e] },
    { text: money(point.paid[j][e], unit, true), value: point.paid[j][e] },
  ])));
}

let waiting = false;
function soon() {
  if (waiting) return;
  waiting = true;
  setTimeout(() => { waiting = false; update(); }, 0);
}

function setUp() {
  const form = byId("controls"), unit = model.unit;
  const range = (input, most, value) => { input.min = 0; input.max = most; input.step = 1; input.value = value; };
  const showFactor = (place) => {
    const f = model.factors[state.levers[place]], mean = model.levers[place].mean * f;
    const text = `× ${f}  (${money(mean, unit)})`;
    byId(`factor-${place}-shown`).textContent = text;
    byId(`factor-${place}`).setAttribute("aria-valuetext", `${f} times the stated cost, on average ${money(mean, unit)}`);
  };
  model.levers.forEach((_, place) => {
    const input = byId("factor-" + place);
    range(input, model.factors.length - 1, STATED);
    input.defaultValue = STATED;
    showFactor(place);
    input.addEventListener("input", () => { state.levers[place] = Number(input.value); showFactor(place); soon(); });
  });
  const capacity = byId("capacity"), exact = byId("capacity-exact"), useCapacity = byId("use-capacity"), limited = byId("limited");
  const last = model.capacities.length - 1;
  const showCapacity = () => {
    const on = useCapacity.checked && exact.value !== "";
    state.capacity = on ? Math.max(0, Number(exact.value)) : null;
    state.limited = on ? Number(limited.value) : null;
    capacity.setAttribute("aria-valuetext", `${exact.value} rows`);
  };
  const startCapacity = () => { capacity.value = last; exact.value = model.capacities[last]; useCapacity.checked = false; showCapacity(); };
  range(capacity, last, last);
  startCapacity();
  capacity.addEventListener("input", () => {
    exact.value = model.capacities[capacity.value]; useCapacity.checked = true; showCapacity(); soon();
  });
  exact.addEventListener("input", () => {
    const place = model.capacities.findIndex((c) => c >= Number(exact.value));
    capacity.value = place < 0 ? last : place;
    useCapacity.checked = true; showCapacity(); soon();
  });
  useCapacity.addEventListener("change", () => { showCapacity(); soon(); });
  limited.addEventListener("change", () => { showCapacity(); soon(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => {
    model.levers.forEach((_, place) => { state.levers[place] = STATED; byId("factor-" + place).value = STATED; showFactor(place); });
    startCapacity();
    update();
  }, 0));
}

// -- tables that sort -------------------------------------------------------------------------------

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => head.firstElementChild.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") !== "descending";
    const key = (row) => row.cells[place].dataset.value;
    const rows = [...table.tBodies[0].rows].sort((a, b) => {
      const order = key(a) !== undefined ? Number(key(a)) - Number(key(b))
        : a.cells[place].textContent.localeCompare(b.cells[place].textContent, "en", { numeric: true });
      return down ? -order : order;
    });
    heads.forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    table.tBodies[0].append(...rows);
  }));
}

// -- light and dark ---------------------------------------------------------------------------------

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
let chosen = null;

function applyTheme() {
  const dark = chosen === null ? prefersDark.matches : chosen;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", String(dark));
  byId("theme").textContent = dark ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", dark ? "Use the light style" : "Use the dark style");
  drawAll();
}

byId("theme").addEventListener("click", () => {
  chosen = document.documentElement.dataset.theme !== "dark";
  applyTheme();
});
prefersDark.addEventListener("change", applyTheme);
const printing = window.matchMedia("print");
printing.addEventListener("change", drawAll);
window.addEventListener("afterprint", drawAll);
let resized = 0;
window.addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(drawAll, 120); });

// -- start ------------------------------------------------------------------------------------------

async function start() {
  applyTheme();
  document.querySelectorAll("table.sortable").forEach(sortable);
  if (!window.DecompressionStream) {
    warn("This browser is too old for the charts and sliders. The tables are complete.");
    return;
  }
  setUp();
  board = readBoard(model, await unpack("rows"));
  update();
  document.documentElement.dataset.sliders = "ready";
  const code = new TextDecoder().decode(await unpack("plotly"));
  const script = document.createElement("script");
  script.textContent = code;
  document.head.append(script);
  drawAll();
  document.documentElement.dataset.charts = "ready";
}

window.costboost = { operatingPoint, state, model, factorsNow, get board() { return board; } };
start().catch((error) => { warn("The charts could not be drawn: " + error.message); throw error; });
})();
