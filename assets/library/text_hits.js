// The places of a search in the texts of all books, as a list with context.

import { button, el, plural } from "../shared/dom.js";
import { tabState } from "../shared/tab_state.js";
import { addressOf } from "./card.js";
import { store } from "./store.js";

/** @import { Book, Found } from "../protocol.js" */

export class TextHits {
  /** @param {(book: string, paragraph: number | null, event: MouseEvent) => void} open @param {() => void} more */
  constructor(open, more) {
    this.open = open;
    this.more = more;
    this.node = el("section", { class: "hits", "aria-label": "In the text", hidden: true });
  }

  /** @param {Book[]} books @param {Found | null} found @param {string} query */
  draw(books, found, query) {
    const asked = query.trim();
    this.node.hidden = !asked;
    if (!asked) return this.node.replaceChildren();
    const waiting = found?.waiting && `The text of ${plural(found.waiting, "book")} is still being prepared for search.`;
    const here = found?.query === asked ? found.hits : [];
    const said =
      found?.query !== asked ? "Searching the texts…" : here.length ? "" : `No text has “${asked}”. Try fewer words, or a part of one.`;
    /** @type {HTMLElement[]} */
    const list = [];
    let kept = false; // whether there are passages on pages that were not read
    for (const [id, paragraph, parts, count, ahead] of here) {
      const book = books.find((one) => one.id === id);
      if (!book) continue;
      const shown = !ahead || store.shown === asked;
      if (list.at(-1)?.dataset.id !== id)
        list.push(this.group(book, this.apart(book, books), count, this.all(book, count, shown ? paragraph : null, asked)));
      if (shown)
        list
          .at(-1)
          ?.querySelector("ul")
          ?.append(this.place(book, paragraph, parts, asked));
      else kept = true;
    }
    const show = () => {
      store.shown = asked;
      this.draw(books, found, query);
    };
    for (const group of list)
      if (group.querySelectorAll("li").length === Number(group.dataset.count)) group.querySelector(".allin")?.remove();
    this.node.replaceChildren(
      el("h2", { class: "lab" }, "In the text of all books"),
      el("p", { class: "small dim", role: "status" }, [said, waiting].filter(Boolean).join(" ")),
      ...(kept
        ? [el("p", { class: "small" }, "Passages on pages that you have not read are kept back. ", button("Show", show, { kind: "link" }))]
        : []),
      ...list,
      ...(found?.query === asked && found.more ? [button("Show more books", this.more, { kind: "slim" })] : []),
    );
  }

  /** What tells this book from others of its title: its author, its length where that is the same. @param {Book} book @param {Book[]} books */
  apart({ id, title, author, words }, books) {
    const letters = (/** @type {string} */ text) => text.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
    const others = books.filter((other) => other.id !== id && letters(other.title) === letters(title));
    const same = others.some((other) => other.author === author);
    return [...(others.length && author ? [author] : []), ...(same ? [plural(words, "word")] : [])];
  }

  /** @param {Book} book @param {string[]} apart @param {number} count @param {Element} all */
  group = (book, apart, count, all) =>
    el(
      "div",
      { class: "hitbook", "data-id": book.id, "data-count": String(count) },
      el(
        "h3",
        { lang: book.lang, dir: "auto" },
        book.title,
        el("span", { class: "small dim num" }, [...apart, plural(count, "passage")].join(", ")),
      ),
      el("ul"),
      all,
    );

  /** Leads to all of them, by the search in the book. @param {Book} book @param {number} count @param {number | null} first @param {string} query */
  all(book, count, first, query) {
    const href = addressOf(book.id) + (first === null ? "" : `&paragraph=${first}`);
    const label = count === 1 ? "In the book" : `All ${plural(count, "passage")}`;
    return el("a", { class: "link small allin", href, onclick: (event) => this.follow(book, first, query, false, event) }, label);
  }

  /** Opens a book at a place, where the search goes on. @param {Book} book @param {number | null} place @param {string} query @param {boolean} one of its hits is asked for @param {MouseEvent} event */
  follow(book, place, query, one, event) {
    const find = tabState("find", () => ({}));
    if (!event.ctrlKey && !event.metaKey) Object.assign(find, { book: book.id, query, one });
    this.open(book.id, place, event);
  }

  /** @param {Book} book @param {number} paragraph @param {[string, boolean][]} parts @param {string} query */
  place(book, paragraph, parts, query) {
    const text = parts.map(([words, found]) => (found ? el("mark", { class: "hit" }, words) : words));
    return el(
      "li",
      {},
      el(
        "a",
        {
          href: `${addressOf(book.id)}&paragraph=${paragraph}`,
          lang: book.lang,
          dir: "auto",
          onclick: (event) => this.follow(book, paragraph, query, true, event),
        },
        ...text,
      ),
    );
  }
}
