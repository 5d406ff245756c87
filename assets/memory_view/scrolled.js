// The text as one long column that is scrolled. The reading line, a quarter down, is where a person is assumed to look.

/**
 * @import { Frame } from "./frame.js"
 * @import { Layer } from "./layer.js"
 * @import { FlowEvents } from "./paged.js"
 * @import { Place, ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {object} Anchor
 * @property {Element} node
 * @property {number} paragraph
 * @property {number} [at]
 * @property {number} share of the node that is above `top`
 * @property {number} top where it is held
 * @property {boolean} asked gone to, not scrolled to
 * @property {number} [scrolled] the scroll position that holds it
 */

// the view stays at its target for a moment, and until it was not pushed away for some frames: units around it, drawn for
// the first time, change their heights, on a slow machine late
const HOLD_MS = 700;
const HOLD_FRAMES = 12;
const ABOVE = 60; // px above the reading line; a paragraph that ends higher has been read
const MARGIN = 36; // px between the upper edge and a paragraph that was gone to

export class Scrolled {
  /**
   * @param {{state: ReadingState, frame: Frame, units: Units, layer: Layer, on: FlowEvents}} needs
   */
  constructor({ state, frame, units, layer, on }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.layer = layer;
    this.on = on;
    /** @type {Anchor | null} what is held */
    this.anchor = null;
    this.width = 0;
    this.closed = false;
    this.isHeld = false;
    const { scroller } = frame;
    let waiting = false;
    const settle = () => {
      waiting = false;
      this.settle();
    };
    const scrolled = () => {
      if (!waiting) requestAnimationFrame(settle);
      waiting = true;
    };
    this.ended = new AbortController();
    const options = { passive: true, signal: this.ended.signal };
    scroller.addEventListener("scroll", scrolled, options);
    for (const type of ["wheel", "touchmove", "pointerdown", "keydown"]) scroller.addEventListener(type, () => this.release(), options);
    this.resize = new ResizeObserver(() => this.checkSize());
    this.resize.observe(scroller);
  }

  close() {
    this.ended.abort();
    this.resize.disconnect();
    this.isHeld = false;
    this.closed = true;
  }

  release() {
    this.isHeld = false;
  }

  /** The step that the left side of the screen makes. */
  get backward() {
    return -1;
  }

  get top() {
    return this.frame.scroller.getBoundingClientRect().top;
  }

  /** @param {WheelEvent} event beside the text */
  wheeled(event) {
    this.release();
    this.frame.scroller.scrollBy(0, event.deltaY);
  }

  line() {
    return Math.min(160, this.frame.scroller.clientHeight / 4);
  }

  /** The paragraph that holds height `y` of the view: the first that ends below it. @param {number} y */
  paragraphAt(y) {
    const { book } = this.state;
    const { units } = this;
    const edge = this.top + y;
    let [low, high] = [0, units.units.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (units.units[middle].getBoundingClientRect().top <= edge) low = middle;
      else high = middle - 1;
    }
    if (!units.units[low].firstChild) return null;
    let [first, last] = [book.outline.units[low][0], (book.outline.units[low + 1]?.[0] ?? book.outline.paragraphs) - 1];
    while (first < last) {
      const middle = (first + last) >> 1;
      if (this.boxOf(middle).bottom > edge) last = middle;
      else first = middle + 1;
    }
    return first;
  }

  /** @param {number} paragraph */
  boxOf(paragraph) {
    const node = this.units.nodes[paragraph];
    const box = node.getBoundingClientRect();
    if (box.height || node.checkVisibility()) return box;
    return this.layer.boxAt(paragraph) ?? box; // only gists are shown
  }

  // Finds the paragraph at the reading line and reports it.
  settle() {
    const { scroller } = this.frame;
    const { layer, units } = this;
    if (this.closed || !units.units.length || this.checkSize()) return;
    const { anchor } = this;
    const kept = anchor?.asked && Math.abs(scroller.scrollTop - (anchor.scrolled ?? 0)) < 2;
    if (!kept && !this.isHeld) this.anchor = null;
    const line = this.line();
    const at = this.anchor?.asked ? this.anchor.paragraph : this.paragraphAt(line - ABOVE);
    if (at === null || !units.nodes[at]) return;
    const box = this.boxOf(at);
    const share = (this.top + line - ABOVE - box.top) / (box.height || 1);
    if (!this.anchor) this.anchor = { node: units.nodes[at], paragraph: at, share, top: line - ABOVE, asked: false };
    const first = this.paragraphAt(0) ?? at;
    const last = this.paragraphAt(scroller.clientHeight - 4) ?? at;
    const inside = this.anchor.asked ? (this.anchor.at ?? 0) : Math.max(0, Math.floor(share * (this.state.book.text[at]?.length ?? 0)));
    this.on.arrived(at, inside, Math.min(first, at), Math.max(last, at));
    layer.settle();
    layer.checkCutInView(first, last);
  }

