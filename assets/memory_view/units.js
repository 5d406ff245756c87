// The text as elements: units (chapters, or parts of long ones) with their headings and paragraphs. They are made from
// the document alone and never change. Pages and gists lie over them in the margins (layer.js).
//
// A unit is a grid. Each heading and paragraph has a row of its own, with an empty row after it; what the margins show
// is placed by these rows and takes no space, so that nothing moves when it comes.

import { el, fill } from "../shared/dom.js";
import { drawFigures, figuresBetween, isCaption } from "./figures.js";
import { partsOf, rangeIn } from "./text_places.js";
import { withSpans } from "./text_spans.js";
import { isLoaded, unitEnd, unitOf } from "./text_store.js";

/**
 * @import { Span } from "../shared/dom.js"
 * @import { Frame } from "./frame.js"
 * @import { Passage } from "./selection.js"
 * @import { ReadingState } from "./state.js"
 * @import { Spot } from "./text_places.js"
 */

const SCENE = /^[\s*#•·⁂—–_~.-]{1,15}$/;
const FENCED = /^(`{3,}|~{3,}).*\n/;
const CHARACTERS_A_LINE = 62; // at the usual measure, for the height of what was never drawn
const LINES_A_FIGURE = 12;

/** What the empty margin is for, until the first gist comes. @param {number} row */
function promise(row) {
  const lines = [92, 80, 86, 48].map((width) => el("div", { class: "ln", style: `width:${width}%` }));
  return el(
    "div",
    { class: "promise", style: `--rows:${row} / ${row + 1}` },
    el("div", { "aria-hidden": "true" }, ...lines),
    "A gist is a page in about a sixth of its words. Gists will appear here. The text will not move.",
  );
}

export class Units {
  /**
   * @param {{state: ReadingState, frame: Frame, marksIn: (paragraph: number) => Span[], drawn: (paragraph: number) => void}} needs
   */
  constructor({ state, frame, marksIn, drawn }) {
    this.state = state;
    this.frame = frame;
    this.marksIn = marksIn;
    this.drawn = drawn;
    /** @type {HTMLElement[]} */
    this.nodes = []; // the element of each paragraph
    /** @type {number[]} */
    this.rows = []; // and its row in the grid of its unit
    /** @type {HTMLElement[]} */
    this.units = [];
    this.end = el("div", { class: "bookend" }); // after the last paragraph; foot.js says in it what the person has read
  }

  // Makes an empty element for each unit, as high as its text is going to be.
  draw() {
    const { outline } = this.state.book;
    const { language, rtl } = outline;
    this.nodes = [];
    this.rows = [];
    this.units = outline.units.map(([start, words], at) => {
      const paragraphs = unitEnd(this.state.book, at) - start;
      const lines =
        Math.round((words * (outline.unspaced ? 3.6 : 6)) / CHARACTERS_A_LINE + paragraphs * 0.9 + 2) +
        LINES_A_FIGURE * figuresBetween(outline, start, start + paragraphs);
      return el("section", { class: "unit", "data-u": at, lang: language, dir: rtl ? "rtl" : "ltr", style: `--lines:${lines}` });
    });
    this.frame.column.replaceChildren(...this.units);
    const loaded = this.units.map((_, at) => at).filter((at) => isLoaded(this.state.book, at));
    for (const at of loaded) this.fill(at);
    return loaded;
  }

  /** Fills the units whose paragraphs have all come; returns them. @param {[number, number]} range */
  take([from, to]) {
    const found = [];
    for (let at = unitOf(this.state.book, from); at <= unitOf(this.state.book, to - 1); at++)
      if (!this.units[at].firstChild && isLoaded(this.state.book, at)) found.push(at);
    for (const at of found) this.fill(at);
    return found;
  }

  /** @param {number} at */
  fill(at) {
    const { outline, heads, text, joined } = this.state.book;
    const nodes = [];
    let row = 2; // two empty ones before each: for a gist of what goes before, and for the button that closes a page
    /** @param {HTMLElement} node */
    const place = (node) => {
      node.style.gridRow = String(row);
      row += 3;
      nodes.push(node);
    };
    for (let i = outline.units[at][0]; i < unitEnd(this.state.book, at); i++) {
      for (const [level, title] of heads.get(i) ?? []) place(el("h2", { class: `sec l${Math.min(level, 3)}`, dir: "auto" }, title));
      drawFigures(outline, i, false).forEach(place);
      const begins = heads.has(i) || SCENE.test(text[i - 1] ?? "");
      const kind = SCENE.test(text[i]) ? "scene" : joined.has(i) ? "joined" : isCaption(outline, i) ? "caption" : begins ? "first" : null;
      const cells = text[i].split("\t").length; // of a row of a table
      const code = outline.emphasis === "*" && FENCED.test(text[i]);
      const set = code ? "codeblock" : text[i].includes("\n") ? "lines" : cells > 1 ? "tablerow" : null;
      const node = el("p", { "data-i": i, dir: "auto", class: kind ?? set });
      if (set === "tablerow") node.style.setProperty("--cells", String(cells));
      this.write(i, node, this.marksIn(i));
      this.rows[i] = row;
      this.nodes[i] = node;
      place(node);
      this.drawn(i);
      drawFigures(outline, i, true).forEach(place);
    }
    if (at === this.units.length - 1) place(this.end);
    if (at === 0) nodes.push(promise(this.rows[outline.units[0][0]]));
    this.units[at].replaceChildren(...nodes);
  }

  /** @param {number} paragraph @param {HTMLElement} node @param {Span[]} marks */
  write(paragraph, node, marks) {
    const { text, spans, outline } = this.state.book;
    const [words, beside] = [text[paragraph], spans.get(paragraph)];
    const plain = beside && ((/** @type {number} */ from, /** @type {number} */ to) => withSpans(words, beside, from, to));
    fill(node, words, marks, outline.emphasis, 0, words.length, plain);
  }

  /** The element to go to for a paragraph: the first heading or picture above it, if it has one. @param {number} paragraph */
  topOf(paragraph) {
    let top = this.nodes[paragraph];
    /** @type {Element | null} */
    let node = top?.previousElementSibling ?? null;
    for (; node?.matches("h2.sec, .pmark, .fig.lead"); node = node.previousElementSibling)
      if (node instanceof HTMLElement && node.matches("h2, .fig")) top = node;
    return top;
  }

  /** The words of a passage, as far as they are drawn. @param {Passage} passage */
  ranges({ start, end }) {
    return partsOf(this.state.book, start, end).flatMap(([i, from, to]) => (this.nodes[i] ? [rangeIn(this.nodes[i], from, to)] : []));
  }

  /** The boxes of a passage on the screen. @param {Passage} passage */
  boxes(passage) {
    return this.ranges(passage)
      .flatMap((range) => [...range.getClientRects()])
      .filter((box) => box.width || box.height);
  }

  /** Marks `spans` of a paragraph; its text stays the same. @param {number} paragraph @param {Span[]} spans */
  mark(paragraph, spans) {
    const node = this.nodes[paragraph];
    if (!node) return;
    this.write(paragraph, node, [...spans, ...this.marksIn(paragraph)]);
    this.drawn(paragraph);
  }
}
