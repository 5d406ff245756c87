// How far the person has read. A paragraph counts when it was on the screen long enough to be read and the person then
// turned on: scrolled or paged forward past it. What a jump (End, search, the map, a link) passes never counts.
//
// Long enough: as long as reading the words in view takes at 600 words a minute, at least 2 s, at most 20 s.

import { wordsBetween } from "./text_store.js";

/** @import { ReadingState } from "./state.js" */

const LOOK_MS = 2000; // between two looks at what is on the screen
const WORDS_A_SECOND = 10;
const [LEAST, MOST] = [2000, 20_000]; // ms
const SKIPPED_WORDS = 600; // scrolled past unread without losing the thread: about a page
const JUMPED_WORDS = 150; // between what was read and where reading went on, less than a screen
const OFFER_WORDS = 400; // read beyond a gap, before the person is asked whether all up to there is read

export class Progress {
  /**
   * @param {{state: ReadingState, progressed: (byHand: boolean) => void}} needs
   */
  constructor({ state, progressed }) {
    this.state = state;
    this.progressed = progressed;
    /** @type {number | undefined} until it has come back from the server */
    this.setByHand = undefined;
    /** @type {Map<number, number>} paragraph -> the share of the time it needs that it was on the screen */
    this.seen = new Map();
    /** @type {number | null} the first paragraph of what was read without a jump */
    this.run = null;
    /** @type {{first: number, last: number, needs: number, since: number} | null} what is on the screen */
    this.view = null;
    this.beyond = 0; // words read beyond a gap that do not count yet
    this.timer = setInterval(() => this.view && this.look(this.view.first, this.view.last), LOOK_MS);
  }

  close() {
    clearInterval(this.timer);
  }

  /**
   * What is stored, which may have been read in another tab; `before`: what was stored last. What the person has just set
   * by hand takes a moment to come back. Returns whether it is more than was known.
   * @param {number} furthest
   * @param {number} before
   */
  takeStored(furthest, before) {
    if (this.setByHand === furthest) this.setByHand = undefined;
    if (this.setByHand !== undefined || furthest === before || furthest <= this.state.furthest) return false;
    this.begin(furthest);
    return true;
  }

  /** @param {number} furthest */
  begin(furthest) {
    this.reach(furthest);
    this.seen.clear();
    this.run = this.view = null;
    this.beyond = 0;
  }

  /** @param {number} furthest */
  reach(furthest) {
    this.state.furthest = this.state.book.furthest = furthest;
  }

  /** A jump: what it passes is not read, and what is in view has not been turned. */
  jumped() {
    this.measure();
    this.view = null;
    this.run = null;
    this.beyond = 0;
  }

  /** Sets it by hand: `furthest` paragraphs from the start are read. @param {number} furthest */
  set(furthest) {
    this.begin(furthest);
    this.setByHand = furthest;
    this.progressed(true);
  }

  // Adds the time since the last look to what was in view.
  measure() {
    const { view, seen } = this;
    const now = Date.now();
    if (view && document.visibilityState === "visible") {
      const share = (now - view.since) / view.needs;
      for (let p = view.first; p <= view.last; p++) seen.set(p, Math.min(1, (seen.get(p) ?? 0) + share));
    }
    if (view) view.since = now;
  }

  /** Paragraphs `first` to `last` are in view now. @param {number} first @param {number} last */
  look(first, last) {
    this.measure();
    const { book } = this.state;
    if (this.view?.first !== first || this.view.last !== last) {
      const words = wordsBetween(book, first, last + 1);
      const needs = Math.min(MOST, Math.max(LEAST, (1000 * words) / WORDS_A_SECOND));
      this.view = { first, last, needs, since: Date.now() };
    }
    this.run ??= first;
    const atEnd = last === book.outline.paragraphs - 1;
    this.advance(atEnd ? last + 1 : first);
  }

  /** Everything before paragraph `turned` was turned. @param {number} turned */
  advance(turned) {
    const { book } = this.state;
    const run = this.run ?? 0;
    /** @param {number} p */
    const words = (p) => wordsBetween(book, p, p + 1);
    let [skipped, jumped, reached] = [0, 0, this.state.furthest];
    for (let p = this.state.furthest; p < turned; p++) {
      if ((this.seen.get(p) ?? 0) >= 1 && p >= run) [reached, skipped] = [p + 1, 0];
      else if (p < run) jumped += words(p);
      else skipped += words(p);
      if (jumped > JUMPED_WORDS || skipped > SKIPPED_WORDS) break;
    }
    if (reached > this.state.furthest) {
      this.reach(reached);
      this.beyond = 0;
      for (const p of this.seen.keys()) if (p < reached) this.seen.delete(p);
      this.progressed(false);
    } else if (run > this.state.furthest) {
      let read = 0;
      for (const [p, share] of this.seen) if (share >= 1 && p >= run && p < turned) read += words(p);
      this.beyond = read;
      if (read > OFFER_WORDS) this.progressed(false);
    }
  }

  /** The paragraph up to which the person may say that all is read, after reading beyond a gap; null without one. */
  offer() {
    return this.beyond > OFFER_WORDS && this.view ? this.view.first : null;
  }
}