  /** @param {number} paragraph */
  isShown(paragraph) {
    const box = this.units.nodes[paragraph].getBoundingClientRect();
    return box.top >= this.top - 4 && box.bottom <= this.top + this.frame.scroller.clientHeight;
  }

  /** Brings a place into view: a paragraph, a character of it (`at`), or an element in it (`mark`), centred. @param {Place} place */
  show({ paragraph, at = 0, mark = null }, { focus = false } = {}) {
    const { book } = this.state;
    const { scroller } = this.frame;
    const { units, layer } = this;
    const node = mark ?? (at ? units.nodes[paragraph] : units.topOf(paragraph));
    if (!node) return;
    const shown = node.checkVisibility({ contentVisibilityAuto: false }) ? node : (layer.gistAt(paragraph) ?? node);
    const share = mark ? 0.5 : at ? at / Math.max(1, book.text[paragraph].length) : 0;
    const top = mark ? scroller.clientHeight / 2 : Math.min(MARGIN, this.line());
    this.hold({ node: shown, paragraph, at, share, top, asked: true });
    if (!focus || !(node instanceof HTMLElement)) return;
    node.tabIndex = -1;
    node.focus({ preventScroll: true });
  }

  /** Keeps the anchor where it is for a moment, unless the person scrolls: heights around it may still change. @param {Anchor} anchor */
  hold(anchor) {
    const { scroller } = this.frame;
    this.anchor = anchor;
    this.isHeld = true;
    const until = performance.now() + HOLD_MS;
    let still = 0; // frames
    const pull = () => {
      if (!anchor.node.isConnected) return;
      const box = anchor.node.getBoundingClientRect();
      const away = box.top + anchor.share * box.height - this.top - anchor.top;
      const before = scroller.scrollTop;
      if (Math.abs(away) > 1) scroller.scrollTop += away;
      still = scroller.scrollTop === before ? still + 1 : 0; // at the end of the text it stays too
      anchor.scrolled = scroller.scrollTop;
    };
    const again = () => {
      if (this.anchor !== anchor || !this.isHeld) return;
      pull();
      this.isHeld = still < HOLD_FRAMES || performance.now() < until;
      requestAnimationFrame(again);
    };
    pull();
    this.settle();
    requestAnimationFrame(again);
  }

  checkSize() {
    // another height, as when a phone hides its bar, moves no line
    const { clientWidth } = this.frame.scroller;
    if (clientWidth === this.width) return false;
    this.width = clientWidth;
    this.on.resized();
    if (this.anchor) this.hold(this.anchor);
    return true;
  }

  /** Makes a change that gives the text a new layout, and keeps what is read at its place. @param {() => void} change */
  keepPlace(change) {
    if (!this.anchor) this.settle();
    const { anchor } = this;
    change();
    if (anchor) this.hold(anchor);
  }

  /** Turns to the next or previous page; before pages exist, by a screenful. @param {number} step */
  turn(step) {
    const { scroller } = this.frame;
    const { page, paragraph } = this.state.here;
    const next = this.state.pages[(page ?? 0) - 1 + step];
    const beyond = step > 0 && page === null && this.state.pages.length && paragraph >= this.state.pages[this.state.pages.length - 1].end;
    if (this.state.pages.length && (next || page) && !beyond) {
      if (next) this.show({ paragraph: next.start, at: next.startAt ?? 0 });
      else this.scrollBy(step);
    } else this.scrollBy(step);
    scroller.focus({ preventScroll: true });
  }

  /** @param {number} step */
  scrollBy(step) {
    const { scroller } = this.frame;
    this.release();
    this.anchor = null;
    scroller.scrollTop += step * (scroller.clientHeight - 60);
    this.settle();
  }

  /** Places of the units may have changed: keep the anchor. */
  relayout() {
    if (this.anchor && this.isHeld) this.hold(this.anchor);
    else this.settle();
  }
}
