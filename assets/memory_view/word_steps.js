// Where the words and sentences of a text begin and end, in any script, for selecting them by keyboard.

/**
 * @import { Spot } from "./text_places.js"
 *
 * @typedef {"word" | "sentence"} Granularity
 */

/**
 * The words or sentences of a text as [from, to], without the white space after them.
 * @param {string} text
 * @param {string} language
 * @param {Granularity} granularity
 * @returns {[number, number][]}
 */
export function piecesOf(text, language, granularity) {
  if (!Intl.Segmenter) {
    const found = [...text.matchAll(granularity === "word" ? /\S+/g : /[^.!?。！？]+\S*\s*/g)];
    return found.map(({ index, 0: piece }) => [index, index + piece.trimEnd().length]);
  }
  return [...new Intl.Segmenter(language, { granularity }).segment(text)]
    .filter(({ isWordLike, segment }) => (granularity === "word" ? isWordLike : segment.trim()))
    .map(({ index, segment }) => [index, index + segment.trimEnd().length]);
}

/**
 * The next place where a piece ends, or begins (`beginning`), in the paragraphs after or before too; null for none.
 * @param {string[]} texts the paragraphs
 * @param {string} language
 * @param {Spot} spot
 * @param {{granularity: Granularity, step: number, beginning: boolean}} how `step`: 1 onwards, -1 back
 * @returns {Spot | null}
 */
export function nextEdge(texts, language, { paragraph, offset }, { granularity, step, beginning }) {
  for (let at = paragraph; texts[at] !== undefined; at += step) {
    const edges = piecesOf(texts[at], language, granularity).map(([from, to]) => (beginning ? from : to));
    const beyond = at !== paragraph ? edges : edges.filter((edge) => (step > 0 ? edge > offset : edge < offset));
    const there = step > 0 ? beyond[0] : beyond.at(-1);
    if (there !== undefined) return { paragraph: at, offset: there };
  }
  return null;
}
