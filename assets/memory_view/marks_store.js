// The marks of books in this browser tab, each book under its id. A change shows at once and is sent to the server; until
// the server has it, it is applied again to what the server sends. What it does not have when the window is left is sent by
// the next window.

import { keep, keptJson } from "../shared/browser_store.js";
import { tabState } from "../shared/tab_state.js";

/**
 * @import { MarkChange, MarkRecord, MarksData, PassageAsked, PassageData } from "../protocol.js"
 *
 * @typedef {Omit<MarkChange, "at">} Change
 */

/** The marks of one book. Events: "marks", "passage". */
export class StoredMarks extends EventTarget {
  /** @type {Map<string, MarkRecord>} those with a place in the text */
  all = new Map();
  /** @type {MarkRecord[]} */
  lost = [];
  /** @type {Map<string, MarkRecord>} those that Undo can bring back */
  removed = new Map();
  /** @type {MarkChange[]} those that the server has not confirmed */
  pending = [];
  /** @type {PassageData | null} what is known of the passage that was asked about */
  passage = null;
  /** @type {PassageAsked | null} */
  asked = null;
  /** @type {((name: string, value: unknown) => void) | null} sends a state value; null before the channel is there */
  send = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} until what is not confirmed is sent again */
  again = undefined;
  model = false; // a language model is connected
  dictionaries = false; // there are some: a word that is pressed twice is looked up
  price = ""; // of a question about a passage
}

const CONFIRMED_MS = 3000; // the server has mostly answered
const LEFT = "readagent marks"; // by book what a window that was left had not sent

/** @type {Map<string, StoredMarks>} */
const books = tabState("marks", () => new Map());

/** @param {string} book @returns {StoredMarks} */
export function marksOf(book) {
  const known = books.get(book);
  if (known) return known;
  const store = new StoredMarks();
  books.set(book, store);
  const { [book]: pending, ...others } = left();
  if (!Array.isArray(pending)) return store;
  store.pending = pending;
  keep(LEFT, JSON.stringify(others));
  return store;
}

const left = () => /** @type {Record<string, MarkChange[]>} */ (keptJson(LEFT) ?? {});

/** Keeps what the server has not confirmed for the next window. */
export function keepPending() {
  const now = [...books].flatMap(([book, { pending }]) => (pending.length ? [[book, pending]] : []));
  if (now.length) keep(LEFT, JSON.stringify({ ...left(), ...Object.fromEntries(now) }));
}

/** @param {MarksData} data */
export function storeMarks({ book, marks, lost, seen, model, dictionaries, price }) {
  const store = marksOf(book);
  store.pending = store.pending.filter((change) => change.at > seen);
  if (!store.pending.length) clearTimeout(store.again);
  store.all = new Map(marks.map((mark) => [mark.id, mark]));
  Object.assign(store, { lost, model, dictionaries, price });
  for (const change of store.pending) apply(store, change);
  store.dispatchEvent(new Event("marks"));
}

/** @param {StoredMarks} store @param {Change} change */
function apply(store, { do: what, mark, id = "" }) {
  const removed = store.removed.get(id);
  if (mark) store.all.set(mark.id, /** @type {MarkRecord} */ ({ ...store.all.get(mark.id), ...mark }));
  else if (what === "restore" && removed) store.all.set(id, removed);
  else if (what === "remove") {
    const gone = store.all.get(id) ?? store.lost.find((mark_) => mark_.id === id);
    if (gone) store.removed.set(id, gone);
    store.all.delete(id);
    store.lost = store.lost.filter((mark_) => mark_.id !== id);
  }
}

let last = 0;

/** @param {StoredMarks} store @param {Change} change */
export function changeMarks(store, change) {
  last = Math.max(Date.now(), last + 1); // later tabs and loads of the page begin higher
  const made = { ...change, at: last };
  apply(store, made);
  store.pending.push(made);
  sendPending(store);
  store.dispatchEvent(new Event("marks"));
}

/** Sends what the server has not confirmed, and again until it has: a request that crosses another can be lost. @param {StoredMarks} store */
export function sendPending(store) {
  clearTimeout(store.again);
  if (!store.pending.length || !store.send) return;
  store.send("changes", store.pending);
  store.again = setTimeout(() => sendPending(store), CONFIRMED_MS);
}

/** Asks about a passage, or cancels. @param {StoredMarks} store @param {Omit<PassageAsked, "at">} asked */
export function askPassage(store, asked) {
  store.asked = { ...asked, at: Date.now() };
  store.send?.("asked", store.asked);
}

export const newId = () => `m${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`;

/** The marks in the order of the book. @param {Iterable<MarkRecord>} marks */
export function inOrder(marks) {
  return [...marks].sort((a, b) => a.start[0] - b.start[0] || a.start[1] - b.start[1] || a.end[0] - b.end[0] || a.end[1] - b.end[1]);
}
