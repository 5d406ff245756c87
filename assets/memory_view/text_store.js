// The texts of this browser tab, each under its scope: sent once, shared by the reader and the outline. A text comes in
// batches of paragraphs, in any order; a batch never changes. Also the arithmetic of words, chapters and minutes.

import { tabState } from "../shared/tab_state.js";

const texts = tabState("texts", () => new Map());

/**
 * @typedef {EventTarget & {
 *   outline: import("./types.js").BookOutline | null, text: string[], heads: Map<number, [number, string][]>,
 *   places: [number, string][], joined: Set<number>, at: Here | null, furthest: number | null, visited: string | null,
 *   back: number[], reported: number[], sums: number[] | null, lengths: number[][]}} StoredText
 *   `at`: where the person is; `furthest`: how many paragraphs they have read; `visited`: the id of the last request to
 *   go somewhere (see types.js) that was followed; `back`: the places before each jump;
 *   `reported`: the last places sent to or by the server. Events: "outline", "text"
 *   (detail: first paragraph and end), "at", "show outline", "goto" (detail: a paragraph).
 * @typedef {{paragraph: number, page: number | null}} Here
 *
 * @param {string} scope
 * @returns {StoredText}
 */
export function textOf(scope) {
  if (!texts.has(scope)) {
    const empty = {
      outline: null,
      text: [],
      heads: new Map(),
      places: [],
      joined: new Set(),
      at: null,
      furthest: null,
      visited: null,
      back: [],
      reported: [],
      sums: null,
      lengths: [],
    };
    texts.set(scope, Object.assign(new EventTarget(), empty));
  }
  return texts.get(scope);
}

/** @param {import("./types.js").TextBatch} batch */
export function storeText({ scope, facts, from, text, heads, places, joined }) {
  const book = textOf(scope);
  if (facts) {
    if (JSON.stringify(facts) === JSON.stringify(book.outline)) return;
    Object.assign(book, { outline: facts, sums: null, lengths: [] });
    return void book.dispatchEvent(new Event("outline"));
  }
  if (book.text[from] !== undefined) return;
  text.forEach((paragraph, i) => (book.text[from + i] = paragraph));
  for (const [at, level, title] of heads) book.heads.set(at, [...(book.heads.get(at) ?? []), [level, title]]);
  book.places = [...book.places, ...places].sort((a, b) => a[0] - b[0]);
  for (const at of joined) book.joined.add(at);
  book.dispatchEvent(new CustomEvent("text", { detail: [from, from + text.length] }));
}

/** The index of the last of `starts` that is not after `value`; -1 before the first. */
export function lastUpTo(starts, value, of = (x) => x) {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(starts[middle]) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export const unitOf = (book, paragraph) =>
  Math.max(
    0,
    lastUpTo(book.outline.units, paragraph, (unit) => unit[0]),
  );
export const unitEnd = (book, unit) => book.outline.units[unit + 1]?.[0] ?? book.outline.paragraphs;
export const isLoaded = (book, unit) =>
  book.text[book.outline.units[unit][0]] !== undefined && book.text[unitEnd(book, unit) - 1] !== undefined;

/** The number of words before a paragraph; within a unit by characters, so it is an estimate. */
export function wordsBefore(book, paragraph) {
  const { units, words } = book.outline;
  if (paragraph >= book.outline.paragraphs) return words;
  if (!book.sums) {
    let sum = 0;
    book.sums = units.map(([, count]) => (sum += count) - count);
  }
  const unit = unitOf(book, paragraph);
  const [start, count] = units[unit];
  if (!isLoaded(book, unit)) return book.sums[unit] + (count * (paragraph - start)) / (unitEnd(book, unit) - start);
  if (!book.lengths[unit]) {
    let sum = 0;
    book.lengths[unit] = [0, ...book.text.slice(start, unitEnd(book, unit)).map((text) => (sum += text.length))];
  }
  const lengths = book.lengths[unit];
  return book.sums[unit] + (count * lengths[paragraph - start]) / Math.max(1, lengths.at(-1));
}

export const wordsBetween = (book, from, to) => wordsBefore(book, to) - wordsBefore(book, from);
export const shareRead = (book, paragraph) => (book.outline.words ? wordsBefore(book, paragraph) / book.outline.words : 0);

/** The chapter of a paragraph as [first paragraph, end]; the whole book where it has none. */
export function chapterOf(book, paragraph) {
  const { chapters, paragraphs } = book.outline;
  const at = lastUpTo(chapters, paragraph);
  return at < 0 ? [0, paragraphs] : [chapters[at], chapters[at + 1] ?? paragraphs];
}

/** The title of the innermost section of a paragraph; "" before the first. */
export function sectionAt(book, paragraph) {
  return book.outline.sections.findLast(([, , start]) => start <= paragraph)?.[0] ?? "";
}

/** '5 min', '1 h 20 min': the time that `words` take to read. */
export function readingTime(book, words) {
  const minutes = Math.max(words > 0 ? 1 : 0, Math.round(words / book.outline.speed));
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** 'Page 12 of the source' where the paragraph has a place there, else ''. */
export function placeOf(book, paragraph) {
  return book.places[lastUpTo(book.places, paragraph, (place) => place[0])]?.[1] ?? "";
}
