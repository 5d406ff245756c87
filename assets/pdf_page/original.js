// The PDF's own page: beside the text of the reader, where it follows what is read and marks the words that are selected,
// and over the memory of Ask, where it shows the citation that is clicked.

import { showConversation } from "../answer_view/sides.js";
import { placeOf } from "../memory_view/text_store.js";
import { button } from "../shared/dom.js";
import { tabState } from "../shared/tab_state.js";
import { PdfPanel } from "./panel.js";

const FOLLOW_MS = 250; // after the last paragraph that was scrolled past
const SELECT_MS = 300; // after the last change of a selection
const MOST_PARAGRAPHS = 6; // of a selection

const shownBeside = tabState("originals shown", () => new Set()); // books whose PDF is open in this tab
const shownCited = tabState("cited originals shown", () => new Set());

/** The panel and the button that opens and closes it. A subclass has `changed(open)`, which `draw` calls. */
class Original {
  // `shown`: the books whose PDF is open; `attributes`: of the button; `options`: of the panel
  constructor(shown, { kind, ...attributes }, options = {}) {
    this.shown = shown;
    this.panel = new PdfPanel({ onClose: () => this.toggle(), ...options });
    this.button = button("PDF", () => this.toggle(), {
      kind: `quiet originalb ${kind}`,
      "aria-pressed": "false",
      hidden: true,
      ...attributes,
    });
  }

  close() {
    this.panel.close();
  }

  /** @param {string | null} book the id under which the server has the PDF; null for a book that was no PDF */
  update(book) {
    if (book === this.book) return;
    this.book = book ?? null;
    this.button.hidden = !this.book;
    this.draw();
  }

  toggle() {
    if (!this.book) return;
    if (!this.shown.delete(this.book)) this.shown.add(this.book);
    this.redraw();
    if (this.panel.open) this.panel.view.focus();
    else this.leave();
  }

  redraw() {
    this.draw();
  }

  draw() {
    const open = Boolean(this.book) && this.shown.has(this.book);
    this.button.setAttribute("aria-pressed", String(open));
    this.panel.show(open ? this.book : null);
    this.changed(open);
  }

  // Gives the focus back when the panel was closed.
  leave() {
    this.button.focus();
  }
}

/** Over the memory of Ask: while it is open, every citation that is clicked is shown on it. A citation opens it too. */
export class CitedOriginal extends Original {
  constructor(memory) {
    super(shownCited, { kind: "slim", title: "Show citations on the PDF's own page" });
    this.memory = memory;
  }

  // The focus goes back to where the page was opened.
  leave() {
    const { back } = this;
    this.back = null;
    if (back?.isConnected && !back.checkVisibility()) showConversation();
    requestAnimationFrame(() => (back?.isConnected ? back : this.button).focus());
  }

  changed(open) {
    if (open) this.cite(...(this.cited ?? []));
  }

  /**
   * Opens the PDF at a page of the memory.
   * @param {number} page
   * @param {HTMLElement} back gets the focus when the PDF is closed
   */
  open(page, back) {
    this.shown.add(this.book);
    this.back = back;
    this.cited = [page, null];
    this.draw();
    requestAnimationFrame(() => this.panel.view.focus()); // a phone shows the memory only then
  }

  /** Marks a passage of `page`, the pieces of its citation, or all that is quoted of it. */
  cite(page, passage = null) {
    this.cited = [page, passage];
    const { book, data } = this.memory;
    const record = book?.pages[page - 1];
    if (!record || !this.panel.open) return;
    const passages = [...(data.passages?.[page] ?? [])].sort(([a], [b]) => a[0] - b[0] || a[1] - b[1]);
    const pieces = passages[passage] ?? passages.flat();
    const whole = record.t.length ? [[0, 0, record.t[0].length]] : [];
    this.panel.point(
      (pieces.length ? pieces : whole).map(([index, start, end]) => ({ text: record.t[index], start, end, place: placeIn(record, index) })),
    );
  }
}

