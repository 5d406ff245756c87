// Searches the text and the gists in the browser, where both are, marks the hits and goes from one to the next.

import { folded, patternsOf, placesOf, placesOfReadings, withoutCommon } from "./search_text.js";

/**
 * @import { Span } from "../shared/dom.js"
 * @import { Layer } from "./layer.js"
 * @import { Folded, Pattern } from "./search_text.js"
 * @import { Jump, ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {["t" | "g", number, number, number]} Hit in the text or in a gist, paragraph or page, start, end
 */

export class Search {
  /**
   * `unfold`: shows a place in the text, or with null the gist of its page, where a line or a gist stands for it.
   * @param {{state: ReadingState, units: Units, layer: Layer, jump: Jump, unfold: (paragraph: number, at: number | null) => void, found: () => void}} needs
   */
  constructor({ state, units, layer, jump, unfold, found }) {
    this.state = state;
    this.units = units;
    this.layer = layer;
    this.jump = jump;
    this.unfold = unfold;
    this.found = found;
    this.query = "";
    /** @type {Pattern[]} that of what the query may mean which is in the book */
    this.patterns = [];
    /** @type {Hit[]} in the order of the book */
    this.hits = [];
    /** @type {Map<number, Hit[]>} */
    this.byParagraph = new Map();
    /** @type {Map<number, Hit[]>} */
    this.byPage = new Map();
    this.at = -1; // the current hit
    /** @type {"t" | "g"} whose hits one goes through: of the text or of the gists */
    this.kind = "t";
    this.ahead = 0; // hits on pages that the person has not read, which are kept back
    this.tellsAll = false; // whether the person asked for those too
    this.from = state.here; // where the person was when they began to search
    /** @type {number | null} the paragraph to which the last hit took them from there */
    this.landed = null;
    /** @type {Set<number>} paragraphs whose hits are marked */
    this.marked = new Set();
    /** @type {Set<number>} pages whose gists have marked hits */
    this.gists = new Set();
    /** @type {[number, number] | null} the paragraphs in view */
    this.view = null;
    /** @type {Set<number>} paragraphs that were in view during the search */
    this.seen = new Set();
    /** @type {Folded[]} of paragraphs, made at the first search */
    this.plain = [];
  }

  /** Another book: forgets all that was found. */
  clear() {
    this.query = "";
    this.patterns = [];
    this.hits = [];
    this.byParagraph = new Map();
    this.byPage = new Map();
    this.at = -1;
    this.ahead = 0;
    this.tellsAll = false;
    this.landed = this.view = null;
    this.marked.clear();
    this.gists.clear();
    this.seen.clear();
    this.plain = [];
  }

  get shown() {
    return this.hits[this.at];
  }

  /** The hits that one goes through. */
  get walked() {
    const of = (/** @type {string} */ kind) => this.hits.filter(([field]) => field === kind);
    const own = of(this.kind);
    return own.length ? own : of(this.kind === "t" ? "g" : "t");
  }

  /** Goes through the hits of the text, or of the gists, from now on. @param {"t" | "g"} kind */
  walk(kind) {
    const { shown } = this;
    this.kind = kind;
    if (shown && shown[0] !== kind) this.at = -1;
    this.markHit(shown);
    this.found();
  }

  /** @param {Hit[] | undefined} hits @returns {Span[]} */
  spans(hits) {
    return (hits ?? []).map((hit) => [hit[2], hit[3], hit === this.shown ? "hit now" : "hit"]);
  }

  /** @param {number} paragraph */
  inText(paragraph) {
    return this.spans(this.byParagraph.get(paragraph));
  }

  /** @param {number} page */
  inGist(page) {
    return this.spans(this.byPage.get(page));
  }

  /** Searches for `query` and goes to the first hit from here on, or from where the person was before the hits of other words. @param {string} query */
  ask(query) {
    if (query === this.query) return;
    const { here } = this.state;
    if (here.paragraph !== this.landed) {
      this.from = here;
      this.landed = null;
    }
    if (!query) this.tellsAll = false;
    this.query = query;
    this.find();
    this.kind = this.state.folded && this.byPage.size ? "g" : "t";
    this.at = -1;
    this.at = this.nextFrom(this.from);
    this.markAll();
    if (this.hits.length) this.step(0);
    this.found();
  }

  /** More text or gists have come: the same search again; the person stays where they are. */
  again() {
    if (!this.patterns.length) return;
    const before = String(this.shown);
    this.find();
    const same = this.hits.findIndex((hit) => String(hit) === before);
    this.at = same >= 0 ? same : Math.min(this.at, this.hits.length - 1);
    if (this.shown && !this.walked.includes(this.shown)) this.at = this.nextFrom(this.state.here); // the text came after the gists
    this.markAll();
    this.found();
  }

  /** The index of the first hit from a place on; after the last comes the first. @param {{paragraph: number, page: number | null}} place */
  nextFrom({ paragraph, page }) {
    const { walked } = this;
    const next = walked.find(([field, at]) => (field === "t" ? at >= paragraph : at >= (page ?? 0))) ?? walked[0];
    return next ? this.hits.indexOf(next) : -1;
  }

  /** The person went back from the hits to where they were reading: none of them is the current one. */
  leave() {
    const { shown } = this;
    this.at = -1;
    this.landed = null;
    this.markHit(shown);
    if (shown) this.found();
  }

  /** Whether hits on pages that were not read are kept back. */
  get limited() {
    return this.state.data.limit !== null && !this.tellsAll;
  }

  /** Whether hits in a paragraph are shown: it was read, or is or was on the screen during the search. @param {number} paragraph */
  mayTell(paragraph) {
    return !this.limited || paragraph < Math.max(this.state.data.limit ?? 0, this.state.furthest) || this.seen.has(paragraph);
  }

