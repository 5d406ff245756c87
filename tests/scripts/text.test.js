// The arithmetic of words, chapters and places in a text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chapterStart } from "../../assets/memory_view/commands.js";
import { pauseReason } from "../../assets/memory_view/leaves.js";
import { facesFor } from "../../assets/memory_view/look_panel.js";
import { isBefore, partsOf, trimmed, wholeWords } from "../../assets/memory_view/text_places.js";
import { chapterOf, chapterUnits, lastUpTo, placeOf, readingTime, shareRead, wordsBefore } from "../../assets/memory_view/text_store.js";
import { nextEdge, piecesOf } from "../../assets/memory_view/word_steps.js";
import { withBothSigns, withoutSigns } from "../../assets/shared/dom.js";
import { bookWith } from "./books.js";

test("lastUpTo finds the last start that is not after a value", () => {
  assert.deepEqual(
    [-1, 0, 4, 5, 9].map((value) => lastUpTo([0, 5, 9], value)),
    [-1, 0, 0, 1, 2],
  );
  assert.equal(lastUpTo([], 3), -1);
});

test("words before a paragraph are shared out by characters, and evenly where the text has not come", () => {
  const book = bookWith(["aaaa", "aa", "aaaaaa"], { units: [[0, 12]] });
  assert.deepEqual(
    [0, 1, 2, 3].map((paragraph) => wordsBefore(book, paragraph)),
    [0, 4, 6, 12],
  );
  const coming = bookWith(["aaaa", "aa", "aaaaaa"], { units: [[0, 12]] });
  coming.text = [];
  assert.equal(wordsBefore(coming, 1), 4);
  assert.equal(shareRead(book, 2), 0.5);
});

test("a chapter goes up to the next; what is before the first is the whole book", () => {
  const book = bookWith(["a", "b", "c", "d"], { chapters: [1, 3] });
  assert.deepEqual(chapterOf(book, 0), [0, 4]);
  assert.deepEqual(chapterOf(book, 2), [1, 3]);
  assert.deepEqual(chapterOf(book, 3), [3, 4]);
});

test("the units of a chapter are turned together, what is before the first chapter alone", () => {
  const { outline } = bookWith(["a", "b", "c", "d", "e"], { chapters: [2, 4], units: [0, 1, 2, 3, 4].map((start) => [start, 1]) });
  assert.deepEqual(chapterUnits(outline), [
    [0, 0],
    [1, 1],
    [2, 3],
    [4, 4],
  ]);
});

test("a chapter back goes to the beginning of this one first", () => {
  assert.equal(chapterStart([0, 10, 20], 13, -1), 10);
  assert.equal(chapterStart([0, 10, 20], 10, -1), 0);
  assert.equal(chapterStart([0, 10, 20], 13, 1), 20);
  assert.equal(chapterStart([0, 10, 20], 25, 1), undefined);
});

test("times are said as people say them", () => {
  const book = bookWith(["a"], { speed: 200 });
  assert.deepEqual(
    [0, 1, 1000, 16_000].map((words) => readingTime(book, words)),
    ["0 min", "1 min", "5 min", "1 h 20 min"],
  );
});

test("a place in the source counts until the next", () => {
  const book = bookWith(["a", "b", "c"]);
  book.places = [
    [0, "p. 1"],
    [2, "p. 2"],
  ];
  assert.deepEqual(
    [0, 1, 2].map((paragraph) => placeOf(book, paragraph)),
    ["p. 1", "p. 1", "p. 2"],
  );
});

const spot = (paragraph, offset) => ({ paragraph, offset });

test("a passage has a part in each paragraph, also in those that have not come", () => {
  const book = bookWith(["one two", "three", "four"]);
  assert.deepEqual(partsOf(book, spot(0, 4), spot(2, 2)), [
    [0, 4, 7],
    [1, 0, 5],
    [2, 0, 2],
  ]);
  book.text.length = 0;
  assert.deepEqual(partsOf(book, spot(1, 1), spot(2, 2)), [
    [1, 1, Number.POSITIVE_INFINITY],
    [2, 0, 2],
  ]);
});

test("a selection takes whole words, and none of the white space round them", () => {
  const book = bookWith(["The lamp was lit.", "猫は眠る。"]);
  assert.deepEqual(wholeWords(book, spot(0, 5), spot(0, 10)), [spot(0, 4), spot(0, 12)]);
  assert.deepEqual(wholeWords(book, spot(1, 1), spot(1, 3)), [spot(1, 1), spot(1, 3)]); // no spaces between words
  assert.deepEqual(trimmed(book, spot(0, 3), spot(0, 9)), { start: spot(0, 4), end: spot(0, 8) });
  assert.equal(trimmed(book, spot(0, 3), spot(0, 4)), null);
});

test("a place is before another by paragraph, then by character", () => {
  assert.ok(isBefore(spot(0, 9), spot(1, 0)));
  assert.ok(!isBefore(spot(1, 3), spot(1, 3)));
});

test("words and sentences are found in any script, and the next edge in the next paragraph too", () => {
  assert.deepEqual(piecesOf("Who? Nora Pell.", "en", "sentence"), [
    [0, 4],
    [5, 15],
  ]);
  const words = piecesOf("猫が眠る。", "ja", "word").map(([from, to]) => "猫が眠る。".slice(from, to));
  assert.equal(words.join(""), "猫が眠る");
  const texts = ["One two.", "Three."];
  const next = (place, step, beginning = false, granularity = "word") => nextEdge(texts, "en", place, { granularity, step, beginning });
  assert.deepEqual(next(spot(0, 3), 1), spot(0, 7));
  assert.deepEqual(next(spot(0, 7), 1), spot(1, 5));
  assert.deepEqual(next(spot(1, 0), -1, true), spot(0, 4));
  assert.equal(next(spot(1, 5), 1), null);
});

test("what is told in one line has no signs of italics", () => {
  assert.equal(withoutSigns("aboard the *Perpetua*, 2 * 3 and *No. 119*", "*"), "aboard the Perpetua, 2 * 3 and No. 119");
  assert.equal(withoutSigns("snake_case and _this_", "_"), "snake_case and this");
  const cut = ["*Sculino* and *Swimm", "wimmino* and so", "2 * 3 in *all*"].map((text) => withBothSigns(text, "*"));
  assert.deepEqual(cut, ["*Sculino* and *Swimm*", "*wimmino* and so", "2 * 3 in *all*"]);
  assert.equal(withBothSigns("*as it is", ""), "*as it is");
  assert.equal(withoutSigns("*as it is*", ""), "*as it is*");
  assert.equal(withoutSigns("Type `a *b* c` or ``d`e`` in *f*, not `g", "*"), "Type a *b* c or d`e in f, not `g");
  assert.equal(withoutSigns("```python\nx = `1`\n\ny\n```", "*"), "x = `1`\n\ny");
});

test("the reason of a pause ahead is kept back, not missing", () => {
  assert.equal(pauseReason({ ends: "pause" })[1], "no reason was given");
  assert.equal(pauseReason({ ends: "pause", veiled: 60 })[1], "you see why once you have read this far");
});

test("a book in Japanese letters is offered the typefaces that change them", () => {
  const values = (face, wide) => [facesFor(face, wide).rows.map(([value]) => value), facesFor(face, wide).chosen];
  assert.deepEqual(values("lato", true), [["serif", "sans"], "sans"]); // Lato has no such letters: they are drawn in Sans
  assert.deepEqual(values("caladea", true)[1], "serif");
  assert.equal(values("local:Klee", true)[1], "local:Klee");
  assert.equal(values("lato", false)[0].length, 6);
});
