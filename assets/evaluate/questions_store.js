// The own questions of each book in this browser tab. What is typed stays here until the server has confirmed it, also
// while another screen is open.

import { tabState } from "../shared/tab_state.js";
import { emptyRow, isEmpty } from "./table_text.js";

/** @import { QuestionRow, QuestionsChange, QuestionsData } from "../protocol.js" */

const SAVE_MS = 500;
const MOST_UNDONE = 50;
/** @type {Map<string, StoredQuestions>} */
const books = tabState("own questions", () => new Map());

export class StoredQuestions {
  constructor() {
    this.rows = [emptyRow()];
    /** @type {QuestionRow[][]} */
    this.undone = [];
    this.at = 0; // number of the last change
    this.seen = 0; // that the server has stored
    this.revision = -1;
    this.fresh = true; // what the server has counts, except for changes that it does not have yet
    /** @type {((change: QuestionsChange) => void) | null} */
    this.send = null;
  }

  get saved() {
    return this.seen >= this.at;
  }

  /** @param {QuestionsData} data @returns {boolean} whether the rows are others now */
  receive({ rows, seen, revision }) {
    const first = this.revision < 0;
    const added = revision !== this.revision;
    this.seen = Math.max(this.seen, seen);
    this.revision = revision;
    if (!this.saved) {
      if (added && !first) this.append(rows.filter((row) => !this.rows.some((own) => own.question === row.question)));
      this.save(); // it may have been lost between two runs
      return added;
    }
    if (!added && !this.fresh) return false;
    if (added && !first) this.remember();
    this.fresh = false;
    this.rows = rows.length ? rows.map((row) => ({ ...row })) : [emptyRow()];
    return true;
  }

  /** Stores the rows as they are now, to be undone. */
  remember() {
    this.undone.push(this.rows.map((row) => ({ ...row })));
    if (this.undone.length > MOST_UNDONE) this.undone.shift();
  }

  undo() {
    const before = this.undone.pop();
    if (!before) return false;
    this.rows = before;
    this.change();
    this.save();
    return true;
  }

  /** @param {QuestionRow[]} rows */
  append(rows) {
    while (this.rows.length && isEmpty(this.rows[this.rows.length - 1])) this.rows.pop();
    this.rows.push(...rows);
    if (!this.rows.length) this.rows.push(emptyRow());
  }

  /** Notes that something was changed; it is sent after a pause. */
  change() {
    this.at = Math.max(Date.now(), this.at + 1); // a later load of the page begins higher
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), SAVE_MS);
  }

  save() {
    clearTimeout(this.timer);
    if (!this.saved) this.send?.({ at: this.at, rows: this.rows });
  }
}

/** @param {string} book @returns {StoredQuestions} */
export function questionsOf(book) {
  const known = books.get(book) ?? new StoredQuestions();
  books.set(book, known);
  return known;
}
