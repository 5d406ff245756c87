// A table of questions that one types into. Enter moves to the next field and adds a row after the last one; cells of
// a spreadsheet that are pasted fill rows.

import { button, el, plural } from "../shared/dom.js";
import { mountParts } from "../shared/mount.js";
import { Toast } from "../shared/toast.js";
import { questionsOf } from "./questions_store.js";
import { cellsOf, emptyRow, isEmpty, isTable, rowsOf } from "./table_text.js";

/**
 * @import { QuestionRow, QuestionsData } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 *
 * @typedef {keyof QuestionRow} FieldName
 * @typedef {HTMLInputElement} Field of one line, or a text area, which has all that is used of it
 * @typedef {{node: HTMLElement, fields: Record<FieldName, Field>, found: HTMLElement, problem: HTMLElement}} View
 */

/** @type {FieldName[]} */
const FIELDS = ["question", "answer", "wrong", "page"];
const LABELS = { question: "Question", answer: "Right answer", wrong: "Wrong answers, one per line", page: "Page" };
const EMPTY = { question: "", answer: "", wrong: "none: answered in free words", page: "" };

class QuestionsTable {
  /** @param {HTMLElement} root @param {Api} api @param {QuestionsData} data */
  constructor(root, { setState }, data) {
    this.setState = setState;
    this.store = questionsOf(data.book);
    /** @type {View[]} */
    this.views = [];
    this.list = el("ol", { class: "rows" });
    this.toast = new Toast();
    this.undoButton = button("Undo", () => this.undo(), { kind: "quiet", disabled: true });
    this.state = el("span", { class: "small dim", role: "status" });
    const head = FIELDS.map((name) => el("span", {}, LABELS[name]));
    const foot = el(
      "div",
      { class: "foot" },
      button("Add a question", () => this.add(), { icon: "plus" }),
      el("span", { class: "small dim keys" }, "or press Enter in the last row. A part of a spreadsheet can be pasted."),
      el("span", { class: "push" }),
      this.state,
      this.undoButton,
    );
    root.replaceChildren(el("div", { class: "head", "aria-hidden": "true" }, el("span"), ...head), this.list, foot, this.toast.node);
    root.addEventListener("focusout", () => this.store.save());
    this.root = root;
  }

  /** @param {QuestionsData} data */
  update(data) {
    const other = this.book !== data.book;
    this.book = data.book;
    this.store = questionsOf(data.book);
    this.store.send = (change) => this.setState("change", change);
    if (other) this.store.fresh = true;
    const changed = this.store.receive(data);
    if (other || changed) this.draw();
    if (this.store.saved) this.hints(data.hints);
    this.showState();
  }

  close() {
    this.store.send = null;
  }

  draw() {
    const { rows } = this.store;
    while (this.views.length > rows.length) this.views.pop()?.node.remove();
    while (this.views.length < rows.length) this.views.push(this.makeRow(this.views.length));
    rows.forEach((row, at) => {
      for (const name of FIELDS) {
        const field = this.views[at].fields[name];
        if (field.value !== row[name]) field.value = row[name];
        fit(field);
      }
    });
    this.undoButton.disabled = !this.store.undone.length;
  }

  /** @param {number} at */
  makeRow(at) {
    const fields = /** @type {View["fields"]} */ (Object.fromEntries(FIELDS.map((name) => [name, this.makeField(name, at)])));
    const found = el("span", { class: "found small" });
    const problem = el("p", { class: "problem small" });
    const cells = FIELDS.map((name) =>
      el("label", { class: name }, el("span", { class: "lab" }, LABELS[name]), fields[name], name === "page" ? found : null),
    );
    const remove = button("", () => this.remove(view), { icon: "close", kind: "quiet icon", name: `Remove question ${at + 1}` });
    const node = el("li", {}, el("span", { class: "num dim" }, String(at + 1)), ...cells, remove, problem);
    const view = { node, fields, found, problem };
    this.list.append(node);
    return view;
  }

