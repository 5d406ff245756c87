// Finds the sentences of a text: to read it aloud, or to show its first one.

import { countWords } from "./passages.js";
import { sentenceSegments } from "./word_steps.js";

const TOLD = 40; // characters that say something of a chapter; half as many where they are wide
const STANDS_FOR = /^\P{L}*(?:he|she|it|they|his|her|its|their)\s/iu; // a person or thing named before
const LONGEST = 1_000; // characters; a longer one is said in parts, so that it soon begins

/**
 * The sentences of a text that have something to say, as [from, to].
 * @param {string} text
 * @param {string} language
 * @returns {[number, number][]}
 */
export function sentencesOf(text, language) {
  return sentenceSegments(text, language)
    .flatMap(({ index, segment }) => pieces(index, index + segment.trimEnd().length, text))
    .filter(([from, to]) => /[\p{L}\p{N}]/u.test(text.slice(from, to)));
}

/** @param {number} from @param {number} to @param {string} text @returns {[number, number][]} */
function pieces(from, to, text) {
  if (to - from <= LONGEST) return [[from, to]];
  const space = text.lastIndexOf(" ", from + LONGEST);
  const end = space > from ? space + 1 : from + LONGEST;
  return [[from, end], ...pieces(end, to, text)];
}

/** @param {string} text @param {string} language */
export const firstSentence = (text, language) => text.slice(...(sentencesOf(text, language)[0] ?? [0]));

/**
 * The first sentences of texts, as many as have room and do not stand on a sentence left out; where the first of all is too
 * long, its beginning up to a word.
 * @param {string[]} texts
 * @param {string} language
 * @param {number} most characters
 */
export function beginningsOf(texts, language, most) {
  const [first, ...others] = texts.map((text) => firstSentence(text, language));
  if (!first || first.length > most) return first ? `${first.slice(0, Math.max(first.lastIndexOf(" ", most), 0) || most)} …` : "";
  const joint = /[\u3040-\u30ff\u4e00-\u9fff]/.test(first) ? "" : " ";
  let told = first;
  for (const next of others) {
    if (STANDS_FOR.test(next)) continue;
    if (told.length + next.length + 1 > most) break;
    told += joint + next;
  }
  // a short sentence alone says too little of a chapter: the next ones are added
  const after = told === first ? sentencesOf(texts[0], language).slice(1) : [];
  const few = joint ? TOLD : TOLD / 2;
  while (told.length < few && after.length) told += joint + texts[0].slice(...after.splice(0, 1)[0]);
  return told.length > most ? `${told.slice(0, told.lastIndexOf(" ", most) || most)} …` : told;
}

/**
 * Sentences of texts, spread evenly over each and in their order, as [which text, [from, to]]: the first of each, and others while
 * a text has not had its share of `most` words.
 * @param {string[]} texts
 * @param {string} language
 * @param {number} most words
 * @returns {[number, [number, number]][]}
 */
export function pickedPlaces(texts, language, most) {
  const share = most / texts.length;
  return texts.flatMap((text, i) => {
    const whole = countWords(text);
    let [before, told] = [0, 0];
    return sentencesOf(text, language).flatMap((place) => {
      const words = countWords(text.slice(...place));
      const takes = !told || (told + words <= share && told * whole <= before * share);
      before += words;
      if (takes) told += words;
      return takes ? [/** @type {[number, [number, number]]} */ ([i, place])] : [];
    });
  });
}

/**
 * The sentences of a text that were picked from a page, as [from, to, whether it follows the one before in `page` too].
 * @param {string} text
 * @param {string} language
 * @param {string} page
 * @returns {[number, number, boolean][]}
 */
export const pickedSentences = (text, language, page) =>
  sentencesOf(text, language).map(([from, to], i, all) => [from, to, i > 0 && page.includes(text.slice(all[i - 1][0], to))]);
