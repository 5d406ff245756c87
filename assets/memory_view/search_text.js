// What a query finds in a text: its words as they were typed, else texts that have every word. The last letters of a word
// may be missing, words in quotation marks are one phrase, accents and case do not matter.

/** @import { SpanRecord } from "../protocol.js" */
/**
 * @typedef {[string, number[] | null]} Folded the text as it is compared, and the place of each character in the text
 * @typedef {{regexp: RegExp, whole: RegExp, marked: boolean}} Pattern `whole`: not as the beginning of a word; `marked`: its places
 *   are hits
 */

const UNSPACED = "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u2e80-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff01-\\uffef";
const LETTER = "[\\p{L}\\p{N}\\p{M}]";
const NEXT = new RegExp(`^${LETTER}*[^\\p{L}\\p{N}.!?]*$`, "u"); // between a word and the next one of the same sentence
const COMMON = 0.2; // of the texts; a word in more of them is not what is looked for
const FEW = 20; // texts, of which no word is common
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

/**
 * What a query may mean, the likeliest first: its words one after another, as they were typed; then each of them, anywhere
 * in the text. Where the person put words between quotation marks, only that; [] where there is no letter in it.
 * @param {string} query
 * @returns {Pattern[][]}
 */
export function patternsOf(query) {
  /** @param {string} text */
  const words = (text) => fold(text).match(new RegExp(`${LETTER}+`, "gu")) ?? [];
  const phrases = [...query.matchAll(QUOTED)].map((found) => ({
    quoted: !found[3],
    words: words(found[1] ?? found[2] ?? found[3] ?? ""),
  }));
  const meant = phrases.filter((phrase) => phrase.words.length);
  if (!meant.length) return [];
  const each = meant.map((phrase) => patternOf(phrase.words, "[^\\p{L}\\p{N}]+", phrase.quoted));
  const all = meant.flatMap((phrase) => phrase.words);
  if (meant.length < 2 || meant.some(({ quoted }) => quoted)) return [each];
  return [[patternOf(all, "[^\\p{L}\\p{N}.!?]+")], each];
}

/** @param {string[]} words @param {string} between them @param {boolean} [quoted] the last word is whole @returns {Pattern} */
function patternOf(words, between, quoted = false) {
  const isSpaced = !new RegExp(`^[${UNSPACED}]`, "u").test(words[0]);
  const text = (isSpaced ? `(?<!${LETTER})` : "") + words.join(between);
  const whole = new RegExp(isSpaced ? `${text}(?!${LETTER})` : text, "gu");
  return { regexp: quoted ? whole : new RegExp(text, "gu"), whole, marked: true };
}

/**
 * Patterns of which those that stand in most of the texts, as 'the' does, are whole words and not marked by themselves.
 * @param {Pattern[]} patterns
 * @param {Folded[]} texts
 * @returns {Pattern[]}
 */
export function withoutCommon(patterns, texts) {
  const isCommon = patterns.map(({ whole }) => {
    const count = texts.reduce((sum, [plain]) => sum + Number(plain.search(whole) >= 0), 0);
    return count > Math.max(FEW, texts.length * COMMON);
  });
  if (isCommon.every(Boolean)) return patterns;
  return patterns.map((pattern, i) => (isCommon[i] ? { ...pattern, regexp: pattern.whole, marked: false } : pattern));
}

/**
 * The places of all patterns in a text, each as [start, end], none over another; [] where one pattern has none. Words of the
 * query that stand beside each other in its order are one place.
 * @param {Folded} text
 * @param {Pattern[]} patterns
 */
export function placesOf([plain, places], patterns) {
  /** @type {[number, number, number][]} with the pattern */
  const found = [];
  for (const [i, { regexp, marked }] of patterns.entries()) {
    const matches = [...plain.matchAll(regexp)];
    if (!matches.length) return []; // every word must occur
    if (marked) for (const match of matches) found.push([match.index, match.index + match[0].length, i]);
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
 * @param {Pattern[]} patterns
 * @returns {[number, number][]}
 */
export const placesOfReadings = (spans, patterns) =>
  (spans ?? [])
    .filter(([, , kind, reading]) => kind === "ruby" && placesOf(folded(reading), patterns).length)
    .map(([start, end]) => [start, end]);
