// Creates elements. Text is added as text nodes only: nothing from a book or a model is ever markup.

/**
 * @import { Emphasis } from "../protocol.js"
 * @typedef {{open: number, from: number, to: number, close: number}} Emphasised with its signs from open to close, its words between
 *
 * @typedef {[start: number, end: number, kind: string]} Span a part of a text that is marked, with its class
 * @typedef {(start: number, end: number) => (Node | string)[]} Plain
 * @typedef {Node | string | number | null | undefined} Child
 * @typedef {string | number | boolean | null | undefined} Attribute
 * @typedef {{[E in keyof HTMLElementEventMap as `on${E}`]?: (event: HTMLElementEventMap[E]) => unknown}} Listeners
 * @typedef {Listeners & {[name: string]: Attribute | ((event: never) => unknown)}} Attributes
 */

/**
 * An element with attributes, event listeners ("onclick") and children; null and undefined ones are left out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((c) => c !== null && c !== undefined).map((c) => (typeof c === "number" ? String(c) : c)));
  return node;
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element of a drawing.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} children
 */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
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
  stop: ["M5.500 5.500h7v7h-7z"],
  left: ["m11 4-5 5 5 5"],
  right: ["m7 4 5 5-5 5"],
  plus: ["M9 4v10M4 9h10"],
  check: ["m4 9.500 3.500 3.500L14 5.500"],
  dots: ["M4 9h.01M9 9h.01M14 9h.01"],
  grow: ["M10.500 4H14v3.500M7.500 14H4v-3.500M14 4l-4 4M4 14l4-4"],
  drop: ["M9 3v8m-3-3 3 3 3-3M3 12v3h12v-3"],
  plug: ["M6.500 2.500v3M11.500 2.500v3M4.500 5.500h9v2.800a4.500 4.500 0 0 1-9 0zM9 12.800V16"],
  reels: ["M8 9a3 3 0 1 1-6 0 3 3 0 0 1 6 0M16 9a3 3 0 1 1-6 0 3 3 0 0 1 6 0", "M5 12h8"],
  wordlines: ["M3 5h4M9 5h6M3 9h7M12 9h3M3 13h2M7 13h8"],
  seen: [
    "M2.500 9s2.500-4.500 6.500-4.500S15.500 9 15.500 9s-2.500 4.500-6.500 4.500S2.500 9 2.500 9",
    "M11 9a2 2 0 1 1-4 0 2 2 0 0 1 4 0",
  ],
  unseen: ["M2.500 9s2.500-4.500 6.500-4.500S15.500 9 15.500 9s-2.500 4.500-6.500 4.500S2.500 9 2.500 9", "m3.500 15 11-12"],
  in_part: ["M3 4h12M3 14h12M3 7.500h5v3H3zM10 9h5"],
  claim_page: ["M3 4h12M3 14h12M3 7.500h12v3H3z"],
  claim_memory: ["M4 6c2-2 3 2 5 0s3 2 5 0", "M4 11c2-2 3 2 5 0s3 2 5 0"],
  contents: ["M3 4.500h.01M3 9h.01M3 13.500h.01M6.500 4.500H15M6.500 9H15M6.500 13.500H15"],
  where: ["M9 15.500s-5-4.500-5-8a5 5 0 0 1 10 0c0 3.500-5 8-5 8z", "M10.500 7.500a1.500 1.500 0 1 1-3 0 1.500 1.500 0 0 1 3 0"],
  keys: ["M2.500 5h13v8.500h-13zM5.500 8h.01M9 8h.01M12.500 8h.01M6 11h6"],
  note: ["M4 3h10v8.500L10.500 15H4zM10.500 15v-3.500H14M6.500 6h5M6.500 8.500h3"],
  bookmark: ["M5 2.800h8v12.400l-4-3.200-4 3.200z"],
  ask: ["M3 3.500h12v8.500H8.500L5.500 15v-3H3z"],
  bulb: ["M6.500 11.500a4.500 4.500 0 1 1 5 0v1.500h-5zM7.500 15.500h3"],
  define: ["M4 15 9 3l5 12M5.800 11h6.400"],
  translate: [
    "M2.500 4.500h7M6 3v1.500M8.500 4.500c-.5 3-2.500 5-5.500 6.500M4 6.500c1 2 2.500 3.500 4.500 4.500",
    "m9 15.500 3-7.500 3 7.500M10 13h4",
  ],
  copy: ["M6 6h9v9H6z", "M3 12V3h9"],
  listen: ["M3 7v4h2.500L9 14V4L5.500 7zM11.500 6.500a3.500 3.500 0 0 1 0 5M13.500 4.500a6.500 6.500 0 0 1 0 9"],
  play: ["M6 4l8 5-8 5z"],
  people: [
    "M9 6a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0M1.800 14.500c0-3 2-4.500 4.700-4.500s4.700 1.500 4.700 4.500",
    "M11.500 3.700a2.500 2.500 0 0 1 0 4.700M13 10.500c2 .5 3.200 1.900 3.200 4",
  ],
  join: ["M3 5h2.500c3 0 2.500 4 5.500 4h4M3 13h2.500c3 0 2.500-4 5.500-4", "m12.500 6.500 2.500 2.500-2.500 2.500"],
  grip: ["M6.500 5h.01M11.500 5h.01M6.500 9h.01M11.500 9h.01M6.500 13h.01M11.500 13h.01"],
  "claim_not found": ["M15 9a6 6 0 1 1-12 0 6 6 0 0 1 12 0", "m5 13 8-8"],
};

