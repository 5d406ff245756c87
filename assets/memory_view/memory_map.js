// The map beside the memory, with the spoiler limit on it. A press on it goes to a page.

import { el } from "../shared/dom.js";
import { drawMap, pageAt } from "./map.js";
import { barsOf } from "./memory_rows.js";
import { SpoilerLimit } from "./spoiler_limit.js";

/**
 * @import { Cell, Closed, MapPage } from "./map.js"
 * @import { Shown } from "./memory.js"
 *
 * @typedef {{data: Shown, pages: MapPage[], changes: number, closed: Closed[]}} Drawn `changes`: grows when a page changes
 */

const DRAW_MS = 30; // after the last row was drawn

export class MemoryMap {
  /** @param {{limit: (page: number) => void, show: (page: number) => void}} on */
  constructor(on) {
    this.box = el("div", { class: "mmap" });
    this.limit = new SpoilerLimit(on.limit);
    this.drawn = ""; // from what, as JSON
    this.count = 0; // pages that can be gone to
    /** @type {Cell[]} */
    this.places = [];
    this.box.addEventListener("click", (event) => {
      const top = this.box.firstElementChild?.getBoundingClientRect().top ?? 0;
      if (this.places.length) on.show(Math.min(pageAt(this.places, event.clientY - top), this.count));
    });
  }

  close() {
    clearTimeout(this.timer);
    this.limit.close();
  }

  /** Draws after the rows, and only if something changed: a long book has a thousand cells. @param {() => Drawn} now */
  soon(now) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(now()), DRAW_MS);
  }

  /** @param {Drawn} now */
  draw({ data, pages, changes, closed }) {
    const { width, height } = this.box.getBoundingClientRect();
    if (!height || !this.box.isConnected) return;
    const { scope, count, limit, searched, expanded, inPart = {}, marked } = data;
    const drawn = JSON.stringify([width, height, scope, count, limit, changes, closed, searched, expanded, inPart, marked]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.count = count;
    // of the pages left out, by the limit or when the question was asked, only the length is shown
    const known = pages.filter(Boolean);
    const shown = known.map((page) => (page.number <= count ? page : { number: page.number, words: page.words, out: true }));
    const parts = Object.entries(inPart).flatMap(([n, part]) => {
      const page = pages[Number(n) - 1];
      /** @type {[number, [number, number][]]} */
      const bars = [Number(n), page ? barsOf(part, page.paragraphs?.map((text) => text.length) ?? []) : []];
      return page && !expanded.includes(Number(n)) ? [bars] : [];
    });
    const inside = new Map(parts);
    const looked = new Set([...expanded, ...(searched ? [] : marked.filter((n) => !inside.has(n)))]);
    const hits = new Set(searched ? marked : []);
    this.places = drawMap(this.box, shown, { width, height: height - 8, looked, hits, closed, inPart: inside });
    this.limit.draw(this.box, this.places, limit);
  }
}
