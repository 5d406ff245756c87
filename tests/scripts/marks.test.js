// Changes of marks: shown at once, sent in order until the server has them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { leftOut } from "../../assets/memory_view/mark_kinds.js";
import { askPassage, changeMarks, inOrder, marksOf, newId, storeMarks } from "../../assets/memory_view/marks_store.js";

const mark = (id, start, rest = {}) => ({ id, kind: "highlight", colour: "rose", start, end: start, note: "", words: "w", ...rest });
const data = (book, marks, seen = 0, lost = []) => ({ book, marks, lost, seen, model: true });

test("a change shows at once, and again over what the server sends until it has it", () => {
  const store = marksOf("b1");
  changeMarks(store, { do: "make", mark: mark("m1", [0, 0]) });
  changeMarks(store, { do: "change", mark: { id: "m1", colour: "sky" } });
  assert.equal(store.all.get("m1").colour, "sky");
  const [made, changed] = store.pending;
  assert.ok(changed.at > made.at);
  storeMarks(data("b1", [mark("m1", [0, 0])], made.at)); // it has the first one
  assert.deepEqual(store.pending, [changed]);
  assert.equal(store.all.get("m1").colour, "sky");
  storeMarks(data("b1", [mark("m1", [0, 0], { colour: "sky" })], changed.at));
  assert.deepEqual(store.pending, []);
});

test("a part of a sentence is quoted with ellipses", () => {
  assert.deepEqual(leftOut("usual. The night was clear. At ten"), ["… ", " …"]);
  assert.deepEqual(leftOut("“The night was clear.”"), ["", ""]);
  assert.deepEqual(leftOut("夜は静かだった。"), ["", ""]);
  assert.deepEqual(leftOut(""), ["", ""]);
});

test("what was made before the channel is there is sent with what comes after, and again until the server has it", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const store = marksOf("b2");
  const sent = [];
  changeMarks(store, { do: "make", mark: mark("m1", [0, 0]) });
  store.send = (name, changes) => sent.push([name, changes.map((change) => change.do)]);
  changeMarks(store, { do: "remove", id: "m1" });
  assert.deepEqual(sent, [["changes", ["make", "remove"]]]);
  storeMarks(data("b2", [], store.pending[0].at)); // the first one has come
  t.mock.timers.tick(3000);
  assert.deepEqual(sent.slice(1), [["changes", ["remove"]]]);
  storeMarks(data("b2", [], store.pending[0].at));
  t.mock.timers.tick(60_000);
  assert.equal(sent.length, 2);
});

test("a removed mark comes back as it was, also one that had lost its place", () => {
  const store = marksOf("b3");
  storeMarks(data("b3", [mark("m1", [0, 0], { note: "n" })], 0, [mark("m2", [9, 0])]));
  changeMarks(store, { do: "remove", id: "m1" });
  changeMarks(store, { do: "remove", id: "m2" });
  assert.deepEqual([store.all.size, store.lost.length], [0, 0]);
  changeMarks(store, { do: "restore", id: "m1" });
  assert.equal(store.all.get("m1").note, "n");
  changeMarks(store, { do: "restore", id: "never" });
  assert.equal(store.all.size, 1);
});

test("marks are in the order of the book, and two ids are never the same", () => {
  const marks = [mark("c", [2, 0]), mark("a", [0, 5]), mark("b", [0, 9]), mark("d", [2, 0], { end: [3, 0] })];
  assert.deepEqual(
    inOrder(marks).map((one) => one.id),
    ["a", "b", "c", "d"],
  );
  assert.notEqual(newId(), newId());
});

test("a question about a passage goes out with its time", () => {
  const store = marksOf("b4");
  const sent = [];
  store.send = (name, value) => sent.push([name, value.task, value.at > 0]);
  askPassage(store, { id: "q", task: "define", words: "lamp", start: [0, 0], end: [0, 4] });
  askPassage(store, { id: "q", task: "cancel" });
  assert.deepEqual(sent, [
    ["asked", "define", true],
    ["asked", "cancel", true],
  ]);
});
