// The layer of a reading over the text: for each page its number and the pause before it in one margin, its gist in the
// other. What is drawn here takes no space beside the text, so that no line moves when it comes.

import { layerOf, oncePerFrame } from "./book_store.js";
import { chapterOfPage } from "./chapter_lines.js";
import { chapterOf, unitOf } from "./text_store.js";

/**
 * @import { LayerPage } from "../protocol.js"
 * @import { IconName, Span } from "../shared/dom.js"
 * @import { StoredBook } from "./book_store.js"
 * @import { ChapterLines, Fold } from "./chapter_lines.js"
 * @import { Frame } from "./frame.js"
 * @import { Leaves } from "./leaves.js"
 * @import { ReadingState, Send } from "./state.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {{after: HTMLElement, top: number, bottom: number, rows: [number, number], inside: boolean}} Rows where a gist goes: after which element, how
 *   much of its rows (in per cent) is left above and below it, its rows, and whether its page is inside one paragraph
 * @typedef {{mark: HTMLElement, gist: HTMLElement}} DrawnPage
 */

const FEW = 600; // characters of a chapter still to be read: too few for a gist beside them

export class Layer {
  /**
   * @param {{state: ReadingState, frame: Frame, units: Units, leaves: Leaves, chapters: ChapterLines, changed: () => void}} needs
   */
  constructor({ state, frame, units, leaves, chapters, changed }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.leaves = leaves;
    this.chapters = chapters;
    this.changed = changed;
    /** @type {StoredBook<LayerPage> | null} */
    this.store = null;
    this.count = 0;
    /** @type {Map<number, DrawnPage>} */
    this.drawn = new Map(); // page -> {mark, gist}
    /** @type {Set<number>} */
    this.late = new Set(); // pages whose closed line waits until its place is out of view (phones)
  }

  /** @param {string | null} scope */
  change(scope) {
    this.close();
    for (const n of [...this.drawn.keys()]) this.drop(n);
    this.store = scope ? layerOf(scope) : null;
    this.count = 0;
    const take = oncePerFrame((numbers) => this.frame.isShown && this.state.book.known && this.take(numbers));
    this.heard = new AbortController();
    const come = (/** @type {Event} */ event) => take(/** @type {CustomEvent} */ (event).detail);
    this.store?.addEventListener("pages", come, { signal: this.heard.signal });
  }

  close() {
    this.heard?.abort();
  }

  /** Draws pages that have come or changed; without `numbers`, those that are not drawn yet. @param {number[]} [numbers] */
  take(numbers = []) {
    const { count } = this.state.data;
    // pages may come before the count that has them: only where the count falls are those beyond it deleted
    if (this.store && count < this.count) this.store.pages.length = Math.min(this.store.pages.length, count);
    this.count = count;
    const stored = this.store?.pages.slice(0, count) ?? [];
    const gap = stored.findIndex((page) => !page);
    this.state.pages = gap < 0 ? stored : stored.slice(0, gap);
    const gone = [...this.drawn.keys()].filter((n) => n > this.state.pages.length);
    for (const n of gone) this.drop(n);
    const fresh = this.state.pages.filter((page) => !this.drawn.has(page.number)).map((page) => page.number);
    const drawn = new Set([...fresh, ...numbers.filter((n) => this.drawn.has(n))]);
    for (const n of drawn) this.draw(n);
    if (gone.length || drawn.size || numbers.length) this.changed();
  }

  /** Draws the pages of a unit whose text has just come. @param {number} unit */
  fill(unit) {
    for (const page of this.state.pages)
      if (unitOf(this.state.book, page.start) <= unit && unit <= this.unitEnding(page)) this.draw(page.number);
  }

  /** @param {LayerPage} page */
  unitEnding(page) {
    return unitOf(this.state.book, page.endAt ? page.end : page.end - 1);
  }

  /** @param {number} n */
  drop(n) {
    const drawn = this.drawn.get(n);
    drawn?.mark.remove();
    drawn?.gist.remove();
    this.drawn.delete(n);
    this.late.delete(n);
  }