  /** @param {FieldName} name @param {number} at */
  makeField(name, at) {
    const label = `${LABELS[name]}, question ${at + 1}`;
    const field = /** @type {HTMLInputElement} */ (
      el(name === "page" ? "input" : "textarea", {
        "aria-label": label,
        placeholder: EMPTY[name],
        rows: name === "page" ? null : 1,
        dir: "auto",
        name,
        spellcheck: "true",
      })
    );
    /** @type {string | null} */
    let before = "";
    field.addEventListener("focus", () => {
      before = field.value;
    });
    field.addEventListener("input", () => {
      if (field.value !== before && before !== null) {
        this.store.remember(); // the rows do not have the change yet
        before = null;
      }
      this.store.rows[this.at(field)][name] = field.value;
      fit(field);
      this.store.change();
      this.undoButton.disabled = false;
      this.showState();
    });
    field.addEventListener("keydown", (event) => this.press(event, name, field));
    field.addEventListener("paste", (event) => this.paste(event, field));
    return field;
  }

  /** @param {Field} field */
  at(field) {
    return this.views.findIndex((view) => Object.values(view.fields).includes(field));
  }

  /** @param {KeyboardEvent} event @param {FieldName} name @param {Field} field */
  press(event, name, field) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    const cursor = field.selectionStart ?? 0;
    const line = field.value.slice(field.value.lastIndexOf("\n", cursor - 1) + 1, cursor);
    if (name === "wrong" && line.trim()) return; // another wrong answer
    event.preventDefault();
    const at = this.at(field);
    if (name === "wrong" && field.value.endsWith("\n")) {
      field.value = field.value.trimEnd();
      field.dispatchEvent(new Event("input"));
    }
    if (name === "question" && !this.store.rows[at].answer) this.views[at].fields.answer.focus();
    else if (at + 1 < this.views.length) this.views[at + 1].fields.question.focus();
    else if (!isEmpty(this.store.rows[at])) this.add();
  }

  /** @param {ClipboardEvent} event @param {Field} field */
  paste(event, field) {
    if (!event.clipboardData || !isTable(event.clipboardData)) return;
    event.preventDefault();
    const made = rowsOf(cellsOf(event.clipboardData.getData("text/plain"))).filter((row) => !isEmpty(row));
    const at = this.at(field);
    this.store.remember();
    const rest = this.store.rows.slice(at + 1);
    if (isEmpty(this.store.rows[at])) this.store.rows.splice(at, 1, ...made);
    else this.store.rows.splice(at + 1, 0, ...made);
    if (!rest.length && !made.length) return;
    this.changed();
    this.toast.say(`${plural(made.length, "question")} pasted`, () => this.undo());
  }

  add() {
    this.store.rows.push(emptyRow());
    this.draw();
    this.views[this.views.length - 1].fields.question.focus();
  }

  /** @param {View} view */
  remove(view) {
    const at = this.views.indexOf(view);
    const [gone] = this.store.rows.slice(at, at + 1);
    this.store.remember();
    this.store.rows.splice(at, 1);
    if (!this.store.rows.length) this.store.rows.push(emptyRow());
    this.changed();
    this.views[Math.min(at, this.views.length - 1)].fields.question.focus();
    if (!isEmpty(gone)) this.toast.say(`Question ${at + 1} removed`, () => this.undo());
  }

  undo() {
    this.toast.close();
    if (this.store.undo()) this.draw();
    this.hints([]);
    this.showState();
  }

  changed() {
    this.draw();
    this.hints([]);
    this.store.change();
    this.store.save();
    this.showState();
  }

  /** Shows what the server found out about the rows it has; empty rows are not among them. @param {QuestionsData["hints"]} hints */
  hints(hints) {
    let next = 0;
    this.store.rows.forEach((row, at) => {
      const { problem = "", field = "", note = false, found = "" } = isEmpty(row) ? {} : (hints[next++] ?? {});
      const view = this.views[at];
      view.problem.textContent = problem;
      view.problem.classList.toggle("note", note); // the question is asked all the same
      view.node.classList.toggle("begun", !row.question.trim() || !row.answer.trim()); // a row that is still being filled in shows no error
      for (const name of FIELDS) view.fields[name].setAttribute("aria-invalid", String(field === name && !note));
      const there = found && field === "page" ? `answer: ${found}` : found && `✓ ${found}`; // no tick for the page written
      view.found.textContent = there || (row.answer.trim() && hints.length ? "not word for word in the text" : "");
      view.found.classList.toggle("there", Boolean(found) && field !== "page");
    });
  }

  showState() {
    const written = this.store.rows.some((row) => !isEmpty(row));
    this.state.textContent = !this.store.saved ? "Saving" : written ? "Saved as you type" : "";
  }
}

/** @param {Field} field */
function fit(field) {
  if (field.tagName !== "TEXTAREA") return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}

export default mountParts({ questions: QuestionsTable });
