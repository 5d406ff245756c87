// The person's marks in the text. Highlights are ranges of the CSS Custom Highlight API, so that the elements of the text
// stay as they are; where a browser has none, `spans` gives what is marked in a paragraph. Numbers of notes, ribbons of
// bookmarks and stored answers are drawn over the text and take no space.

import { el, icon, svg } from "../shared/dom.js";
import { changeMarks, inOrder, marksOf, newId } from "./marks_store.js";
import { partsOf, rangeIn } from "./text_places.js";

export const COLOURS = ["rose", "leaf", "sky", "lilac"];
export const COLOUR_NAMES = { rose: "Rose", leaf: "Leaf", sky: "Sky", lilac: "Lilac" };
const NOTE_COLOUR = "sky"; // of a note whose words had no colour yet
const NAMES = { highlight: "Highlight", note: "Note", bookmark: "Bookmark", answer: "Answer" };
const SUPPORTED = typeof Highlight === "function" && Boolean(CSS.highlights);

export const kindName = (mark) => NAMES[mark.k];
export const startOf = (mark) => ({ paragraph: mark.s[0], offset: mark.s[1] });
export const endOf = (mark) => ({ paragraph: mark.e[0], offset: mark.e[1] });

/** Shows ranges under a name of the style sheet; without the API nothing is shown. */
export function paint(name, ranges) {
  if (SUPPORTED) CSS.highlights.set(name, new Highlight(...ranges));
}

export class Marks {
  constructor(reader) {
    this.reader = reader;
    this.all = []; // in the order of the book
    this.byParagraph = new Map(); // paragraph -> [mark, from, to] of highlights and notes
    this.shown = new Map(); // paragraph -> [highlight, range] of what is painted
    this.over = new Map(); // id -> the element that lies over the text
    if (SUPPORTED) for (const colour of COLOURS) CSS.highlights.set(`mark-${colour}`, new Highlight());
    this.resize = new ResizeObserver(() => this.view && this.place(...this.view)); // a typeface that has come moves lines
    this.resize.observe(reader.column);
    this.changed = () => this.reader.book?.outline && this.reader.root.isConnected && this.draw();
  }