/** @typedef {keyof typeof ICONS} IconName */

/** @param {IconName} name */
export function icon(name) {
  const shape = svg("svg", { viewBox: "0 0 18 18", class: "i", "aria-hidden": "true" });
  shape.append(...ICONS[name].map((d) => svg("path", { d })));
  return shape;
}

/**
 * A button with a label or an icon; `name`: its accessible name and tooltip; `rest`: further attributes.
 * @param {Node | string | null} label
 * @param {(event: PointerEvent & {currentTarget: HTMLButtonElement}) => unknown} onclick
 * @param {{kind?: string, icon?: IconName | null, name?: string | null} & Attributes} options
 */
export function button(label, onclick, { kind = "", icon: shape = null, name = null, ...rest } = {}) {
  /** @type {Attributes} */
  const attributes = { type: "button", class: `btn ${kind}`, onclick: /** @type {(event: PointerEvent) => unknown} */ (onclick), ...rest };
  if (name) Object.assign(attributes, { "aria-label": name, title: name });
  return el("button", attributes, shape && icon(shape), label || null);
}

/**
 * Puts `text` into `node`, with the spans as <mark> elements. A span that overlaps one before it is left out.
 * @param {Element} node
 * @param {string} text
 * @param {Span[]} spans
 * @param {Emphasis} emphasis the sign round words that are shown in italics; the signs stay in the DOM, hidden
 * @param {number} from the first character to show; spans count from the start of the whole text all the same
 * @param {number} to the end of what is shown
 * @param {Plain} plain the nodes of characters without emphasis
 */
export function fill(node, text, spans = [], emphasis = "", from = 0, to = text.length, plain = (start, end) => [text.slice(start, end)]) {
  const ranges = emphasis ? [...text.matchAll(EMPHASIS[emphasis])].map((found) => rangeOf(found)) : [];
  const pieces = [];
  let at = from;
  for (const [first, last, kind] of [...spans].sort((a, b) => a[0] - b[0])) {
    const [start, end] = [Math.max(first, from), Math.min(last, to)];
    if (start < at || end <= start) continue;
    const marked = el("mark", { class: kind }, ...emphasised(text, start, end, ranges, plain));
    pieces.push(...emphasised(text, at, start, ranges, plain), marked);
    at = end;
  }
  node.replaceChildren(...pieces, ...emphasised(text, at, to, ranges, plain));
}

/** `text` without the signs round words in italics. @param {string} text @param {Emphasis} emphasis */
export const withoutSigns = (text, emphasis) =>
  emphasis ? text.replace(EMPHASIS[emphasis], (found) => found.slice(...signsOf(found))) : text;

/** A quotation with the second sign of an emphasis of which it has a part. @param {string} text @param {Emphasis} emphasis */
export function withBothSigns(text, emphasis) {
  const rest = emphasis ? text.replace(EMPHASIS[emphasis], "") : "";
  const opens = /(?<![\p{L}\p{N}])[*_](?=[\p{L}\p{N}])/u.exec(rest)?.[0];
  const closes = /(?<=[^\s*_])[*_](?![\p{L}\p{N}])/u.exec(rest)?.[0];
  return opens === emphasis ? text + emphasis : closes === emphasis ? emphasis + text : text;
}

