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

/** @type {Record<string, RegExp>} what a title is not sorted by, by language */
const ARTICLES = {
  en: /^(?:the|an?)\s+(?=\S)/i,
  de: /^(?:der|die|das|eine?)\s+(?=\S)/i,
  fr: /^(?:(?:l[ae]s?|une?)\s+|l['’])(?=\S)/i,
  es: /^(?:el|l[ao]s?|una?)\s+(?=\S)/i,
  it: /^(?:(?:il|l[aoe]|i|gli|un[ao]?)\s+|l['’])(?=\S)/i,
};
const OPENING = /^[\s"'“”‘’«»„¿¡([]+/u;

/** A title as it is sorted: without the article that it begins with. @param {Pick<Book, "title" | "lang">} book */
export const titleKey = ({ title, lang = "en" }) => {
  const plain = title.replace(OPENING, "");
  return plain.replace(entry(ARTICLES, lang.slice(0, 2)) ?? /^$/, "") || title;
};

const FAMILY_FIRST = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u;
const AFTER = /[\s,]+(?:[JS]r\.?|I{2,3}|IV|Esq\.?|M\.?D\.?|Ph\.?D\.?)$/i;
const OF_FAMILY = /^(?:\p{Lu}.*\s)?(?=(?:(?:D[aeiu]|De[ln]|D['’]|L[aeo]s?|V[ao]n|Te[nr]|S(?:ain)?te?\.?|Mac|Mc)\s)+\S+$)/u;

/**
 * An author as libraries sort: by the family name. A name with a comma, and one in Japanese, Chinese or Korean letters, has it first.
 * @param {string} [author] the first of several counts
 */
export const authorKey = (author = "") => {
  const [first] = author.replace(/\([^)]*\)/g, "").split(/\s*[;&]\s*|\s+and\s+|\s+et al\b/);
  const [before, after = ""] = first.replace(AFTER, "").split(/\s*,\s*/);
  const name = (/\s/.test(before) && /\s/.test(after) ? before : first.replace(AFTER, "")).trim(); // "Ann Lee, Bo Li" are two
  if (name.includes(",") || FAMILY_FIRST.test(name) || /^the\s/i.test(name)) return name.replace(ARTICLES.en, "");
  const given = OF_FAMILY.exec(name)?.[0] ?? name.replace(/\S+$/, "");
  return `${name.slice(given.length)}, ${given.trim()}`;
};

/** @type {Map<string, string>} */
const keys = new Map(); // of titles and authors, which are compared many times

/** @param {string} known @param {() => string} make */
const keyed = (known, make) => keys.get(known) ?? keys.set(known, make()).get(known) ?? "";
/** @type {Order} */
const byTitle = (a, b) => {
  const [one, two] = [a, b].map((book) => keyed(`${book.lang} ${book.title}`, () => titleKey(book)));
  return collator.compare(one, two);
};
/** @type {Order} those without an author last */
const byAuthor = (a, b) => {
  const [one, two] = [a, b].map(({ author }) => (author ? keyed(author, () => authorKey(author)) : "\uffff"));
  return collator.compare(one, two);
};

/** The books of a series in their order, then those of none by title. @type {Order} */
const bySeries = (a, b) =>
  collator.compare(a.series?.[0] ?? "\uffff", b.series?.[0] ?? "\uffff") || (a.series?.[1] ?? 0) - (b.series?.[1] ?? 0) || byTitle(a, b);

/** @type {Record<string, [label: string, order: Order]>} */
export const SORTS = {
  opened: ["Last opened", (a, b) => (b.opened ?? b.added) - (a.opened ?? a.added)],
  added: ["Newest", (a, b) => b.added - a.added],
  title: ["Title", byTitle],
  author: ["Author", (a, b) => byAuthor(a, b) || bySeries(a, b)],
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
