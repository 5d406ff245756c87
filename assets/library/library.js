// The library's screen: continue reading, shelves, filters, search, the cards, and what is done with them. Everything
// that needs no other data happens in the browser.

import { button, el, icon, number, plural, typing } from "../shared/dom.js";
import { DIALOG } from "../shared/streamlit.js";
import { Toast } from "../shared/toast.js";
import { Adding } from "./adding.js";
import { drawContinue } from "./card.js";
import { isBegun, WITHOUT_A_MODEL } from "./facts.js";
import { Grid } from "./grid.js";
import { openMenu } from "./menu.js";
import { COMPARE, Selection } from "./selection.js";
import { keepSort, searchTexts, store, wantCovers } from "./store.js";
import { TextHits } from "./text_hits.js";
import { editShelf, newShelf } from "./shelves.js";

const SEARCH_MS = 100; // after the last letter, before the texts are searched
const SHOWN_FOUND = 8; // cards shown above the places in the text
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
const SORTS = {
  opened: ["Last opened", (book) => -(book.opened ?? book.added)],
  added: ["Newest", (book) => -book.added],
  title: ["Title", (a, b) => collator.compare(a.title, b.title)],
  author: ["Author", (a, b) => collator.compare(a.author || "\uffff", b.author || "\uffff") || collator.compare(a.title, b.title)],
  words: ["Longest", (book) => -book.words],
};
const GISTS = { ready: "Ready", making: "Being made", stopped: "Stopped or paused", none: "None yet" };
const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

export class Library {
  /** @param {HTMLElement} root @param {import("../shared/mount.js").Api} api */
  constructor(root, api) {
    this.root = root;
    this.send = api.send;
    this.adding = new Adding(api.send);
    this.grid = new Grid({
      open: (book, event) => this.open(book.id, event),
      more: (book, event) => this.more(book, event.currentTarget),
      goOn: (book) => this.send({ do: "go_on", of: book.id }),
      make: (book) => this.send(this.data.model ? { do: "make", of: book.id } : { do: "settings" }),
      model: () => this.data.model,
      selected: () => this.selection.draw(),
    });
    this.toast = new Toast();
    this.selection = new Selection(this.grid, this);
    this.hits = new TextHits(
      (id, paragraph, event) => this.open(id, event, paragraph),
      () => this.searchMore(),
    );
    this.build();
    this.listen();
  }

  build() {
    const { view } = store;
    this.input = el("input", {
      type: "search",
      "aria-label": "Search titles, authors and text",
      placeholder: "Search titles, authors, text",
      oninput: () => this.typed(),
      onkeydown: (event) => this.entered(event),
    });
    this.input.value = view.query;
    if (!(view.sort in SORTS)) view.sort = "opened"; // of another version
    this.sort = button("", () => this.chooseSort(), { kind: "choice", "aria-haspopup": "menu" });
    this.add = button("Add a book", () => this.addBook(), {
      kind: "add",
      icon: "plus",
      "aria-label": "Add a book",
      "aria-haspopup": "menu",
    });
    this.shelves = el("nav", { class: "shelves", "aria-label": "Shelves" });
    this.tag = button("", () => this.chooseTag(), { kind: "chip", "aria-haspopup": "menu" });
    this.gists = button("", () => this.chooseGists(), { kind: "chip", "aria-haspopup": "menu" });
    this.notes = button("Notes", () => this.send({ do: "notes" }), { kind: "slim", icon: "note", title: "The notes of all books" });
    this.select = button("Select", () => this.grid.setSelecting(!this.grid.selecting), { kind: "slim", "aria-pressed": "false" });
    this.asking = button("", () => this.askShown("ask"), { kind: "slim", title: "Ask one question of all books shown here" });
    this.comparing = button("Compare", () => this.askShown("compare"), { kind: "slim", title: COMPARE });
    this.continuing = el("section", { class: "continuing", "aria-label": "Continue reading" });
    this.nothing = el("p", { class: "nothing", role: "status", hidden: true });
    this.all = button("", () => ((this.showAll = true), this.draw()), { kind: "slim all", hidden: true });
    this.count = el("span", { class: "push dimmer" });
    this.place = el("span"); // "computer" or "server"
    this.removed = button("", () => this.send({ do: "removed" }), { kind: "link" });
    this.connect = el(
      "p",
      { class: "model small", hidden: true },
      icon("plug"),
      el(
        "span",
        {},
        `${WITHOUT_A_MODEL} `,
        button("Connect a model", () => this.send({ do: "settings" }), { kind: "link" }),
      ),
    );
    this.root.append(
      el(
        "div",
        { class: "top" },
        el("h1", {}, "Library"),
        el("label", { class: "field find" }, icon("search"), this.input),
        this.sort,
        this.add,
      ),
      this.adding.notes,
      this.continuing,
      el("div", { class: "bar2" }, this.shelves, this.tag, this.gists, this.notes, this.asking, this.comparing, this.select),
      this.nothing,
      this.grid.node,
      this.all,
      this.hits.node,
      el(
        "div",
        { class: "dropline small" },
        icon("drop"),
        el(
          "span",
          {},
          "Drop a book anywhere on this page, or ",
          button("paste a link or text", () => this.send({ do: "paste" }), { kind: "link" }),
          ". It stays on this ",
          this.place,
          ".",
        ),
        this.count,
        this.removed,
      ),
      this.connect,
      this.selection.bar,
      this.toast.node,
      this.adding.veil,
    );
  }

