// The map of the book in the reader: its whole length from top to bottom. A chapter without pages is an open block;
// pages are cells, darker the longer their gist is. An arrow is the person, a line with a handle is how far they have
// read. A place that was jumped to, beyond what was read, is a ring: it does not count.

import { el, entry, svg } from "../shared/dom.js";
import { averageGist, cellOf, hatching, patternName } from "./map.js";
import { shareRead, wordsBefore } from "./text_store.js";

/**
 * @import { LayerPage } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { Marks } from "./marks.js"
 * @import { Search } from "./search.js"
 * @import { Jump, ReadingState } from "./state.js"
 */

const EDGE = 8; // px above and below
const [LEFT, WIDE] = [22, 26];

export class BookMap {
  /**
   * @param {{state: ReadingState, frame: Frame, search: Search, marks: Marks, jump: Jump, setFurthest: (paragraph: number) => void, wheeled: (event: WheelEvent) => void}} needs
   */
  constructor({ state, frame, search, marks, jump, setFurthest, wheeled }) {
    this.state = state;
    this.frame = frame;
    this.search = search;
    this.marks = marks;
    this.jump = jump;
    this.setFurthest = setFurthest;
    this.wheeled = wheeled;
    this.height = 0;
    this.drawn = false;
    /** @type {number | undefined} the paragraph that the handle is dragged to */
    this.aimed = undefined;
    this.cells = el("div", { class: "cells" });
    this.arrow = el("div", { class: "arrow", "aria-hidden": "true" });
    this.handle = el("div", {
      class: "furthest",
      tabindex: "0",
      role: "slider",
      "aria-orientation": "vertical",
      "aria-label": "Read up to here",
      "aria-valuemin": "0",
      "aria-valuemax": "100",
      title: "Read up to here: drag, or use the arrow keys",
    });
    this.node = el(
      "div",
      {
        class: "mapbox",
        tabindex: "0",
        role: "slider",
        "aria-label": "Map of the book",
        "aria-orientation": "vertical",
        "aria-valuemin": "0",
        "aria-valuemax": "100",
      },
      this.cells,
      this.arrow,
    );
    this.whole = el("div", { class: "mapside" }, this.node, this.handle);
    this.resize = new ResizeObserver(() => this.draw());
    this.resize.observe(this.node);
    this.listen();
  }

  close() {
    this.resize.disconnect();
    clearTimeout(this.timer);
  }

