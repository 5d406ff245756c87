// The pages of readings in this browser tab, each under its scope: stored once and shared by every part that draws them.
// Pages arrive in batches, in any order and more than once; only pages that changed are reported to listeners.

import { tabState } from "../shared/tab_state.js";

const books = tabState("books", () => new Map());

/**
 * @typedef {import("./types.js").Page} Page
 * @typedef {EventTarget & {pages: (Page & {text: string})[]}} StoredBook
 *   `text`: the page as JSON, to see whether it changed. Event: "pages" (detail: the numbers that changed).
 *
 * @param {string} scope
 * @returns {StoredBook}
 */
export function bookOf(scope) {
  if (!books.has(scope)) books.set(scope, Object.assign(new EventTarget(), { pages: [] }));
  return books.get(scope);
}

/** @param {import("./types.js").PageBatch} batch */
export function storePages({ scope, from, pages }) {
  const book = bookOf(scope);
  const changed = [];
  pages.forEach((record, i) => {
    const at = from - 1 + i;
    const text = JSON.stringify(record);
    if (book.pages[at]?.text === text) return;
    book.pages[at] = { ...record, text };
    changed.push(record.n);
  });
  if (changed.length) book.dispatchEvent(new CustomEvent("pages", { detail: changed }));
}

/** A function that calls `listener` once a frame, with all items it was called with since: pages come in batches. */
export function oncePerFrame(listener) {
  let waiting = null;
  return (items = []) => {
    if (waiting) return void waiting.push(...items);
    waiting = [...items];
    requestAnimationFrame(() => {
      const all = waiting;
      waiting = null;
      listener(all);
    });
  };
}