  listen() {
    this.ended = new AbortController();
    const options = { signal: this.ended.signal };
    document.addEventListener("keydown", (event) => this.key(event), options);
    store.addEventListener("covers", () => this.coversCame(), options);
    store.addEventListener("gists", (event) => this.gistsCame(event.detail), options);
    store.addEventListener("found", () => this.hits.draw(this.books, store.found, store.view.query), options);
    document.addEventListener("readagent-leave", () => (store.view.top = this.scroller()?.scrollTop ?? 0), options);
  }

  close() {
    this.ended.abort();
    this.adding.close();
    this.toast.close();
    store.query = "";
  }

  /**
   * @param {{books: import("./store.js").Book[], shelves: string[], removed: number, size: string,
   *   imports: import("./adding.js").Import[], formats: string, most: number, place: string, folders: boolean}} data
   */
  update(data) {
    const first = !this.data;
    const known = new Map((this.books ?? []).map((book) => [book.id, book]));
    this.data = data;
    this.place.textContent = data.place;
    // a book that has not changed stays the same object, so that its card stays as it is
    this.books = data.books.map((book) => {
      const text = JSON.stringify(book);
      const before = known.get(book.id);
      return before?.text === text ? before : { ...book, text, key: fold(`${book.title} ${book.author ?? ""}`) };
    });
    this.adding.update(data);
    this.selection.checkRemoved(new Set(this.books.map((book) => book.id)));
    const { view } = store;
    if (!data.shelves.includes(view.shelf)) view.shelf = null;
    if (!this.tags().includes(view.tag)) view.tag = null;
    this.draw();
    if (first && view.query) this.search(0);
    if (first && view.top) requestAnimationFrame(() => this.scroller()?.scrollTo(0, view.top));
  }

  scroller() {
    let node = /** @type {any} */ (this.root.getRootNode()).host;
    while (node && !/auto|scroll/.test(getComputedStyle(node).overflowY)) node = node.parentElement;
    return node ?? document.scrollingElement;
  }

  // --- drawing -------------------------------------------------------------------------------------

