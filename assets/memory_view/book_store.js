// The books of this browser tab, each under its scope: stored once and shared by every part that draws them.
// Pages arrive in batches, in any order and more than once; only pages that changed are reported to listeners.

import { tabState } from "../shared/tab_state.js";

const books = tabState("books", () => new Map());

/**
 * @typedef {import("./types.js").Page} Page
 * @typedef {EventTarget & {pages: (Page & {text: string})[], at: Position | null, visited: string | null}} StoredBook
 *   `text`: the page as JSON, to see whether it changed; `at`: where the person is; `visited`: the id of the last
 *   request to go to a page (see types.js) that was followed. Events: "pages" (detail: the numbers that changed), "at",
 *   "outline" (focus the outline), "goto" (detail: a page number).
 * @typedef {{page: number, paragraph: number}} Position
 *
 * @param {string} scope
 * @returns {StoredBook}
 */
export function bookOf(scope) {
  if (!books.has(scope)) books.set(scope, Object.assign(new EventTarget(), { pages: [], at: null, visited: null }));
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

/** Reports where the person is to every other part; `page` is a number from 1. */
export function setPosition(scope, page, paragraph) {
  const book = bookOf(scope);
  if (book.at?.page === page && book.at?.paragraph === paragraph) return;
  book.at = { page, paragraph };
  book.dispatchEvent(new CustomEvent("at", { detail: book.at }));
}

/** The sections ([title, level, first paragraph]) with the pages they start and end on, null while not read. */
export function sectionStarts(book, sections) {
  const known = book.pages.filter(Boolean);
  const lastFrom = (paragraph) => {
    // binary search for the last page that begins at the paragraph or before it: a book has thousands of both
    let [low, high] = [0, known.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (known[middle].s <= paragraph) low = middle + 1;
      else high = middle;
    }
    return known[low - 1];
  };
  return sections.map(([title, level, start], i) => {
    const next = sections[i + 1]?.[2] ?? Infinity;
    const reaches = (p) => (p && p.s + p.t.length > start ? p : null);
    const page = reaches(lastFrom(start));
    const last = reaches(lastFrom(next - 1)) ?? page;
    return { title, level, start, next, page: page?.n ?? null, last: page ? (last?.n ?? null) : null };
  });
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
