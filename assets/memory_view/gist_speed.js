// Reading at gist speed: the book in three grains, its text, its gists, a line a chapter. Where the gists are shown, any
// page is opened in place and closed again; on a chapter's heading all of this concerns that chapter alone. The line that
// was read stays at its height; on a press what was pressed does. Pinching makes the view coarser or finer.

import { keep, keptJson } from "../shared/browser_store.js";
import { button, el } from "../shared/dom.js";
import { chapterOfPage, gistWords, pagesIn, pageTelling } from "./chapter_lines.js";
import { chapterOf } from "./text_store.js";

/**
 * @import { LayerPage, ReaderView } from "../protocol.js"
 * @import { ChapterLines } from "./chapter_lines.js"
 * @import { Frame } from "./frame.js"
 * @import { Layer } from "./layer.js"
 * @import { Standing } from "./paged.js"
 * @import { ReadingState, Send, Show } from "./state.js"
 * @import { Units } from "./units.js"
 */

const PINCH = 1.25; // how much further apart two fingers are, or how much nearer
const HEADS = ".sec, .chap";
const KEY = "readagent gist speed"; // what is open, of the book that was read last

const PICKED = "Each line is picked from the chapter’s own sentences.";
const BEGINNING = "Each line is how the chapter’s gists begin, not all that happens in it.";

export class GistSpeed {
  /**
   * @param {{state: ReadingState, frame: Frame, units: Units, layer: Layer, chapters: ChapterLines, send: Send,
   *   keepPlace: (change: () => void, place?: Standing | null) => void, showFold: () => void, show: Show, choose: (view: ReaderView) => void, told: (text: string) => void}} needs
   */
  constructor({ state, frame, units, layer, chapters, send, keepPlace, showFold, show, choose, told }) {
    this.state = state;
    this.units = units;
    this.layer = layer;
    this.chapters = chapters;
    this.frame = frame;
    this.keepPlace = keepPlace;
    this.showFold = showFold;
    this.show = show;
    this.choose = choose;
    this.told = told;
    /** @type {Set<number>} pages that are open among the gists */
    this.open = new Set();
    /** @type {Map<string, HTMLElement>} the buttons that close them, by their labels */
    this.closers = new Map();
    /** @type {ReaderView} the view before the gists alone */
    this.finerView = "both";
    this.begun = false; // whether what was open in the window before is open again
    /** @type {number | null} how far apart two fingers were at first; null: they have made their step */
    this.apart = null;
    /** @type {{page: number | null, chapter: number | null} | null} what the search has opened */
    this.found = null;
    this.what = el("p");
    this.all = button("Show all gists", () => send({ do: "unveil_all" }), { kind: "slim", icon: "seen" });
    this.note = el("div", { class: "veilnote", hidden: true }, this.what, this.all);
    const { scroller } = frame;
    scroller.addEventListener("click", (event) => this.pressed(event));
    scroller.addEventListener("keydown", (event) => this.entered(event));
    scroller.addEventListener("touchstart", ({ touches }) => (this.apart = apartOf(touches)), { passive: true });
    scroller.addEventListener("touchmove", (event) => this.pinched(event), { passive: false });
    scroller.addEventListener("gesturestart", (event) => this.pinches && event.preventDefault()); // Safari enlarges the page
    scroller.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
  }

  get shown() {
    return this.state.folded;
  }

  /** Whether a pinch changes the view; else it enlarges the browser's page. */
  get pinches() {
    return this.state.gistsMade() > 0;
  }

  /** Whether there is next to nothing to read: gists are veiled, and one at most is not. */
  get mostVeiled() {
    const { pages } = this.state;
    return pages.some((page) => page.veiled) && pages.filter((page) => page.gist).length < 2;
  }

  // --- what the person does -----------------------------------------------------------------------

  /** @param {MouseEvent} event */
  pressed(event) {
    const target = event.composedPath()[0];
    if (!this.shown || !(target instanceof Element) || target.closest("button, a, [role=link]")) return;
    if (String(this.frame.selection() ?? "")) return;
    const leaf = target.closest(".leaf");
    if (leaf instanceof HTMLElement) return this.pressedGist(Number(leaf.dataset.n));
    const head = target.closest(HEADS);
    if (head) this.pressedHead(head);
  }

  /** @param {KeyboardEvent} event */
  entered(event) {
    const target = event.composedPath()[0];
    if (!(target instanceof Element && target.matches(".chap") && (event.key === "Enter" || event.key === " "))) return;
    event.preventDefault();
    event.stopPropagation();
    this.pressedHead(target);
  }

