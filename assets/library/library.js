// The library's screen: continue reading, shelves, filters, search, the cards, and what is done with them. Everything
// that needs no other data happens in the browser.

import { plainLibrary } from "../shared/dialogs.js";
import { button, el, icon, number, plural, typing } from "../shared/dom.js";
import { DIALOG } from "../shared/streamlit.js";
import { Toast } from "../shared/toast.js";
import { Adding } from "./adding.js";
import { arranged, keyOf, tagsOf, wordsOf } from "./arrange.js";
import { openBookMenu } from "./book_menu.js";
import { drawContinue } from "./card.js";
import { Controls } from "./controls.js";
import { isBegun, WITHOUT_A_MODEL } from "./facts.js";
import { Grid, scrollerOf } from "./grid.js";
import { Selection } from "./selection.js";
import { searchTexts, store, wantCovers } from "./store.js";
import { TextHits } from "./text_hits.js";

/**
 * @import { Book, LibraryData } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 * @import { ShownBook } from "./grid.js"
 * @import { View } from "./store.js"
 */

const SEARCH_MS = 100; // after the last letter, before the texts are searched
const SHOWN_FOUND = 8; // cards shown above the places in the text
const FIRST_HITS = 10; // books whose places are shown at once

export class Library {
  /** @param {HTMLElement} root @param {Api} api @param {LibraryData} data */
  constructor(root, { send }, data) {
    this.root = root;
    this.send = send;
    this.data = data;
    /** @type {ShownBook[]} */
    this.books = [];
    /** @type {ShownBook[]} those that fit */
    this.chosen = [];
    this.showAll = false;
    this.begun = false; // whether data has come
    this.drawnContinuing = "";
    this.adding = new Adding(send);
    this.toast = new Toast();
    this.grid = new Grid({
      open: (book, event) => this.open(book.id, event),
      more: (book, event) => openBookMenu(book, event.currentTarget, { send, model: this.data.model, selection: this.selection }),
      goOn: (book) => send({ do: "go_on", of: book.id }),
      make: (book) => send(this.data.model ? { do: "make", of: book.id } : { do: "settings" }),
      model: () => this.data.model,
      selected: () => this.drawSelection(),
    });
    const screen = { send, toast: this.toast, books: () => this.books };
    this.controls = new Controls(screen, {
      typed: () => this.typed(),
      entered: (event) => this.entered(event),
      filter: (change) => this.filter(change),
      choose: () => this.adding.choose(),
      askShown: (act) => this.askShown(act),
      select: () => this.grid.setSelecting(!this.grid.selecting),
    });
    this.selection = new Selection(this.grid, {
      ...screen,
      ask: (act, books) => this.ask(act, books),
      shelves: () => this.data.shelves,
      tags: () => tagsOf(this.books),
    });
    this.hits = new TextHits(
      (id, paragraph, event) => this.open(id, event, paragraph),
      () => searchTexts(store.query, store.books + 20, 0),
    );
    this.continuing = el("section", { class: "continuing", "aria-label": "Continue reading" });
    this.nothing = el("div", { class: "nothing", hidden: true });
    this.all = button("", () => this.drawAll(), { kind: "slim all", hidden: true });
    this.count = el("span", { class: "push dimmer" });
    this.place = el("span"); // "computer" or "server"
    this.removed = button("", () => send({ do: "removed" }), { kind: "link" });
    this.waiting = button("", () => send({ do: "gists" }), { kind: "link" });
    this.connect = el(
      "p",
      { class: "model small", hidden: true },
      icon("plug"),
      el(
        "span",
        {},
        `${WITHOUT_A_MODEL} `,
        button("Connect a model", () => send({ do: "settings" }), { kind: "link" }),
      ),
    );
    const paste = button("paste a link or text", () => send({ do: "paste" }), { kind: "link" });
    const drop = el("span", {}, "Drop a book anywhere on this page, or ", paste, ". It stays on this ", this.place, ".");
    root.append(
      this.controls.top,
      this.adding.notes,
      this.continuing,
      this.controls.bar,
      this.nothing,
      this.grid.node,
      this.all,
      this.hits.node,
      el("div", { class: "dropline small" }, icon("drop"), drop, this.count, this.waiting, this.removed),
      this.connect,
      this.selection.bar,
      this.toast.node,
      this.adding.veil,
    );
    plainLibrary();
    this.ended = new AbortController();
    this.listen({ signal: this.ended.signal });
  }

