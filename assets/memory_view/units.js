// The text as elements: units (chapters, or parts of long ones) with their headings and paragraphs. They are made from
// the document alone and never change. Pages and gists lie over them in the margins (layer.js).
//
// A unit is a grid. Each heading and paragraph has a row of its own, with an empty row after it; what the margins show
// is placed by these rows and takes no space, so that nothing moves when it comes.

import { el, fill } from "../shared/dom.js";
import { drawFigures, figuresBetween, isCaption } from "./figures.js";
import { isLoaded, unitEnd, unitOf } from "./text_store.js";

const SCENE = /^[\s*#•·⁂—–_~.-]{1,15}$/;
const CHARACTERS_A_LINE = 62; // at the usual measure, for the height of what was never drawn
const LINES_A_FIGURE = 12;

// What the empty margin is for, until the first gist comes.
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
  constructor(reader) {
    this.reader = reader;
    this.nodes = []; // the element of each paragraph
    this.rows = []; // and its row in the grid of its unit
    this.units = [];
  }

  get book() {
    return this.reader.book;
  }

  // Makes an empty element for each unit, as high as its text is going to be.
  draw() {
    const { outline } = this.book;
    const { language, rtl } = outline;
    this.nodes = [];
    this.rows = [];
    this.units = outline.units.map(([start, words], at) => {
      const paragraphs = unitEnd(this.book, at) - start;
      const lines =
        Math.round((words * (outline.unspaced ? 3.6 : 6)) / CHARACTERS_A_LINE + paragraphs * 0.9 + 2) +
        LINES_A_FIGURE * figuresBetween(outline, start, start + paragraphs);
      return el("section", { class: "unit", "data-u": at, lang: language, dir: rtl ? "rtl" : "ltr", style: `--lines:${lines}` });
    });
    this.reader.column.replaceChildren(...this.units);
    const loaded = this.units.map((_, at) => at).filter((at) => isLoaded(this.book, at));
    for (const at of loaded) this.fill(at);
    return loaded;
  }

  // Fills the units whose paragraphs have all come; returns them.
  take([from, to]) {
    const found = [];
    for (let at = unitOf(this.book, from); at <= unitOf(this.book, to - 1); at++)
      if (!this.units[at].firstChild && isLoaded(this.book, at)) this.fill(at), found.push(at);
    return found;
  }

  fill(at) {
    const { outline, heads, text, joined } = this.book;
    const nodes = [];
    let row = 1;
    const place = (node) => ((node.style.gridRow = String(row)), (row += 2), nodes.push(node));
    for (let i = outline.units[at][0]; i < unitEnd(this.book, at); i++) {
      for (const [level, title] of heads.get(i) ?? []) place(el("h2", { class: `sec l${Math.min(level, 3)}`, dir: "auto" }, title));
      drawFigures(outline, i, false).forEach(place);
      const kind = SCENE.test(text[i]) ? "scene" : joined.has(i) ? "joined" : isCaption(outline, i) ? "caption" : null;
      const node = el("p", { "data-i": i, dir: "auto", class: kind });
      fill(node, text[i], this.reader.marks.spans(i), outline.emphasis);
      this.rows[i] = row;
      this.nodes[i] = node;
      place(node);
      this.reader.marks.paragraphDrawn(i);
      drawFigures(outline, i, true).forEach(place);
    }
    if (at === 0) nodes.push(promise(this.rows[outline.units[0][0]]));
    this.units[at].replaceChildren(...nodes);
  }

  /** The element to go to for a paragraph: the first heading or picture above it, if it has one. */
  topOf(paragraph) {
    let top = this.nodes[paragraph];
    for (let node = top?.previousElementSibling; node?.matches("h2.sec, .pmark, .fig.lead"); node = node.previousElementSibling)
      if (node.matches("h2, .fig")) top = node;
    return top;
  }

  /** Marks `spans` of a paragraph; its text stays the same. */
  mark(paragraph, spans) {
    const node = this.nodes[paragraph];
    if (!node) return;
    fill(node, this.book.text[paragraph], [...spans, ...this.reader.marks.spans(paragraph)], this.book.outline.emphasis);
    this.reader.marks.paragraphDrawn(paragraph);
  }
}
