// The three grains of a book: its text, its gists, a line a chapter.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChapterLines, chapterOfPage, gistsOf, grainWords, pagesIn, toldElsewhere } from "../../assets/memory_view/chapter_lines.js";
import { Leaves } from "../../assets/memory_view/leaves.js";
import { beginningsOf } from "../../assets/memory_view/sentences.js";
import { ReadingState } from "../../assets/memory_view/state.js";
import { bookWith, pageOf } from "./books.js";

const book = bookWith(Array(6).fill("word"), { chapters: [0, 3], units: [[0, 600]] });
const pages = [pageOf(1, 0, 2), pageOf(2, 2, 4, { gist: 0, veiled: 30 }), pageOf(3, 4, 5, { gist: 0 })];

test("gists count for their pages, veiled ones too; where there is none the text is read", () => {
  assert.deepEqual(grainWords(book, pages), { text: 600, gists: 600 - 200 + 20 + 30, chapters: 56 });
  assert.deepEqual(
    pagesIn({ book, pages }, 0).map((page) => page.number),
    [1, 2],
  );
  assert.deepEqual(pagesIn({ book, pages }, 3), []); // its one page has no gist
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
  assert.equal(
    beginningsOf(["Early I went to the lighthouse and Tilda alone.", "She told it in order."], "en", 90),
    "Early I went to the lighthouse and Tilda alone.",
  );
  assert.equal(beginningsOf([], "en", 60), "");
  const short = "Presently she began again. ‘Shall I fall right through the earth?’ She did. And then";
  assert.equal(beginningsOf([short], "en", 90), "Presently she began again. ‘Shall I fall right through the earth?’");
  assert.equal(beginningsOf([short], "en", 50), "Presently she began again. ‘Shall I fall right …");
});

test("a chapter that begins within a page says where it is told", () => {
  const state = Object.assign(new ReadingState(), { book, pages: [pageOf(1, 0, 6)] });
  assert.equal(toldElsewhere(state, 3), "Shares the gist of page 1");
  state.pages = [pageOf(1, 0, 6, { gist: 0 })];
  assert.equal(toldElsewhere(state, 3), ""); // nothing is made yet
});

test("a chapter has the pages of which it has most, and the sentences that were picked from it", () => {
  const text = ["She came. Nobody saw.", "He left.", "The light went out. All slept.", "Rain fell for a week.", "They woke.", "The end."];
  const told = bookWith(text, { chapters: [0, 2, 4], units: [[0, 600]] });
  const shared = pageOf(2, 1, 6, { gist: 30 });
  shared.gist.text = "He left.\nThe light went out.\nRain fell for a week.\nThey woke.";
  const state = Object.assign(new ReadingState(), { book: told, pages: [pageOf(1, 0, 1), shared] });
  assert.equal(chapterOfPage(told, shared), 2); // it begins in the chapter before
  assert.deepEqual(pagesIn(state, 2), [shared]);
  assert.deepEqual(gistsOf(state, 2, 4), [shared.gist.text]); // a model's: which sentence tells of what is not known
  assert.deepEqual(gistsOf(state, 4, 6), []);
  state.data = { ...state.data, gists: { ...state.data.gists, by: "built-in reader" } };
  assert.deepEqual(gistsOf(state, 0, 2), ["gist 1", "He left."]);
  assert.deepEqual(gistsOf(state, 2, 4), ["The light went out. Rain fell for a week."]);
  assert.deepEqual(gistsOf(state, 4, 6), ["They woke."]);
  shared.gist.text = "He left.\nThe light went out.";
  assert.deepEqual(gistsOf(state, 4, 6), ["They woke."]); // nothing was picked: how it begins
  state.pages = [];
  assert.deepEqual(gistsOf(state, 4, 6), []);
});

test("a long gist of picked sentences is shown in 120 words, spread over it, until all is asked for", () => {
  const text = Array.from({ length: 50 }, (_, i) => `Here the story tells of its day ${i}.`).join("\n");
  const page = pageOf(1, 0, 6, { gist: 400 });
  page.gist.text = text;
  let hits = [];
  const state = Object.assign(new ReadingState(), { book, pages: [page] });
  const leaves = new Leaves({ state, hitsInGist: () => hits, openGist() {}, resized() {}, send() {} });
  assert.equal(leaves.shortened(page), null); // a model's is one text
  state.data = { ...state.data, gists: { ...state.data.gists, by: "built-in reader" } };
  const shown = [...leaves.shortened(page)].map((from) => text.slice(from, from + 40));
  assert.equal(shown.length, 15); // of eight words each
  assert.match(shown.at(-1), /day 4\d/);
  assert.equal(leaves.shortened(pageOf(2, 0, 6, { gist: 150 })), null);
  hits = [[0, 4, "hit"]];
  assert.equal(leaves.shortened(page), null); // what was searched for is in it
});
