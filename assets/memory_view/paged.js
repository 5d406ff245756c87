// The text in pages of the screen: one, or two beside each other (a spread). The chapter that is read is set in columns,
// of which the view shows one or two; a turn moves the columns. Vertical writing runs the same way, with the columns
// below each other. The gists of the pages in view stand beside the text, or in a line below it.

import { button } from "../shared/dom.js";
import { lastUpTo, unitEnd } from "./text_store.js";

const SIDE = 64; // px on each side of a column, for the page's number
const NARROW_SIDE = 22;
const EDGE = 28; // px above and below a column
const LEAST_SPREAD = 860; // px; a narrower view shows one page

export class Paged {
  isPaged = true;

  constructor(reader) {
    this.reader = reader;
    this.group = -1; // the chapter that is drawn
    this.index = 0; // the screen of it that is shown
    this.count = 1;
    const { scroller } = reader;
    this.events = {
      click: (e) => this.clicked(e),
      wheel: (e) => this.wheeled(e),
      touchstart: (e) => this.touched(e),
      touchend: (e) => this.lifted(e),
    };
    for (const [type, listener] of Object.entries(this.events)) scroller.addEventListener(type, listener, { passive: type !== "wheel" });
    const { backward } = this;
    const side = (icon, step) =>
      button("", () => this.turn(step), {
        kind: `quiet icon turn ${icon}`,
        icon,
        name: step > 0 ? "Turn to the next page" : "Turn to the page before",
      });
    this.turners = [
      [side("left", backward), backward],
      [side("right", -backward), -backward],
    ];
    scroller.append(...this.turners.map(([node]) => node));
    this.resize = new ResizeObserver(() => this.checkSize());
    this.resize.observe(scroller);
    scroller.scrollTop = 0;
  }

  close() {
    const { scroller, column, sheet, units } = this.reader;
    for (const [type, listener] of Object.entries(this.events)) scroller.removeEventListener(type, listener);
    this.resize.disconnect();
    for (const [node] of this.turners) node.remove();
    column.style.cssText = sheet.style.cssText = "";
    for (const unit of units.units) unit.classList.remove("on");
    this.closed = true;
  }

  // The units of each chapter, as [first, last].
  groups() {
    const { book } = this.reader;
    if (this.grouped?.of === book.outline) return this.grouped;
    const found = [];
    let chapter = null;
    book.outline.units.forEach(([start], unit) => {
      const at = lastUpTo(book.outline.chapters, start);
      if (at === chapter && at >= 0) found.at(-1)[1] = unit;
      else found.push([unit, unit]);
      chapter = at;
    });
    return (this.grouped = Object.assign(found, { of: book.outline }));
  }

  // The size of a column and what it takes to move by one, from the size of the view and the look.
  measure() {
    const { scroller, probe, look, vertical } = this.reader;
    const narrow = scroller.clientWidth < 560;
    const side = narrow ? NARROW_SIDE : SIDE;
    const line = parseFloat(getComputedStyle(probe).lineHeight);
    const height = Math.max(line * 3, Math.floor((scroller.clientHeight - 2 * EDGE) / line) * line);
    const two = look.flow === "spread" && scroller.clientWidth >= LEAST_SPREAD && !vertical;
    const room = scroller.clientWidth - (two ? 4 : 2) * side;
    const width = Math.min(vertical ? 900 : probe.offsetWidth, two ? room / 2 : room);
    this.size = {
      width: Math.floor(width),
      height,
      step: vertical ? height + 2 * EDGE : Math.floor(width) + 2 * side,
      side,
      columns: two ? 2 : 1,
    };
  }

  // The units of the chapter around `unit` whose text has come.
  loaded(unit) {
    const { units } = this.reader.units;
    let [first, last] = [unit, unit];
    const [from, to] = this.groups()[this.group];
    while (first > from && units[first - 1].firstChild) first--;
    while (last < to && units[last + 1].firstChild) last++;
    return [first, last];
  }

  layout(unit) {
    const { sheet, column, units, vertical } = this.reader;
    this.measure();
    const { width, height, side, step, columns } = this.size;
    const wide = columns * step;
    sheet.style.cssText = vertical
      ? `width:${width + 2 * side}px;height:${height + 2 * EDGE}px`
      : `width:${wide}px;height:${height + 2 * EDGE}px`;
    const tall = `--tall:${height}px;`;
    column.style.cssText =
      tall +
      (vertical
        ? `width:${width}px;height:${height}px;column-width:${height}px;column-gap:${2 * EDGE}px;margin:${EDGE}px ${side}px`
        : `width:${wide - 2 * side}px;height:${height}px;column-width:${width}px;column-gap:${2 * side}px;margin:${EDGE}px ${side}px`);
    this.drawn = this.loaded(unit);
    units.units.forEach((node, at) => node.classList.toggle("on", this.drawn[0] <= at && at <= this.drawn[1]));
    const end = units.units[this.drawn[1]].lastElementChild; // a picture may come after the last paragraph
    this.count = 1 + Math.max(this.screenOf(this.last), end.matches(".fig") ? this.screenOfBox(end.getBoundingClientRect()) : 0);
  }

  get first() {
    return this.reader.book.outline.units[this.drawn[0]][0];
  }

  get last() {
    return unitEnd(this.reader.book, this.drawn[1]) - 1;
  }

  // The screen that a box within the columns is on.
  screenOfBox(box) {
    const { column, vertical, book } = this.reader;
    const origin = column.getBoundingClientRect();
    const { step, columns } = this.size;
    const away = vertical ? box.top - origin.top : book.outline.rtl ? origin.right - box.right : box.left - origin.left;
    return Math.max(0, Math.floor(Math.floor((away + 4) / step) / columns));
  }

