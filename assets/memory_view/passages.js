// Which part of a page is shown round the passages that an answer quotes of it; the rest is folded.

/**
 * @typedef {[paragraph: number, start: number, end: number][]} Passages
 * @typedef {[start: number, end: number]} Part of a paragraph
 */

const AROUND = 230; // characters of a page shown on each side of a quoted passage
const LONG = 2 * AROUND; // characters of a sentence that is not cut before a passage
const CLOSE = 40; // characters that are not worth folding
const SENTENCE_END = /[.!?。！？"”」](\s|$)|[。！？」]/;

/**
 * The parts of a paragraph to show around `spans`: whole sentences where they end nearby, and all of a short one.
 * @param {string} text
 * @param {Part[]} spans
 */
export function shownParts(text, spans) {
  /** @type {Part[]} */
  const parts = [];
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    let from = Math.max(0, start - AROUND);
    let to = Math.min(text.length, end + AROUND / 2);
    if (from > 0) {
      const sentence = text.slice(0, start).search(/[^.!?。！？]*$/);
      const word = text.indexOf(" ", from) + 1;
      if (start - sentence < LONG) from = sentence;
      else if (word && word < start) from = word;
      from += text.slice(from).search(/\S/);
    }
    const ending = to < text.length ? text.slice(end, to).search(SENTENCE_END) : -1;
    if (ending >= 0) to = end + ending + 1;
    else if (to < text.length) to = Math.max(end, text.lastIndexOf(" ", to)) || to; // no sentence ends nearby: after a word
    if (from < CLOSE && !parts.length) from = 0;
    if (text.length - to < CLOSE) to = text.length;
    const last = parts.at(-1);
    if (last && from <= last[1] + CLOSE) last[1] = Math.max(last[1], to);
    else parts.push([from, to]);
  }
  return parts;
}

/** Words, or characters of a text without spaces. @param {string} text */
export const countWords = (text) =>
  /[\u3040-\u9fff]/.test(text) ? text.replace(/\s/g, "").length : text.split(/\s+/).filter(Boolean).length;

/**
 * Whether a paragraph is shown by an opened fold: one shows every paragraph up to the next quoted one.
 * @param {number[]} opened the paragraphs in which the opened folds of this page begin
 * @param {number} index
 * @param {Passages} passages of the page
 */
export function isUnfolded(opened, index, passages) {
  const quoted = passages.map(([paragraph]) => paragraph);
  return opened.some((from) => from <= index && index <= Math.min(...quoted.filter((i) => i > from)));
}
