// Reading at gist speed: where the gists alone are shown, any page is opened in place and closed again, a chapter by its
// heading. The line at the top of the view stays at its height. Pinching makes the view coarser or finer.

import { button } from "../shared/dom.js";
import { chapterOf } from "./text_store.js";

/**
 * @import { LayerPage, ReaderView } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { Layer } from "./layer.js"
 * @import { ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 */

const PINCH = 1.25; // how much further apart two fingers are, or how much nearer

export class GistSpeed {
  /**
   * @param {{state: ReadingState, frame: Frame, units: Units, layer: Layer, keepPlace: (change: () => void) => void,
   *   choose: (view: ReaderView) => void}} needs
   */
  constructor({ state, frame, units, layer, keepPlace, choose }) {
    this.state = state;
    this.units = units;
    this.layer = layer;
    this.frame = frame;
    this.keepPlace = keepPlace;
    this.choose = choose;
    /** @type {Set<number>} pages that are open among the gists */
    this.open = new Set();
    /** @type {Map<number, HTMLElement>} the button that closes each */
    this.closers = new Map();
    /** @type {ReaderView} the view before the gists alone */
    this.finerView = "both";
    /** @type {number | null} how far apart two fingers were */
    this.apart = null;
    const { scroller } = frame;
    const passive = { passive: true };
    scroller.addEventListener("click", (event) => this.pressed(event));
    scroller.addEventListener("touchmove", (event) => this.pinched(event), passive);
    scroller.addEventListener("touchend", () => (this.apart = null), passive);
    scroller.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
  }

  get shown() {
    return this.state.view === "gists";
  }

  /** @param {MouseEvent} event */
  pressed(event) {
    const target = event.composedPath()[0];
    if (!this.shown || !(target instanceof Element) || target.closest("button, a, [role=link]")) return;
    if (String(this.frame.selection() ?? "")) return;
    const leaf = target.closest(".leaf");
    if (leaf instanceof HTMLElement) return this.toggle([Number(leaf.dataset.n)]);
    const heading = target.closest(".sec");
    if (heading) this.toggle(this.pagesBelow(heading));
  }

  /** The pages of the chapter of a heading. @param {Element} heading */
  pagesBelow(heading) {
    const after = this.units.nodes.findIndex((node) => node && heading.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
    const [first, end] = chapterOf(this.state.book, Math.max(0, after));
    return this.state.pages.filter((page) => page.start >= first && page.start < end && page.gist).map((page) => page.number);
  }

  /** Opens these pages in place, or closes them where all are open. @param {number[]} pages */
  toggle(pages) {
    const every = pages.every((n) => this.open.has(n));
    this.keepPlace(() => {
      for (const n of pages) {
        if (every) this.open.delete(n);
        else this.open.add(n);
      }
      this.draw();
    });
  }

  /** Opens or closes the page that is read; whether gists are shown. */
  toggleHere() {
    const { page } = this.state.here;
    if (!this.shown || !page) return false;
    this.toggle([page]);
    return true;
  }

  /** Shows less of the book: its gists, with every page closed; or more. @param {number} step -1 coarser, 1 finer */
  zoom(step) {
    if (!this.state.gistsMade()) return this.frame.say("There are no gists yet.");
    if (step > 0 && this.shown) this.choose(this.finerView);
    else if (step < 0 && this.open.size && this.shown) this.toggle([...this.open]);
    else if (step < 0 && !this.shown) {
      this.finerView = this.state.view;
      this.choose("gists");
    }
  }

  /** @param {TouchEvent} event */
  pinched({ touches }) {
    if (touches.length !== 2) return;
    const apart = Math.hypot(touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY);
    this.apart ??= apart;
    const by = apart / this.apart;
    if (by < PINCH && by > 1 / PINCH) return;
    this.apart = apart;
    this.zoom(by > 1 ? 1 : -1);
  }

  /** Two fingers on a touchpad. @param {WheelEvent} event */
  wheeled(event) {
    if (!event.ctrlKey || !this.state.gistsMade()) return;
    event.preventDefault();
    const now = performance.now();
    if (now < (this.quietUntil ?? 0) || Math.abs(event.deltaY) < 4) return;
    this.quietUntil = now + 600;
    this.zoom(event.deltaY > 0 ? -1 : 1);
  }

  /** Marks what is open; pages and text may have come since. */
  draw() {
    const { pages } = this.state;
    const shown = new Set(pages.filter((page) => this.open.has(page.number)).flatMap((page) => paragraphsOf(page)));
    for (const node of this.units.nodes) node?.classList.toggle("opened", shown.has(Number(node.dataset.i)));
    for (const [n, drawn] of this.layer.drawn) drawn.gist.classList.toggle("away", this.open.has(n));
    for (const [n, node] of this.closers) {
      if (this.open.has(n) && node.isConnected) continue;
      node.remove();
      this.closers.delete(n);
    }
    for (const page of pages) {
      const first = this.units.nodes[page.start];
      if (!first || !this.open.has(page.number) || this.closers.has(page.number)) continue;
      const node = button(`Close page ${page.number}`, () => this.toggle([page.number]), { kind: "quiet slim closepage" });
      node.style.gridRow = String(this.units.rows[page.start]);
      first.before(node);
      this.closers.set(page.number, node);
    }
  }

  // Another book.
  clear() {
    this.open.clear();
    this.closers.clear();
  }
}

/** The paragraphs of a page, with those it shares. @param {LayerPage} page */
function paragraphsOf(page) {
  const end = page.endAt ? page.end + 1 : page.end;
  return Array.from({ length: end - page.start }, (_, i) => page.start + i);
}
