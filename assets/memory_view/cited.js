// The words that a claim of an answer rests on, marked in the text; each press on the claim's chip goes to the next ones.

import { paint } from "./mark_kinds.js";
import { rangeIn } from "./text_places.js";

/**
 * @import { Cite, ReaderData } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { Jump, ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 */

const ABOVE = 1; // line of the paragraph that stays in view above the words, not where a sheet takes the room
const LETTER = 0.5; // a letter's width by the size of the type
const [ALL, NOW] = ["cited", "cited-now"]; // names of highlights: all passages of a claim, and the one gone to

export class Cited {
  /** @param {{state: ReadingState, frame: Frame, units: Units, jump: Jump}} needs */
  constructor({ state, frame, units, jump }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.jump = jump;
    /** @type {NonNullable<Cite["spots"]>} */
    this.spots = [];
    this.at = 0;
    /** @type {ReaderData["cited"]} what the server asks for, until it is there */
    this.asked = null;
    this.moved = false; // to words that are not drawn yet
    this.ended = new AbortController();
    document.addEventListener("readagent-cite", (event) => this.follow(/** @type {CustomEvent<Cite>} */ (event)), {
      signal: this.ended.signal,
    });
  }

  close() {
    this.ended.abort();
    this.clear();
  }

  /** @param {CustomEvent<Cite>} event */
  follow(event) {
    const { spots } = event.detail;
    if (!this.frame.isShown || !this.state.book.known || !spots?.length) return;
    event.preventDefault();
    const same = JSON.stringify(spots) === JSON.stringify(this.spots);
    this.show(spots, same ? (this.at + 1) % spots.length : 0);
  }

  /** @param {ReaderData["cited"]} cited */
  take(cited) {
    if (!cited || cited.id === this.state.book.cited) return;
    this.asked = cited;
    this.settle();
  }

  /** Goes to the words that the server asked for, as soon as they are there. */
  settle() {
    const { asked } = this;
    if (!asked || !this.units.nodes[asked.spots[0][0]]) return this.draw();
    this.asked = null;
    this.state.book.cited = asked.id;
    this.show(asked.spots, 0, { back: false }); // one press back is to where the citation was
  }

  /** Goes to one of `spots` and marks all. @param {NonNullable<Cite["spots"]>} spots @param {number} at */
  show(spots, at = 0, { back = true } = {}) {
    this.spots = spots;
    this.at = at;
    const [paragraph, start] = spots[at];
    const node = this.units.nodes[paragraph];
    const lines = this.state.paged || this.frame.isPhone ? 0 : ABOVE;
    const above = node ? (lines * node.clientWidth) / (LETTER * Number.parseFloat(getComputedStyle(node).fontSize)) : 0;
    this.jump({ paragraph, at: Math.max(0, Math.round(start - above)) }, { back, lookup: true });
    this.moved = true;
    this.draw();
  }

  /** Paints what is drawn of the text; called again when more of it comes. */
  draw() {
    /** @type {Range[]} */
    const all = [];
    /** @type {Range[]} */
    const now = [];
    for (const [i, [paragraph, start, end]] of this.spots.entries()) {
      const node = this.units.nodes[paragraph];
      if (!node || end <= start) continue;
      const range = rangeIn(node, start, end);
      all.push(range);
      if (i === this.at) now.push(range);
    }
    paint(ALL, all);
    paint(NOW, now);
    if (!this.moved || !now.length) return;
    this.moved = false;
    document.dispatchEvent(new CustomEvent("readagent-cited", { detail: now })); // a sheet makes room for them
  }

  /** Whether there was anything marked. */
  clear() {
    const had = this.spots.length > 0;
    this.spots = [];
    this.draw();
    return had;
  }
}