  draw() {
    const { view } = store;
    const words = fold(view.query).split(/\s+/).filter(Boolean);
    const chosen = this.books.filter(
      (book) =>
        words.every((word) => book.key.includes(word)) &&
        (!view.shelf || book.shelves?.includes(view.shelf)) &&
        (!view.tag || book.tags?.includes(view.tag)) &&
        (!view.gists || this.gistsOf(book) === view.gists),
    );
    const order = SORTS[view.sort][1];
    const compare = order.length === 2 ? order : (a, b) => order(a) - order(b);
    chosen.sort(compare);
    const shown = words.length && !this.showAll ? chosen.slice(0, SHOWN_FOUND) : chosen;
    this.grid.show(shown);
    this.all.hidden = shown.length === chosen.length;
    this.all.textContent = `Show all ${number(chosen.length)} books`;
    this.nothing.hidden = chosen.length > 0;
    this.nothing.textContent = chosen.length ? "" : this.whyNothing(words);
    this.drawContinuing(words.length > 0);
    this.drawChoices();
    this.hits.draw(this.books, store.found, view.query);
    this.selection.draw();
    this.chosen = chosen;
    this.asking.hidden = this.comparing.hidden = !(view.shelf || view.tag) || chosen.length < 2;
    this.asking.textContent = `Ask these ${number(chosen.length)} books`;
    this.count.textContent = `${plural(this.books.length, "book")}, ${this.data.size}`;
    this.connect.hidden = Boolean(this.data.model);
    this.removed.hidden = !this.data.removed;
    this.removed.textContent = plural(this.data.removed, "removed book");
  }

  gistsOf(book) {
    const state = (store.gists[book.id] ?? book.gists)?.state ?? "none";
    return state === "paused" ? "stopped" : state;
  }

  whyNothing(words) {
    const { view } = store;
    if (words.length) return `No title or author has “${view.query.trim()}”.`;
    if (!this.books.length) return "No books yet. Drop a PDF, EPUB, Word document, web page or text file on this page.";
    if (view.shelf && !this.books.some((book) => book.shelves?.includes(view.shelf)))
      return "No books on this shelf yet. Select some and press Shelf.";
    return "No book is of this kind.";
  }

