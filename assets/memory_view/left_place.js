// The place that a window had when it was left or loaded anew: what it sent last may not have reached the server. The next
// window takes it where the server still has a place of the window that was left; else the person has read on elsewhere.
// The id of a book is of one person's library, so nobody else who signs in here is led to the place.

import { forget, keep, keptJson } from "../shared/browser_store.js";

/**
 * @import { Goto } from "../protocol.js"
 * @import { At } from "./text_store.js"
 *
 * @typedef {Pick<At, "paragraph" | "at" | "page">} Spot
 * @typedef {{book: string, spot: Spot, had: string[]}} Left `had`: the places that the server may have
 */

const KEY = "readagent place";

/** @param {{paragraph: number, at: number}} spot */
const nameOf = ({ paragraph, at }) => `${paragraph} ${at}`;

/** @param {{paragraph: number, at: number}} spot @param {{paragraph: number, at: number}} other */
export const isSame = (spot, other) => nameOf(spot) === nameOf(other);

/** What the server knows of where the person reads. @param {Goto} goto */
export const storedIn = ({ paragraph, at, before }) => (before ? { paragraph: before[0], at: before[1] } : { paragraph, at });

/**
 * The place in `left` where it is later than that of the server, else null.
 * @param {Left | null} left
 * @param {string} book
 * @param {Goto} goto
 */
export function laterThan(left, book, goto) {
  const stored = nameOf(storedIn(goto));
  return left?.book === book && nameOf(left.spot) !== stored && left.had.includes(stored) ? left.spot : null;
}

/** @param {unknown} value @returns {value is Left} */
function isLeft(value) {
  const { book, spot, had } = /** @type {Partial<Left>} */ (value ?? {});
  return typeof book === "string" && Number.isInteger(spot?.paragraph) && Number.isInteger(spot?.at) && Array.isArray(had);
}

/** Whether the address names the page or the paragraph of `spot`. @param {Spot} spot @param {string} address its query */
export function isAddressOf(spot, address) {
  const named = new URLSearchParams(address);
  return named.get("page") === String(spot.page) || named.get("paragraph") === String(spot.paragraph);
}

export class LeftPlace {
  /** @type {string[]} what the server may have: what it had when it was heard last, and what it was told of since */
  had = [];
  book = "";

  /** Begins with a book. @param {string} book @param {Goto} goto */
  begin(book, goto) {
    this.book = book;
    this.had = [nameOf(storedIn(goto))];
  }

  /** The place of the window before, where the server has not heard of it. @param {Goto} goto @returns {Spot | null} */
  take(goto) {
    const left = keptJson(KEY);
    if (isLeft(left)) return laterThan(left, this.book, goto);
    forget(KEY);
    return null;
  }

  /** The server is told of a place. @param {Spot} spot */
  told(spot) {
    this.had.push(nameOf(spot));
  }

  /** The server has stored a place. @param {number[] | null} spot its paragraph and character */
  stored(spot) {
    const at = spot ? this.had.lastIndexOf(nameOf({ paragraph: spot[0], at: spot[1] })) : -1;
    if (at > 0) this.had.splice(0, at);
  }

  /** The window may be closed now. @param {Spot} spot */
  keep({ paragraph, at, page }) {
    const spot = { paragraph, at, page };
    const known = this.had.every((name) => name === nameOf(spot));
    if (known) forget(KEY);
    else keep(KEY, JSON.stringify({ book: this.book, spot, had: this.had }));
  }
}