  /** @param {AddEventListenerOptions} options */
  listen(options) {
    document.addEventListener("keydown", (event) => this.key(event), options);
    const seenAgain = () => {
      if (document.visibilityState === "visible" && !document.querySelector(DIALOG)) this.send({ do: "look" });
    }; // another tab, or the command line, may have changed the library
    document.addEventListener("visibilitychange", seenAgain, options);
    store.addEventListener("covers", () => this.coversCame(), options);
    store.addEventListener("gists", (event) => this.gistsCame(/** @type {CustomEvent} */ (event).detail), options);
    store.addEventListener("found", () => this.drawHits(), options);
    const leave = () => {
      store.view.top = scrollerOf(this.root)?.scrollTop ?? 0;
    };
    document.addEventListener("readagent-leave", leave, options);
  }

  close() {
    this.ended.abort();
    this.adding.close();
    this.toast.close();
    store.query = "";
  }

  /** @param {LibraryData} data */
  update(data) {
    const first = !this.begun;
    this.begun = true;
    const known = new Map(this.books.map((book) => [book.id, book]));
    this.data = data;
    this.place.textContent = data.place;
    // a book that has not changed stays the same object, so that its card stays as it is
    this.books = data.books.map((book) => {
      const text = JSON.stringify(book);
      const before = known.get(book.id);
      return before?.text === text ? before : { ...book, text, key: keyOf(book) };
    });
    this.adding.update(data);
    this.selection.checkRemoved(new Set(this.books.map((book) => book.id)));
    const { view } = store;
    if (!data.shelves.includes(view.shelf ?? "")) view.shelf = null;
    if (!tagsOf(this.books).includes(view.tag ?? "")) view.tag = null;
    this.draw();
    if (data.said && data.said.at !== store.said) this.say(data.said);
    if (first && view.query) this.search(0);
    if (first && view.top) requestAnimationFrame(() => scrollerOf(this.root)?.scrollTo(0, view.top));
  }

  /** Says what a dialog has done with the selected books. @param {NonNullable<LibraryData["said"]>} said */
  say({ at, text, undo }) {
    store.said = at;
    this.grid.setSelecting(false);
    this.toast.say(text, () => this.send({ do: undo }));
  }

  // --- drawing -------------------------------------------------------------------------------------

  draw() {
    const { view } = store;
    const { data, books } = this;
    const searching = wordsOf(view.query).length > 0;
    const chosen = arranged(books, view, (book) => store.gists[book.id] ?? book.gists);
    const shown = searching && !this.showAll ? chosen.slice(0, SHOWN_FOUND) : chosen;
    this.chosen = chosen;
    this.adding.search(searching);
    this.grid.show(shown);
    this.all.hidden = shown.length === chosen.length;
    this.all.textContent = `Show all ${number(chosen.length)} books`;
    this.nothing.hidden = chosen.length > 0;
    if (!chosen.length) this.sayNothing(searching);
    this.drawContinuing(searching);
    this.controls.draw({ books, shelves: data.shelves, tags: tagsOf(books), folders: data.folders, chosen: chosen.length });
    this.drawHits();
    this.drawSelection();
    this.count.textContent = books.length ? `${plural(books.length, "book")}, ${data.size}` : "";
    this.connect.hidden = Boolean(data.model);
    this.waiting.hidden = !data.waiting;
    this.waiting.textContent = `${plural(data.waiting, "book")} waiting for gists`;
    this.removed.hidden = !data.removed;
    this.removed.textContent = plural(data.removed, "removed book");
  }

  drawAll() {
    this.showAll = true;
    this.draw();
  }

  drawHits() {
    this.hits.draw(this.books, store.found, store.view.query);
  }

  drawSelection() {
    this.controls.select.setAttribute("aria-pressed", String(this.grid.selecting));
    this.selection.draw();
  }

