// What a query finds in a text: every word must occur, the last letters of a word may be missing, words in quotation marks
// are one phrase, accents and case do not matter.

/** @import { SpanRecord } from "../protocol.js" */
/** @typedef {[string, number[] | null]} Folded the text as it is compared, and the place of each character in the text */

const UNSPACED = "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u2e80-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff01-\\uffef";
const LETTER = "[\\p{L}\\p{N}\\p{M}]";
const NEXT = new RegExp(`^${LETTER}*[^\\p{L}\\p{N}.!?]*$`, "u"); // between a word and the next one of the same sentence
const QUOTED = /"([^"]+)"|“([^”]+)”|(\S+)/g;

/** @param {string} text */
const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[یى]/g, "ي").replace(/ک/g, "ك").toLowerCase();

/**
 * The text in lower case without accents, and the place of each of its characters in `text` (null: the same place).
 * @param {string} text
 * @returns {Folded}
 */
export function folded(text) {
  const plain = text.toLowerCase();
  if (/^[\p{ASCII}\u2010-\u2026]*$/u.test(text) && plain.length === text.length) return [plain, null];
  const places = [];
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const piece = fold(text[i]);
    for (let k = 0; k < piece.length; k++) places.push(i);
    out += piece;
  }
  places.push(text.length);
  return [out, places];
}

/** A regular expression for each word or phrase of a query; [] where there is no letter in it. @param {string} query */
export function patternsOf(query) {
  /** @param {string} text */
  const words = (text) => fold(text).match(new RegExp(`${LETTER}+`, "gu")) ?? [];
  const phrases = [...query.matchAll(QUOTED)].map((found) => words(found[1] ?? found[2] ?? found[3] ?? "")).filter((found) => found.length);
  return phrases.map((phrase) => {
    const starts = new RegExp(`^[${UNSPACED}]`, "u").test(phrase[0] ?? "") ? "" : `(?<!${LETTER})`;
    return new RegExp(starts + phrase.join("[^\\p{L}\\p{N}]+"), "gu");
  });
}

/**
 * The places of all patterns in a text, each as [start, end], none over another; [] where one pattern has none. Words of the
 * query that stand beside each other in its order are one place.
 * @param {Folded} text
 * @param {RegExp[]} patterns
 */
export function placesOf([plain, places], patterns) {
  /** @type {[number, number, number][]} with the pattern */
  const found = [];
  for (const [i, pattern] of patterns.entries()) {
    const before = found.length;
    for (const match of plain.matchAll(pattern)) found.push([match.index, match.index + match[0].length, i]);
    if (found.length === before) return []; // every word must occur
  }
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  /** @type {typeof found} */
  const apart = [];
  for (const [start, end, i] of found) {
    const last = apart.at(-1);
    if (last && i > last[2] && start >= last[1] && NEXT.test(plain.slice(last[1], start))) last.splice(1, 2, end, i);
    else if (!last || start >= last[1]) apart.push([start, end, i]);
  }
  return apart.map(([start, end]) => (places ? [places[start], places[end]] : [start, end]));
}

/**
 * The places of the characters whose reading (ruby) has all patterns.
 * @param {SpanRecord[] | undefined} spans what stands beside a paragraph
 * @param {RegExp[]} patterns
 * @returns {[number, number][]}
 */
export const placesOfReadings = (spans, patterns) =>
  (spans ?? [])
    .filter(([, , kind, reading]) => kind === "ruby" && placesOf(folded(reading), patterns).length)
    .map(([start, end]) => [start, end]);