/** Where the words between the signs of an emphasis begin, and from its end where they end. @param {string} found */
const signsOf = (found) => /** @type {[number, number]} */ ([OPENING.exec(found)?.[0].length, -(CLOSING.exec(found)?.[0].length ?? 0)]);
const OPENING = /^(?:`{3,}.*\n|~{3,}.*\n|`+|.)/;
const CLOSING = /(?:\n[`~]{3,}|`+|.)$/;

/** @param {RegExpExecArray} found @returns {Emphasised} */
const rangeOf = ({ index, 0: text }) => {
  const [opens, closes] = signsOf(text);
  return { open: index, from: index + opens, to: index + text.length + closes, close: index + text.length };
};

// In Markdown also a block of code between fences, which is a paragraph, and code in a line.
const EMPHASIS = {
  "*": /^(`{3,}|~{3,}).*\n[\s\S]*\n\1$|(?<!`)(`+)(?!`)[^\n]{1,1000}?(?<!`)\2(?!`)|(?<![*\p{L}\p{N}])\*(?=[^\s*])[^*\n]{1,1000}?(?<=[^\s*])\*(?![*\p{L}\p{N}])/gu,
  _: /(?<![_\p{L}\p{N}])_(?=[^\s_])[^_\n]{1,1000}?(?<=[^\s_])_(?![_\p{L}\p{N}])/gu,
};

/**
 * The nodes of `text` from `start` to `end`, with each emphasised range, or the part of it inside, as an <em>, or of code as a <code>.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {Emphasised[]} ranges
 * @param {Plain} plain
 */
function emphasised(text, start, end, ranges, plain) {
  /** @param {number} low @param {number} high */
  const sign = (low, high) => (low < high ? el("span", { class: "star" }, text.slice(low, high)) : null);
  const pieces = [];
  let at = start;
  for (const { open, from, to, close } of ranges) {
    const [low, high] = [Math.max(open, start), Math.min(close, end)];
    if (low >= high) continue;
    const [first, last] = [Math.min(Math.max(from, low), high), Math.max(Math.min(to, high), low)];
    const tag = "`~".includes(text[open]) ? "code" : "em";
    const inside = first < last ? plain(first, last) : [];
    pieces.push(...plain(at, low), el(tag, {}, sign(low, Math.min(first, high)), ...inside, sign(Math.max(last, first), high)));
    at = high;
  }
  return [...pieces, ...plain(at, end)].filter((piece) => piece !== "");
}

/**
 * The value of a table under a key, if it has one.
 * @template T
 * @param {Record<string, T>} table
 * @param {string} key
 * @returns {T | undefined}
 */
export const entry = (table, key) => table[key];

/** The first element of a selector. @param {ParentNode} tree @param {string} selector @returns {HTMLElement | null} */
export const first = (tree, selector) => tree.querySelector(selector);

/** All elements of a selector. @param {ParentNode} tree @param {string} selector @returns {HTMLElement[]} */
export const all = (tree, selector) => [.../** @type {NodeListOf<HTMLElement>} */ (tree.querySelectorAll(selector))];

/** The tree that a node is in: of its component, or the page's. @param {Node} node */
export const treeOf = (node) => /** @type {ShadowRoot | Document} */ (node.getRootNode());

/** The element with the focus, in the tree of a node. @param {Node} node @returns {HTMLElement | null} */
export const focused = (node) => /** @type {HTMLElement | null} */ (treeOf(node).activeElement);

/** The element of a component that a script draws into. @param {HTMLElement} parent @returns {HTMLElement} */
export function rootOf(parent) {
  const root = parent.querySelector(".root");
  if (root instanceof HTMLElement) return root;
  throw new Error("The component has no element to draw into.");
}

const figures = new Intl.NumberFormat("en");
/** @param {number} n */
export const number = (n) => figures.format(n);
/** @param {number} part @param {number} whole */
export const percent = (part, whole) => (whole ? `${Math.round((100 * part) / whole)} %` : "");
/** @template T @param {T[]} items @param {(item: T) => number} value */
export const sumOf = (items, value) => items.reduce((sum, item) => sum + value(item), 0);
/** @param {number} n @param {string} one */
export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** How many characters a word counts in a text of this language. @param {string} language */
export const charactersAWord = (language) => (/^(ja|zh)\b/.test(language) ? 2 : 0);

/** '10,309 words', or '5,200 characters' where words are not separated. @param {number} words @param {string} language */
export function lengthOf(words, language) {
  const each = charactersAWord(language);
  return each ? plural(each * words, "character") : plural(words, "word");
}

/** Whether the person types into a field. @param {Event} event */
export function typing(event) {
  const target = event.composedPath()[0];
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

/**
 * Copies `text`; the pressed button says for a moment whether it worked, with what is `done`.
 * @param {string} text
 * @param {HTMLElement} pressed
 */
export function copyText(text, pressed, done = "Copied") {
  /** @param {string} word */
  const show = (word) => {
    const before = [...pressed.childNodes];
    pressed.textContent = word;
    setTimeout(() => pressed.replaceChildren(...before), 1500);
  };
  const failed = () => show("Copying is not allowed here");
  if (!navigator.clipboard) return void failed();
  navigator.clipboard.writeText(text).then(() => show(done), failed);
}