  /** Shows the hits on pages that were not read too, until the search ends. */
  showAhead() {
    this.tellsAll = true;
    this.again();
    if (this.shown && this.landed === null) this.step(0);
  }

  /** Whether a text has the query. @param {string} text */
  isIn(text) {
    return this.patterns.length > 0 && placesOf(folded(text), this.patterns).length > 0;
  }

  /** @param {Hit} hit one of `hits` */
  goTo(hit) {
    const before = this.shown;
    this.kind = hit[0];
    this.at = this.hits.indexOf(hit);
    this.markHit(before);
    this.step(0);
  }

  /** Finds the words as they were typed; where they stand nowhere so, the paragraphs and gists that have all of them. */
  find() {
    const [phrase, each] = patternsOf(this.query);
    this.findAll(phrase ?? []);
    if (each && !this.hits.length && !this.ahead) this.findAll(withoutCommon(each, this.plain.filter(Boolean)));
  }

  /** @param {Pattern[]} patterns */
  findAll(patterns) {
    const { book, pages } = this.state;
    this.patterns = patterns;
    this.ahead = 0;
    this.byParagraph = new Map();
    this.byPage = new Map();
    /** @param {"t" | "g"} field @param {number} at @param {Folded} text @returns {Hit[]} */
    const found = (field, at, text) => placesOf(text, this.patterns).map(([start, end]) => [field, at, start, end]);
    for (const [paragraph, text] of this.patterns.length ? book.text.entries() : []) {
      if (text === undefined) continue; // it has not come yet
      this.plain[paragraph] ??= folded(text);
      const hits = found("t", paragraph, this.plain[paragraph]);
      for (const [start, end] of placesOfReadings(book.spans.get(paragraph), this.patterns)) {
        if (hits.every((hit) => hit[3] <= start || end <= hit[2])) hits.push(["t", paragraph, start, end]);
      }
      hits.sort((a, b) => a[2] - b[2]);
      if (hits.length && !this.mayTell(paragraph)) this.ahead += hits.length;
      else if (hits.length) this.byParagraph.set(paragraph, hits);
    }
    for (const { number: n, gist: g } of this.patterns.length ? pages : []) {
      const hits = g ? found("g", n, folded(g.text)) : [];
      if (hits.length) this.byPage.set(n, hits);
    }
    this.hits = this.inOrder();
  }

  // The hits of the text, those of each gist after the text of its page.
  inOrder() {
    const gists = [...this.byPage.entries()];
    /** @type {Hit[]} */
    const found = [];
    for (const [paragraph, hits] of this.byParagraph) {
      while (gists.length && this.state.pages[gists[0][0] - 1].end <= paragraph) found.push(...(gists.shift()?.[1] ?? []));
      found.push(...hits);
    }
    return found.concat(...gists.map(([, hits]) => hits));
  }

  // A common word occurs ten thousand times in a long book: hits are marked where the person is (`follow`).
  markAll() {
    for (const p of this.marked.keys()) this.units.mark(p, this.inText(p));
    for (const p of this.marked.keys()) if (!this.byParagraph.has(p)) this.marked.delete(p);
    for (const n of this.gists) this.layer.redrawGist(n);
    this.gists = new Set(this.byPage.keys());
    for (const n of this.gists) this.layer.redrawGist(n);
    if (this.view) this.follow(...this.view);
  }

  /** Marks the hits in paragraphs `first` to `last`, which are in view, and around them. @param {number} first @param {number} last */
  follow(first, last) {
    this.view = [first, last];
    if (!this.query) this.seen.clear();
    if (!this.state.folded) for (let p = first; p <= last; p++) this.seen.add(p); // gists show no text
    if (!this.hits.length) return;
    for (let p = Math.max(0, first - 30); p <= last + 30; p++) {
      if (this.marked.has(p) || !this.byParagraph.has(p)) continue;
      this.marked.add(p);
      this.units.mark(p, this.inText(p));
    }
  }

  /** @param {Hit | undefined} hit */
  markHit(hit) {
    if (!hit) return;
    if (hit[0] === "t") {
      this.marked.add(hit[1]);
      this.units.mark(hit[1], this.inText(hit[1]));
    } else this.layer.redrawGist(hit[1]);
  }

  /** @param {number} by */
  step(by) {
    const { shown: before, hits, walked } = this;
    if (!hits.length) return;
    const at = before ? walked.indexOf(before) : walked.indexOf(hits[this.nextFrom(this.state.here)]) - Math.max(by, 0);
    this.at = hits.indexOf(walked[(at + by + walked.length) % walked.length]);
    this.markHit(before);
    this.markHit(this.shown);
    this.show(this.shown);
    this.found();
  }

  /** One goes back from all hits at once, to where one was reading. @param {Hit} hit */
  show(hit) {
    const back = this.state.here.paragraph !== this.landed;
    const [field, at, start] = hit;
    if (field === "t") this.unfold(at, start);
    else {
      this.unfold(this.state.pages[at - 1].start, null);
      this.layer.openGist(at);
    }
    if (this.jump(this.placeOf(hit), { back, lookup: true }) || !back) this.landed = this.state.here.paragraph;
  }

  /** @param {Hit} hit */
  placeOf([field, at]) {
    const { units, layer } = this;
    if (field === "t") return { paragraph: at, mark: units.nodes[at]?.querySelector("mark.now") };
    const page = this.state.pages[at - 1];
    const mark = layer.drawn.get(at)?.gist.querySelector("mark.now");
    return { paragraph: page.start, at: page.startAt, mark: mark?.checkVisibility() ? mark : null }; // else its page
  }
}