  /** @param {number} n */
  pressedGist(n) {
    const { start, startAt = 0 } = this.state.pages[n - 1];
    this.toggle([n], { paragraph: start, at: startAt, above: false });
  }

  /** @param {Element} head */
  pressedHead(head) {
    const [start] = this.chapterOfHead(head);
    const place = { paragraph: start, at: 0, above: true };
    const pages = pagesIn(this.state, start);
    const telling = pages.length ? null : pageTelling(this.state, start);
    if (head.matches(".chap")) this.fold(start, false, place);
    else if (this.state.view === "chapters") this.fold(start, true, place);
    else
      this.toggle(
        (telling ? [telling] : pages).map((page) => page.number),
        place,
      );
    if (telling && head.matches(".chap")) this.showGist(telling);
  }

  /** Shows the gist of a page that tells of a chapter beside its own. @param {LayerPage} page */
  showGist(page) {
    this.fold(chapterOfPage(this.state.book, page), false);
    const gist = this.layer.drawn.get(page.number)?.gist;
    gist?.scrollIntoView({ block: "nearest" });
    gist?.focus({ preventScroll: true });
  }

  /** The chapter of a heading, as its first paragraph and its end. @param {Element} head @returns {[number, number]} */
  chapterOfHead(head) {
    const after = this.units.nodes.findIndex((node) => node && head.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
    return chapterOf(this.state.book, Math.max(0, after));
  }

  /** Makes a chapter a line, or shows its gists. @param {number} start @param {boolean} folded @param {Standing | null} place that stays at its height */
  fold(start, folded, place = null) {
    this.keepPlace(() => {
      if (folded) this.chapters.folded.add(start);
      else this.chapters.folded.delete(start);
      if (folded) for (const page of pagesIn(this.state, start)) this.open.delete(page.number);
      this.draw();
    }, place);
    this.keep();
    if (folded && !place) this.showFold();
  }

  /** Opens these pages in place, or closes them where all are open. @param {number[]} pages @param {Standing | null} place that stays at its height */
  toggle(pages, place = null) {
    const every = pages.every((n) => this.open.has(n));
    this.keepPlace(() => {
      for (const n of pages) {
        if (every) this.open.delete(n);
        else this.open.add(n);
      }
      this.draw();
    }, place);
    this.keep();
  }

  /** Opens what words that were found are folded in, and closes what was opened for others. @param {number} paragraph @param {number | null} at null: in the gist of its page */
  openFound(paragraph, at) {
    if (!this.shown) return;
    const page = at === null ? null : this.state.pageAt(paragraph, at);
    this.keepPlace(() => {
      if (this.found?.page) this.open.delete(this.found.page);
      if (this.found?.chapter != null) this.chapters.folded.add(this.found.chapter);
      const chapter = this.chapters.foldAt(paragraph)?.start ?? null;
      if (chapter !== null) this.chapters.folded.delete(chapter);
      this.found = { page: page && !this.open.has(page) ? page : null, chapter };
      if (page) this.open.add(page);
      this.draw();
    });
    this.keep();
  }

  /** Opens or closes the page that is read; whether gists are shown. */
  toggleHere() {
    const { page, paragraph, at } = this.state.here;
    const folded = this.shown ? this.chapters.foldAt(paragraph) : null;
    if (folded) this.fold(folded.start, false);
    else if (this.shown && page) {
      const { start, startAt = 0 } = this.state.pages[page - 1];
      this.toggle([page]); // in the middle of the page its line comes back
      if (this.open.has(page) && paragraph === start && at <= startAt) this.bringUp(this.state.pages[page - 1]);
    }
    return this.shown;
  }

  /** Goes to the first line of a page that does not end in view. @param {LayerPage} page */
  bringUp(page) {
    const last = this.units.nodes[paragraphsOf(page).at(-1) ?? page.start];
    if (last?.getBoundingClientRect().bottom > this.frame.scroller.getBoundingClientRect().bottom)
      this.show({ paragraph: page.start, at: page.startAt });
  }

  /** The pages in view that are open among the gists. */
  get openInView() {
    const { here, last, pages } = this.state;
    const inView = pages.filter((page) => this.open.has(page.number) && paragraphsOf(page).some((i) => i >= here.paragraph && i <= last));
    return inView.map((page) => page.number);
  }

  /** Closes the pages that are open among the gists, those in view first, else a chapter that is open among the lines; whether there was any. */
  escape() {
    const { here, last, book, view } = this.state;
    const { openInView } = this;
    const closes = openInView.length ? openInView : [...this.open];
    if (closes.length) this.toggle(closes);
    if (closes.length || view !== "chapters") return closes.length > 0;
    const opened = (/** @type {number} */ start) =>
      !this.chapters.folded.has(start) && start <= last && chapterOf(book, start)[1] > here.paragraph;
    const chapter = book.outline.chapters.find(opened);
    if (chapter !== undefined) this.fold(chapter, true);
    return chapter !== undefined;
  }

  /** Shows less of the book, or more: of the chapter of a heading, else of all of it. @param {number} step -1 coarser, 1 finer @param {Element | null} head */
  zoom(step, head = this.frame.column.querySelector(".chap:focus")) {
    if (!this.state.gistsMade()) return this.told("There are no gists yet.");
    if (head) return this.zoomChapter(step, this.chapterOfHead(head)[0]);
    const { view } = this.state;
    const { openInView } = this;
    if (step > 0) {
      if (view === "chapters") this.choose("gists");
      else if (view === "gists") this.choose(this.finerView);
    } else if (!this.shown) this.choose("gists");
    else if (openInView.length) this.toggle(openInView);
    else if (this.chapters.some && view === "gists") this.choose("chapters");
  }

  /** @param {number} step @param {number} start */
  zoomChapter(step, start) {
    const numbers = (/** @type {LayerPage[]} */ pages) => pages.map((page) => page.number);
    const inside = numbers(pagesIn(this.state, start));
    const open = inside.filter((n) => this.open.has(n));
    if (!this.shown) {
      if (step > 0) return;
      this.open = new Set(numbers(this.state.pages.filter(gistWords)).filter((n) => !inside.includes(n)));
      this.choose("gists");
    } else if (step > 0) {
      if (this.chapters.folded.has(start)) this.fold(start, false);
      else this.toggle(inside.filter((n) => !this.open.has(n)));
    } else if (open.length) this.toggle(open);
    else this.fold(start, this.chapters.some);
  }

  /** @param {TouchEvent} event */
  pinched(event) {
    const apart = apartOf(event.touches);
    if (!apart || !this.pinches) return;
    if (event.cancelable) event.preventDefault();
    const by = this.apart ? apart / this.apart : 1;
    if (by < PINCH && by > 1 / PINCH) return;
    this.apart = null;
    this.zoom(by > 1 ? 1 : -1, headOf(event));
  }

  /** Two fingers on a touchpad. @param {WheelEvent} event */
  wheeled(event) {
    if (!event.ctrlKey || !this.pinches) return;
    event.preventDefault();
    const now = performance.now();
    if (now < (this.quietUntil ?? 0) || Math.abs(event.deltaY) < 4) return;
    this.quietUntil = now + 600;
    this.zoom(event.deltaY > 0 ? -1 : 1, headOf(event));
  }

  // --- what is drawn ------------------------------------------------------------------------------

  /** The view is going to change. @param {ReaderView} view */
  viewChanges(view) {
    const { state } = this;
    const folds = view === "gists" || view === "chapters";
    if (folds && !this.shown) this.finerView = state.view;
    this.found = null;
    if (view !== "gists") this.open.clear();
    this.chapters.foldAll(view === "chapters");
    this.keep(view);
  }

  /** A book is known: what was open in the window before it was loaded anew is open again, where the gists are the same. */
  begin() {
    const { view, data } = this.state;
    this.viewChanges(view);
    const kept = /** @type {{layer: string | null, view: ReaderView, open: number[], folded: number[]} | null} */ (keptJson(KEY));
    if (kept?.layer === data.layer && kept.view === view) {
      this.open = new Set(kept.open);
      this.chapters.folded = new Set(kept.folded);
    }
    this.begun = true;
  }

  keep(view = this.state.view) {
    const { layer } = this.state.data;
    if (this.begun) keep(KEY, JSON.stringify({ layer, view, open: [...this.open], folded: [...this.chapters.folded] }));
  }

  /** Marks what is open; pages and text may have come since. */
  draw() {
    const lines = this.state.view === "chapters";
    const made = this.state.data.gists.by ? PICKED : BEGINNING;
    this.all.hidden = !this.mostVeiled;
    this.note.hidden = !this.shown || (this.all.hidden && !lines);
    if (!this.shown) return this.leaveText();
    const one = lines ? "A line stands here for each chapter" : "A gist stands here for each page";
    const said = this.all.hidden ? [] : [`${one} you have read, and for the first one.`, "The rest stays hidden until you read on."];
    if (lines) said.push(made);
    this.what.replaceChildren(...said.map((sentence, i) => el("span", {}, i ? ` ${sentence}` : sentence))); // a low window has room for one
    const { pages, book } = this.state;
    this.chapters.draw();
    const closed = new Set(pages.filter((page) => gistWords(page) && !this.open.has(page.number)).flatMap((page) => paragraphsOf(page)));
    for (const page of pages) if (this.open.has(page.number)) for (const i of paragraphsOf(page)) closed.delete(i);
    const inGists = new Set(pages.filter(gistWords).flatMap((page) => paragraphsOf(page)));
    for (const [i, node] of this.units.nodes.entries()) {
      const shown = node && !closed.has(i) && !this.chapters.foldAt(i);
      node?.classList.toggle("opened", Boolean(shown));
      node?.classList.toggle("plain", !inGists.has(i));
    }
    for (const node of this.frame.column.querySelectorAll(".unit > :is(.sec, .fig)")) this.drawBeside(/** @type {HTMLElement} */ (node));
    for (const [n, drawn] of this.layer.drawn) {
      const folded = pages[n - 1] ? this.chapters.foldAt(chapterOfPage(book, pages[n - 1])) : null;
      drawn.gist.classList.toggle("away", this.open.has(n) || folded !== null);
    }
    this.drawClosers();
    this.layer.markLine(this.state.here.paragraph);
    this.frame.room.classList.toggle("no-chapters", !book.outline.chapters.length);
  }

  /** A heading goes with its chapter, a picture with its paragraph. @param {HTMLElement} node */
  drawBeside(node) {
    /** @type {Element | null} */
    let next = node;
    const back = node.matches(".fig:not(.lead)");
    do next = back ? next.previousElementSibling : next.nextElementSibling;
    while (next && !next.matches("p[data-i]"));
    if (!(next instanceof HTMLElement)) return;
    if (node.matches(".fig")) node.classList.toggle("opened", next.classList.contains("opened"));
    else node.classList.toggle("away", this.chapters.foldAt(Number(next.dataset.i)) !== null);
  }

  // A button beside each open page; a chapter that is open whole reads as text and has one.
  drawClosers() {
    const { pages, book } = this.state;
    /** @type {Map<string, LayerPage[]>} label -> the pages that its button closes */
    const wanted = new Map();
    for (const page of pages) {
      const chapter = chapterOfPage(book, page);
      if (!this.open.has(page.number) || this.chapters.foldAt(chapter)) continue;
      const inside = pagesIn(this.state, chapter);
      const whole = inside.length > 1 && inside.every(({ number: n }) => this.open.has(n));
      for (const i of paragraphsOf(page)) this.units.nodes[i]?.classList.toggle("plain", whole);
      if (!whole) wanted.set(`Close page ${page.number}`, [page]);
      else if (page === inside[0]) wanted.set(`Close the chapter of page ${page.number}`, inside);
    }
    for (const [label, node] of this.closers) {
      if (wanted.has(label) && node.isConnected) continue;
      node.remove();
      this.closers.delete(label);
    }
    for (const [label, closes] of wanted) {
      const first = this.units.nodes[closes[0].start];
      if (!first || this.closers.has(label)) continue;
      const act = () => this.toggle(closes.map((page) => page.number));
      const close = button(closes.length > 1 ? "Close chapter" : label, act, { kind: "quiet slim", "aria-label": label });
      const node = el("div", { class: "closepage" }, close);
      const row = this.units.rows[closes[0].start];
      const end = this.units.rows[paragraphsOf(closes[closes.length - 1]).at(-1) ?? 0];
      node.style.cssText = `--row:${row};--end:${Math.max(row, end ?? 0) + 1}`; // of another unit there may be fewer rows
      first.before(node);
      this.closers.set(label, node);
    }
  }

  // Takes what stands between the paragraphs away: the text alone is set as if it had never been there.
  leaveText() {
    for (const node of this.closers.values()) node.remove();
    this.closers.clear();
    this.chapters.clear();
  }

  // Another book.
  clear() {
    this.begun = false;
    this.open.clear();
    this.leaveText();
  }
}

/** How far apart two fingers are. @param {TouchList} touches */
const apartOf = ({ length, 0: one, 1: other }) =>
  length === 2 ? Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) : null;

/** The heading that an event began on. @param {Event} event */
function headOf(event) {
  const target = event.composedPath()[0];
  return target instanceof Element ? target.closest(HEADS) : null;
}

/** The paragraphs of a page, with those it shares. @param {LayerPage} page */
function paragraphsOf(page) {
  const end = page.endAt ? page.end + 1 : page.end;
  return Array.from({ length: end - page.start }, (_, i) => page.start + i);
}
