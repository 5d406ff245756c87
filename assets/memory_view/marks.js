// The person's marks in the text. Highlights are ranges of the CSS Custom Highlight API, so that the elements of the text
// stay as they are; where a browser has none, `spans` gives what is marked in a paragraph. Numbers of notes, ribbons of
// bookmarks and stored answers are drawn over the text and take no space.

import { el, icon, svg } from "../shared/dom.js";
import { edge } from "./hits.js";
import { COLOURS, endOf, kindName, SUPPORTED, startOf } from "./mark_kinds.js";
import { changeMarks, inOrder, marksOf, newId } from "./marks_store.js";
import { partsOf, rangeIn } from "./text_places.js";

/**
 * @import { MarkColour, MarkRecord } from "../protocol.js"
 * @import { Span } from "../shared/dom.js"
 * @import { Toast } from "../shared/toast.js"
 * @import { Frame } from "./frame.js"
 * @import { Change, StoredMarks } from "./marks_store.js"
 * @import { Passage } from "./selection.js"
 * @import { ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {object} MarksEvents
 * @property {(paragraph: number) => Span[]} hitsIn the hits of a search
 * @property {() => void} changed
 * @property {(id: string) => void} opened a mark was pressed
 */

/** @type {MarkColour} */
const NOTE_COLOUR = "sky"; // of a note whose words had no colour yet
const BOOKMARKED = 80; // characters that are stored with a bookmark, to know it by

export class Marks {
  /**
   * @param {{state: ReadingState, frame: Frame, units: Units, toast: Toast, on: MarksEvents}} needs
   */
  constructor({ state, frame, units, toast, on }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.toast = toast;
    this.on = on;
    /** @type {StoredMarks | null} */
    this.store = null;
    /** @type {string | null} */
    this.bookId = null;
    /** @type {[number, number] | null} the paragraphs in view */
    this.view = null;
    /** @type {Map<string, number>} id of a note -> its number */
    this.numbers = new Map();
    /** @type {MarkRecord[]} */
    this.all = []; // in the order of the book
    /** @type {Map<number, [MarkRecord, number, number][]>} */
    this.byParagraph = new Map(); // paragraph -> [mark, from, to] of highlights and notes
    /** @type {Map<number, [Highlight, Range][]>} */
    this.shown = new Map(); // paragraph -> [highlight, range] of what is painted
    /** @type {Map<string, HTMLElement>} */
    this.over = new Map(); // id -> the element that lies over the text
    if (SUPPORTED) for (const colour of COLOURS) CSS.highlights.set(`mark-${colour}`, new Highlight());
    this.resize = new ResizeObserver(() => this.view && this.place(...this.view)); // a typeface that has come moves lines
    this.resize.observe(this.frame.column);
    this.changed = () => {
      if (state.book.known && frame.isShown) this.draw();
    };
  }

  /** Another book, or none. @param {string | null} bookId */
  follow(bookId) {
    if (bookId === this.bookId) return;
    this.store?.removeEventListener("marks", this.changed);
    this.bookId = bookId;
    this.store = bookId ? marksOf(bookId) : null;
    this.store?.addEventListener("marks", this.changed);
    this.changed();
  }

  close() {
    this.resize.disconnect();
    this.follow(null);
    if (SUPPORTED) for (const colour of COLOURS) CSS.highlights.delete(`mark-${colour}`);
  }

  // --- drawing ------------------------------------------------------------------------------------

  // Draws all of them; what does not differ is painted again all the same, which takes a few milliseconds for 500.
  draw() {
    const before = new Set(this.byParagraph.keys());
    this.byParagraph = new Map();
    this.all = inOrder(this.store?.all.values() ?? []);
    let notes = 0;
    this.numbers = new Map();
    for (const mark of this.all) {
      if (mark.kind === "note") this.numbers.set(mark.id, ++notes);
      if (!mark.colour) continue;
      for (const [paragraph, from, to] of partsOf(this.state.book, startOf(mark), endOf(mark))) {
        const marks = this.byParagraph.get(paragraph) ?? [];
        marks.push([mark, from, to]);
        this.byParagraph.set(paragraph, marks);
      }
    }
    for (const paragraph of new Set([...before, ...this.byParagraph.keys()])) {
      if (SUPPORTED) this.paragraphDrawn(paragraph);
      else this.units.mark(paragraph, this.on.hitsIn(paragraph));
    }
    for (const node of this.over.values()) node.remove();
    this.over.clear();
    if (this.view) this.place(...this.view);
    this.on.changed();
  }

