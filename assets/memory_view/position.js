// Where the person is in the reader: finds the page at the reading line, goes to another, and reports it to the server.

import { setPosition } from "./book_store.js";
import { pageAt } from "./map.js";

const HOLD = 700; // ms for which the view stays at its target: pages around it, drawn for the first time, may push it away
const ABOVE = 60; // px above the reading line; a paragraph that ends higher has been read

export class Position {
  constructor(reader) {
    this.reader = reader;
    this.here = 0; // the page at the reading line, 0 before there is one
    this.forced = null; // {page, top, off}: the page that was gone to is the current one until the person scrolls
    this.target = null; // the element that was gone to
    this.wanted = null; // {page, paragraph, id}: where to go once that page has come
    this.holdUntil = 0; // until when the view stays at the target, unless the person scrolls
    this.layoutUntil = 0; // until when the view stays at what was read while the pages get a new layout
    this.reading = {}; // what that is: {forced, read, share}
    this.listen();
  }

  // Another book: forgets the position in the one before; `start` is where to go first, if anywhere.
  begin(start) {
    this.here = 0;
    this.forced = this.target = this.sent = this.unsent = null;
    this.reading = {};
    this.restored = false;
    this.wanted = start;
  }

  // Goes where the server asks, once for every `id`.
  request(goto) {
    if (goto && goto.id !== this.reader.book.visited) this.wanted = goto;
    this.tryWanted();
  }

