// Which books the library shows, and in which order: by the words in the search field, shelf, tag, gists and sorting.

import { entry } from "../shared/dom.js";
import { isBegun, isRead } from "./facts.js";

/**
 * @import { Book, BookGists } from "../protocol.js"
 * @import { ShownBook } from "./grid.js"
 * @import { View } from "./store.js"
 */

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** @typedef {(a: Book, b: Book) => number} Order */

/** The books of a series in their order, then those of none by title. @type {Order} */
const bySeries = (a, b) =>
  collator.compare(a.series?.[0] ?? "\uffff", b.series?.[0] ?? "\uffff") ||
  (a.series?.[1] ?? 0) - (b.series?.[1] ?? 0) ||
  collator.compare(a.title, b.title);

/** @type {Record<string, [label: string, order: Order]>} */
export const SORTS = {
  opened: ["Last opened", (a, b) => (b.opened ?? b.added) - (a.opened ?? a.added)],
  added: ["Newest", (a, b) => b.added - a.added],
  title: ["Title", (a, b) => collator.compare(a.title, b.title)],
  author: ["Author", (a, b) => collator.compare(a.author || "\uffff", b.author || "\uffff") || bySeries(a, b)],
  series: ["Series", bySeries],
  words: ["Longest", (a, b) => b.words - a.words],
};

/** The states of gists that one can choose from. @type {Record<string, string>} */
export const GISTS = { ready: "Ready", making: "Being made", stopped: "Stopped or paused", none: "None yet" };

/** How far the person is in a book, to choose from. @type {Record<string, string>} */
export const READING = { begun: "Started", none: "Not started", read: "Finished" };

/** @param {Book} book */
const readingOf = (book) => (isRead(book) ? "read" : isBegun(book) ? "begun" : "none");

/** Text as it is searched for: in lower case, without accents. @param {string} text */
export const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** What is searched for in a book's title, author and series. @param {Book} book */
export const keyOf = (book) => fold(`${book.title} ${book.author ?? ""} ${book.series?.[0] ?? ""}`);

/** @param {string} query */
export const wordsOf = (query) => fold(query).split(/\s+/).filter(Boolean);

/** All tags, in order. @param {Book[]} books */
export const tagsOf = (books) => [...new Set(books.flatMap((book) => book.tags ?? []))].sort(collator.compare);

/**
 * @param {ShownBook[]} books
 * @param {View} view
 * @param {(book: Book) => BookGists | undefined} gistsOf
 */
export function arranged(books, view, gistsOf) {
  const words = wordsOf(view.query);
  /** @param {Book} book */
  const state = (book) => {
    const found = gistsOf(book)?.state ?? "none";
    return found === "paused" ? "stopped" : found;
  };
  const [, order] = entry(SORTS, view.sort) ?? SORTS.opened;
  return books
    .filter(
      (book) =>
        words.every((word) => book.key.includes(word)) &&
        (!view.shelf || book.shelves?.includes(view.shelf)) &&
        (!view.tag || book.tags?.includes(view.tag)) &&
        (!view.reading || readingOf(book) === view.reading) &&
        (!view.gists || state(book) === view.gists),
    )
    .sort(order);
}
