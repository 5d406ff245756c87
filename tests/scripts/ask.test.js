// The state that all parts of Ask share, and what is shown of pages that an answer quotes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { picks } from "../../assets/answer_view/answer.js";
import { conversationOf, goToStep, receive, subscribe } from "../../assets/answer_view/conversation_state.js";
import { span, wholePercent, youFact } from "../../assets/library/facts.js";
import { beginningOf } from "../../assets/memory_view/memory_rows.js";
import { countWords, isUnfolded, shownParts } from "../../assets/memory_view/passages.js";
import { authorLine, titleLines } from "../../assets/shared/cover.js";

const state = (turn, rest = {}) => ({ turn, exchange: "e", steps: ["a", "b", "c"], running: false, at: 2, ...rest });

test("of two answers beside each other it is said in which an option was chosen", () => {
  const options = (...chosen) => chosen.map((one) => ({ letter: "", text: "", chosen: one }));
  assert.deepEqual(picks(options(false, true), null), ["", "chosen"]);
  const names = [
    ["then", "As it was"],
    ["now", "What if"],
  ];
  const beside = (...chosen) => ({ ...Object.fromEntries(names), record: { options: options(...chosen) } });
  assert.deepEqual(picks(options(false, true), beside(true, false)), ["chosen: As it was", "chosen: What if"]);
  assert.deepEqual(picks(options(true, false), beside(true, false)), ["chosen: As it was, What if", ""]);
});

test("a step that was clicked stays until the server shows it", () => {
  const shown = conversationOf("clicked");
  receive(shown, state(1));
  goToStep(shown, 0);
  receive(shown, state(2)); // sent before the click arrived
  assert.equal(shown.step, 0);
  receive(shown, state(3, { at: 0 }));
  receive(shown, state(4, { at: 1 }));
  assert.equal(shown.step, 1);
});

test("a message that comes late is dropped, and another question forgets the chosen step", () => {
  const shown = conversationOf("late");
  receive(shown, state(5));
  receive(shown, state(4, { at: 0 }));
  assert.equal(shown.step, 2);
  goToStep(shown, 0);
  receive(shown, state(6, { exchange: "f", at: 1 }));
  assert.equal(shown.step, 1);
});

test("who subscribes hears what is there already, and nothing after leaving", () => {
  const heard = [];
  receive(conversationOf("heard"), state(1));
  const leave = subscribe("heard", (now, step) => heard.push([now.turn, step]));
  goToStep(conversationOf("heard"), 1);
  leave();
  goToStep(conversationOf("heard"), 0);
  assert.deepEqual(heard, [
    [1, 2],
    [1, 1],
  ]);
});

const sentence = "A sentence of about forty letters is here. ";

test("whole sentences are shown round a quotation, and all of a short text", () => {
  const text = sentence.repeat(30);
  const start = text.indexOf("about", 600);
  const [[from, to]] = shownParts(text, [[start, start + 5]]);
  assert.ok(from > 0 && to < text.length);
  assert.match(text.slice(from, to), /^A sentence/);
  assert.match(text.slice(from, to), /here\.$/);
  assert.deepEqual(shownParts("Short. Text.", [[0, 5]]), [[0, 12]]);
  assert.deepEqual(shownParts(text, []), []);
});

test("no word is cut in two, where no sentence ends nearby or a page without a gist begins", () => {
  const text = "word ".repeat(200);
  const [[, to]] = shownParts(text, [[0, 4]]);
  assert.match(text.slice(0, to), /word$/);
  const [[from]] = shownParts(text, [[703, 704]]);
  assert.match(text.slice(from - 1), /^ word/);
  assert.match(beginningOf(text), /word …$/);
  assert.equal(beginningOf("Short."), "Short.");
  assert.equal(beginningOf("雪".repeat(300)).length, 202);
});

test("quotations near each other share a part", () => {
  const text = sentence.repeat(60);
  assert.equal(
    shownParts(text, [
      [900, 905],
      [960, 970],
    ]).length,
    1,
  ); // prettier-ignore
  assert.equal(
    shownParts(text, [
      [0, 5],
      [2000, 2010],
    ]).length,
    2,
  ); // prettier-ignore
});

test("an opened fold shows the paragraphs up to the next quoted one", () => {
  const passages = [
    [3, 0, 5],
    [9, 0, 5],
  ];
  assert.deepEqual(
    [1, 2, 3, 4, 8].map((index) => isUnfolded([2], index, passages)),
    [false, true, true, false, false],
  );
  assert.ok(isUnfolded([10], 40, passages));
  assert.ok(!isUnfolded([], 0, passages));
  assert.deepEqual([countWords("two words"), countWords("雪の 駅")], [2, 3]);
});

test("a book's facts never say that all is read before the end", () => {
  assert.equal(wholePercent(0.999), "99 %");
  assert.deepEqual([0.2, 75, 150].map(span), ["1 min", "1 h 15 min", "3 h"]);
  assert.equal(youFact({ words: 100, read: 100 }).text, "read");
  assert.equal(youFact({ words: 2300 }).text, "Not started, 10 min");
  assert.equal(youFact({ words: 2300, lang: "ja" }).text, "Not started, 9 min");
  assert.equal(youFact({ words: 4600, read: 2300 }).text, "50 %, 10 min left");
  assert.equal(youFact({ words: 4600, read: 2300, at: 0.13 }).text, "50 % read, at 13 %");
  assert.equal(youFact({ words: 4600, at: 0.5 }).text, "at 50 %, 10 min left");
  assert.equal(youFact({ words: 148, pictures: 17 }).text, "Not started, 17 pictures");
  assert.equal(youFact({ words: 148, pictures: 17, read: 74 }).text, "50 %");
});

test("a title fits a cover in four lines", () => {
  assert.deepEqual(titleLines("The Keeper of Harrow Light"), ["The Keeper of", "Harrow Light"]);
  assert.deepEqual(titleLines("雪の駅の長い名前"), ["雪の駅の長い名", "前"]);
  const lines = titleLines("A very long title that goes on and on and does not end before the cover does");
  assert.equal(lines.length, 4);
  assert.match(lines[3], /…$/);
  assert.deepEqual(titleLines(""), ["—"]);
  for (const [author, room] of [
    ["Herman Melville", 24],
    ["Pr David Khayat, Nathalie Hutter-Lardeau", 24],
    ["二葉亭四迷・坪内逍遥・森鷗外", 12],
  ]) {
    assert.ok(authorLine(author).length <= room, author);
    assert.equal(authorLine(author) === author, author.length <= room);
  }
});
