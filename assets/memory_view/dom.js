// Making elements. Text goes in as text nodes only: nothing from a book or a model is ever markup.

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

const SVG = "http://www.w3.org/2000/svg";
function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const ICONS = {
  pause: ["M6.5 4v10M11.5 4v10"],
  open: ["M3 5h12M3 8h12v2.500H3zM3 13.500h9"],
  search: ["M13 8a5 5 0 1 1-10 0 5 5 0 0 1 10 0", "m12 12 4 4"],
  up: ["m5 11 4-4 4 4"],
  down: ["m5 7 4 4 4-4"],
  close: ["m4.5 4.5 9 9m0-9-9 9"],
  pencil: ["M11 4l3 3-7 7H4v-3z"],
  flag: ["M9 3.500 15.500 14.500h-13z", "M9 7.500v3.500M9 12.800h.01"],
  rule: ["M3 9h12", "M6 6 3 9l3 3"],
};
function icon(name) {
  const shape = svg("svg", { viewBox: "0 0 18 18", class: "i", "aria-hidden": "true" });
  shape.append(...ICONS[name].map((d) => svg("path", { d })));
  return shape;
}

function button(label, onclick, { kind = "", icon: shape = null, name = null, ...rest } = {}) {
  const attributes = { type: "button", class: `btn ${kind}`, onclick, ...rest };
  if (name) Object.assign(attributes, { "aria-label": name, title: name });
  return el("button", attributes, shape && icon(shape), label || null);
}

// `text` into `node` with the places of `spans` ([start, end, class]) as <mark>s. Overlaps are left out.
// `marked`: *words* between stars are shown in italics, the stars kept in place but not seen (Markdown texts).
// `from`, `to`: only that part of the text, its marks and stars as they stand in the whole.
function fill(node, text, spans = [], marked = false, from = 0, to = text.length) {
  const ranges = marked ? [...text.matchAll(EMPHASIS)].map((found) => [found.index, found.index + found[0].length]) : [];
  const pieces = [];
  let at = from;
  for (const [first, last, kind] of [...spans].sort((a, b) => a[0] - b[0])) {
    const [start, end] = [Math.max(first, from), Math.min(last, to)];
    if (start < at || end <= start) continue;
    pieces.push(...said(text, at, start, ranges), el("mark", { class: kind }, ...said(text, start, end, ranges)));
    at = end;
  }
  node.replaceChildren(...pieces, ...said(text, at, to, ranges));
}

const EMPHASIS = /(?<![*\p{L}\p{N}])\*(?=[^\s*])([^*\n]{1,1000}?)(?<=[^\s*])\*(?![*\p{L}\p{N}])/gu;

// `text` from `start` to `end`, as much of every emphasised range as falls into it an <em> of its own.
function said(text, start, end, ranges) {
  const star = () => el("span", { class: "star" }, "*");
  const pieces = [];
  let at = start;
  for (const [open, close] of ranges) {
    const [low, high] = [Math.max(open, start), Math.min(close, end)];
    if (low >= high) continue;
    const [opens, closes] = [low === open, high === close];
    const inside = text.slice(low + (opens ? 1 : 0), high - (closes ? 1 : 0));
    pieces.push(text.slice(at, low), el("em", {}, opens ? star() : null, inside, closes ? star() : null));
    at = high;
  }
  return [...pieces, text.slice(at, end)].filter((piece) => piece !== "");
}

const figures = new Intl.NumberFormat("en");
const number = (n) => figures.format(n);
const percent = (part, whole) => (whole ? `${Math.round((100 * part) / whole)} %` : "");
const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function typing(event) {
  const target = event.composedPath()[0];
  return target instanceof Element && (target.closest("input, textarea, select, [contenteditable]") !== null);
}
