// The texts of this browser tab, each under its scope: sent once, shared by the reader and the outline. A text comes in
// batches of paragraphs, in any order; a batch never changes. Also the arithmetic of words, chapters and minutes.

import { tabState } from "../shared/tab_state.js";

/**
 * @import { BookOutline, SpanRecord, TextBatch, TextParagraphs } from "../protocol.js"
 * @import { Place } from "./state.js"
 *
 * @typedef {{paragraph: number, at: number, top?: number, page: number | null}} At
 * @typedef {{place: Place, depth: number | null, screen: string}} BackPlace see position.js
 */

/** @type {BookOutline} */
const NOTHING = {
  title: "",
  author: "",
  language: "en",
  rtl: false,
  unspaced: false,
  vertical: false,
  speed: 1,
  words: 0,
  recognised: false,
  paragraphs: 0,
  emphasis: "",
  units: [],
  sections: [],
  chapters: [],
  pictures: "",
  figures: [],
};

/**
 * The text of a book and where the person is in it. Events: "outline", "text" (detail: first paragraph and end), "at",
 * "show outline", "goto" (detail: a paragraph).
 */
export class StoredText extends EventTarget {
  outline = NOTHING;
  known = false; // whether the outline has come
  /** @type {string[]} */
  text = [];
  /** @type {Map<number, [number, string][]>} */
  heads = new Map();
  /** @type {[number, string][]} */
  places = [];
  /** @type {Set<number>} */
  joined = new Set();
  /** @type {Set<number>} paragraphs of notes */
  notes = new Set();
  /** @type {Map<number, SpanRecord[]>} paragraph -> what stands beside its words */
  spans = new Map();
  /** @type {Set<number>} paragraphs in which a note begins that is referred to */
  targets = new Set();
  /** @type {At | null} */
  at = null;
  /**
   * Where the person reads while they look something up elsewhere, and the paragraph that they look at, null on the way there.
   * @type {{place: Pick<At, "paragraph" | "at" | "page">, landed: number | null} | null}
   */
  held = null;
  /** @type {number | null} how many paragraphs the person has read */
  furthest = null;
  /** @type {string | null} the id of the last request of the server to go somewhere that was followed */
  visited = null;
  /** @type {string | null} the request for cited words that was followed last */
  cited = null;
  /** @type {BackPlace[]} the places before each jump */
  back = [];
  /** @type {number[] | null} the words before each unit */
  sums = null;
  /** @type {number[][]} the characters before each paragraph of a unit */
  lengths = [];
}

/** @type {Map<string, StoredText>} */
const texts = tabState("texts", () => new Map());

/** @param {string} scope @returns {StoredText} */
export function textOf(scope) {
  const known = texts.get(scope) ?? new StoredText();
  texts.set(scope, known);
  return known;
}

/** @param {TextBatch} batch */
export function storeText(batch) {
  const book = textOf(batch.scope);
  if ("facts" in batch && batch.facts) {
    if (book.known && JSON.stringify(batch.facts) === JSON.stringify(book.outline)) return;
    Object.assign(book, { outline: batch.facts, known: true, sums: null, lengths: [] });
    book.dispatchEvent(new Event("outline"));
    return;
  }
  const { from, text, heads, places, joined, notes = [], spans = [] } = /** @type {TextParagraphs} */ (batch);
  if (book.text[from] !== undefined) return;
  for (const [i, paragraph] of text.entries()) book.text[from + i] = paragraph;
  for (const [at, level, title] of heads) book.heads.set(at, [...(book.heads.get(at) ?? []), [level, title]]);
  book.places = [...book.places, ...places].sort((a, b) => a[0] - b[0]);
  for (const at of joined) book.joined.add(at);
  for (const at of notes) book.notes.add(at);
  for (const [at, found] of spans) {
    book.spans.set(at, found);
    for (const [, , kind, , target] of found) if (kind === "note" && target !== null) book.targets.add(target);
  }
  book.dispatchEvent(new CustomEvent("text", { detail: [from, from + text.length] }));
}

