// The controls of the library's screen: search, sorting, adding, shelves and filters, and what is done with all that is shown.

import { button, el, icon, number, plural } from "../shared/dom.js";
import { GISTS, READING, SORTS } from "./arrange.js";
import { openMenu } from "./menu.js";
import { COMPARE } from "./selection.js";
import { editShelf, newShelf } from "./shelves.js";
import { keepSort, store } from "./store.js";

/**
 * @import { ShownBook } from "./grid.js"
 * @import { LibraryScreen } from "./shelves.js"
 * @import { View } from "./store.js"
 *
 * @typedef {object} ControlEvents
 * @property {() => void} typed
 * @property {(event: KeyboardEvent) => void} entered
 * @property {(change: Partial<View>) => void} filter
 * @property {() => void} choose files to add
 * @property {(act: string) => void} askShown "ask" or "compare"
 * @property {() => void} select
 */
export class Controls {
  /** @param {LibraryScreen} screen @param {ControlEvents} on */
  constructor(screen, on) {
    this.screen = screen;
    this.on = on;
    this.drawnTabs = "";
    /** @type {string[]} */
    this.allTags = [];
    this.folders = false; // whether folders can be imported
    this.input = el("input", {
      type: "search",
      "aria-label": "Search titles, authors and text",
      placeholder: "Search titles, authors, text",
      oninput: on.typed,
      onkeydown: on.entered,
    });
    this.input.value = store.view.query;
    if (!(store.view.sort in SORTS)) store.view.sort = "opened"; // of another version
    this.sort = button("", () => this.chooseSort(), { kind: "choice", "aria-haspopup": "menu" });
    this.add = button("Add a book", () => this.addBook(), {
      kind: "add",
      icon: "plus",
      "aria-label": "Add a book",
      "aria-haspopup": "menu",
    });
    this.shelves = el("nav", { class: "shelves", "aria-label": "Shelves" });
    this.tag = button("", () => this.chooseTag(), { kind: "chip", "aria-haspopup": "menu" });
    this.reading = button("", () => this.chooseReading(), { kind: "chip", "aria-haspopup": "menu" });
    this.gists = button("", () => this.chooseGists(), { kind: "chip", "aria-haspopup": "menu" });
    const notes = button("Notes", () => screen.send({ do: "notes" }), { kind: "slim", icon: "note", title: "The notes of all books" });
    const mine = button("My reading", () => screen.send({ do: "my_reading" }), { kind: "slim", title: "Days, finished books and words" });
    this.select = button("Select", on.select, { kind: "slim", "aria-pressed": "false" });
    this.asking = button("", () => on.askShown("ask"), { kind: "slim", title: "Ask one question of all books shown here" });
    this.comparing = button("Compare", () => on.askShown("compare"), { kind: "slim", title: COMPARE });
    const find = el("label", { class: "field find" }, icon("search"), this.input);
    this.more = button("", () => this.openMore(), {
      kind: "quiet icon more",
      icon: "dots",
      name: "Sort, filter, notes, select",
      "aria-haspopup": "menu",
    });
    this.rest = [this.sort, this.tag, this.reading, this.gists, notes, mine, this.asking, this.comparing, this.select]; // in `more` on a phone
    this.top = el("div", { class: "top" }, el("h1", {}, "Library"), find, this.sort, this.add);
    this.bar = el("div", { class: "bar2" }, this.shelves, ...this.rest.slice(1), this.more);
  }

  /**
   * `chosen`: the number of books that fit.
   * @param {{books: ShownBook[], shelves: string[], tags: string[], folders: boolean, chosen: number}} now
   */
  draw({ books, shelves, tags, folders, chosen }) {
    const { view } = store;
    this.allTags = tags;
    this.folders = folders;
    this.drawShelves(books, shelves);
    const [sorted] = SORTS[view.sort];
    this.sort.textContent = sorted;
    this.sort.setAttribute("aria-label", `Sorted by: ${sorted}`);
    this.tag.textContent = view.tag ? `Tag: ${view.tag}` : "All tags";
    this.tag.hidden = !tags.length;
    this.reading.textContent = `Reading: ${view.reading ? READING[view.reading].toLowerCase() : "any"}`;
    this.reading.classList.toggle("on", Boolean(view.reading));
    this.gists.textContent = `Gists: ${view.gists ? GISTS[view.gists].toLowerCase() : "any"}`;
    this.tag.classList.toggle("on", Boolean(view.tag));
    this.gists.classList.toggle("on", Boolean(view.gists));
    this.asking.hidden = this.comparing.hidden = !(view.shelf || view.tag) || chosen < 2;
    this.asking.textContent = `Ask these ${number(chosen)} books`;
  }