  /** Another book, or none. */
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
      if (mark.k === "note") this.numbers.set(mark.id, ++notes);
      if (!mark.c) continue;
      for (const [paragraph, from, to] of partsOf(this.reader.book, startOf(mark), endOf(mark))) {
        if (!this.byParagraph.has(paragraph)) this.byParagraph.set(paragraph, []);
        this.byParagraph.get(paragraph).push([mark, from, to]);
      }
    }
    for (const paragraph of new Set([...before, ...this.byParagraph.keys()])) {
      if (SUPPORTED) this.paragraphDrawn(paragraph);
      else this.reader.units.mark(paragraph, this.reader.search.inText(paragraph));
    }
    for (const node of this.over.values()) node.remove();
    this.over.clear();
    if (this.view) this.place(...this.view);
    this.reader.map.soon();
    this.reader.toolbar.marked();
    this.reader.notes.draw();
  }

  /** The elements of a paragraph are new: paints its marks. Called by the units. */
  paragraphDrawn(paragraph) {
    for (const [highlight, range] of this.shown.get(paragraph) ?? []) highlight.delete(range);
    this.shown.delete(paragraph);
    const node = this.reader.units.nodes[paragraph];
    const marks = this.byParagraph.get(paragraph);
    if (!node || !marks || !SUPPORTED) return;
    this.shown.set(
      paragraph,
      marks.map(([mark, from, to]) => {
        const pair = [CSS.highlights.get(`mark-${mark.c}`), rangeIn(node, from, to)];
        pair[0].add(pair[1]);
        return pair;
      }),
    );
  }

  /** What to wrap in a paragraph where the browser cannot paint ranges. */
  spans(paragraph) {
    return SUPPORTED ? [] : (this.byParagraph.get(paragraph) ?? []).map(([mark, from, to]) => [from, to, `mark-${mark.c}`]);
  }

  // Places the numbers, ribbons and stored answers of paragraphs `first` to `last`, which are in view.
  place(first, last) {
    this.view = [first, last];
    const { flow, sheet, units, view } = this.reader;
    const inView = new Set();
    const beside = []; // the heights of what is shown beside the text: two on one line are put below each other
    for (const mark of view === "gists" ? [] : this.all) {
      const [paragraph, offset] = mark.k === "note" ? mark.e : mark.s;
      if (mark.k === "highlight" || paragraph < first - 1 || paragraph > last + 1) continue;
      const node = units.nodes[paragraph];
      if (!node?.checkVisibility()) continue;
      inView.add(mark.id);
      if (!this.over.has(mark.id)) this.over.set(mark.id, this.overlay(mark));
      const over = this.over.get(mark.id);
      const home = flow.isPaged ? sheet : node.parentElement;
      if (over.parentElement !== home) home.append(over);
      over.style.gridRow = flow.isPaged ? "" : `${units.rows[paragraph]} / ${units.rows[paragraph] + 1}`; // moves with its paragraph
      const box = mark.k === "note" ? lastBox(rangeIn(node, Math.max(0, offset - 1), offset)) : lastBox(rangeIn(node, offset, offset + 1));
      const origin = (flow.isPaged ? sheet : node).getBoundingClientRect();
      const text = node.getClientRects()[0];
      const column = mark.k === "note" ? box.right : this.reader.book.outline.rtl ? text.left - 4 : text.right - 20;
      let top = box.top;
      if (mark.k !== "note") {
        while (beside.some((height) => Math.abs(height - top) < 24)) top += 28;
        beside.push(top);
      }
      over.style.left = `${column - origin.left}px`;
      over.style.top = `${top - origin.top + (flow.isPaged ? 0 : parseFloat(getComputedStyle(node).marginTop))}px`;
    }
    for (const [id, node] of this.over) if (!inView.has(id)) node.remove(), this.over.delete(id);
  }

  overlay(mark) {
    const open = () => this.reader.markCard.open(mark.id);
    if (mark.k === "note") {
      const number = String(this.numbers.get(mark.id));
      return el(
        "button",
        { type: "button", class: `overmark number hue-${mark.c}`, onclick: open, "aria-label": `Note ${number}`, title: mark.n },
        number,
      );
    }
    if (mark.k === "answer")
      return el(
        "button",
        { type: "button", class: "overmark kept", onclick: open, "aria-label": "Answer kept here", title: mark.a?.question ?? "" },
        icon("ask"),
      );
    const shape = svg("svg", { viewBox: "0 0 16 28", "aria-hidden": "true" }, svg("path", { d: "M0 0h16v28l-8-6-8 6z" }));
    return el("button", { type: "button", class: "overmark ribbon", onclick: open, "aria-label": "Bookmark", title: "Bookmark" }, shape);
  }

  /** The mark under a point of the window; the shortest one of several. */
  at(target, x, y) {
    const node = target.closest?.("p[data-i]");
    const found = ((node && this.byParagraph.get(Number(node.dataset.i))) || []).filter(([, from, to]) =>
      [...rangeIn(node, from, to).getClientRects()].some((box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom),
    );
    return found.sort((a, b) => a[2] - a[1] - b[2] + b[1])[0]?.[0] ?? null;
  }

  /** The boxes of a mark's words on the screen. */
  boxes(mark) {
    const parts =
      mark.k === "bookmark" || mark.k === "answer"
        ? [[mark.s[0], mark.s[1], mark.s[1] + 1]]
        : partsOf(this.reader.book, startOf(mark), endOf(mark));
    return parts.flatMap(([i, from, to]) =>
      this.reader.units.nodes[i] ? [...rangeIn(this.reader.units.nodes[i], from, to).getClientRects()] : [],
    );
  }

  // --- changes, each with its undo ----------------------------------------------------------------

  /** Highlights a passage, or changes the colour of the mark of just these words. Returns the mark's id. */
  highlight({ start, end }, colour, note = "") {
    const same = this.all.find(
      (mark) => mark.c && `${mark.s} ${mark.e}` === `${start.paragraph},${start.offset} ${end.paragraph},${end.offset}`,
    );
    if (same) return (this.change(same, { c: colour, ...(note ? { n: note } : {}) }), same.id);
    return this.make(
      { k: note ? "note" : "highlight", c: colour, s: [start.paragraph, start.offset], e: [end.paragraph, end.offset], n: note },
      note ? "Note saved" : "Highlighted",
    );
  }

  note(passage, note, colour = NOTE_COLOUR) {
    return this.highlight(passage, colour, note);
  }

  make(values, said) {
    const mark = { id: newId(), c: "", n: "", a: null, x: "", t: new Date().toISOString(), ...values };
    const text = partsOf(this.reader.book, startOf(mark), endOf(mark)).map(([i, from, to]) => this.reader.book.text[i].slice(from, to));
    changeMarks(this.store, { do: "make", mark: { ...mark, x: text.join("\n") } });
    this.reader.toast.say(said, () => changeMarks(this.store, { do: "remove", id: mark.id }));
    return mark.id;
  }

  change(mark, values) {
    const kind = values.n === undefined || !mark.c ? mark.k : values.n ? "note" : "highlight";
    const before = { id: mark.id, k: mark.k, c: mark.c, n: mark.n };
    changeMarks(this.store, { do: "change", mark: { id: mark.id, k: kind, ...values } });
    this.reader.toast.say(values.n === undefined ? "Colour changed" : values.n ? "Note saved" : "Note removed", () =>
      changeMarks(this.store, { do: "change", mark: before }),
    );
  }

  remove(mark) {
    changeMarks(this.store, { do: "remove", id: mark.id });
    this.reader.toast.say(`${kindName(mark)} removed`, () => changeMarks(this.store, { do: "restore", id: mark.id }));
  }

  /** The bookmarks on what is on the screen now. */
  get bookmarksHere() {
    const [first, last] = this.view ?? [0, -1];
    return this.all.filter((mark) => mark.k === "bookmark" && mark.s[0] >= first && mark.s[0] <= last && this.isSeen(mark));
  }

  isSeen(mark) {
    const view = this.reader.scroller.getBoundingClientRect();
    return this.boxes(mark).some((box) => box.bottom > view.top && box.top < view.bottom && box.right > view.left && box.left < view.right);
  }

  /** Sets a bookmark at the line that is read, or removes the one that is in view. */
  toggleBookmark() {
    const [there] = this.bookmarksHere;
    if (there) return this.remove(there);
    const { paragraph, at } = this.reader.position.here;
    const text = this.reader.book.text[paragraph] ?? "";
    const begin = at ? text.slice(0, at).search(/\S+\s*$/) : 0; // a whole word
    const offset = Math.max(0, Math.min(begin, text.length));
    const end = Math.min(text.length, offset + 80);
    this.make({ k: "bookmark", s: [paragraph, offset], e: [paragraph, end] }, "Bookmark set");
  }
}

function lastBox(range) {
  const boxes = range.getClientRects();
  return boxes[boxes.length - 1] ?? range.getBoundingClientRect();
}
