// The rows of a comparison. Called again with new data on the same element; text goes in by textContent only.

function el(tag, className = "", text = null) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== null) node.textContent = text;
  return node;
}

const number = new Intl.NumberFormat("en");
const SVG = "http://www.w3.org/2000/svg";
const SHAPES = { ok: ["m4 9.5 3.5 3.5L14 5.5"], no: ["m5 5 8 8m0-8-8 8"], none: ["M4 9h10"] };

function icon(kind) {
  const shape = document.createElementNS(SVG, "svg");
  shape.setAttribute("viewBox", "0 0 18 18");
  shape.setAttribute("class", "i");
  shape.setAttribute("aria-hidden", "true");
  for (const d of SHAPES[kind]) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    shape.append(path);
  }
  return shape;
}

// --- the map: one cell a page, as wide as the page is long -----------------------------------------

const KINDS = { 0: "un", 1: "gi", 2: "full" };

function strip(row, pages) {
  const holder = el("div", pages.length > 120 ? "hm dense" : "hm");
  holder.setAttribute("aria-hidden", "true");
  const labelled = row.full.length && row.full.length <= 8;
  pages.forEach((words, i) => {
    const cell = el("i", KINDS[row.cells[i]] || "un");
    cell.style.flexGrow = words;
    cell.title = `Page ${i + 1}: ${{ un: "not seen", gi: "seen in short", full: "seen in full" }[cell.className]}`;
    if (labelled && cell.className === "full") cell.append(el("span", "", String(i + 1)));
    holder.append(cell);
  });
  return holder;
}

// --- MemWalker: the tree over the strip, every node as wide as what it stands for -------------------

function tree(data) {
  const holder = el("div", "tree");
  const visits = new Map(); // node -> the numbers of the steps that stood there
  data.walk.forEach((step, i) => visits.set(step.node, [...(visits.get(step.node) || []), i + 1]));
  const levels = [...new Set(data.tree.map((n) => n.level))].sort((a, b) => b - a);
  for (const level of levels) {
    const line = el("div", "level");
    for (const node of data.tree.filter((n) => n.level === level)) {
      const steps = visits.get(node.id) || [];
      const kind = steps.length ? (node.children.length ? "at" : "read") : "";
      const cell = el("i", `node ${kind}`, steps.length ? steps.slice(0, 3).join(" ") + (steps.length > 3 ? " …" : "") : null);
      cell.style.flexGrow = Math.max(1, node.words);
      cell.title = node.summary;
      line.append(cell);
    }
    holder.append(line);
  }
  return holder;
}

function walk(data) {
  const list = el("ol", "walk small");
  for (const step of data.steps) {
    const item = el("li");
    item.append(el("span", "did", step.did), el("span", "dim", step.reason ? ` ${step.reason}` : ""));
    list.append(item);
  }
  return list;
}

// --- semantic compression: the topics as colours along the book ------------------------------------

function topics(data, words) {
  const holder = el("div", "topics");
  const stretches = data.flatMap((t, i) => t.stretches.map(([a, b]) => ({ a, b, i }))).sort((x, y) => x.a - y.a);
  const whole = Math.max(words, ...stretches.map((s) => s.b));
  for (const { a, b, i } of stretches) {
    const cell = el("i", `t${i % 8}`, (b - a) / whole > 0.05 ? String(i + 1) : null);
    cell.style.left = `${(100 * a) / whole}%`;
    cell.style.width = `${(100 * (b - a)) / whole}%`;
    cell.title = `Topic ${i + 1}: “${data[i].begins} …”, ${number.format(data[i].words)} words kept in ${number.format(data[i].kept)}`;
    holder.append(cell);
  }
  return holder;
}

// --- one row a method ------------------------------------------------------------------------------

function figure(label, value, share = null) {
  const box = el("div");
  box.append(el("dt", "", label), el("dd", "", value));
  if (share !== null) {
    const bar = el("div", "bar");
    bar.setAttribute("aria-hidden", "true");
    const fill = el("b");
    fill.style.width = `${Math.min(100, share)}%`;
    bar.append(fill);
    box.append(bar);
  }
  return box;
}

function more(row, name, summary, content, open) {
  const box = el("details");
  box.open = open.has(`${row.method} ${name}`);
  box.addEventListener("toggle", () => open[box.open ? "add" : "delete"](`${row.method} ${name}`));
  box.append(el("summary", "small", summary), content);
  return box;
}

function middle(row, data, open) {
  const box = el("div", "mid");
  if (row.cells) {
    box.append(el("p", "sr", row.spoken));
    if (row.tree) box.append(tree(row.tree));
    box.append(strip(row, data.pages));
    if (row.topics) box.append(topics(row.topics, data.words));
  }
  if (row.error) {
    const told = el("p", "err");
    told.setAttribute("role", "alert");
    told.append(el("strong", "", row.state === "cancelled" ? "Stopped. " : "This method did not finish. "), row.error);
    box.append(told);
  }
  if (row.text) {
    const answer = el("p", "a", row.text);
    answer.lang = data.language;
    answer.dir = "auto";
    if (row.running) answer.append(el("span", "caret"));
    box.append(answer);
  } else if (row.running) {
    const doing = el("p", "dim", row.doing || "Thinking …");
    doing.prepend(el("span", "spin"));
    box.append(doing);
  }
  if (row.verdict) {
    const verdict = el("p", `v small ${row.verdict.kind}`);
    verdict.append(icon(row.verdict.kind), row.verdict.text);
    box.append(verdict);
  }
  for (const note of row.notes) box.append(el("p", "note small dim", note));
  if (row.evidence) {
    const quotes = el("p", "a small", row.evidence);
    quotes.lang = data.language;
    quotes.dir = "auto";
    box.append(more(row, "evidence", "Evidence", quotes, open));
  }
  if (row.tree) box.append(more(row, "walk", row.tree.said, walk(row.tree), open));
  if (row.topics) box.append(el("p", "small dim", row.topicsSaid));
  return box;
}

function figures(row, data) {
  const box = el("div", "figs");
  if (!row.figures) return box;
  const f = row.figures;
  const list = el("dl", "fig num");
  list.append(
    figure("Words seen", number.format(f.words), data.words ? (100 * f.words) / data.words : 0),
    figure("Fewer words (CR)", `${f.cr.toFixed(1)} %`),
    figure("Look-ups", number.format(f.lookups)),
    figure("Seconds", f.seconds.toFixed(1)),
  );
  box.append(list, el("p", "small dim num sent", f.sent));
  return box;
}

function head(row) {
  const box = el("div", "mname");
  box.append(el("h2", "", row.title), el("p", "small dim", row.about));
  return box;
}

export default function ({ parentElement, data: [data] }) {
  const root = parentElement.querySelector(".root");
  root.open ??= new Set();
  const legend = el("div", "lg small dim");
  for (const [kind, text] of [["full", "seen in full"], ["gi", "seen in short"], ["un", "not seen"]]) {
    const key = el("span", "k");
    const swatch = el("i", kind);
    swatch.setAttribute("aria-hidden", "true");
    key.append(swatch, text);
    legend.append(key);
  }
  legend.append(el("span", "sp"), el("span", "notnarrow", `Each strip is the whole book, page 1 to ${data.pages.length}.`));
  const rows = el("ul", "rows");
  for (const row of data.rows) {
    const item = el("li", row.method.startsWith("read-agent") ? "r me" : "r");
    item.dataset.method = row.method;
    item.dataset.state = row.state;
    item.append(head(row), middle(row, data, root.open), figures(row, data));
    rows.append(item);
  }
  root.replaceChildren(legend, rows);
}