  // The screen on which a paragraph ends, or begins.
  screenOf(paragraph, { start = false } = {}) {
    const boxes = this.reader.units.nodes[paragraph]?.getClientRects() ?? [];
    const box = boxes[start ? 0 : boxes.length - 1];
    return box ? this.screenOfBox(box) : 0;
  }

  /** Shows a place: a paragraph, a character of it (`at`), or an element in it (`mark`). */
  show({ paragraph, at = 0, mark = null }, { focus = false } = {}) {
    const { units, book } = this.reader;
    if (!units.nodes[paragraph]) return;
    const unit = lastUpTo(book.outline.units, paragraph, ([start]) => start);
    const group = lastUpTo(this.groups(), unit, ([first]) => first);
    if (group !== this.group || unit < this.drawn[0] || unit > this.drawn[1]) {
      this.group = group;
      this.layout(unit);
    }
    if (mark?.isConnected && units.nodes[paragraph].contains(mark)) this.index = this.screenOfBox(mark.getBoundingClientRect());
    else if (at) {
      const boxes = [...units.nodes[paragraph].getClientRects()];
      const share = at / Math.max(1, book.text[paragraph].length);
      this.index = boxes.length ? this.screenOfBox(boxes[Math.min(boxes.length - 1, Math.floor(share * boxes.length + 0.01))]) : 0;
    } else this.index = this.screenOf(paragraph, { start: true });
    this.move({ paragraph, at });
    if (focus) this.reader.scroller.focus({ preventScroll: true });
  }

  // Moves the columns and reports what is in view. `asked`: the place that was gone to, else the first in view.
  move(asked = null) {
    const { column, vertical, book, position, layer } = this.reader;
    const { step, columns } = this.size;
    const away = this.index * step * columns;
    column.style.transform = vertical ? `translateY(${-away}px)` : `translateX(${book.outline.rtl ? away : -away}px)`;
    const [first, last] = this.view();
    const boxes = this.reader.units.nodes[first].getClientRects();
    const shown = [...boxes].findIndex((box) => this.screenOfBox(box) >= this.index);
    const at = shown > 0 ? Math.floor((shown / boxes.length) * book.text[first].length) : 0;
    position.arrived(asked?.paragraph ?? first, asked ? asked.at : at, first, last);
    for (const [node, step] of this.turners) node.disabled = !this.within(this.index + step) && !this.groups()[this.group + step];
    layer.settle();
    this.reader.drawBeside(first, last);
  }

  // The first and the last paragraph in view, by binary search.
  view() {
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

  within(index) {
    return index >= 0 && index < this.count;
  }

  turn(step) {
    if (this.group < 0) return;
    const index = this.index + step;
    if (!this.within(index)) {
      const group = this.group + step;
      const unit = this.groups()[group];
      if (!unit || !this.reader.units.units[unit[step > 0 ? 0 : 1]].firstChild) return void this.move();
      this.group = group;
      this.layout(step > 0 ? unit[0] : unit[1]);
      this.index = step > 0 ? 0 : this.count - 1;
    } else this.index = index;
    this.move();
  }

  isShown(paragraph) {
    return (
      this.reader.units.units.some((unit) => unit.classList.contains("on") && unit.contains(this.reader.units.nodes[paragraph])) &&
      this.screenOf(paragraph, { start: true }) <= this.index &&
      this.screenOf(paragraph) >= this.index
    );
  }

  keepPlace(change) {
    const { paragraph, at } = this.reader.position.here;
    change();
    this.relayout({ paragraph, at });
  }

  relayout({ paragraph, at } = this.reader.position.here) {
    if (this.closed || this.group < 0) return;
    this.layout(lastUpTo(this.reader.book.outline.units, paragraph, ([start]) => start));
    this.show({ paragraph, at });
  }

  checkSize() {
    const { clientWidth, clientHeight } = this.reader.scroller;
    const size = `${clientWidth} ${clientHeight}`;
    if (size === this.seen) return;
    this.seen = size;
    this.reader.resized();
    this.relayout();
  }

  settle() {
    if (this.group >= 0 && !this.closed) this.move();
  }

  // --- turning by hand ----------------------------------------------------------------------------

  clicked(event) {
    const target = event.composedPath()[0];
    const selection = this.reader.root.getRootNode().getSelection?.() ?? document.getSelection();
    if (target.closest?.("button, a, input, mark") || String(selection)) return;
    const { left, width } = this.reader.scroller.getBoundingClientRect();
    const share = (event.clientX - left) / width;
    if (share < 0.25) this.turn(this.backward);
    else if (share > 0.75) this.turn(-this.backward);
  }

  // The step that the left side of the screen makes: in a text that runs to the left it leads on.
  get backward() {
    return this.reader.vertical || this.reader.book.outline.rtl ? 1 : -1;
  }

  wheeled(event) {
    event.preventDefault();
    const now = performance.now();
    if (now < (this.wheelUntil ?? 0) || Math.abs(event.deltaY) + Math.abs(event.deltaX) < 20) return;
    this.wheelUntil = now + 250;
    this.turn(event.deltaY + event.deltaX > 0 ? 1 : -1);
  }

  touched(event) {
    this.touch = event.touches.length === 1 ? [event.touches[0].clientX, event.touches[0].clientY] : null;
  }

  lifted(event) {
    if (!this.touch) return;
    const x = event.changedTouches[0].clientX - this.touch[0];
    const y = event.changedTouches[0].clientY - this.touch[1];
    this.touch = null;
    if (Math.abs(x) > 50 && Math.abs(x) > 2 * Math.abs(y)) this.turn(x > 0 ? this.backward : -this.backward);
  }
}