  drawContinuing(searching) {
    const last = searching
      ? []
      : this.books
          .filter((book) => isBegun(book) && book.opened)
          .sort((a, b) => b.opened - a.opened)
          .slice(0, 3);
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

  drawChoices() {
    const { view } = store;
    const { shelves } = this.data;
    const on = (name) => this.books.filter((book) => book.shelves?.includes(name)).length;
    const tab = (name, label, count) =>
      button("", () => this.filter({ shelf: name }), {
        kind: "tab",
        "aria-current": view.shelf === name ? "true" : null,
        "aria-label": `${label}, ${plural(count, "book")}`,
      });
    const tabs = [[null, "All", this.books.length], ...shelves.map((name) => [name, name, on(name)])].map(([name, label, count]) => {
      const node = tab(name, label, count);
      node.append(el("span", { dir: "auto" }, label), el("span", { class: "num" }, number(count)));
      return node;
    });
    const edit =
      view.shelf &&
      button("", (event) => editShelf(this, event.currentTarget), {
        kind: "quiet icon slim",
        icon: "dots",
        name: `Change the shelf ${view.shelf}`,
        "aria-haspopup": "menu",
      });
    const add = button("+ New shelf", (event) => openMenu(event.currentTarget, [newShelf(this, [])], "New shelf"), { kind: "tab new" });
    const drawn = JSON.stringify([view.shelf, tabs.map((node) => node.getAttribute("aria-label"))]);
    if (drawn !== this.drawnTabs) this.shelves.replaceChildren(...tabs, ...(edit ? [edit] : []), add);
    this.drawnTabs = drawn;
    this.sort.textContent = SORTS[view.sort][0];
    this.sort.setAttribute("aria-label", `Sorted by: ${SORTS[view.sort][0]}`);
    this.tag.textContent = view.tag ? `Tag: ${view.tag}` : "All tags";
    this.tag.hidden = !this.tags().length;
    this.gists.textContent = `Gists: ${view.gists ? GISTS[view.gists].toLowerCase() : "any"}`;
    this.tag.classList.toggle("on", Boolean(view.tag));
    this.gists.classList.toggle("on", Boolean(view.gists));
  }

  tags = () => [...new Set(this.books.flatMap((book) => book.tags ?? []))].sort(collator.compare);

  coversCame() {
    for (const book of this.grid.books) if (book.cover && store.covers.get(book.id)) this.showCover(book);
    this.drawContinuing(Boolean(store.view.query.trim()));
  }

  // the picture replaces the drawn cover once
  showCover(book) {
    if (this.grid.cardOf(book.id)?.querySelector("svg.cover")) this.grid.redraw(book);
  }

  gistsCame(changed) {
    for (const book of this.grid.books) if (changed.has(book.id)) this.grid.redraw(book);
  }

  // --- choices -------------------------------------------------------------------------------------

  filter(change) {
    Object.assign(store.view, change);
    this.grid.setSelecting(false);
    this.draw();
  }

  chooseSort() {
    openMenu(
      this.sort,
      Object.entries(SORTS).map(([name, [label]]) => ({
        label,
        checked: store.view.sort === name,
        act: () => (keepSort(name), this.filter({ sort: name })),
      })),
      "Sort",
    );
  }

  chooseTag() {
    const pick = (tag, label) => ({ label, checked: store.view.tag === tag, act: () => this.filter({ tag }) });
    openMenu(this.tag, [pick(null, "All tags"), ...this.tags().map((tag) => pick(tag, tag))], "Tags");
  }

  chooseGists() {
    const pick = (gists, label) => ({ label, checked: store.view.gists === gists, act: () => this.filter({ gists }) });
    openMenu(this.gists, [pick(null, "Any"), ...Object.entries(GISTS).map(([name, label]) => pick(name, label))], "Gists");
  }

  addBook() {
    openMenu(
      this.add,
      [
        { label: "Choose files", act: () => this.adding.choose() },
        ...(this.data.folders ? [{ label: "Import a folder", act: () => this.send({ do: "folder" }) }] : []),
        { label: "Paste a link or text", act: () => this.send({ do: "paste" }) },
      ],
      "Add a book",
    );
  }

  more(book, opener) {
    const act = (what) => () => this.send({ do: what, of: book.id });
    const gists = store.gists[book.id] ?? book.gists;
    const again = gists?.model && this.data.model ? `Make gists with ${this.data.model}` : "";
    const make = gists ? again : "Make gists";
    openMenu(
      opener,
      [
        { label: "Title, author and tags", act: act("name") },
        { label: "Put on a shelf", act: () => this.selection.shelves([book], opener) },
        null,
        ...(make ? [{ label: make, act: act("make") }] : []),
        ...(gists ? [{ label: "Export the gists", act: act("export") }] : []),
        ...(book.web_page ? [{ label: "Act on its web page", act: act("act") }] : []),
        { label: "Import report", act: act("report") },
        null,
        { label: "Remove", act: () => this.selection.remove([book]) },
      ],
      `More about ${book.title}`,
    );
  }

  /** Opens a book, at a paragraph if one is named; a press with a key held down opens another tab as for any link. */
  open(id, event, paragraph = null) {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.send({ do: "open", of: id, ...(paragraph !== null && { text: String(paragraph) }) });
  }

  // `act`: "ask" or "compare". `about`: the shelf or the tag that all of these books are of
  ask(act, books, about = "books") {
    this.send(
      books.length === 1 ? { do: act, of: books[0].id } : { do: `${act}_several`, of: books.map((book) => book.id).join(","), text: about },
    );
  }

  askShown(act) {
    const { shelf, tag, gists, query } = store.view;
    this.ask(act, this.chosen, gists || query.trim() || (shelf && tag) ? "books" : shelf ? `shelf ${shelf}` : `tag ${tag}`);
  }

  // --- search and keys -------------------------------------------------------------------------------

  typed() {
    store.view.query = this.input.value;
    this.showAll = false;
    this.draw();
    this.search(SEARCH_MS);
  }

  search(delay) {
    searchTexts(store.view.query.trim(), 10, delay);
  }

  searchMore() {
    searchTexts(store.query, store.books + 20, 0);
  }

  entered(event) {
    if (event.key === "Escape" && this.input.value) {
      this.input.value = "";
      this.typed();
      event.stopPropagation();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      this.grid.focus(0);
    }
  }

  key(event) {
    if (!this.root.isConnected || document.querySelector(DIALOG) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && this.grid.selecting) this.grid.setSelecting(false);
    if (typing(event)) return;
    if (event.key === "/") {
      event.preventDefault();
      this.input.focus();
      this.input.select();
    }
  }
}