  /** Says why no book is shown, and offers the way on. @param {boolean} searching */
  sayNothing(searching) {
    const { query, shelf, tag, reading, gists } = store.view;
    const all = { shelf: null, tag: null, reading: null, gists: null };
    const choose = () => {
      this.filter(all);
      this.grid.setSelecting(true);
    };
    const narrowed = Boolean(shelf || tag || reading || gists);
    const empty = shelf && !this.books.some((book) => book.shelves?.includes(shelf));
    /** @type {[string, string, () => void]} */
    let [why, label, act] = ["No book is of this kind.", "Show all books", () => this.filter(all)];
    if (searching)
      [why, label] = [`No title or author${narrowed ? " here" : ""} has “${query.trim()}”.`, narrowed ? "Look in all books" : ""];
    else if (!this.books.length) [why, label] = ["No books yet. PDF, EPUB, Word documents, web pages and text files can be opened.", ""];
    else if (empty) [why, label, act] = ["No books on this shelf yet. Select some and press Shelf.", "Select books", choose];
    if (this.nothing.textContent === why + label) return;
    this.nothing.replaceChildren(el("span", { role: "status" }, why), ...(label ? [button(label, act, { kind: "slim" })] : []));
  }

  /** @param {boolean} searching */
  drawContinuing(searching) {
    const begun = searching ? [] : this.books.filter((book) => isBegun(book) && book.opened);
    const last = begun.sort((a, b) => (b.opened ?? 0) - (a.opened ?? 0)).slice(0, 3);
    const drawn = JSON.stringify([last, last.map((book) => store.covers.has(book.id))]);
    if (drawn === this.drawnContinuing) return;
    this.drawnContinuing = drawn;
    this.continuing.hidden = !last.length;
    this.continuing.replaceChildren(
      el("h2", { class: "lab" }, "Continue reading"),
      el("ul", { class: "cont" }, ...last.map((book, i) => drawContinue(book, (event) => this.open(book.id, event), i === 0))),
    );
    wantCovers(last.filter((book) => book.cover).map((book) => book.id));
  }

  coversCame() {
    // the picture replaces the drawn cover once
    const come = this.grid.books.filter((book) => book.cover && store.covers.get(book.id));
    for (const book of come) if (this.grid.cardOf(book.id)?.querySelector("svg.cover")) this.grid.redraw(book);
    this.drawContinuing(Boolean(store.view.query.trim()));
  }

  /** @param {Set<string>} changed */
  gistsCame(changed) {
    for (const book of this.grid.books) if (changed.has(book.id)) this.grid.redraw(book);
  }

  // --- choices -------------------------------------------------------------------------------------

  /** @param {Partial<View>} change */
  filter(change) {
    Object.assign(store.view, change);
    this.grid.setSelecting(false);
    this.draw();
  }

  /**
   * Opens a book, at a paragraph if one is named; a press with a key held down opens another tab as for any link.
   * @param {string} id @param {MouseEvent} event @param {number | null} [paragraph]
   */
  open(id, event, paragraph = null) {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.send({ do: "open", of: id, ...(paragraph !== null && { text: String(paragraph) }) });
  }

  /**
   * `act`: "ask" or "compare"; `about`: the shelf or the tag that all of these books are of.
   * @param {string} act @param {Book[]} books
   */
  ask(act, books, about = "books") {
    const of = books.map((book) => book.id).join(",");
    this.send(books.length === 1 ? { do: act, of } : { do: `${act}_several`, of, text: about });
  }

  /** @param {string} act */
  askShown(act) {
    const { shelf, tag, reading, gists, query } = store.view;
    this.ask(act, this.chosen, reading || gists || query.trim() || (shelf && tag) ? "books" : shelf ? `shelf ${shelf}` : `tag ${tag}`);
  }

  // --- search and keys -------------------------------------------------------------------------------

  typed() {
    store.view.query = this.controls.input.value;
    this.showAll = false;
    this.draw();
    this.search(SEARCH_MS);
  }

  /** @param {number} delay */
  search(delay) {
    searchTexts(store.view.query.trim(), FIRST_HITS, delay);
  }

  /** @param {KeyboardEvent} event */
  entered(event) {
    const { input } = this.controls;
    if (event.key === "Escape" && input.value) {
      input.value = "";
      this.typed();
      event.stopPropagation();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      this.grid.focus(0);
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.root.isConnected || document.querySelector(DIALOG) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && this.grid.selecting) this.grid.setSelecting(false);
    if (typing(event) || event.key !== "/") return;
    event.preventDefault();
    this.controls.input.focus();
    this.controls.input.select();
  }
}
