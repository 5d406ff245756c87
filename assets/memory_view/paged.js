// The text in pages of the screen: one, or two beside each other (a spread). The chapter that is read is set in columns,
// of which the view shows one or two; a turn moves the columns. Vertical writing runs the same way, with the columns
// below each other. The gists of the pages in view stand beside the text, or in a line below it.

import { button } from "../shared/dom.js";
import { LOW } from "./bare.js";
import { LEAST_SPREAD } from "./look_panel.js";
import { boxOfCharacter, firstCharacter, spotAt } from "./text_places.js";
import { chapterUnits, lastUpTo, unitEnd } from "./text_store.js";
import { Turning } from "./turning.js";

/**
 * @import { BookOutline } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { Layer } from "./layer.js"
 * @import { Place, ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {{paragraph: number, at: number, above: boolean, top?: number}} Standing a place that is shown, as `Here` of state.js
 *
 * @typedef {object} FlowEvents what a flow reports
 * @property {(place: Standing, first: number, last: number, atEnd: boolean) => void} arrived see position.js
 * @property {() => void} resized
 * @property {(first: number, last: number) => void} shown the paragraphs of a turned page
 * @property {(step: number) => void} turned the person turned a page of the screen
 */

const SIDE = 64; // px on each side of a column, for the page's number
const BESIDE = 204; // px more on the right, for the gists beside one page: kept free, so that they move nothing when they come
const EDGE = 28; // px above and below a column
const NARROW_EDGE = 12; // px on a phone, whose bars come and go in the room above and below
const LOW_EDGE = 8; // px in a low window
const FOOT = 32; // px below a column for the buttons that turn and the way back, where they do not stand elsewhere

export class Paged {
  /**
   * @param {{state: ReadingState, frame: Frame, units: Units, layer: Layer, on: FlowEvents}} needs
   */
  constructor({ state, frame, units, layer, on }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.layer = layer;
    this.on = on;
    this.group = -1; // the chapter that is drawn
    this.index = 0; // the screen of it that is shown
    this.count = 1;
    /** @type {Standing | null} the place that was gone to; null after a turn, until the first one in view is found */
    this.place = null;
    const { scroller } = frame;
    /** @type {{of: BookOutline, rows: [number, number][]} | null} the units of each chapter */
    this.grouped = null;
    /** @type {[number, number]} the units that are drawn */
    this.drawn = [0, 0];
    this.size = { width: 0, height: 0, step: 1, side: 0, edge: EDGE, below: EDGE, columns: 1 };
    this.seen = ""; // the size of the view
    this.closed = false;
    this.turning = new Turning({ frame, turn: (step) => this.turn(step), left: () => this.backward });
    /** @param {"left" | "right"} icon @param {() => number} step which changes with the direction of the text */
    const side = (icon, step) => button("", () => this.turn(step()), { kind: `quiet icon turn ${icon}`, icon });
    /** @type {[HTMLButtonElement, () => number][]} */
    this.turners = [
      [side("left", () => this.backward), () => this.backward],
      [side("right", () => -this.backward), () => -this.backward],
    ];
    scroller.append(...this.turners.map(([node]) => node));
    this.resize = new ResizeObserver(() => this.checkSize());
    this.resize.observe(scroller);
    scroller.scrollTop = 0;
  }

  close() {
    const { column, sheet } = this.frame;
    const { units } = this;
    this.turning.close();
    this.resize.disconnect();
    for (const [node] of this.turners) node.remove();
    column.style.cssText = sheet.style.cssText = "";
    for (const unit of units.units) unit.classList.remove("on");
    this.closed = true;
  }

  /** The units of each chapter, as [first, last]. */
  groups() {
    const { book } = this.state;
    if (this.grouped?.of !== book.outline) this.grouped = { of: book.outline, rows: chapterUnits(book.outline) };
    return this.grouped.rows;
  }

