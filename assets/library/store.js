// What the library's screen and its invisible feed share in this browser tab: what was asked of the server, what came
// back, and how the person has arranged the screen, which stays as it was while other screens are open.

import { keep, kept } from "../shared/browser_store.js";
import { tabState } from "../shared/tab_state.js";

/** @import { BookGists, FeedData, FeedRequest, Found } from "../protocol.js" */

const ASK_MS = 80; // covers wanted within this time are asked for together
const MOST_COVERS = 60; // in one request
const SORT = "readagent-library-sort"; // in the browser's storage

/**
 * How the person has arranged the screen; null: all.
 * @typedef {object} View
 * @property {string} query
 * @property {string} sort
 * @property {string | null} shelf
 * @property {string | null} tag
 * @property {string | null} reading
 * @property {string | null} gists
 * @property {number} top how far it is scrolled
 */

class LibraryStore extends EventTarget {
  /** @type {Map<string, string | null>} book -> address of its picture, null if it cannot be shown */
  covers = new Map();
  /** @type {Set<string>} books whose picture was not asked for or has not come */
  wanted = new Set();
  /** @type {Record<string, BookGists>} of the books that are being read by a model now */
  gists = {};
  /** @type {Found | null} */
  found = null;
  query = "";
  shown = ""; // the query whose passages on pages that were not read are shown too
  books = 10; // with hits to show
  said = 0; // when what was said last was done
  timer = 0;
  /** @type {View} */
  view = { query: "", sort: kept(SORT) ?? "opened", shelf: null, tag: null, reading: null, gists: null, top: 0 };
}

export const store = tabState("library", () => new LibraryStore());

/** @param {string} what @param {unknown} [detail] */
const report = (what, detail = null) => store.dispatchEvent(new CustomEvent(what, { detail }));

/** Sorts in this way at the next visit too. @param {string} name */
export const keepSort = (name) => keep(SORT, name);

/** Asks for the pictures of these books, unless they are here. @param {string[]} ids */
export function wantCovers(ids) {
  for (const id of ids) if (!store.covers.has(id)) store.wanted.add(id);
  if (store.wanted.size) askSoon(ASK_MS);
}

/**
 * Searches the texts of all books for `query`; "" for nothing. `books`: of how many the hits are shown.
 * @param {string} query
 * @param {number} books
 * @param {number} delay
 */
export function searchTexts(query, books, delay) {
  Object.assign(store, { query, books });
  askSoon(delay);
}

/** @param {number} delay */
function askSoon(delay) {
  clearTimeout(store.timer);
  store.timer = setTimeout(() => report("ask"), delay);
}

/** What to ask of the server now. */
/** @returns {FeedRequest} */
export const request = () => ({ covers: [...store.wanted].slice(0, MOST_COVERS), query: store.query, books: store.books });

/** @param {FeedData} data */
export function receive({ covers, gists, found }) {
  for (const [id, address] of Object.entries(covers)) {
    store.covers.set(id, address);
    store.wanted.delete(id);
  }
  if (Object.keys(covers).length) report("covers");
  if (store.wanted.size) askSoon(0);
  if (JSON.stringify(gists) !== JSON.stringify(store.gists)) {
    const changed = new Set([...Object.keys(store.gists), ...Object.keys(gists)]); // also those that have just ended
    store.gists = gists;
    report("gists", changed);
  }
  if (JSON.stringify(found) !== JSON.stringify(store.found)) {
    store.found = found;
    report("found");
  }
}
