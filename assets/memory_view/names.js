// The names in the text: a quiet line under the first mention of each on a page, and what is pressed at any mention. Lines
// are ranges of the CSS Custom Highlight API, so that the elements of the text stay as they are.

import { paint, SUPPORTED } from "./mark_kinds.js";
import { NameMatcher } from "./name_matcher.js";
import { rangeIn } from "./text_places.js";
import { ALL } from "./world.js";
import { worldOf } from "./world_store.js";

/**
 * @import { Frame } from "./frame.js"
 * @import { Mention } from "./name_matcher.js"
 * @import { ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 * @import { Known } from "./world.js"
 * @import { StoredWorld } from "./world_store.js"
 *
 * @typedef {{paragraph: number, start: number, end: number, name: string, id: string}} Named a mention of somebody known
 */

const [LOOK_MS, REST_MS] = [2, 12]; // of looking for names at a time, and between
const WITHOUT_PAGES = 8; // paragraphs with a line under each first mention where there are no pages: less than a screen
const [LINES, OPEN] = ["name-line", "name-open"];

export class Names {
  /**
   * `pressed`: a mention was pressed; `changed`: other things are known.
   * @param {{state: ReadingState, frame: Frame, units: Units, pressed: (named: Named) => void, changed: () => void}} needs
   */
  constructor({ state, frame, units, pressed, changed }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.store = worldOf("");
    /** @type {[number, number] | null} the paragraphs in view */
    this.view = null;
    /** @type {NameMatcher} */
    this.matcher = new NameMatcher([]);
    this.version = -1; // of the world that the matcher is made of
    /** @type {Map<number, Mention[]>} the mentions in a paragraph */
    this.found = new Map();
    /** @type {Map<string, Set<number>>} the paragraphs that have a name, of those looked at */
    this.having = new Map();
    /** @type {Map<string, Named[]>} the lines of a page */
    this.lines = new Map();
    this.heard = () => {
      this.draw();
      changed();
    };
    this.ended = new AbortController();
    const until = { signal: this.ended.signal };
    /** @param {MouseEvent} event */
    const clicked = (event) => {
      const named = event.cancelBubble || String(frame.selection() ?? "") ? null : this.at(event);
      if (!named) return;
      event.stopPropagation();
      pressed(named);
    };
    frame.scroller.addEventListener("click", clicked, { capture: true, ...until }); // before a click turns the page
  }

  close() {
    this.ended.abort();
    this.store.removeEventListener("world", this.heard);
    paint(LINES, []);
    paint(OPEN, []);
  }

  /** @param {string} book */
  follow(book) {
    if (this.store === worldOf(book)) return;
    this.store.removeEventListener("world", this.heard);
    this.store = worldOf(book);
    this.store.addEventListener("world", this.heard);
    this.version = -1;
    this.view = null;
    this.heard();
  }

  get world() {
    return this.store.world;
  }

  /** Makes the matcher anew where other names are known; what was found with the one before is forgotten. */
  refresh() {
    if (this.version === this.store.version) return;
    this.version = this.store.version;
    const names = this.world.namesAt(ALL);
    const same = names.length === this.matcherNames.length && names.every((name, i) => name === this.matcherNames[i]);
    this.lines.clear();
    if (same) return;
    this.matcherNames = names;
    this.matcher = new NameMatcher(names);
    this.found.clear();
    this.having.clear();
    this.lookAhead(0);
  }

  /** @type {string[]} */
  matcherNames = [];

  /** Finds the names in all paragraphs while nothing else is to be done, so that no card waits for it. @param {number} from */
  lookAhead(from) {
    const { matcher } = this;
    const begun = performance.now();
    let at = from;
    while (at < this.state.book.text.length && performance.now() - begun < LOOK_MS) this.mentionsIn(at++);
    const later = () => this.matcher === matcher && !this.ended.signal.aborted && this.lookAhead(at);
    if (at < this.state.book.text.length) setTimeout(later, REST_MS);
  }

  /** @param {number} paragraph @returns {Mention[]} */
  mentionsIn(paragraph) {
    this.refresh();
    const known = this.found.get(paragraph);
    if (known) return known;
    const text = this.state.book.text[paragraph];
    if (text === undefined) return [];
    const found = this.matcher.size ? this.matcher.find(text) : [];
    this.found.set(paragraph, found);
    for (const [, , name] of found) this.having.set(name, (this.having.get(name) ?? new Set()).add(paragraph));
    return found;
  }

  /**
   * The mentions in a paragraph of those who are known by the end of it, or of another.
   * @param {number} paragraph
   * @param {number} [known]
   * @returns {Named[]}
   */
  namedIn(paragraph, known = paragraph) {
    return this.mentionsIn(paragraph).flatMap(([start, end, name]) => {
      const id = this.world.meant(name, paragraph, this.state.pageAt(paragraph, start), known);
      return id === null ? [] : [{ paragraph, start, end, name, id }];
    });
  }