  // The size of a column and what it takes to move by one, from the size of the view and the look.
  measure() {
    const { look, vertical } = this.state;
    const { scroller, probe, root, isNarrow, isPhone } = this.frame;
    const narrow = scroller.clientWidth < 560;
    const side = narrow ? look.margin : Math.max(SIDE, look.margin);
    const line = parseFloat(getComputedStyle(probe).lineHeight);
    const low = window.innerHeight < LOW;
    const edge = low ? LOW_EDGE : narrow ? NARROW_EDGE : EDGE;
    const beneath = !isPhone && !((low || root.classList.contains("bare")) && side >= SIDE);
    const below = beneath ? Math.max(edge, FOOT) : edge;
    const height = Math.max(
      line * 3,
      Math.floor((scroller.clientHeight - parseFloat(getComputedStyle(scroller).paddingTop) - edge - below) / line) * line,
    );
    const two = look.flow === "spread" && scroller.clientWidth >= LEAST_SPREAD && !vertical;
    const free = isNarrow || root.classList.contains("with-original"); // no gists stand beside a PDF's page
    const beside = look.flow !== "spread" && this.state.view === "both" && !free ? BESIDE : 0;
    const room = scroller.clientWidth - (two ? 4 : 2) * side - beside;
    const width = Math.min(vertical ? 900 : probe.offsetWidth, two ? room / 2 : room);
    this.size = {
      width: Math.floor(width),
      height,
      step: vertical ? height + edge + below : Math.floor(width) + 2 * side,
      side,
      edge,
      below,
      columns: two ? 2 : 1,
    };
  }

  /** The units of the chapter around `unit` whose text has come. @param {number} unit @returns {[number, number]} */
  loaded(unit) {
    const { units } = this.units;
    let [first, last] = [unit, unit];
    const [from, to] = this.groups()[this.group];
    while (first > from && units[first - 1].firstChild) first--;
    while (last < to && units[last + 1].firstChild) last++;
    return [first, last];
  }

  /** @param {number} unit */
  layout(unit) {
    const { vertical } = this.state;
    const { sheet, column } = this.frame;
    const { units } = this;
    this.measure();
    const { width, height, side, edge, below, step, columns } = this.size;
    const wide = columns * step;
    sheet.style.cssText = `width:${vertical ? width + 2 * side : wide}px;height:${edge + height + below}px`;
    const columned = vertical
      ? `width:${width}px;column-width:${height}px;column-gap:${edge + below}px`
      : `width:${wide - 2 * side}px;column-width:${width}px;column-gap:${2 * side}px`;
    column.style.cssText = `--tall:${height}px;height:${height}px;${columned};margin:${edge}px ${side}px ${below}px`;
    this.frame.room.style.setProperty("--text-end", `${sheet.offsetLeft + sheet.offsetWidth - side}px`);
    this.drawn = this.loaded(unit);
    for (const [at, node] of units.units.entries()) node.classList.toggle("on", this.drawn[0] <= at && at <= this.drawn[1]);
    const end = units.units[this.drawn[1]].lastElementChild; // a picture or the end may come after the last paragraph
    this.count = 1 + Math.max(this.screenOf(this.last), end?.matches(".fig, .bookend") ? this.screenOfBox(end.getBoundingClientRect()) : 0);
  }

  get first() {
    return this.state.book.outline.units[this.drawn[0]][0];
  }

  get last() {
    return unitEnd(this.state.book, this.drawn[1]) - 1;
  }

  /** The screen that a box within the columns is on. @param {DOMRect} box */
  screenOfBox(box) {
    const { vertical, book } = this.state;
    const { column } = this.frame;
    const origin = column.getBoundingClientRect();
    const { step, columns } = this.size;
    const away = vertical ? box.top - origin.top : book.outline.rtl ? origin.right - box.right : box.left - origin.left;
    return Math.max(0, Math.floor(Math.floor((away + 4) / step) / columns));
  }

  /** The screen on which a paragraph ends, or begins. @param {number} paragraph */
  screenOf(paragraph, { start = false } = {}) {
    const boxes = this.units.nodes[paragraph]?.getClientRects() ?? [];
    const box = boxes[start ? 0 : boxes.length - 1];
    return box ? this.screenOfBox(box) : 0;
  }

  /** The screen that a character is on. @param {number} paragraph @param {number} at */
  screenOfCharacter(paragraph, at) {
    const box = boxOfCharacter(this.units.nodes[paragraph], at, this.state.book.text[paragraph].length);
    return box ? this.screenOfBox(box) : this.screenOf(paragraph, { start: true });
  }

  /** The screen on which what stands above a paragraph begins. @param {number} paragraph */
  screenOfTop(paragraph) {
    return this.screenOfBox(this.units.topOf(paragraph).getBoundingClientRect());
  }

  /** Shows a place: a paragraph with what stands above it, a character of it (`at`), or an element in it (`mark`). @param {Place} place */
  show({ paragraph, at, mark = null }, { focus = false } = {}) {
    const { book } = this.state;
    const { units } = this;
    if (!units.nodes[paragraph]) return;
    const unit = lastUpTo(book.outline.units, paragraph, ([start]) => start);
    const group = lastUpTo(this.groups(), unit, ([first]) => first);
    if (group !== this.group || unit < this.drawn[0] || unit > this.drawn[1]) {
      this.group = group;
      this.layout(unit);
    }
    const inText = mark && units.nodes[paragraph].contains(mark); // then its words hold the place, as in scrolled.js
    const from = inText ? (spotAt(this.frame.column, mark, 0)?.offset ?? 0) : at;
    this.index = from === undefined ? this.screenOfTop(paragraph) : this.screenOfCharacter(paragraph, from);
    this.place = { paragraph, at: from ?? 0, above: from === undefined };
    this.move();
    if (focus) this.frame.focusText();
  }