  /** The elements of a paragraph are new: paints its marks. Called by the units. @param {number} paragraph */
  paragraphDrawn(paragraph) {
    for (const [highlight, range] of this.shown.get(paragraph) ?? []) highlight.delete(range);
    this.shown.delete(paragraph);
    const node = this.units.nodes[paragraph];
    const marks = this.byParagraph.get(paragraph);
    if (!node || !marks || !SUPPORTED) return;
    this.shown.set(
      paragraph,
      marks.flatMap(([mark, from, to]) => {
        const highlight = CSS.highlights.get(`mark-${mark.colour}`);
        const range = rangeIn(node, from, to);
        highlight?.add(range);
        return highlight ? [[highlight, range]] : [];
      }),
    );
  }

  /** What to wrap in a paragraph where the browser cannot paint ranges. @param {number} paragraph @returns {Span[]} */
  spans(paragraph) {
    return SUPPORTED ? [] : (this.byParagraph.get(paragraph) ?? []).map(([mark, from, to]) => [from, to, `mark-${mark.colour}`]);
  }

  /**
   * Places the numbers, ribbons and stored answers of paragraphs `first` to `last`, which are in view.
   * @param {number} first
   * @param {number} last
   */
  place(first, last) {
    this.view = [first, last];
    const { sheet } = this.frame;
    const { units } = this;
    const inView = new Set();
    /** @type {number[]} */
    const beside = []; // the heights of what is shown beside the text: two on one line are put below each other
    for (const mark of this.state.folded ? [] : this.all) {
      const [paragraph, offset] = mark.kind === "note" ? mark.end : mark.start;
      if (mark.kind === "highlight" || paragraph < first - 1 || paragraph > last + 1) continue;
      const node = units.nodes[paragraph];
      if (!node?.checkVisibility()) continue;
      inView.add(mark.id);
      const over = this.over.get(mark.id) ?? this.overlay(mark);
      this.over.set(mark.id, over);
      const home = this.state.paged ? sheet : (node.parentElement ?? sheet);
      if (over.parentElement !== home) home.append(over);
      over.style.gridRow = this.state.paged ? "" : `${units.rows[paragraph]} / ${units.rows[paragraph] + 1}`; // moves with its paragraph
      const box =
        mark.kind === "note" ? lastBox(rangeIn(node, Math.max(0, offset - 1), offset)) : lastBox(rangeIn(node, offset, offset + 1));
      const origin = (this.state.paged ? sheet : node).getBoundingClientRect();
      const text = node.getClientRects()[0];
      const column = mark.kind === "note" ? box.right : this.state.book.outline.rtl ? text.left - 4 : text.right - 20;
      let top = box.top;
      if (mark.kind !== "note") {
        while (beside.some((height) => Math.abs(height - top) < 24)) top += 28;
        beside.push(top);
      }
      over.style.left = `${column - origin.left}px`;
      over.style.top = `${top - origin.top + (this.state.paged ? 0 : parseFloat(getComputedStyle(node).marginTop))}px`;
    }
    for (const [id, node] of this.over) {
      if (inView.has(id)) continue;
      node.remove();
      this.over.delete(id);
    }
  }

  /** @param {MarkRecord} mark */
  overlay(mark) {
    const open = () => this.on.opened(mark.id);
    if (mark.kind === "note") {
      const number = String(this.numbers.get(mark.id));
      return el(
        "button",
        { type: "button", class: `overmark number hue-${mark.colour}`, onclick: open, "aria-label": `Note ${number}`, title: mark.note },
        number,
      );
    }
    if (mark.kind === "answer")
      return el(
        "button",
        { type: "button", class: "overmark kept", onclick: open, "aria-label": "Answer kept here", title: mark.answer?.question ?? "" },
        icon("ask"),
      );
    const shape = svg("svg", { viewBox: "0 0 16 28", "aria-hidden": "true" }, svg("path", { d: "M0 0h16v28l-8-6-8 6z" }));
    return el("button", { type: "button", class: "overmark ribbon", onclick: open, "aria-label": "Bookmark", title: "Bookmark" }, shape);
  }