  listen() {
    const { scroller, mapbox } = this.reader;
    let waiting = false;
    scroller.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => ((waiting = false), this.settle()));
    }, { passive: true });
    document.addEventListener("readagent-leave", (this.leaving = () => this.flush()));
    this.resize = new ResizeObserver(() => this.checkSize());
    this.resize.observe(scroller);
    let dragging = false;
    const go = (event) => {
      const y = event.clientY - mapbox.firstChild.getBoundingClientRect().top;
      this.goto(Math.min(pageAt(this.reader.cells, y), this.reader.leaves.size));
    };
    mapbox.addEventListener("pointerdown", (event) => {
      if (!this.reader.leaves.size || !this.reader.cells) return;
      dragging = true;
      mapbox.setPointerCapture?.(event.pointerId);
      go(event);
    });
    mapbox.addEventListener("pointermove", (event) => dragging && go(event));
    for (const end of ["pointerup", "pointercancel"]) mapbox.addEventListener(end, () => (dragging = false));
    mapbox.addEventListener("wheel", (event) => {
      this.holdUntil = this.layoutUntil = 0;
      scroller.scrollBy(0, event.deltaY);
      event.preventDefault();
    }, { passive: false });
    for (const type of ["wheel", "touchmove", "pointerdown", "keydown"])
      scroller.addEventListener(type, () => (this.holdUntil = this.layoutUntil = 0), { passive: true });
  }

  close() {
    this.resize.disconnect();
    clearTimeout(this.timer);
    document.removeEventListener("readagent-leave", this.leaving);
  }

  // The reading line: where a person is assumed to look, a quarter down.
  line() {
    const box = this.reader.scroller.getBoundingClientRect();
    return box.top + Math.min(160, box.height / 4);
  }

  // Finds the page at the reading line, by binary search.
  settle() {
    const { leaves, scroller } = this.reader;
    if (!leaves.size || this.checkSize()) return;
    const line = this.line();
    let [low, high] = [1, leaves.size];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (leaves.get(middle).getBoundingClientRect().top <= line) low = middle;
      else high = middle - 1;
    }
    if (this.forced && Math.abs(scroller.scrollTop - this.forced.top) < 2) {
      const pushed = this.target?.isConnected && Math.abs(this.offset(this.target) - this.forced.off) > 2;
      if (pushed) return this.bring(this.target, this.forced.page); // a change of height above it moved it
      low = this.forced.page;
    } else if (this.forced && this.target && performance.now() < this.holdUntil) return this.bring(this.target, this.forced.page);
    else this.forced = null;
    this.arrive(low, line);
  }

  arrive(page, line) {
    const { leaves, book, data } = this.reader;
    if (page !== this.here) {
      leaves.get(this.here)?.classList.remove("cur");
      leaves.get(page).classList.add("cur");
      this.here = page;
      this.reader.moved();
    }
    const piece = this.pieceAt(page, line);
    if (performance.now() > this.layoutUntil) {
      const read = piece ?? leaves.get(page); // below the last paragraph is the reason for the pause
      this.reading = { forced: this.forced, read, share: Math.max(0, this.share(read)) };
    }
    const paragraph = book.pages[page - 1].s + Number(piece?.dataset.i ?? 0);
    setPosition(data.scope, page, paragraph);
    if (this.restored && (this.sent?.page !== page || this.sent?.paragraph !== paragraph)) {
      clearTimeout(this.timer);
      this.unsent = { page, paragraph };
      this.timer = setTimeout(() => this.flush(), 700);
    }
  }

  // The paragraph of a page that is read at the reading line.
  pieceAt(page, line) {
    const pieces = [...this.reader.leaves.get(page).querySelectorAll(".text [data-i]")];
    return pieces.find((p) => p.getBoundingClientRect().bottom > line - ABOVE);
  }

  // Whether the view has a new size, with a new layout; the browser may scroll before the ResizeObserver reports it.
  checkSize() {
    const { clientWidth, clientHeight } = this.reader.scroller;
    const size = `${clientWidth} ${clientHeight}`;
    if (size === this.size) return false;
    this.size = size;
    this.keepPlace(() => {});
    return true;
  }

  // How much of a paragraph has been read; below 0 for one that is still to come.
  share(piece) {
    const box = piece.getBoundingClientRect();
    return (this.line() - ABOVE - box.top) / (box.height || 1);
  }

  // Makes a change that gives every page a new layout (another text size) and keeps what is read at the reading line.
  // The pages take their new heights one after another, so the view is corrected for a moment, unless the person scrolls.
  keepPlace(change) {
    const { forced, read, share } = this.reading;
    change();
    const stay = () => {
      if (forced && this.target?.isConnected) this.bring(this.target, forced.page);
      else if (read?.isConnected) this.reader.scroller.scrollTop += (share - this.share(read)) * read.getBoundingClientRect().height;
    };
    const again = () => {
      if (performance.now() > this.layoutUntil) return;
      stay();
      requestAnimationFrame(again);
    };
    this.layoutUntil = performance.now() + HOLD;
    stay();
    requestAnimationFrame(again);
  }

  // A page was drawn again: the target is now in the new element.
  replaces(node, old) {
    if (this.target === old) this.target = node;
    else if (old.contains(this.target)) this.target = node.querySelector(`.text [data-i="${this.target.dataset.i}"]`);
  }

  // Sends the position: a moment after the person stopped scrolling, or before anything else is sent.
  flush() {
    clearTimeout(this.timer);
    if (this.unsent) this.reader.setState("at", (this.sent = this.unsent));
    this.unsent = null;
  }

  tryWanted() {
    const { leaves, book } = this.reader;
    if (!this.wanted) {
      if (leaves.size) this.restored = true;
      return;
    }
    const { page, paragraph, id } = this.wanted;
    if (!leaves.has(page)) return;
    book.visited = id;
    this.wanted = null;
    this.goto(page, { paragraph });
    this.sent = { page, paragraph };
    this.restored = true;
  }

  goto(page, { paragraph = null, focus = false } = {}) {
    const node = this.reader.leaves.get(page);
    if (!node) return;
    const inside = paragraph === null ? null
      : node.querySelector(`.text [data-i="${paragraph - this.reader.book.pages[page - 1].s}"]`);
    const target = inside && inside.dataset.i !== "0" ? inside : node;
    this.holdUntil = performance.now() + HOLD;
    this.layoutUntil = 0;
    this.bring(target, page);
    // pages drawn for the first time have their true height now, so the target is corrected once
    requestAnimationFrame(() => {
      this.bring(target, page);
      if (focus) node.focus({ preventScroll: true });
    });
  }

  bring(target, page) {
    if (!target.isConnected) return;
    const { scroller } = this.reader;
    this.target = target;
    if (target.matches("mark")) target.scrollIntoView({ block: "center" });
    else scroller.scrollTop += this.offset(target) - (target.classList.contains("leaf") ? 0 : 60);
    this.forced = { page, top: scroller.scrollTop, off: this.offset(target) };
    this.settle();
  }

  // The distance of an element from the upper edge of the view.
  offset(node) {
    return node.getBoundingClientRect().top - this.reader.scroller.getBoundingClientRect().top;
  }

  // Scrolls a search hit to the middle of the view and makes its page the current one.
  centre(mark, page) {
    this.holdUntil = performance.now() + HOLD;
    this.layoutUntil = 0;
    this.bring(mark, page);
    requestAnimationFrame(() => this.target === mark && this.bring(mark, page));
  }
}
