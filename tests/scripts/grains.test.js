// The three grains of a book: its text, its gists, a line a chapter.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChapterLines, grainWords, pagesIn, toldElsewhere } from "../../assets/memory_view/chapter_lines.js";
import { beginningsOf } from "../../assets/memory_view/sentences.js";
import { ReadingState } from "../../assets/memory_view/state.js";
import { bookWith, pageOf } from "./books.js";

const book = bookWith(Array(6).fill("word"), { chapters: [0, 3], units: [[0, 600]] });
const pages = [pageOf(1, 0, 2), pageOf(2, 2, 4, { gist: 0, veiled: 30 }), pageOf(3, 4, 5, { gist: 0 })];

test("gists count for their pages, veiled ones too; where there is none the text is read", () => {
  assert.deepEqual(grainWords(book, pages), { text: 600, gists: 600 - 200 + 20 + 30, chapters: 56 });
  assert.deepEqual(
    pagesIn(pages, 0, 3).map((page) => page.number),
    [1, 2],
  );
  assert.deepEqual(pagesIn(pages, 3, 6), []); // its one page has no gist
});

test("a veiled gist is a gist: before anything is read a book can be shrunk", () => {
  const state = Object.assign(new ReadingState(), { pages: [pages[1]] });
  assert.equal(state.gistsMade(), 1);
});

test("a paragraph of a folded chapter is in its line", () => {
  const lines = new ChapterLines({ state: Object.assign(new ReadingState(), { book }), units: { topOf: () => undefined } });
  lines.foldAll(true);
  lines.folded.delete(0);
  assert.equal(lines.foldAt(2), null);
  assert.deepEqual(lines.foldAt(4), { start: 3, end: 6, node: undefined });
  assert.equal(lines.some, true);
});

test("a chapter's line ends with a sentence, or at a word where the first is too long", () => {
  const gists = ["To avoid Mr. Crale I walked. He knew.", "Rourke had seen it. So.", "A last one, which is too long for the line."];
  assert.equal(beginningsOf(gists, "en", 60), "To avoid Mr. Crale I walked. Rourke had seen it.");
  assert.equal(beginningsOf(gists, "en", 22), "To avoid Mr. Crale I …");
  assert.equal(beginningsOf(["駅に着いた。雪。", "待った。"], "ja", 60), "駅に着いた。待った。");
  assert.equal(beginningsOf([], "en", 60), "");
  const short = "Presently she began again. ‘Shall I fall right through the earth?’ She did. And then";
  assert.equal(beginningsOf([short], "en", 90), "Presently she began again. ‘Shall I fall right through the earth?’");
  assert.equal(beginningsOf([short], "en", 50), "Presently she began again. ‘Shall I fall right …");
});

test("a chapter that begins within a page says where it is told", () => {
  const state = Object.assign(new ReadingState(), { book, pages: [pageOf(1, 0, 6)] });
  assert.equal(toldElsewhere(state, 3), "Told in the gist of page 1");
  state.pages = [pageOf(1, 0, 6, { gist: 0 })];
  assert.equal(toldElsewhere(state, 3), ""); // nothing is made yet
});
