// The marks of books in this browser tab, each book under its id. A change shows at once and is sent to the server; until
// the server has it, it is applied again to what the server sends.

import { tabState } from "../shared/tab_state.js";

const books = tabState("marks", () => new Map());

/**
 * @typedef {import("./types.js").MarkRecord} MarkRecord
 * @typedef {import("./types.js").MarkChange} MarkChange
 * @typedef {EventTarget & {all: Map<string, MarkRecord>, lost: MarkRecord[], removed: Map<string, MarkRecord>,
 *   pending: MarkChange[], passage: any, asked: any, send: ((name: string, value: any) => void) | null, model: boolean}} StoredMarks
 *   `all`: the marks with a place in the text; `removed`: those that Undo can bring back; `pending`: the changes that the
 *   server has not confirmed; `passage`: what is known of the passage that was asked about; `model`: a language model is
 *   connected. `send`: sends a state value, null before the channel is there. Events: "marks", "passage".
 *
 * @param {string} book
 * @returns {StoredMarks}
 */
export function marksOf(book) {
  if (!books.has(book)) {
    const empty = { all: new Map(), lost: [], removed: new Map(), pending: [], passage: null, asked: null, send: null, model: false };
    books.set(book, Object.assign(new EventTarget(), empty));
  }
  return books.get(book);
}

/** @param {import("./types.js").MarksData} data */
export function storeMarks({ book, marks, lost, seen, model }) {
  const store = marksOf(book);
  store.pending = store.pending.filter((change) => change.at > seen);
  store.all = new Map(marks.map((mark) => [mark.id, mark]));
  Object.assign(store, { lost, model });
  for (const change of store.pending) apply(store, change);
  store.dispatchEvent(new Event("marks"));
}

function apply(store, { do: what, mark, id }) {
  if (what === "make" || what === "change") store.all.set(mark.id, { ...store.all.get(mark.id), ...mark });
  else if (what === "restore" && store.removed.has(id)) store.all.set(id, store.removed.get(id));
  else if (what === "remove") {
    const gone = store.all.get(id) ?? store.lost.find((mark_) => mark_.id === id);
    if (gone) store.removed.set(id, gone);
    store.all.delete(id);
    store.lost = store.lost.filter((mark_) => mark_.id !== id);
  }
}

let last = 0;

/** Makes a change: {do: "make" | "change", mark} or {do: "remove" | "restore", id}. */
export function changeMarks(store, change) {
  last = Math.max(Date.now(), last + 1); // later tabs and loads of the page begin higher
  const made = { ...change, at: last };
  apply(store, made);
  store.pending.push(made);
  store.send?.("changes", store.pending);
  store.dispatchEvent(new Event("marks"));
}

/** Asks about a passage, or cancels ({task: "cancel"}). */
export function askPassage(store, asked) {
  store.asked = { ...asked, at: Date.now() };
  store.send?.("asked", store.asked);
}

export const newId = () => `m${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`;

/** The marks in the order of the book. */
export function inOrder(marks) {
  return [...marks].sort((a, b) => a.s[0] - b.s[0] || a.s[1] - b.s[1] || a.e[0] - b.e[0] || a.e[1] - b.e[1]);
}
