// The PDF's own page: beside the text of the reader, where it follows what is read and marks the words that are selected,
// and over the memory of Ask, where it shows the citation that is clicked.

import { showConversation } from "../answer_view/sides.js";
import { partsOf } from "../memory_view/text_places.js";
import { placeOf } from "../memory_view/text_store.js";
import { button } from "../shared/dom.js";
import { tabState } from "../shared/tab_state.js";
import { PdfPanel } from "./panel.js";

/**
 * @import { Attributes } from "../shared/dom.js"
 * @import { Passages } from "../memory_view/passages.js"
 * @import { Frame } from "../memory_view/frame.js"
 * @import { Passage } from "../memory_view/selection.js"
 * @import { Jump, ReadingState } from "../memory_view/state.js"
 * @import { Page } from "../protocol.js"
 */

/** @typedef {{record: Page, passages: Passages[]}} CitedPage */

const FOLLOW_MS = 250; // after the last paragraph that was scrolled past
const SELECT_MS = 300; // after the last change of a selection
const MOST_PARAGRAPHS = 6; // of a selection

/** @type {Set<string>} books whose PDF is open in this tab */
const shownBeside = tabState("originals shown", () => new Set());
/** @type {Set<string>} */
const shownCited = tabState("cited originals shown", () => new Set());

/** The panel and the button that opens and closes it. */
class Original {
  /**
   * `shown`: the books whose PDF is open; `attributes`: of the button; `options`: of the panel.
   * @param {Set<string>} shown
   * @param {Attributes & {kind: string}} attributes
   * @param {{ofText?: () => string, toText?: (isPlace: (place: string) => boolean) => void}} [options]
   */
  constructor(shown, { kind, ...attributes }, options = {}) {
    this.shown = shown;
    /** @type {string | null} */
    this.book = null;
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
    const open = this.book !== null && this.shown.has(this.book);
    this.button.setAttribute("aria-pressed", String(open));
    this.panel.show(open ? this.book : null);
    this.changed(open);
  }

  /** The panel was opened or closed. @param {boolean} _open */
  changed(_open) {}

  /** Gives the focus back when the panel was closed. */
  leave() {
    this.button.focus();
  }
}

/** Over the memory of Ask: while it is open, every citation that is clicked is shown on it. A citation opens it too. */
export class CitedOriginal extends Original {
  /** `passagesOf`: a page of the memory, if it has come, and what is quoted of it. @param {(page: number) => CitedPage | null} passagesOf */
  constructor(passagesOf) {
    super(shownCited, { kind: "slim", title: "Show citations on the PDF's own page" });
    this.passagesOf = passagesOf;
    /** @type {[page: number, passage: number | null] | null} */
    this.cited = null;
    /** @type {HTMLElement | null} */
    this.back = null;
  }

  // The focus goes back to where the page was opened.
  leave() {
    const { back } = this;
    this.back = null;
    if (back?.isConnected && !back.checkVisibility()) showConversation();
    requestAnimationFrame(() => (back?.isConnected ? back : this.button).focus());
  }

  /** @param {boolean} open */
  changed(open) {
    if (open && this.cited) this.cite(...this.cited);
  }

  /**
   * Opens the PDF at a page of the memory.
   * @param {number} page
   * @param {HTMLElement} back gets the focus when the PDF is closed
   */
  open(page, back) {
    if (this.book) this.shown.add(this.book);
    this.back = back;
    this.cited = [page, null];
    this.draw();
    requestAnimationFrame(() => this.panel.view.focus()); // a phone shows the memory only then
  }

  /**
   * Marks a passage of `page`, the pieces of its citation, or all that is quoted of it.
   * @param {number} page
   * @param {number | null} [passage]
   */
  cite(page, passage = null) {
    this.cited = [page, passage];
    const found = this.passagesOf(page);
    if (!found || !this.panel.open) return;
    const { record } = found;
    const passages = [...found.passages].sort(([a], [b]) => a[0] - b[0] || a[1] - b[1]);
    const pieces = passages[passage ?? -1] ?? passages.flat();
    /** @type {Passages} */
    const whole = record.paragraphs.length ? [[0, 0, record.paragraphs[0].length]] : [];
    this.panel.point(
      (pieces.length ? pieces : whole).map(([index, start, end]) => ({
        text: record.paragraphs[index],
        start,
        end,
        place: placeIn(record, index),
      })),
    );
  }
}

/** @param {Page} page @param {number} index */
const placeIn = (page, index) => page.places?.findLast(([start]) => start <= index)?.[1] ?? "";

/** Beside the text of the reader: follows what is read, and marks the words that are selected. */
export class ReaderOriginal extends Original {
  /**
   * `selected`: the words that are selected in the text.
   * @param {{state: ReadingState, frame: Frame, jump: Jump, selected: () => Passage | null,
   *   keepPlace: (change: () => void) => void}} needs
   */
  constructor({ state, frame, jump, selected, keepPlace }) {
    super(
      shownBeside,
      { kind: "", title: "The PDF's own page (p)", onpointerenter: () => this.panel.warm(this.book) },
      { ofText: () => this.ofText(), toText: (isPlace) => this.toText(isPlace) },
    );
    this.state = state;
    this.frame = frame;
    this.jump = jump;
    this.selected = selected;
    this.keepPlace = keepPlace;
    /** @type {Record<"following" | "selecting", number>} */
    this.timers = { following: 0, selecting: 0 };
    this.onselect = () => this.later("selecting", SELECT_MS, () => this.pointAtSelection());
    document.addEventListener("selectionchange", this.onselect);
  }

  close() {
    document.removeEventListener("selectionchange", this.onselect);
    for (const timer of Object.values(this.timers)) clearTimeout(timer);
    super.close();
  }

  redraw() {
    this.keepPlace(() => this.draw());
  }

  /** @param {boolean} open */
  changed(open) {
    this.frame.root.classList.toggle("with-original", open);
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
    if (this.panel.open) this.later("following", FOLLOW_MS, () => this.panel.follow(this.words(this.state.here.paragraph)));
  }

  /** Marks parts of paragraphs of the book on their page. @param {[number, number, number][]} parts */
  point(parts) {
    return this.panel.point(parts.map(([paragraph, start, end]) => this.words(paragraph, start, end)));
  }

  /** @param {number} paragraph @param {number | undefined} [end] */
  words(paragraph, start = 0, end = undefined) {
    const text = this.state.book.text[paragraph] ?? "";
    return { text, start, end: end ?? text.length, place: placeOf(this.state.book, paragraph) };
  }

  pointAtSelection() {
    if (!this.panel.open || !this.frame.isShown) return;
    const passage = this.selected();
    const { book } = this.state;
    if (passage) this.point(partsOf(book, passage.start, passage.end).slice(0, MOST_PARAGRAPHS));
    else this.panel.unpoint();
  }

  ofText() {
    const { pages, here } = this.state;
    return pages.length && here.page ? `Page ${here.page} of ${pages.length}` : "";
  }

  /** @param {(place: string) => boolean} isPlace */
  toText(isPlace) {
    const found = this.state.book.places.find(([, place]) => isPlace(place));
    if (found) this.jump({ paragraph: found[0] });
    else this.panel.say("No text of the book begins on this page.");
    if (found && this.frame.isNarrow) this.toggle();
  }

  /** @param {"following" | "selecting"} timer @param {number} ms @param {() => void} act */
  later(timer, ms, act) {
    clearTimeout(this.timers[timer]);
    this.timers[timer] = setTimeout(act, ms);
  }
}
