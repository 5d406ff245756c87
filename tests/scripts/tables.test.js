// What is typed and pasted into the table of one's own questions, and what is not lost of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { questionsOf } from "../../assets/evaluate/questions_store.js";
import { cellsOf, emptyRow, isEmpty, isTable, rowsOf } from "../../assets/evaluate/table_text.js";

test("cells in quotation marks may have tabs, line breaks and quotation marks", () => {
  assert.deepEqual(cellsOf('a\t"b\n""c""\t"\r\n\t\nd'), [["a", 'b\n"c"\t'], ["d"]]);
  assert.deepEqual(cellsOf(""), []);
});

test("without a line of names the columns are question, answer, wrong answers", () => {
  assert.deepEqual(rowsOf(cellsOf("Who?\tNora\tReeve\tDunstan\nWhen?\t1911")), [
    { question: "Who?", answer: "Nora", wrong: "Reeve\nDunstan", page: "" },
    { question: "When?", answer: "1911", wrong: "", page: "" },
  ]);
});

test("a line of names says which column is which", () => {
  const rows = rowsOf(cellsOf('Page\tRight answer\tQuestion\tWrong 1\tOther\n7\tNora\tWho?\t"Reeve\n\nDunstan"\tx'));
  assert.deepEqual(rows, [{ question: "Who?", answer: "Nora", wrong: "Reeve\nDunstan", page: "7" }]);
});

test("a paste is a table when it has tabs or comes as one", () => {
  const paste = (plain, html = "") => ({ getData: (kind) => (kind === "text/html" ? html : plain) });
  assert.ok(isTable(paste("a\tb")));
  assert.ok(isTable(paste("a", "<TABLE>")));
  assert.ok(!isTable(paste("a sentence", "<p>")));
});

const row = (question) => ({ ...emptyRow(), question });
const sent = (rows, seen, revision = 0) => ({ book: "b", rows, seen, revision, hints: [] });

test("what is typed stays until the server has it", () => {
  const store = questionsOf("typed");
  store.receive(sent([row("one")], 0));
  store.rows[0].question = "one, mended";
  store.change();
  assert.equal(store.receive(sent([row("one")], 0)), false);
  assert.equal(store.rows[0].question, "one, mended");
  assert.ok(!store.saved);
  store.receive(sent([row("one, mended")], store.at));
  assert.ok(store.saved);
  clearTimeout(store.timer);
});

test("questions that the server adds come to those that are being typed", () => {
  const store = questionsOf("added");
  store.receive(sent([], 0));
  store.rows[0].question = "typed";
  store.change();
  assert.equal(store.receive(sent([row("suggested")], 0, 1)), true);
  assert.deepEqual(
    store.rows.map((one) => one.question),
    ["typed", "suggested"],
  );
  clearTimeout(store.timer);
});

test("a change can be undone, and an empty row is not a question", () => {
  const store = questionsOf("undone");
  store.receive(sent([row("one"), row("two")], 0));
  store.remember();
  store.rows.splice(0, 1);
  assert.ok(store.undo());
  assert.deepEqual(
    store.rows.map((one) => one.question),
    ["one", "two"],
  );
  assert.equal(store.undo(), false);
  assert.ok(isEmpty(emptyRow()) && !isEmpty(row(" x")));
  clearTimeout(store.timer);
});