  /** @param {number} n */
  draw(n) {
    const page = this.state.pages[n - 1];
    const before = this.drawn.get(n);
    const { book } = this.state;
    const { units } = this;
    const first = units.nodes[page.start];
    const spot = this.spot(page);
    if (!first || !spot) return;
    const hadFocus = before?.gist?.contains(this.frame.active);
    const mark = this.leaves.mark(page);
    const gist = this.leaves.gist(page, spot);
    gist.classList.toggle("cur", n === this.state.here.page);
    gist.classList.toggle("open", before?.gist?.classList.contains("open") ?? false);
    if (before?.mark) before.mark.replaceWith(mark);
    else first.before(mark);
    const stays = before?.gist?.parentNode === spot.after.parentNode;
    if (before && stays) before.gist.replaceWith(gist);
    else before?.gist?.remove();
    if (!stays && this.frame.isNarrow && this.isInView(spot.after)) this.late.add(n);
    else if (!stays) spot.after.after(gist);
    if (hadFocus) gist.querySelector("button")?.focus({ preventScroll: true });
    this.drawn.set(n, { mark, gist });
    const row = units.rows[page.start];
    const share = page.startAt ? (100 * page.startAt) / Math.max(1, book.text[page.start].length) : 0;
    mark.style.cssText = `grid-row:${row} / ${row + 1};--down:${share.toFixed(2)}%`;
  }

  /** @param {Element} node */
  isInView(node) {
    const box = node.getBoundingClientRect();
    const view = this.frame.scroller.getBoundingClientRect();
    return box.bottom > view.top && box.bottom < view.bottom;
  }

  // On a phone a gist is a line in the text: those that waited are put in once their place is out of view. Beside the text
  // the gist of a page of several chapters goes with the reader from one to the next: a column is never empty.
  settle() {
    const page = this.state.pages[(this.state.here.page ?? 0) - 1];
    const gist = page && this.drawn.get(page.number)?.gist;
    const spot = gist?.isConnected && this.follows(page) && !gist.contains(this.frame.active) ? this.spot(page) : null;
    if (gist && spot && spot.after.parentNode !== gist.parentNode) {
      this.leaves.place(gist, spot);
      spot.after.after(gist);
    }
    for (const n of this.late) {
      const spot = this.spot(this.state.pages[n - 1]);
      if (!spot || (this.frame.isNarrow && this.isInView(spot.after))) continue; // a window made wider waits for nothing
      const drawn = this.drawn.get(n);
      if (drawn) spot.after.after(drawn.gist);
      this.late.delete(n);
    }
  }

  /** Whether the gist of a page stands where the person reads, and not once and for all. @param {LayerPage} page */
  follows(page) {
    const { here, folded, paged } = this.state;
    return !this.frame.isNarrow && !folded && !paged && here.page === page.number;
  }

  /**
   * The position of a gist: the rows of its page in one unit, and the last element in them. Of several units it is the one
   * that has most of the page; of the page that is read the first that has more than `FEW` characters from there on.
   * @param {LayerPage} page
   * @returns {Rows | null}
   */
  spot(page) {
    const { book } = this.state;
    const { units } = this;
    const last = page.endAt ? page.end : page.end - 1;
    /** @param {number} from @param {number} to */
    const length = (from, to) => book.text.slice(from, to).reduce((sum, text) => sum + (text?.length ?? 0), 0);
    const read = this.follows(page) ? this.state.here.paragraph : -1;
    /** @type {{from: number, to: number, size: number} | null} */
    let best = null;
    for (let unit = unitOf(book, page.start); unit <= this.unitEnding(page); unit++) {
      const from = Math.max(page.start, book.outline.units[unit][0]);
      const to = Math.min(last + 1, book.outline.units[unit + 1]?.[0] ?? book.outline.paragraphs);
      if (!units.nodes[from]) continue;
      const size = length(Math.max(from, read), to);
      if (!best || size > best.size) best = { from, to, size };
      if (read >= 0 && best.size > FEW) break;
    }
    if (!best) return null;
    const whole = Math.max(1, length(best.from, best.to));
    const skipped = best.from === page.start ? (page.startAt ?? 0) : 0;
    const left = page.endAt && best.to === last + 1 ? book.text[last].length - page.endAt : 0;
    return {
      after: units.nodes[best.to - 1],
      top: (100 * skipped) / whole,
      bottom: (100 * left) / whole,
      rows: [units.rows[best.from], units.rows[best.to - 1] + 1],
      inside: Boolean(page.startAt) && page.start === last,
    };
  }

  /** Marks the chapter's line at a paragraph; where there is none it is the page's gist that is marked. @param {number} paragraph */
  markLine(paragraph) {
    for (const node of this.frame.column.querySelectorAll(".chap.cur")) node.classList.remove("cur");
    const line = this.chapters.foldAt(paragraph)?.node;
    line?.classList.add("cur");
    this.frame.column.classList.toggle("at-line", Boolean(line));
  }

  /** @param {number | null} n @param {number | null} before */
  markCurrent(n, before) {
    this.drawn.get(before ?? 0)?.gist.classList.remove("cur");
    this.drawn.get(n ?? 0)?.gist.classList.add("cur");
    this.checkCut([...(n ? [n] : [])]);
  }