  // Draws once for all batches of text and pages that come together.
  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.frame.isShown && this.draw(), this.drawn ? 60 : 0);
  }

  /** @param {number} paragraph */
  y(paragraph) {
    return EDGE + (this.height - 2 * EDGE) * shareRead(this.state.book, paragraph);
  }

  draw() {
    const { height } = this.node.getBoundingClientRect();
    if (!height || !this.state.book.known) return;
    this.height = height;
    const shape = svg("svg", { width: 84, height, viewBox: `0 0 84 ${height}`, role: "img", "aria-label": "Map of the book" });
    const hatch = patternName();
    shape.append(hatching(hatch), ...this.openBlocks(), ...this.pageCells(hatch), ...this.markTicks(), ...this.labels());
    this.cells.replaceChildren(shape);
    this.drawn = true;
    this.place();
  }

  // The part of each chapter that has no pages yet.
  openBlocks() {
    const { outline } = this.state.book;
    const covered = this.state.pages.at(-1)?.end ?? 0;
    const starts = outline.chapters.length && outline.chapters.length < this.height / 5 ? outline.chapters : [0];
    return starts.flatMap((start, i) => {
      const end = starts[i + 1] ?? outline.paragraphs;
      if (end <= covered) return [];
      const y = this.y(Math.max(start, covered));
      const tall = Math.max(1, this.y(end) - y - 2);
      return [svg("rect", { class: "mopen", x: LEFT + 0.5, y: y + 0.5, width: WIDE - 1, height: tall, rx: 1 })];
    });
  }

  /** @param {string} hatch */
  pageCells(hatch) {
    const { data } = this.state;
    const { search } = this;
    const average = averageGist(this.state.pages);
    const lit = new Set(data.lit);
    const step = Math.max(1, Math.ceil(this.state.pages.length / (this.height / 2)));
    const found = [];
    const above = [];
    for (let i = 0; i < this.state.pages.length; i += step) {
      const group = this.state.pages.slice(i, i + step);
      const [first, last] = [group[0], group[group.length - 1]];
      const y = this.pageY(first);
      const tall = Math.max(0.8, this.pageY(this.state.pages[last.number]) - y);
      const gap = tall > 7 ? 2 : tall > 3.5 ? 1 : 0;
      const box = { x: LEFT, y: y.toFixed(1), width: WIDE, height: Math.max(0.8, tall - gap).toFixed(1), rx: tall > 4 ? 1 : 0 };
      const { kind, title } = cellOf(group, average);
      found.push(svg("rect", { ...box, class: kind }, svg("title", {}, title)));
      if (group.some((page) => page.rule || page.gist?.rule))
        above.push(svg("rect", { ...box, fill: `url(#${hatch})`, "pointer-events": "none" }));
      if (group.some((page) => page.gist?.edited))
        above.push(svg("path", { class: "medit", d: `M${LEFT + WIDE - 9} ${y}h9v${Math.min(9, tall)}z` }));
      if (group.some((page) => lit.has(page.number)))
        above.push(svg("rect", { ...box, x: LEFT - 4, width: WIDE + 8, height: Math.max(3, tall - gap).toFixed(1), class: "mlook" }));
    }
    const hits = new Set([...search.byParagraph.keys()].map((p) => Math.round(this.y(p) / 2)));
    for (const [n] of search.byPage) hits.add(Math.round(this.pageY(this.state.pages[n - 1]) / 2));
    for (const y of hits) above.push(svg("circle", { class: "mtick", cx: LEFT + WIDE + 7, cy: 2 * y, r: 2.2 }));
    return [...found, ...above];
  }

  // A tick at the left for each mark, in its colour; those that fall together are one.
  markTicks() {
    const found = new Map();
    for (const mark of this.marks.all) found.set(`${mark.colour || mark.kind} ${Math.round(this.y(mark.start[0]) / 2)}`, mark);
    return [...found].map(([key, mark]) =>
      svg("rect", { class: `marktick hue-${mark.c}`, x: LEFT - 7, y: 2 * Number(key.split(" ")[1]) - 1, width: 6, height: 2.5, rx: 1 }),
    );
  }

  /** Where a page begins; without a page, where the last one ends. @param {LayerPage | undefined} page */
  pageY(page) {
    const last = this.state.pages[this.state.pages.length - 1];
    const [paragraph, at] = page ? [page.start, page.startAt ?? 0] : [last.end, last.endAt ?? 0];
    const top = this.y(paragraph);
    return at ? top + ((this.y(paragraph + 1) - top) * at) / Math.max(1, this.state.book.text[paragraph]?.length ?? 1) : top;
  }

  // Page numbers where there are pages, else numbers of chapters, as many as have room.
  labels() {
    const { chapters } = this.state.book.outline;
    const rows = this.state.pages.length
      ? this.state.pages.map((page) => [this.pageY(page), page.number])
      : chapters.map((start, i) => [this.y(start), i + 1]);
    let below = -100;
    return rows.flatMap(([y, n]) => {
      if (y - below < 48 || this.height - y < 10) return [];
      below = y;
      return [svg("text", { class: "maplab", x: LEFT + WIDE + 14, y: y + 10 }, String(n))];
    });
  }

  // Puts the arrow and the line where they belong; a turn of a page does no more.
  place() {
    if (!this.drawn) return;
    const { paragraph, page } = this.state.here;
    const here = shareRead(this.state.book, paragraph);
    const read = shareRead(this.state.book, this.state.furthest);
    const beyond = wordsBefore(this.state.book, paragraph) - wordsBefore(this.state.book, this.state.furthest) > 400;
    this.arrow.classList.toggle("ring", beyond);
    this.arrow.style.top = `${this.y(paragraph)}px`;
    this.handle.style.top = `${this.y(this.state.furthest)}px`;
    const told = `${Math.round(100 * here)} % of the book${page ? `, page ${page} of ${this.state.pages.length}` : ""}${beyond ? ", not counted as read" : ""}`;
    this.node.setAttribute("aria-valuenow", String(Math.round(100 * here)));
    this.node.setAttribute("aria-valuetext", told);
    this.arrow.title = told;
    this.handle.setAttribute("aria-valuenow", String(Math.round(100 * read)));
    this.handle.setAttribute("aria-valuetext", `${Math.round(100 * read)} % read`);
  }

  /** The paragraph at height `clientY`: the start of its page, where it has one. @param {number} clientY */
  at(clientY, { exact = false } = {}) {
    const y = clientY - this.node.getBoundingClientRect().top;
    const share = Math.min(0.9999, Math.max(0, (y - EDGE) / (this.height - 2 * EDGE)));
    let [paragraph, after] = [0, this.state.book.outline.paragraphs];
    while (after - paragraph > 1) {
      const middle = (paragraph + after) >> 1;
      if (shareRead(this.state.book, middle) <= share) paragraph = middle;
      else after = middle;
    }
    const page = exact ? undefined : this.state.pages[(this.state.pageAt(paragraph) ?? 0) - 1];
    return page ? { paragraph: page.start, at: page.startAt } : { paragraph };
  }

  listen() {
    const { handle } = this;
    const { whole } = this;
    /** @type {"furthest" | "place" | null} */
    let dragged = null; // what the pointer drags
    let left = false; // the place where the person was is one to go back to, those that they drag over are not
    /** @param {PointerEvent} event */
    const go = (event) => (left = this.jump(this.at(event.clientY), { back: !left }) || left);
    whole.addEventListener("pointerdown", (event) => {
      if (!this.drawn || event.button) return;
      dragged = event.composedPath().includes(handle) ? "furthest" : "place";
      whole.setPointerCapture?.(event.pointerId);
      left = false;
      if (dragged === "place") go(event);
    });
    whole.addEventListener("pointermove", (event) => {
      if (dragged === "place") go(event);
      else if (dragged) {
        this.aimed = this.at(event.clientY, { exact: true }).paragraph;
        handle.style.top = `${this.y(this.aimed)}px`;
      }
    });
    for (const end of ["pointerup", "pointercancel"])
      whole.addEventListener(end, () => {
        if (dragged === "furthest" && this.aimed !== undefined) this.setFurthest(this.aimed);
        dragged = null;
        this.aimed = undefined;
      });
    whole.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.wheeled(event);
      },
      { passive: false },
    );
    handle.addEventListener("keydown", (event) => {
      const step = entry({ ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }, event.key);
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      this.setFurthest(Math.min(this.state.book.outline.paragraphs, Math.max(0, this.state.furthest + step)));
    });
  }
}