  /** The mark under a point of the window; the shortest one of several. @param {EventTarget} target @param {number} x @param {number} y */
  at(target, x, y) {
    /** @type {HTMLElement | null} */
    const node = target instanceof Element ? target.closest("p[data-i]") : null;
    if (!node) return null;
    const found = (this.byParagraph.get(Number(node.dataset.i)) ?? []).filter(([, from, to]) =>
      [...rangeIn(node, from, to).getClientRects()].some((box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom),
    );
    return found.sort((a, b) => a[2] - a[1] - b[2] + b[1])[0]?.[0] ?? null;
  }

  /** The boxes of a mark's words on the screen. @param {Pick<MarkRecord, "kind" | "start" | "end">} mark */
  boxes(mark) {
    const start = startOf(mark);
    const point = mark.kind === "bookmark" || mark.kind === "answer";
    return this.units.boxes({ start, end: point ? { ...start, offset: start.offset + 1 } : endOf(mark) });
  }

  // --- changes, each with its undo ----------------------------------------------------------------

  /**
   * Highlights a passage, or changes the colour of the mark of just these words. Returns the mark's id.
   * @param {Passage} passage
   * @param {MarkColour} colour
   */
  highlight({ start, end }, colour, note = "") {
    const same = this.all.find(
      (mark) => mark.colour && `${mark.start} ${mark.end}` === `${start.paragraph},${start.offset} ${end.paragraph},${end.offset}`,
    );
    if (same) {
      this.change(same, { colour: colour, ...(note ? { note } : {}) });
      return same.id;
    }
    return this.make(
      { kind: note ? "note" : "highlight", colour, start: [start.paragraph, start.offset], end: [end.paragraph, end.offset], note },
      note ? "Note saved" : "Highlighted",
    );
  }

  /** @param {Passage} passage @param {string} note @param {MarkColour} [colour] */
  note(passage, note, colour = NOTE_COLOUR) {
    return this.highlight(passage, colour, note);
  }

  /** @param {Partial<MarkRecord> & Pick<MarkRecord, "kind" | "start" | "end">} values @param {string} said */
  make(values, said) {
    /** @type {MarkRecord} */
    const mark = { id: newId(), colour: "", note: "", answer: null, words: "", made: new Date().toISOString(), ...values };
    const text = partsOf(this.state.book, startOf(mark), endOf(mark)).map(([i, from, to]) => this.state.book.text[i].slice(from, to));
    this.send({ do: "make", mark: { ...mark, words: text.join("\n") } });
    this.toast.say(said, () => this.send({ do: "remove", id: mark.id }));
    return mark.id;
  }

  /** @param {MarkRecord} mark @param {Partial<MarkRecord>} values */
  change(mark, values) {
    const kind = values.note === undefined || !mark.colour ? mark.kind : values.note ? "note" : "highlight";
    const { id, note, colour } = mark;
    const before = { id, kind: mark.kind, colour, note };
    this.send({ do: "change", mark: { id, kind, ...values } });
    this.toast.say(values.note === undefined ? "Colour changed" : values.note ? "Note saved" : "Note removed", () =>
      this.send({ do: "change", mark: before }),
    );
  }

  /** @param {MarkRecord} mark */
  remove(mark) {
    this.send({ do: "remove", id: mark.id });
    this.toast.say(`${kindName(mark)} removed`, () => this.send({ do: "restore", id: mark.id }));
  }

  /** @param {Change} change */
  send(change) {
    if (this.store) changeMarks(this.store, change);
  }

  /** The bookmarks on what is on the screen now. */
  get bookmarksHere() {
    const [first, last] = this.view ?? [0, -1];
    return this.all.filter((mark) => mark.kind === "bookmark" && mark.start[0] >= first && mark.start[0] <= last && this.isSeen(mark));
  }

  /** @param {MarkRecord} mark */
  isSeen(mark) {
    const view = this.frame.scroller.getBoundingClientRect();
    return this.boxes(mark).some((box) => box.bottom > view.top && box.top < view.bottom && box.right > view.left && box.left < view.right);
  }

  /** Sets a bookmark at the line that is read, or removes the one that is in view. */
  toggleBookmark() {
    const [there] = this.bookmarksHere;
    if (there) return this.remove(there);
    const { paragraph, at } = this.state.here;
    const text = this.state.book.text[paragraph] ?? "";
    const begin = at ? text.slice(0, at).search(/\S+\s*$/) : 0; // a whole word
    const offset = Math.max(0, Math.min(begin, text.length));
    const end = edge(text, offset + BOOKMARKED, offset, -1);
    this.make({ kind: "bookmark", start: [paragraph, offset], end: [paragraph, end] }, "Bookmark set");
  }
}

/** @param {Range} range */
function lastBox(range) {
  const boxes = range.getClientRects();
  return boxes[boxes.length - 1] ?? range.getBoundingClientRect();
}
