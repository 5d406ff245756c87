// Books for the tests of scripts.

import { StoredText } from "../../assets/memory_view/text_store.js";

/** A book whose text has come whole: one unit, a word a paragraph, unless the outline says otherwise. */
export function bookWith(text, outline = {}) {
  const book = new StoredText();
  const facts = { paragraphs: text.length, words: text.length, units: [[0, text.length]], speed: 1, ...outline };
  facts.words = facts.units.reduce((sum, [, words]) => sum + words, 0);
  return Object.assign(book, { outline: { ...book.outline, ...facts }, known: true, text });
}

/** Pages of a reading: {number, start, end, words} with a gist of `gist` words, or none. */
export const pageOf = (number, start, end, { words = 100, gist = 20, ...rest } = {}) => ({
  ...{ number, start, end, words, ends: "pause" },
  ...(gist ? { gist: { text: `gist ${number}`, words: gist } } : {}),
  ...rest,
});
