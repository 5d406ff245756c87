// The places of a book in the browser's history: the entry of the page has the place where the person is, and a jump adds
// one. Back and Forward of the browser then go through places. The address names the book and its page, or its paragraph.

import { screen } from "../shared/screens.js";
import { ABOVE } from "./state.js";

/**
 * @import { Here, Place } from "./state.js"
 *
 * @typedef {{paragraph: number, at: number, top?: number, depth: number | null}} From the place that the way back leads to
 * @typedef {{book: string, depth: number, paragraph: number, at: number, top?: number, from?: From | null}} Entry `depth`: how many
 *   jumps led to it
 */

/** @param {{paragraph: number, at: number, top?: number}} place as it is in messages @returns {Place} */
export const placeFrom = ({ paragraph, at, top }) => (at === ABOVE ? { paragraph, top } : { paragraph, at, top });

export class PlaceHistory {
  /** `go`: shows a place to which the browser went, `by` entries further. @param {(place: Place, by: number) => void} go */
  constructor(go) {
    this.go = go;
    this.book = ""; // "": nothing is written
    this.depth = 0;
    this.ended = new AbortController();
    // before Streamlit hears of it, which would run the whole screen again
    window.addEventListener("popstate", (event) => this.moved(event), { capture: true, signal: this.ended.signal });
  }

  close() {
    this.ended.abort();
  }

  /** @param {string} book the id in the address */
  begin(book) {
    this.book = book;
    const known = this.read(history.state);
    /** @type {Entry | null} what the entry of the page has, where the page was loaded anew */
    this.entry = known?.book === book ? known : null;
    this.depth = this.entry?.depth ?? 0;
  }

  /** @param {unknown} state @returns {Entry | undefined} */
  read(state) {
    return state && typeof state === "object" && "readagent" in state ? /** @type {Entry} */ (state.readagent) : undefined;
  }

  /** @param {PopStateEvent} event */
  moved(event) {
    const entry = this.read(event.state);
    if (!entry || entry.book !== this.book || screen() !== "read") return; // another book or screen: Streamlit's
    event.stopImmediatePropagation();
    const by = entry.depth - this.depth;
    this.depth = entry.depth;
    this.go(placeFrom(entry), by);
  }

  /** Writes where the person is into the entry of the page, and where the way back leads. @param {Here} here @param {From | null} from */
  write(here, from = null) {
    if (!this.book || screen() !== "read") return;
    history.replaceState({ ...history.state, ...this.state(here, from) }, "", this.address(here));
  }

  /** Adds an entry for where a jump led. @param {Here} here */
  add(here) {
    if (!this.book || screen() !== "read") return;
    this.depth += 1;
    history.pushState(this.state(here), "", this.address(here));
  }

  back() {
    history.back();
  }

  /** @param {Here} here @param {From | null} from */
  state({ paragraph, at, above, top }, from = null) {
    return { readagent: { book: this.book, depth: this.depth, paragraph, at: above ? ABOVE : at, top, from } };
  }

  /** @param {Here} here */
  address({ paragraph, page }) {
    return `?book=${this.book}&${page ? `page=${page}` : `paragraph=${paragraph}`}`;
  }
}
