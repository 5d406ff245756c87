// The two facts of a book in words: how far the person is, and how far its gists are.

import { plural } from "../shared/dom.js";

/** @import { Book } from "../protocol.js" */

const WORDS_A_MINUTE = 230;
const ELSEWHERE = 0.015; // of the book, between what is read and where the person is
const UNSPACED_WORDS_A_MINUTE = 250; // 500 characters of Japanese or Chinese, two of which count as a word

const MODEL_MAKES = "A model makes the gists and answers of your own books.";
export const SAMPLE_WITHOUT_A_MODEL = `Reading, search and the sample work without a model. ${MODEL_MAKES}`;
export const WITHOUT_A_MODEL = `Reading and search work without a model. ${MODEL_MAKES}`;

/** The minutes that `words` of a book take to read. @param {{lang?: string}} book @param {number} words */
export const minutesOf = (book, words) => words / (/^(ja|zh)/.test(book.lang ?? "") ? UNSPACED_WORDS_A_MINUTE : WORDS_A_MINUTE);

/** A length of time for people: "8 min", "1 h 20 min", "13 h". @param {number} minutes */
export function span(minutes) {
  if (minutes < 60) return `${Math.max(1, Math.round(minutes))} min`;
  return minutes < 120 ? `1 h ${Math.round(minutes - 60)} min` : `${Math.round(minutes / 60)} h`;
}

/** @typedef {{text: string, share: number}} Fact `share`: from 0 to 1 */

/** @param {Book} book */
export const isRead = (book) => Boolean(book.finished) || (book.words > 0 && (book.read ?? 0) >= book.words);
/** @param {Book} book */
export const isBegun = (book) => !isRead(book) && Boolean(book.read || book.at);
/** @param {Book} book */
export const readShare = (book) => (book.words ? Math.min(1, (book.read ?? 0) / book.words) : 0);
/** The time that `words` take, and nothing of a book of pictures. @param {Book} book @param {number} words */
const left = (book, words) => (book.pictures ? "" : `, ${span(minutesOf(book, words))} left`);

/** never 100 % before the end. @param {number} share */
export const wholePercent = (share) => `${share < 1 ? Math.min(99, Math.round(100 * share)) : 100} %`;

/** How far the person has read, and where they are if that is somewhere else. @param {Book} book */
export function placeText(book) {
  const read = readShare(book);
  const at = book.at ?? read;
  if (Math.abs(at - read) < ELSEWHERE) return `${wholePercent(read)}${left(book, book.words - (book.read ?? 0))}`;
  if (read < ELSEWHERE) return `at ${wholePercent(at)}${left(book, book.words * (1 - at))}`;
  return `${wholePercent(read)} read, at ${wholePercent(at)}`;
}

/** @returns {Fact} @param {Book} book */
export function youFact(book) {
  if (book.finished) return { text: "finished", share: 1 };
  if (isRead(book)) return { text: "read", share: 1 };
  const length = book.pictures ? plural(book.pictures, "picture") : span(minutesOf(book, book.words));
  if (!isBegun(book)) return { text: `Not started, ${length}`, share: 0 };
  return { text: placeText(book), share: readShare(book) };
}

/** @returns {Fact} @param {Book} book */
export function gistsFact({ gists }) {
  if (!gists) return { text: "", share: 0 };
  const percent = wholePercent(gists.share);
  const text = {
    ready: "ready",
    making: [gists.share || !gists.rest ? percent : "", gists.rest].filter(Boolean).join(", "),
    paused: `paused at ${percent}`,
    stopped: `stopped at ${percent}`,
  }[gists.state];
  return { text, share: gists.share };
}
