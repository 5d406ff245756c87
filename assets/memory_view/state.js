// What the parts of the reader know in common: the book, the pages of a reading, the place, how far it is read, the look.

import { lastUpTo, shareRead, textOf } from "./text_store.js";

/**
 * @import { LayerPage, Look, ReaderData, ReaderView } from "../protocol.js"
 * @import { StoredText } from "./text_store.js"
 *
 * @typedef {{paragraph: number, at?: number, top?: number, mark?: Element | null}} Place `at`: a character of the paragraph, without
 *   one the paragraph with the heading or picture above it; `top`: px between it and the upper edge of the view; `mark`: an element in it
 * @typedef {{paragraph: number, at: number, above: boolean, top?: number, page: number | null}} Here the first character of what is
 *   read; `above`: so is what stands above its paragraph; `top`: as in `Place`, where it is scrolled; `page`: null before pages exist
 * @typedef {(place: Place, options?: {focus?: boolean}) => void} Show
 * @typedef {(place: Place, options?: {focus?: boolean, back?: boolean, always?: boolean, lookup?: boolean}) => boolean} Jump see position.js
 * @typedef {(act: {do: string, page?: number, text?: string}) => void} Send
 */

/** As the character of a place in messages: the paragraph with what stands above it. */
export const ABOVE = -1;

const BACK_MATTER = 0.97; // of a book; what comes after it may be a licence or notes

/** @type {Look} */
const USUAL = {
  size: 18,
  margin: 20,
  warmth: 0,
  measure: 60,
  face: "",
  theme: "",
  lines: 165,
  justify: "",
  names: "on",
  flow: "scroll",
  vertical: "book",
};

/** @type {ReaderData} */
const NOTHING = {
  scope: "",
  book: "",
  layer: null,
  count: 0,
  gists: { running: false, state: "none", line: "", rest: "", more: "", by: "", percent: null, total: 0, actions: [] },
  goto: { paragraph: 0, at: ABOVE, before: null, screen: "", id: "" },
  elsewhere: null,
  stored: null,
  furthest: 0,
  finished: false,
  limit: null,
  looked: {},
  lit: [],
  cited: null,
  look: USUAL,
  view: "both",
  can: { edit: false, ask: false },
  gistPrice: "",
  original: null,
};

export class ReadingState {
  /** @type {StoredText} */
  book = textOf("");
  data = NOTHING;
  look = USUAL;
  /** @type {ReaderView} */
  view = "both";
  paged = false; // whether the text is turned in pages, not scrolled
  /** @type {LayerPage[]} */
  pages = [];
  /** @type {Map<number, number>} page -> the number of answers that looked it up */
  looked = new Map();
  /** @type {Here} */
  here = { paragraph: 0, at: 0, above: true, page: null };
  last = 0; // the last paragraph in view
  atEnd = false; // whether the end of the text is in view
  furthest = 0; // how many paragraphs from the start are read

  /** Where the person is, as it can be shown again. @returns {Place} */
  get place() {
    const { paragraph, at, above, top } = this.here;
    return above ? { paragraph, top } : { paragraph, at, top };
  }

  get canBeVertical() {
    return this.book.outline.unspaced || this.book.outline.vertical;
  }

  /** Whether lines run from top to bottom: as the person chose, else as the book is set. */
  get vertical() {
    const chosen = this.look.vertical;
    return this.canBeVertical && (chosen === "on" || (chosen !== "off" && this.book.outline.vertical));
  }

  /**
   * The page of a place in the text, from 1; null where none is made yet.
   * @param {number} paragraph
   */
  pageAt(paragraph, at = 0) {
    /** @param {LayerPage} page */
    const after = (page) => page.start > paragraph || (page.start === paragraph && (page.startAt ?? 0) > at + 4);
    const found = this.pages[lastUpTo(this.pages, 0, (page) => (after(page) ? 1 : 0))];
    return found && (found.end > paragraph || (found.end === paragraph && (found.endAt ?? 0) > at)) ? found.number : null;
  }

  /** Whether all is read: to the last word, or the person said that they have finished, with nothing left but back matter. */
  get isRead() {
    if (this.furthest >= this.book.outline.paragraphs) return true;
    return this.data.finished && shareRead(this.book, this.furthest) > BACK_MATTER;
  }

  /** Whether gists or chapters are shown in place of the text. */
  get folded() {
    return this.view === "gists" || this.view === "chapters";
  }

  /** How many gists there are, with those that are veiled. */
  gistsMade() {
    return this.pages.filter((page) => page.gist || page.veiled).length;
  }
}