  /** Every mention of one who is known by the end of a paragraph, also those before the name was known. @param {Known} known @param {number} paragraph @returns {Named[]} */
  placesOf(known, paragraph) {
    const ids = new Set(known.ids);
    for (let at = 0; at <= paragraph; at++) if (!this.found.has(at)) this.mentionsIn(at);
    const having = new Set(known.names.flatMap((name) => [...(this.having.get(name) ?? [])]));
    return [...having]
      .filter((at) => at <= paragraph)
      .sort((a, b) => a - b)
      .flatMap((at) => this.namedIn(at, paragraph).filter(({ id }) => ids.has(id)));
  }

  /** The first mention of each name on the pages of paragraphs `first` to `last`. @param {number} first @param {number} last */
  linesIn(first, last) {
    this.refresh();
    const found = [];
    for (let from = first; from <= last; ) {
      const [start, end] = this.pageAround(from);
      const key = `${start} ${end}`;
      let lines = this.lines.get(key);
      if (!lines) {
        /** @type {Set<string>} */
        const met = new Set();
        lines = [];
        for (let at = start; at < end; at++)
          for (const named of this.namedIn(at)) {
            if (met.has(named.id)) continue;
            met.add(named.id);
            lines.push(named);
          }
        this.lines.set(key, lines);
      }
      found.push(...lines.filter(({ paragraph }) => paragraph >= first && paragraph <= last));
      from = Math.max(end, from + 1);
    }
    return found;
  }

  /** The paragraphs of the page of a paragraph, as [first, end]. @param {number} paragraph */
  pageAround(paragraph) {
    const page = this.state.pages[(this.state.pageAt(paragraph) ?? 0) - 1];
    if (page) return [page.start, Math.max(page.end, page.start + 1)];
    const start = paragraph - (paragraph % WITHOUT_PAGES);
    return [start, start + WITHOUT_PAGES];
  }

  /** Draws the lines under the names in view. @param {number} first @param {number} last */
  seen(first, last) {
    this.view = [first, last];
    this.draw();
  }

  draw() {
    if (!this.view || !SUPPORTED || !this.state.book.known || !this.frame.isShown) return;
    const shown = this.state.look.names !== "off" ? this.linesIn(...this.view) : [];
    paint(
      LINES,
      shown.flatMap((named) => this.rangeOf(named) ?? []),
    );
  }

  /** The elements of a paragraph are new. Called by the units. @param {number} paragraph */
  paragraphDrawn(paragraph) {
    if (!this.view || paragraph < this.view[0] || paragraph > this.view[1] || this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  /** @param {Named} named */
  rangeOf({ paragraph, start, end }) {
    const node = this.units.nodes[paragraph];
    return node ? rangeIn(node, start, end) : null;
  }

  /** Shows which mention the card is about. @param {Named | null} named */
  markOpen(named) {
    const range = named && this.rangeOf(named);
    paint(OPEN, range ? [range] : []);
  }

  /** The mention under a click. @param {MouseEvent} event */
  at(event) {
    const target = event.composedPath()[0];
    /** @type {HTMLElement | null} */
    const node = target instanceof Element && !target.closest("button, a, [role=link]") ? target.closest("p[data-i]") : null;
    if (!node) return null;
    const { clientX: x, clientY: y } = event;
    for (const named of this.namedIn(Number(node.dataset.i))) {
      const boxes = this.rangeOf(named)?.getClientRects() ?? [];
      for (const box of boxes) if (x >= box.left - 1 && x <= box.right + 1 && y >= box.top - 2 && y <= box.bottom + 4) return named;
    }
    return null;
  }

  /** The names in view that have a line, in their order; where none is shown, all first mentions. */
  inView() {
    if (!this.view) return [];
    const view = this.frame.scroller.getBoundingClientRect();
    return this.linesIn(...this.view).filter((named) => {
      const box = this.rangeOf(named)?.getBoundingClientRect();
      return box && box.bottom > view.top && box.top < view.bottom && box.right > view.left && box.left < view.right;
    });
  }

  /** The next name in view after one, or the first; with `step` -1 the one before. @param {Named | null} after @param {number} step */
  next(after, step) {
    const all = this.inView();
    if (!all.length) return null;
    const at = after ? all.findIndex((named) => named.paragraph === after.paragraph && named.start === after.start) : -1;
    if (at >= 0) return all[(at + step + all.length) % all.length];
    return step > 0 ? all[0] : all[all.length - 1];
  }
}