  // Moves the columns and reports what is in view: the place that was gone to, else the first one in view.
  move() {
    const { vertical, book } = this.state;
    const { column } = this.frame;
    const { layer, units } = this;
    const { step, columns } = this.size;
    const away = this.index * step * columns;
    column.style.transform = vertical ? `translateY(${-away}px)` : `translateX(${book.outline.rtl ? away : -away}px)`;
    const [first, last] = this.view();
    this.place ??= this.firstPlace(first);
    const atEnd = this.group === this.groups().length - 1 && this.index === this.count - 1;
    this.on.arrived(this.place, first, last, atEnd && units.units[this.drawn[1]].contains(units.end));
    for (const [node, step] of this.turners) {
      node.disabled = !this.within(this.index + step()) && !this.groups()[this.group + step()];
      node.title = step() > 0 ? "Turn to the next page" : "Turn to the page before";
      node.setAttribute("aria-label", node.title);
    }
    layer.settle();
    this.on.shown(first, last);
  }

  /** The first character in view. @param {number} paragraph the first one in view @returns {Standing} */
  firstPlace(paragraph) {
    const node = this.units.nodes[paragraph];
    const { length } = this.state.book.text[paragraph];
    const at = firstCharacter(node, length, (box) => this.screenOfBox(box) >= this.index);
    const above = at === 0 && this.units.topOf(paragraph) !== node && this.screenOfTop(paragraph) === this.index;
    return { paragraph, at: Math.min(at, Math.max(0, length - 1)), above };
  }

  // The first and the last paragraph in view, by binary search.
  view() {
    /** @param {number} from @param {number} to @param {(paragraph: number) => boolean} test */
    const search = (from, to, test) => {
      while (from < to) {
        const middle = (from + to) >> 1;
        if (test(middle)) to = middle;
        else from = middle + 1;
      }
      return from;
    };
    const first = search(this.first, this.last, (p) => this.screenOf(p) >= this.index);
    const after = search(first, this.last + 1, (p) => p > this.last || this.screenOf(p, { start: true }) > this.index);
    return [first, Math.max(first, after - 1)];
  }

  /** @param {number} index */
  within(index) {
    return index >= 0 && index < this.count;
  }

  /** @param {number} step */
  turn(step) {
    if (this.group < 0) return;
    const index = this.index + step;
    if (!this.within(index)) {
      const group = this.group + step;
      const unit = this.groups()[group];
      if (!unit || !this.units.units[unit[step > 0 ? 0 : 1]].firstChild) return void this.move();
      this.group = group;
      this.layout(step > 0 ? unit[0] : unit[1]);
      this.index = step > 0 ? 0 : this.count - 1;
    } else this.index = index;
    this.place = null;
    this.move();
    this.on.turned(step);
  }

  /** @param {number} paragraph */
  isShown(paragraph) {
    return (
      this.units.units.some((unit) => unit.classList.contains("on") && unit.contains(this.units.nodes[paragraph])) &&
      this.screenOf(paragraph, { start: true }) <= this.index &&
      this.screenOf(paragraph) >= this.index
    );
  }

  /** @param {() => void} change */
  keepPlace(change) {
    const { place } = this.state;
    change();
    this.relayout(place);
  }

  relayout(place = this.state.place) {
    if (this.closed || this.group < 0) return;
    this.layout(lastUpTo(this.state.book.outline.units, place.paragraph, ([start]) => start));
    this.show(place);
  }

  checkSize() {
    const { clientWidth, clientHeight } = this.frame.scroller;
    const size = `${clientWidth} ${clientHeight}`;
    if (size === this.seen) return;
    this.seen = size;
    this.on.resized();
    this.relayout();
  }

  settle() {
    if (this.group >= 0 && !this.closed) this.move();
  }

  /** The step that the left side of the screen makes: in a text that runs to the left it leads on. */
  get backward() {
    return this.state.vertical || this.state.book.outline.rtl ? 1 : -1;
  }

  /** @param {WheelEvent} event beside the text */
  wheeled(event) {
    this.turning.wheeled(event);
  }
}
