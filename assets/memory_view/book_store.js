// The pages of readings in this browser tab, each under its scope: stored once and shared by every part that draws them.
// Pages arrive in batches, in any order and more than once; only pages that changed are reported to listeners.

import { tabState } from "../shared/tab_state.js";

/**
 * @import { LayerPage, Page, PageBatch } from "../protocol.js"
 *
 * @typedef {Page | LayerPage} AnyPage
 */

/**
 * The pages of one reading, each with its JSON, to see whether it changed. Event: "pages" (detail: the numbers that
 * changed).
 * @template {AnyPage} P
 */
export class StoredBook extends EventTarget {
  /** @type {(P & {text: string})[]} */
  pages = [];
}

/** @type {Map<string, StoredBook<AnyPage>>} */
const books = tabState("books", () => new Map());

/** @param {string} scope */
function stored(scope) {
  const known = books.get(scope) ?? new StoredBook();
  books.set(scope, known);
  return known;
}

/** The pages under a scope of Ask, which have their texts. @param {string} scope */
export const bookOf = (scope) => /** @type {StoredBook<Page>} */ (stored(scope));

/** The pages under a scope of the reader. @param {string} scope */
export const layerOf = (scope) => /** @type {StoredBook<LayerPage>} */ (stored(scope));

/** @param {PageBatch} batch */
export function storePages({ scope, from, pages }) {
  const book = stored(scope);
  /** @type {number[]} */
  const changed = [];
  pages.forEach((record, i) => {
    const at = from - 1 + i;
    const text = JSON.stringify(record);
    if (book.pages[at]?.text === text) return;
    book.pages[at] = { ...record, text };
    changed.push(record.number);
  });
  if (changed.length) book.dispatchEvent(new CustomEvent("pages", { detail: changed }));
}

/**
 * A function that calls `listener` once a frame, with all items it was called with since: pages come in batches.
 * @param {(items: number[]) => void} listener
 */
export function oncePerFrame(listener) {
  /** @type {number[]} */
  let waiting = [];
  let asked = false;
  return (/** @type {number[]} */ items = []) => {
    waiting.push(...items);
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      const all = waiting;
      [waiting, asked] = [[], false];
      listener(all);
    });
  };
}