  /** Shows 'Whole gist' where a gist is longer than its page. Only what is in view has a height. @param {number[]} numbers */
  checkCut(numbers) {
    for (const n of numbers) {
      const inside = this.drawn.get(n)?.gist.querySelector(".in");
      if (inside?.checkVisibility()) inside.classList.toggle("cut", inside.scrollHeight > inside.clientHeight + 2);
    }
  }

  /** @param {number} first @param {number} last */
  checkCutInView(first, last) {
    this.checkCut(this.state.pages.filter((page) => page.start <= last && page.end >= first).map((page) => page.number));
  }

  /** Opens a gist that is a closed line. @param {number} n */
  openGist(n) {
    /** @type {HTMLElement | null | undefined} */
    const show = this.drawn.get(n)?.gist.querySelector(".showb[aria-expanded=false]");
    if (show?.checkVisibility()) show.click();
  }

  /** @param {number} n */
  redrawGist(n) {
    const text = this.drawn.get(n)?.gist.querySelector(".gtext");
    if (text) this.leaves.refill(text, this.state.pages[n - 1]);
  }

  /** What keys go from one to the next of: the pages, of a chapter that is a line that line. @returns {Fold[]} in the order of the text */
  rows() {
    const { pages, book } = this.state;
    const { folded, nodes } = this.chapters;
    /** @type {Fold[]} */
    const lines = [...folded].map((start) => ({ start, end: chapterOf(book, start)[1], node: nodes.get(start) }));
    if (!lines.length) return pages.map((page) => this.rowOf(page, page.start));
    const others = pages.map((page) => this.rowOf(page, chapterOfPage(book, page))).filter(({ start }) => !this.chapters.foldAt(start));
    return [...lines, ...others].sort((one, other) => one.start - other.start || (one.startAt ?? 0) - (other.startAt ?? 0));
  }

  /** A page from where its chapter begins. @param {LayerPage} page @param {number} chapter @returns {Fold} */
  rowOf(page, chapter) {
    const node = this.drawn.get(page.number)?.gist;
    return page.start < chapter ? { start: chapter, end: page.end, endAt: page.endAt, node } : { ...page, node };
  }

  /** What stands for a place that is not shown itself: its chapter's line, or the gist of its page. @param {number} paragraph @param {number} [at] @returns {Fold | null} */
  foldAt(paragraph, at = 0) {
    const chapter = this.chapters.foldAt(paragraph);
    if (chapter) return chapter;
    const page = this.state.pages[(this.state.pageAt(paragraph, at) ?? 0) - 1];
    return page ? { ...page, node: this.drawn.get(page.number)?.gist } : null;
  }

  /** How many characters of a fold are before a place, and how many it has. @param {Fold} fold @param {number} paragraph @param {number} at */
  lettersBefore(fold, paragraph, at) {
    const { text } = this.state.book;
    /** @param {number} end @param {number} [endAt] */
    const letters = (end, endAt = 0) =>
      text.slice(fold.start, end).reduce((sum, one) => sum + (one?.length ?? 0), 0) + endAt - (fold.startAt ?? 0);
    return { before: Math.max(0, letters(paragraph, at)), all: Math.max(1, letters(fold.end, fold.endAt)) };
  }

  /** The height in the window of a place for which a fold stands: as far down it as the place is in its text. @param {{paragraph: number, at: number}} place */
  heightInFold({ paragraph, at }) {
    const fold = this.foldAt(paragraph, at);
    const box = boxOf(fold);
    const { before, all } = fold ? this.lettersBefore(fold, paragraph, at) : { before: 0, all: 1 };
    return box.top + (box.height * before) / all;
  }

  /** The place as far down in its text as height `y` of the window is in what stands for the paragraph. @param {number} paragraph @param {number} y */
  placeInFold(paragraph, y) {
    const { text } = this.state.book;
    const fold = this.foldAt(paragraph);
    const box = boxOf(fold);
    if (!fold || !box.height) return { paragraph, at: 0 };
    const share = Math.min(1, Math.max(0, (y - box.top) / box.height));
    let left = Math.floor(share * this.lettersBefore(fold, fold.start, fold.startAt ?? 0).all) + (fold.startAt ?? 0);
    let found = fold.start;
    while (found < fold.end - 1 && left >= text[found].length) left -= text[found++].length;
    return { paragraph: found, at: Math.min(left, Math.max(0, text[found].length - 1)) };
  }

  /** The box of what stands for a paragraph. @param {number} paragraph */
  boxAt(paragraph) {
    return boxOf(this.foldAt(paragraph));
  }
}

/** @param {Fold | null} fold */
function boxOf(fold) {
  return fold?.node?.isConnected ? fold.node.getBoundingClientRect() : { top: 1e9, bottom: 1e9, height: 0 };
}