/**
 * The index of the last of `starts` that is not after `value`; -1 before the first. `of`: the place of one.
 * @template T
 * @param {T[]} starts
 * @param {number} value
 * @param {(start: T) => number} of
 */
export function lastUpTo(starts, value, of = Number) {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(starts[middle]) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** @param {StoredText} book @param {number} paragraph */
export const unitOf = (book, paragraph) =>
  Math.max(
    0,
    lastUpTo(book.outline.units, paragraph, (unit) => unit[0]),
  );
/** @param {StoredText} book @param {number} unit */
export const unitEnd = (book, unit) => book.outline.units[unit + 1]?.[0] ?? book.outline.paragraphs;
/** @param {StoredText} book @param {number} unit */
export const isLoaded = (book, unit) =>
  book.text[book.outline.units[unit][0]] !== undefined && book.text[unitEnd(book, unit) - 1] !== undefined;

/** The sum of all numbers before each, and of all. @param {number[]} numbers */
function sums(numbers) {
  const found = [0];
  for (const n of numbers) found.push(found[found.length - 1] + n);
  return found;
}

/**
 * The number of words before a paragraph; within a unit by characters, so it is an estimate.
 * @param {StoredText} book
 * @param {number} paragraph
 */
export function wordsBefore(book, paragraph) {
  const { units, words } = book.outline;
  if (paragraph >= book.outline.paragraphs) return words;
  book.sums ??= sums(units.map(([, count]) => count));
  const unit = unitOf(book, paragraph);
  const [start, count] = units[unit];
  if (!isLoaded(book, unit)) return book.sums[unit] + (count * (paragraph - start)) / (unitEnd(book, unit) - start);
  book.lengths[unit] ??= sums(book.text.slice(start, unitEnd(book, unit)).map((text) => text.length));
  const lengths = book.lengths[unit];
  return book.sums[unit] + (count * lengths[paragraph - start]) / Math.max(1, lengths[lengths.length - 1]);
}

/** @param {StoredText} book @param {number} from @param {number} to */
export const wordsBetween = (book, from, to) => wordsBefore(book, to) - wordsBefore(book, from);
/** @param {StoredText} book @param {number} paragraph */
export const shareRead = (book, paragraph) => (book.outline.words ? wordsBefore(book, paragraph) / book.outline.words : 0);

/**
 * The chapter of a paragraph as [first paragraph, end]; the whole book where it has none.
 * @param {StoredText} book
 * @param {number} paragraph
 * @returns {[number, number]}
 */
export function chapterOf(book, paragraph) {
  const { chapters, paragraphs } = book.outline;
  const at = lastUpTo(chapters, paragraph);
  return at < 0 ? [0, paragraphs] : [chapters[at], chapters[at + 1] ?? paragraphs];
}

/** The title of the innermost section of a paragraph; "" before the first. @param {StoredText} book @param {number} paragraph */
export function sectionAt(book, paragraph) {
  return book.outline.sections.findLast(([, , start]) => start <= paragraph)?.[0] ?? "";
}

/** '5 min', '1 h 20 min': the time that `words` take to read. @param {StoredText} book @param {number} words */
export function readingTime(book, words) {
  const minutes = Math.max(words > 0 ? 1 : 0, Math.round(words / book.outline.speed));
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** 'Page 12 of the source' where the paragraph has a place there, else ''. @param {StoredText} book @param {number} paragraph */
export function placeOf(book, paragraph) {
  return book.places[lastUpTo(book.places, paragraph, (place) => place[0])]?.[1] ?? "";
}

/** The units of each chapter, as [first, last]; what comes before the first chapter is apart. @param {BookOutline} outline */
export function chapterUnits({ units, chapters }) {
  /** @type {[number, number][]} */
  const found = [];
  let chapter = -1;
  for (const [unit, [start]] of units.entries()) {
    const at = lastUpTo(chapters, start);
    if (at === chapter && at >= 0) found[found.length - 1][1] = unit;
    else found.push([unit, unit]);
    chapter = at;
  }
  return found;
}