  /** @param {ShownBook[]} books @param {string[]} shelves */
  drawShelves(books, shelves) {
    const { shelf } = store.view;
    /** @param {string | null} name @param {string} label @param {number} count */
    const tab = (name, label, count) => {
      const node = button("", () => this.on.filter({ shelf: name }), {
        kind: "tab",
        "aria-current": shelf === name ? "true" : null,
        "aria-label": `${label}, ${plural(count, "book")}`,
      });
      node.append(el("span", { dir: "auto" }, label), el("span", { class: "num" }, number(count)));
      return node;
    };
    /** @param {string} name */
    const on = (name) => books.filter((book) => book.shelves?.includes(name)).length;
    const tabs = [tab(null, "All", books.length), ...shelves.map((name) => tab(name, name, on(name)))];
    const drawn = JSON.stringify([shelf, tabs.map((node) => node.getAttribute("aria-label"))]);
    if (drawn === this.drawnTabs) return;
    this.drawnTabs = drawn;
    const edit = button("", (event) => editShelf(this.screen, event.currentTarget), {
      kind: "quiet icon slim",
      icon: "dots",
      name: `Change the shelf ${shelf}`,
      "aria-haspopup": "menu",
    });
    const add = button("+ New shelf", (event) => openMenu(event.currentTarget, [newShelf(this.screen, [])], "New shelf"), {
      kind: "tab new",
    });
    this.shelves.replaceChildren(...tabs, ...(shelf ? [edit] : []), add);
  }

  openMore() {
    const items = this.rest
      .filter((node) => !node.hidden)
      .map((node) => ({ label: node.getAttribute("aria-label") ?? node.textContent ?? "", act: () => node.click() }));
    openMenu(this.more, items, "Sort, filter, notes, select");
  }

  /** What a menu opens beside. @param {HTMLElement} control */
  openerOf(control) {
    return control.checkVisibility() ? control : this.more;
  }

  chooseSort() {
    /** @param {string} name */
    const sort = (name) => () => {
      keepSort(name);
      this.on.filter({ sort: name });
    };
    const items = Object.entries(SORTS).map(([name, [label]]) => ({ label, checked: store.view.sort === name, act: sort(name) }));
    openMenu(this.openerOf(this.sort), items, "Sort");
  }

  chooseTag() {
    /** @param {string | null} tag @param {string} label */
    const pick = (tag, label) => ({ label, checked: store.view.tag === tag, act: () => this.on.filter({ tag }) });
    openMenu(this.openerOf(this.tag), [pick(null, "All tags"), ...this.allTags.map((tag) => pick(tag, tag))], "Tags");
  }

  chooseReading() {
    /** @param {string | null} reading @param {string} label */
    const pick = (reading, label) => ({ label, checked: store.view.reading === reading, act: () => this.on.filter({ reading }) });
    openMenu(
      this.openerOf(this.reading),
      [pick(null, "Any"), ...Object.entries(READING).map(([name, label]) => pick(name, label))],
      "How far you are",
    );
  }

  chooseGists() {
    /** @param {string | null} gists @param {string} label */
    const pick = (gists, label) => ({ label, checked: store.view.gists === gists, act: () => this.on.filter({ gists }) });
    openMenu(this.openerOf(this.gists), [pick(null, "Any"), ...Object.entries(GISTS).map(([name, label]) => pick(name, label))], "Gists");
  }

  addBook() {
    const { send } = this.screen;
    const items = [
      { label: "Choose files", act: this.on.choose },
      ...(this.folders ? [{ label: "Import a folder", act: () => send({ do: "folder" }) }] : []),
      { label: "Paste a link or text", act: () => send({ do: "paste" }) },
      { label: "From a catalogue", act: () => send({ do: "catalogue" }) },
    ];
    openMenu(this.add, items, "Add a book");
  }
}
