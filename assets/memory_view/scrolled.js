// The text as one long column that is scrolled. A place is the first character of the line at the top of the view.

import { boxOfCharacter, firstCharacter, spotAt } from "./text_places.js";
import { lastUpTo, unitOf } from "./text_store.js";

/**
 * @import { Fold } from "./chapter_lines.js"
 * @import { Frame } from "./frame.js"
 * @import { Layer } from "./layer.js"
 * @import { FlowEvents, Standing } from "./paged.js"
 * @import { Place, ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {Standing & {mark?: Element | null, wanted: number, top: number, read?: number}} Anchor a place that is kept at its
 *   height: `wanted` is the distance in px from the upper edge of the view at which it should be, `top` where it is, `read` where
 *   its line was before a gist in its place was brought whole into view. `mark`: of a gist.
 */

// the view stays at its target for a moment, and until it was not pushed away for some frames: units around it, drawn for
// the first time, change their heights, on a slow machine late
const HOLD_MS = 700;
const HOLD_FRAMES = 30;
const SCROLLS = /^( |Arrow.*|Page.*|Home|End|Tab|F\d+)$/; // keys by which a browser scrolls
const EDGE = 4; // px above the line that a screenful begins with, so that nothing of the line before is seen
const MARGIN = 24; // px between the upper edge and what was gone to; less than a line, so that no whole line is above it

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
    this.untouched = false; // nobody has done anything since the view was held
    this.tall = 0; // how tall the text was when the view was last brought to its place
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
    // before anything answers a key or a press, which may go to a place and hold that
    for (const type of ["wheel", "touchmove", "keydown", "pointerdown"])
      scroller.addEventListener(type, (event) => isPinch(event) || isStill(event) || this.release(event.type === "keydown"), {
        ...options,
        capture: true,
      });
    this.resize = new ResizeObserver(() => this.checkSize());
    this.resize.observe(scroller);
  }

  close() {
    this.ended.abort();
    this.resize.disconnect();
    this.isHeld = false;
    this.closed = true;
  }

  /**
   * What a person does from now on decides the place. `byKey`: it begins where the view is held, though heights have just
   * changed; under a finger or a pointer nothing moves before it is answered.
   * @param {boolean} [byKey]
   */
  release(byKey = false) {
    this.untouched = false;
    if (!this.isHeld) return;
    if (this.anchor && byKey) this.pull(this.anchor);
    this.isHeld = false;
    this.settle();
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

  /** How far below the upper edge of the view a line is put that was gone to. */
  get margin() {
    return Math.min(MARGIN, 0.8 * parseFloat(getComputedStyle(this.frame.probe).lineHeight));
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
    return this.layer.boxAt(paragraph); // only gists or chapters are shown
  }

  /** Whether the text of a paragraph is shown, and not a gist alone. @param {number} paragraph */
  isText(paragraph) {
    return this.units.nodes[paragraph].checkVisibility({ contentVisibilityAuto: false });
  }

  /** The first character of the first whole line below height `y` of the view; null where the text has not come. @returns {Standing | null} */
  firstPlace(y = 0) {
    const { units } = this;
    const paragraph = this.paragraphAt(y);
    if (paragraph === null || !units.nodes[paragraph]) return null;
    const edge = this.top + y - 1;
    if (!this.isText(paragraph)) return { ...this.layer.placeInFold(paragraph, edge), above: false };
    const { text } = this.state.book;
    const at = firstCharacter(units.nodes[paragraph], text[paragraph].length, (box) => box.top > edge);
    if (at > 0 && at === text[paragraph].length && units.nodes[paragraph + 1] && this.isText(paragraph + 1))
      return this.standingAt(paragraph + 1, 0, edge);
    return this.standingAt(paragraph, at, edge);
  }

  /** @param {number} paragraph @param {number} at @param {number} edge @returns {Standing} */
  standingAt(paragraph, at, edge) {
    const top = this.units.topOf(paragraph);
    const above = at === 0 && top !== this.units.nodes[paragraph] && top.getBoundingClientRect().top >= edge;
    return { paragraph, at, above };
  }

  /** Where the top of an anchor is in the window, in px. @param {Anchor} anchor */
  heightOf({ paragraph, at, above, mark, top }) {
    if (mark) return mark.isConnected ? mark.getBoundingClientRect().top : this.top + top;
    const node = this.units.nodes[paragraph];
    if (!node) return this.top + top; // its text is yet to come
    const head = above ? this.units.topOf(paragraph) : node;
    if (head !== node && head.checkVisibility({ contentVisibilityAuto: false })) return head.getBoundingClientRect().top;
    if (!this.isText(paragraph)) return this.layer.heightInFold({ paragraph, at });
    return (boxOfCharacter(node, at, this.state.book.text[paragraph].length) ?? node.getBoundingClientRect()).top;
  }

  // Reports the place at the top of the view; the place that was gone to, while that is still there.
  settle() {
    const { scroller } = this.frame;
    const { layer, units } = this;
    if (this.closed || !units.units.length || this.checkSize()) return;
    if (this.anchor && !this.isHeld && Math.abs(this.heightOf(this.anchor) - this.top - this.anchor.top) > 2) {
      if (this.untouched && scroller.scrollHeight !== this.tall) return this.hold(this.anchor); // heights that came late
      this.anchor = null;
      this.untouched = false; // something else scrolled, which may scroll back
    }
    if (!this.anchor) {
      const place = this.firstPlace();
      if (!place) return;
      this.anchor = { ...place, wanted: 0, top: 0 };
      this.anchor.wanted = this.anchor.top = this.heightOf(this.anchor) - this.top;
    }
    const { paragraph, mark } = this.anchor;
    const first = this.paragraphAt(0) ?? paragraph;
    const last = this.paragraphAt(scroller.clientHeight - 4) ?? paragraph;
    const top = mark ? this.heightOf({ ...this.anchor, mark: null }) - this.top : this.anchor.top; // of the line, not of the gist
    this.on.arrived({ ...this.anchor, top }, Math.min(first, paragraph), Math.max(last, paragraph), this.atEnd);
    layer.settle();
    layer.checkCutInView(first, last);
  }

  /** Whether the end of the text is in view. */
  get atEnd() {
    const bottom = this.top + this.frame.scroller.clientHeight;
    const { units, end } = this.units;
    if (this.state.folded) return false; // what is shown is not the text
    return [units[units.length - 1], end].every((node) => node.isConnected && node.getBoundingClientRect().top < bottom);
  }

  /** @param {number} paragraph */
  isShown(paragraph) {
    const box = this.units.nodes[paragraph].getBoundingClientRect();
    return box.top >= this.top - 4 && box.bottom <= this.top + this.frame.scroller.clientHeight;
  }

  /**
   * Brings a place into view, at its height if it has one: a paragraph with what stands above it, a character of it (`at`), or an
   * element in it (`mark`), centred.
   * @param {Place} place
   */
  show({ paragraph, at, top = this.margin, mark = null }, { focus = false } = {}) {
    const node = this.units.nodes[paragraph];
    if (!node) return;
    const { clientHeight } = this.frame.scroller;
    const kept = top < clientHeight - this.margin ? top : this.margin;
    const wanted = mark ? (clientHeight - mark.getBoundingClientRect().height) / 2 : kept;
    const inText = mark && node.contains(mark); // then its words hold the place, because the mark may be removed
    const from = inText ? (spotAt(this.frame.column, mark, 0)?.offset ?? 0) : (at ?? 0);
    this.hold({ paragraph, at: from, above: at === undefined && !mark, mark: inText ? null : mark, wanted, top: wanted });
    const target = mark ?? (at === undefined ? this.units.topOf(paragraph) : node);
    if (!focus || !(target instanceof HTMLElement)) return;
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
  }

  /** Keeps an anchor where it is wanted for a moment, unless the person scrolls: heights around it may still change. @param {Anchor} anchor */
  hold(anchor) {
    this.anchor = anchor;
    this.isHeld = this.untouched = true;
    const unit = this.units.units[unitOf(this.state.book, anchor.paragraph)];
    for (const other of this.frame.column.querySelectorAll(".unit.drawn")) other.classList.toggle("drawn", other === unit);
    unit?.classList.add("drawn");
    const until = performance.now() + HOLD_MS;
    let still = 0; // frames
    const again = () => {
      if (this.anchor !== anchor || !this.isHeld || this.closed) return;
      still = this.pull(anchor) ? 0 : still + 1; // at the end of the text it stays too
      this.isHeld = still < HOLD_FRAMES || performance.now() < until;
      requestAnimationFrame(again);
    };
    this.pull(anchor);
    this.settle();
    requestAnimationFrame(again);
  }

  /** Brings an anchor to the height at which it is wanted; whether the view had to move. @param {Anchor} anchor */
  pull(anchor) {
    const { scroller } = this.frame;
    const before = scroller.scrollTop;
    const away = this.heightOf(anchor) - this.top - anchor.wanted;
    if (Math.abs(away) > 1) scroller.scrollTop += away;
    anchor.top = this.heightOf(anchor) - this.top;
    this.tall = scroller.scrollHeight;
    const moved = scroller.scrollTop !== before;
    // a gist that sticks to the view, or is drawn anew, does not come nearer: it stays where it is
    if (moved && anchor.mark && Math.abs(anchor.top - anchor.wanted) >= Math.abs(away)) anchor.wanted = anchor.top;
    return moved;
  }

  /** @param {Standing} place @returns {Anchor} */
  anchorAt(place) {
    const top = this.heightOf({ ...place, wanted: 0, top: 0 }) - this.top;
    return { ...place, wanted: Math.max(top, this.margin), top };
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

  /**
   * Makes a change that gives the text a new layout, and keeps what is read at its height; or another place, in view.
   * @param {() => void} change
   * @param {Standing | null} place
   */
  keepPlace(change, place = null) {
    if (!this.anchor) this.settle();
    const anchor = place ? this.anchorAt(place) : this.anchor;
    change();
    if (!anchor) return;
    const { read } = anchor;
    this.hold(read !== undefined && this.isText(anchor.paragraph) ? { ...anchor, wanted: read, read: undefined } : anchor);
  }

  /**
   * Where gists or chapters stand in place of the text now, what stands for the place is whole in view; where that is a gist
   * that is veiled, so is the last one before it that can be read.
   */
  showFold() {
    const { anchor, state, layer } = this;
    if (!anchor || this.isText(anchor.paragraph)) return;
    const { paragraph, at, wanted } = anchor;
    const most = 0.7 * this.frame.scroller.clientHeight - wanted; // further down than the place itself can go
    const readable = state.pages.findLast((page) => page.gist && page.start <= paragraph)?.number ?? 0;
    const downs = [layer.foldAt(paragraph, at)?.node, state.view === "gists" ? layer.drawn.get(readable)?.gist : null]
      .map((node) => (node ? this.top + this.margin - node.getBoundingClientRect().top : 0))
      .filter((down) => down > 0 && down < most);
    if (downs.length) this.hold({ ...anchor, wanted: wanted + Math.max(...downs), read: anchor.read ?? wanted });
  }

  /** Turns to the next or previous page, among lines of chapters to the next line; before pages exist, by a screenful. @param {number} step */
  turn(step) {
    const { layer } = this;
    const { paragraph, at } = this.state.here;
    const rows = layer.rows();
    /** @param {Fold} row */
    const after = (row) => row.start > paragraph || (row.start === paragraph && (row.startAt ?? 0) > at + 4);
    const next = layer.foldAt(paragraph, at) ? rows[lastUpTo(rows, 0, (row) => (after(row) ? 1 : 0)) + step] : null;
    if (!next) this.scrollBy(step);
    else if (!this.showRow(next)) this.show({ paragraph: next.start, at: next.startAt });
    this.frame.scroller.focus({ preventScroll: true });
  }

  /** Goes to a gist or a line that is whole in view where it is; whether it is. @param {Fold} row */
  showRow({ start, startAt, node }) {
    if (!this.state.folded || !node?.checkVisibility({ contentVisibilityAuto: true })) return false;
    const { top, bottom } = node.getBoundingClientRect();
    const view = this.frame.scroller.getBoundingClientRect();
    if (top < view.top || bottom > view.bottom) return false;
    this.hold(this.anchorAt({ paragraph: start, at: startAt ?? 0, above: !startAt }));
    return true;
  }

  /** Scrolls by a screenful less two lines, so that a whole line is at the top. @param {number} step */
  scrollBy(step) {
    const { scroller, probe } = this.frame;
    this.release();
    this.anchor = null;
    const lines = 2 * parseFloat(getComputedStyle(probe).lineHeight);
    const screen = step * (scroller.clientHeight - lines);
    const place = this.firstPlace(screen);
    const down = place ? this.heightOf({ ...place, wanted: 0, top: screen }) - this.top - EDGE : screen;
    const near = down - screen < lines; // not after a picture, which would be skipped
    const { matches } = matchMedia("(prefers-reduced-motion: reduce)");
    scroller.scrollBy({ top: near ? down : screen, behavior: matches ? "instant" : "smooth" });
  }

  /** Places of the units may have changed: keep the anchor. */
  relayout() {
    if (this.anchor && this.isHeld) this.hold(this.anchor);
    else this.settle();
  }
}

/** Two fingers, which make the view coarser or finer and scroll nothing. @param {Event} event */
const isPinch = (event) => "touches" in event && /** @type {TouchEvent} */ (event).touches.length > 1;

/** A key that scrolls nothing: what it calls for is done at the place that is held. @param {Event} event */
const isStill = (event) => event instanceof KeyboardEvent && !event.ctrlKey && !event.metaKey && !event.altKey && !SCROLLS.test(event.key);
