// The sentences of a text that is read aloud.

import { sentenceSegments } from "./word_steps.js";

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
