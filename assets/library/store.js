// What the library's screen and its invisible feed share in this browser tab: what was asked of the server, what came
// back, and how the person has arranged the screen, which stays as it was while other screens are open.

import { tabState } from "../shared/tab_state.js";

const ASK_MS = 80; // covers wanted within this time are asked for together
const MOST_COVERS = 60; // in one request
const SORT = "readagent-library-sort"; // in the browser's storage

/**
 * A book, sent by pages/parts/library/cards.py.
 * @typedef {object} Book
 * @property {string} id
 * @property {string} title
 * @property {string} [author]
 * @property {string} [kind] what it is where it has no author: "web page", "PDF"
 * @property {string} [lang]
 * @property {number} words
 * @property {number} [read] words that count as read
 * @property {boolean} [begun] whether the person has been past its beginning
 * @property {string} [section] the title of the section where the person is
 * @property {number} added seconds
 * @property {number} [opened] seconds
 * @property {boolean} [cover] whether it has a picture
 * @property {boolean} [sample]
 * @property {string[]} [tags]
 * @property {string[]} [shelves]
 * @property {boolean} [web_page] whether it was a saved web page, on which the next action can be found
 * @property {Gists} [gists] none before a model has made any
 *
 * @typedef {object} Gists
 * @property {"ready" | "making" | "paused" | "stopped"} state
 * @property {number} share of the book's words, 0 to 1
 * @property {number} pages of the whole book, made and expected
 * @property {number} made gists that are stored
 * @property {string} [rest] what is said after the share: time left, or why it waits
 * @property {string} [why] why it stopped, in a sentence
 * @property {string} [model] that made them, if it is not the one in use: these gists cannot be continued
 *
 * The answer to a text search.
 * @typedef {object} Found
 * @property {string} query
 * @property {[string, number, [string, boolean][], number][]} hits book, paragraph, parts, places in the book
 * @property {boolean} more whether other books have it too
 * @property {number} waiting books whose text cannot be searched yet
 */
export const store = tabState("library", () =>
  Object.assign(new EventTarget(), {
    covers: new Map(), // book -> address of its picture, null if it cannot be shown
    wanted: new Set(), // books whose picture was not asked for or has not come
    gists: {}, // of the books that are being read by a model now
    found: null,
    query: "",
    books: 10, // with hits to show
    timer: 0,
    view: { query: "", sort: localStorage.getItem(SORT) ?? "opened", shelf: null, tag: null, gists: null, top: 0 },
  }),
);

const report = (what, detail = null) => store.dispatchEvent(new CustomEvent(what, { detail }));

/** Sorts in this way at the next visit too. */
export const keepSort = (name) => localStorage.setItem(SORT, name);

/** Asks for the pictures of these books, unless they are here. */
export function wantCovers(ids) {
  for (const id of ids) if (!store.covers.has(id)) store.wanted.add(id);
  if (store.wanted.size) askSoon(ASK_MS);
}

/** Searches the texts of all books for `query`; "" for nothing. `books`: of how many the hits are shown. */
export function searchTexts(query, books, delay) {
  Object.assign(store, { query, books });
  askSoon(delay);
}

function askSoon(delay) {
  clearTimeout(store.timer);
  store.timer = setTimeout(() => report("ask"), delay);
}

/** What to ask of the server now. */
export const request = () => ({ covers: [...store.wanted].slice(0, MOST_COVERS), query: store.query, books: store.books });

/** @param {{covers: Record<string, string | null>, gists: Record<string, Gists>, found: Found | null}} data */
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
