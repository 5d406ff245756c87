// How far a person has read: what was on the screen long enough and then turned; a jump never counts.

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { Progress } from "../../assets/memory_view/progress.js";
import { ReadingState } from "../../assets/memory_view/state.js";
import { bookWith } from "./books.js";

let progress;
let state;
const told = [];

beforeEach(() => {
  globalThis.document = { visibilityState: "visible" };
  mock.timers.enable({ apis: ["Date", "setInterval"] });
  told.length = 0;
  state = new ReadingState();
  state.book = bookWith(Array(40).fill("a".repeat(100)), { units: [[0, 4000]] }); // 100 words a paragraph
  progress = new Progress({ state, progressed: (byHand) => told.push(byHand) });
});

afterEach(() => {
  progress.close();
  mock.timers.reset();
  delete globalThis.document;
});

/** Paragraphs `first` and the next are on the screen for `seconds`; reading them takes 20 s. */
function read(first, seconds) {
  progress.look(first, first + 1);
  mock.timers.tick(1000 * seconds);
}

test("what was on the screen long enough counts once the person has turned on", () => {
  read(0, 20);
  assert.equal(state.furthest, 0);
  read(2, 1);
  assert.equal(state.furthest, 2);
  assert.deepEqual(told, [false]);
  assert.equal(state.book.furthest, 2);
});

test("pages turned too fast do not count, a little skipped text does", () => {
  read(0, 20);
  for (const first of [2, 4, 6]) read(first, 1); // 600 words unread
  read(8, 20);
  read(10, 1);
  assert.equal(state.furthest, 10);
  for (let first = 12; first < 30; first += 2) read(first, 1);
  read(30, 20);
  read(32, 1);
  assert.equal(state.furthest, 10);
});

test("a jump does not count; reading on beyond it is offered after a page or two", () => {
  read(0, 20);
  read(2, 5);
  progress.jumped();
  read(20, 20);
  assert.equal(progress.offer(), null);
  for (const first of [22, 24, 26]) read(first, 20);
  assert.equal(state.furthest, 2);
  assert.equal(progress.offer(), 26);
});

test("time in a hidden tab does not count", () => {
  progress.look(0, 1);
  globalThis.document.visibilityState = "hidden";
  mock.timers.tick(60_000);
  globalThis.document.visibilityState = "visible";
  progress.look(2, 3);
  assert.equal(state.furthest, 0);
});

test("the end of the book needs no turn", () => {
  progress.begin(38);
  progress.look(38, 39);
  mock.timers.tick(22_000); // it looks by itself
  assert.equal(state.furthest, 40);
});

test("set by hand, it stays until the server has it, and takes more from another tab", () => {
  progress.set(12);
  assert.deepEqual(told, [true]);
  assert.equal(progress.takeStored(20, 0), false);
  assert.equal(progress.takeStored(12, 0), false);
  assert.equal(progress.takeStored(20, 12), true);
  assert.equal(progress.takeStored(5, 20), false);
  assert.equal(state.furthest, 20);
});