const placeIn = (page, index) => page.p?.findLast(([start]) => start <= index)?.[1] ?? "";

/** Beside the text of the reader: follows what is read, and marks the words that are selected. */
export class ReaderOriginal extends Original {
  constructor(reader) {
    super(
      shownBeside,
      { kind: "", title: "The PDF's own page (p)", onpointerenter: () => this.panel.warm(this.book) },
      { ofText: () => this.ofText(), toText: (isPlace) => this.toText(isPlace) },
    );
    this.reader = reader;
    reader.beside.after(this.panel.node);
    reader.toolbar.aa.before(this.button);
    this.selected = () => this.later("selecting", SELECT_MS, () => this.pointAtSelection());
    document.addEventListener("selectionchange", this.selected);
  }

  close() {
    document.removeEventListener("selectionchange", this.selected);
    for (const timer of [this.following, this.selecting]) clearTimeout(timer);
    super.close();
  }

  redraw() {
    this.reader.flow.keepPlace(() => this.draw());
  }

  changed(open) {
    this.reader.root.classList.toggle("with-original", open);
    if (open) this.follow();
  }

  /** Closes the panel; whether it was open. */
  escape() {
    if (!this.panel.open) return false;
    this.toggle();
    return true;
  }

  /** Another paragraph is read. */
  follow() {
    if (this.panel.open) this.later("following", FOLLOW_MS, () => this.panel.follow(this.words(this.reader.position.here.paragraph)));
  }

  /** Marks words of the book on their page. @param {{paragraph: number, start: number, end: number}[]} spans */
  point(spans) {
    return this.panel.point(spans.map(({ paragraph, start, end }) => this.words(paragraph, start, end)));
  }

  words(paragraph, start = 0, end = undefined) {
    const text = this.reader.book?.text[paragraph] ?? "";
    return { text, start, end: end ?? text.length, place: this.reader.book ? placeOf(this.reader.book, paragraph) : "" };
  }

  pointAtSelection() {
    if (!this.panel.open || !this.reader.root.isConnected) return;
    const spans = this.spans();
    if (spans.length) this.point(spans);
    else this.panel.unpoint();
  }

  // The parts of paragraphs that are selected.
  spans() {
    const tree = this.reader.root.getRootNode();
    const selection = tree.getSelection?.() ?? document.getSelection();
    if (!selection?.rangeCount) return [];
    const range = selection.getRangeAt(0);
    if (range.collapsed || !this.reader.column.contains(range.startContainer)) return [];
    const found = [];
    for (const node of this.reader.column.querySelectorAll("p[data-i]")) {
      if (found.length >= MOST_PARAGRAPHS) break;
      if (!range.intersectsNode(node)) continue;
      const inside = node.ownerDocument.createRange();
      inside.selectNodeContents(node);
      const [text, before] = [node.textContent.length, inside.cloneRange()];
      if (node.contains(range.startContainer)) inside.setStart(range.startContainer, range.startOffset);
      if (node.contains(range.endContainer)) inside.setEnd(range.endContainer, range.endOffset);
      before.setEnd(inside.startContainer, inside.startOffset);
      const start = before.toString().length;
      const end = Math.min(text, start + inside.toString().length);
      if (end > start) found.push({ paragraph: Number(node.dataset.i), start, end });
    }
    return found;
  }

  ofText() {
    const { layer, position } = this.reader;
    return layer.pages.length && position.here.page ? `Page ${position.here.page} of ${layer.pages.length}` : "";
  }

  toText(isPlace) {
    const found = this.reader.book.places.find(([, place]) => isPlace(place));
    if (found) this.reader.position.jump({ paragraph: found[0] });
    else this.panel.say("No text of the book begins on this page.");
    if (found && this.reader.isNarrow) this.toggle();
  }

  later(timer, ms, act) {
    clearTimeout(this[timer]);
    this[timer] = setTimeout(act, ms);
  }
}
