// Where the words and sentences of a text begin and end, in any script, for selecting them by keyboard.

/**
 * @import { Spot } from "./text_places.js"
 *
 * @typedef {"word" | "sentence"} Granularity
 */

// A full stop after these, or after an initial, ends no sentence: titles, and what stands before a number or a name.
const TITLES =
  "Mr|Mrs|Ms|Messrs|Dr|Prof|St|Ste|Rev|Hon|Capt|Col|Gen|Lt|Sgt|Maj|Adm|Gov|Sen|Rep|Pres|Fr|Hr|Mme|Mlle|MM|Sr|Sra|Srta|Sig|vs|viz|cf|e\\.g|i\\.e";
const GOES_ON = new RegExp(`(?<![\\p{L}\\p{N}])(?:${TITLES}|(?!I)\\p{Lu})\\.\\s*$`, "u");
const BEFORE_NUMBER = /(?<![\p{L}\p{N}])(?:[Nn]os?|Nr|[Cc]h|[Vv]ol|[Ff]igs?|pp?)\.\s*$/u;

/**
 * The sentences of a text with the white space after each.
 * @param {string} text
 * @param {string} language
 * @returns {{index: number, segment: string}[]}
 */
export function sentenceSegments(text, language) {
  const found = Intl.Segmenter
    ? [...new Intl.Segmenter(language, { granularity: "sentence" }).segment(text)]
    : [...text.matchAll(/[^.!?。！？]+\S*\s*/g)].map(({ index, 0: segment }) => ({ index, segment }));
  /** @type {{index: number, segment: string}[]} */
  const whole = [];
  for (const { index, segment } of found) {
    const last = whole.at(-1);
    const open = last && (GOES_ON.test(last.segment) || (BEFORE_NUMBER.test(last.segment) && /^\d/.test(segment)));
    if (open) last.segment += segment;
    else whole.push({ index, segment });
  }
  return whole;
}

/**
 * The words or sentences of a text as [from, to], without the white space after them.
 * @param {string} text
 * @param {string} language
 * @param {Granularity} granularity
 * @returns {[number, number][]}
 */
export function piecesOf(text, language, granularity) {
  /** @type {{index: number, segment: string}[]} */
  let found;
  if (granularity === "sentence") found = sentenceSegments(text, language).filter(({ segment }) => segment.trim());
  else if (Intl.Segmenter) found = [...new Intl.Segmenter(language, { granularity }).segment(text)].filter((word) => word.isWordLike);
  else found = [...text.matchAll(/\S+/g)].map(({ index, 0: segment }) => ({ index, segment }));
  return found.map(({ index, segment }) => [index, index + segment.trimEnd().length]);
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
