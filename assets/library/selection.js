// What is done with selected books.

import { button, el, number, plural } from "../shared/dom.js";
import { openMenu } from "./menu.js";
import { newShelf } from "./shelves.js";

/**
 * @import { Act, Book } from "../protocol.js"
 * @import { Grid } from "./grid.js"
 * @import { LibraryScreen } from "./shelves.js"
 */

export const COMPARE = "Put one question about these books to several methods";
/** @param {Book[]} books */
const idsOf = (books) => books.map((book) => book.id).join(",");

/** @typedef {LibraryScreen & {ask: (act: string, books: Book[]) => void, shelves: () => string[], tags: () => string[]}} Library */

/** The bar for the selected books. */
export class Selection {
  /** @param {Grid} grid @param {Library} library */
  constructor(grid, library) {
    this.grid = grid;
    /** @type {{books: string[], gone: boolean} | null} books that were removed, and whether the screen shows it */
    this.removed = null;
    this.library = library;
    this.said = el("span", { class: "n", role: "status" });
    this.all = button("", () => grid.selectAll(), { kind: "quiet all" });
    this.asking = button("", () => library.ask("ask", this.books()), { kind: "go" });
    this.comparing = button("Compare", () => library.ask("compare", this.books()), { title: COMPARE });
    this.shelf = button("Shelf", () => this.shelves(this.books(), this.shelf), { "aria-haspopup": "menu" });
    this.tag = button("Tag", () => this.tags(this.books()), { "aria-haspopup": "menu" });
    this.series = button("Series", () => library.send({ do: "series", of: idsOf(this.books()) }), {
      title: "Make a series of these books, or put them in one",
    });
    this.gists = button("Make gists", () => library.send({ do: "queue", of: idsOf(this.books()) }), {
      title: "Make the gists of these books one after another, overnight if you like",
    });
    this.gone = button("Remove", () => this.remove(this.books()), { kind: "quiet" });
    this.bar = el(
      "div",
      { class: "selbar", role: "toolbar", "aria-label": "Selected books", hidden: true },
      this.said,
      this.all,
      this.shelf,
      this.tag,
      this.series,
      this.gists,
      this.gone,
      this.comparing,
      this.asking,
      button("", () => grid.setSelecting(false), { kind: "quiet icon", icon: "close", name: "Clear the selection" }),
    );
  }

  books = () => this.library.books().filter((book) => this.grid.selected.has(book.id));

  draw() {
    const count = this.grid.selected.size;
    this.bar.hidden = !this.grid.selecting;
    this.said.replaceChildren(...(count ? [el("b", {}, plural(count, "book")), " selected"] : ["Select books"]));
    const { books, selected } = this.grid;
    this.all.textContent = `Select all ${number(books.length)}`;
    this.all.hidden = books.every((book) => selected.has(book.id));
    for (const act of [this.shelf, this.tag, this.series, this.gists, this.gone]) act.disabled = !count;
    this.asking.hidden = this.comparing.hidden = !count;
    this.asking.textContent = count > 1 ? `Ask these ${count} books` : "Ask this book";
  }

  /** @param {Act} act @param {string} text @param {Act} undo */
  done(act, text, undo) {
    this.library.send(act);
    this.library.toast.say(text, () => this.library.send(undo));
    this.grid.setSelecting(false);
    this.removed = act.do === "remove" ? { books: (act.of ?? "").split(","), gone: false } : null;
  }

  /** Closes the toast of books that were removed and have been restored elsewhere: there is nothing to undo. @param {Set<string>} shown */
  checkRemoved(shown) {
    const { removed } = this;
    if (!removed) return;
    const there = removed.books.every((id) => shown.has(id));
    if (!there) removed.gone = true;
    else if (removed.gone) {
      this.removed = null;
      this.library.toast.close();
    }
  }

  /** Opens the menu of shelves for these books: a shelf that all are on is taken away. @param {Book[]} books @param {HTMLElement} opener */
  shelves(books, opener) {
    /** @param {Book[]} books_ */
    const named = (books_) => (books_.length === 1 ? books_[0].title : plural(books_.length, "book"));
    const items = this.library.shelves().map((shelf) => {
      const on = books.filter((book) => book.shelves?.includes(shelf));
      const off = books.filter((book) => !on.includes(book));
      const put = { do: "put_on_shelf", text: shelf, of: idsOf(off) };
      const take = { do: "take_off_shelf", text: shelf, of: idsOf(on) };
      return off.length
        ? { label: shelf, checked: false, act: () => this.done(put, `Put ${named(off)} on ${shelf}`, { ...put, do: "take_off_shelf" }) }
        : { label: shelf, checked: true, act: () => this.done(take, `Took ${named(on)} off ${shelf}`, { ...take, do: "put_on_shelf" }) };
    });
    openMenu(
      opener,
      [
        ...items,
        ...(items.length ? [null] : []),
        newShelf(
          this.library,
          books.map((book) => book.id),
        ),
      ],
      "Put on a shelf",
    );
  }

  /** @param {Book[]} books */
  tags(books) {
    /** @param {string} tag @param {boolean} has */
    const change = (tag, has) => {
      const of = idsOf(books.filter((book) => Boolean(book.tags?.includes(tag)) === has));
      const [act, undo] = has ? ["remove_tag", "add_tag"] : ["add_tag", "remove_tag"];
      this.done({ do: act, text: tag, of }, `${has ? "Took off" : "Added"} the tag ${tag}`, { do: undo, text: tag, of });
    };
    const items = this.library.tags().map((tag) => {
      const has = books.every((book) => book.tags?.includes(tag));
      return { label: tag, checked: has, act: () => change(tag, has) };
    });
    openMenu(this.tag, [...items, ...(items.length ? [null] : []), { ask: "New tag", enter: (tag) => change(tag, false) }], "Tags");
  }

  /** @param {Book[]} books */
  remove(books) {
    const of = idsOf(books);
    this.done({ do: "remove", of }, `Removed ${books.length === 1 ? books[0].title : plural(books.length, "book")}`, { do: "restore", of });
  }
}
