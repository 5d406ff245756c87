// The cards of the library: a list of any length, of which only the parts near the view are drawn.

import { all, el, entry, first, focused } from "../shared/dom.js";
import { drawCard } from "./card.js";
import { store, wantCovers } from "./store.js";

/**
 * @import { Book } from "../protocol.js"
 *
 * @typedef {Book & {text: string, key: string}} ShownBook `text`: as JSON, to see whether it changed; `key`: what is searched
 */

const PART = 24; // cards drawn together: full rows of one, four or six columns
const AHEAD = "700px 0px"; // how far from the view a part is drawn

export class Grid {
  /**
   * @param {{open: (book: Book, event: MouseEvent) => void, goOn: (book: Book) => void, make: (book: Book) => void,
   *   more: (book: Book, event: MouseEvent & {currentTarget: HTMLButtonElement}) => void, model: () => string,
   *   selected: () => void}} on
   */
  constructor(on) {
    this.on = on;
    /** @type {ShownBook[]} */
    this.books = [];
    this.at = 0; // the card that has the focus, or would get it
    this.from = 0; // the card that a range of selected ones begins at
    this.selecting = false;
    /** @type {Set<string>} */
    this.selected = new Set();
    this.node = el("div", { class: "grid", role: "list", "aria-label": "Books" });
    const options = { rootMargin: AHEAD, scrollMargin: AHEAD };
    this.seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.fill(/** @type {HTMLElement} */ (target));
    }, options);
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.node.addEventListener("focusin", (event) => this.focused(event));
  }

  /** Shows these books; cards that are drawn and have not changed stay as they are. @param {ShownBook[]} books */
  show(books) {
    const same = books.length === this.books.length && books.every((book, i) => book.id === this.books[i].id);
    const before = this.books;
    this.books = books;
    if (same) {
      for (const [i, book] of books.entries()) if (book !== before[i]) this.redraw(book);
      return;
    }
    this.at = this.from = 0;
    this.seen.disconnect();
    const parts = [];
    for (let first = 0; first < books.length; first += PART) {
      const count = Math.min(PART, books.length - first);
      parts.push(el("div", { class: "part", role: "none", "data-first": first, style: `--count:${count}` }));
    }
    this.node.replaceChildren(...parts);
    if (parts[0]) this.fill(parts[0]);
    for (const part of parts.slice(1)) this.seen.observe(part);
  }

  /** @param {HTMLElement} part */
  fill(part) {
    if (part.childElementCount) return;
    this.seen.unobserve(part);
    const first = Number(part.dataset.first);
    const books = this.books.slice(first, first + PART);
    part.append(...books.map((book, i) => this.draw(book, first + i)));
    wantCovers(books.filter((book) => book.cover).map((book) => book.id));
  }

  /** @param {ShownBook} book @param {number} index */
  draw(book, index) {
    const card = drawCard(
      { ...book, gists: store.gists[book.id] ?? book.gists },
      {
        open: (event) => this.pressed(book, event),
        more: (event) => this.on.more(book, event),
        select: (event) => this.select(this.indexOf(book), event.shiftKey),
        goOn: () => this.on.goOn(book),
        make: () => this.on.make(book),
        model: this.on.model(),
      },
    );
    this.mark(card, book.id);
    if (index === this.at) this.reachable(card, true);
    return card;
  }

  /** @param {Book} book */
  indexOf = (book) => this.books.findIndex((one) => one.id === book.id);
  /** @param {string} id */
  cardOf = (id) => first(this.node, `[data-id="${CSS.escape(id)}"]`);

  /** Draws the card of a book again, if it is drawn; the focus stays. @param {Book} book */
  redraw(book) {
    const card = this.cardOf(book.id);
    if (!card) return;
    const focus = card.contains(focused(card)) && focused(card)?.className;
    const drawn = this.draw(this.books[this.indexOf(book)], this.indexOf(book));
    card.replaceWith(drawn);
    if (focus)
      all(drawn, "a, button")
        .find((node) => node.className === focus)
        ?.focus();
  }

  // --- keys and the focus: one card at a time can be reached by Tab ------------------------------

  /** @param {FocusEvent} event */
  focused(event) {
    /** @type {HTMLElement | null} */
    const card = /** @type {HTMLElement} */ (event.target).closest(".bk");
    const index = this.books.findIndex((book) => book.id === card?.dataset.id);
    if (!card || index < 0 || index === this.at) return;
    const before = this.books[this.at] && this.cardOf(this.books[this.at].id);
    if (before) this.reachable(before, false);
    this.at = index;
    this.reachable(card, true);
  }

  /** @param {Element} card @param {boolean} yes */
  reachable(card, yes) {
    for (const node of all(card, "a, button")) node.tabIndex = yes ? 0 : -1;
  }

  /** @param {number} index */
  focus(index) {
    const to = Math.max(0, Math.min(this.books.length - 1, index));
    const part = /** @type {HTMLElement | undefined} */ (this.node.children[Math.floor(to / PART)]);
    if (!part) return;
    this.fill(part);
    const card = this.cardOf(this.books[to].id);
    if (!card) return;
    first(card, ".open")?.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest(".menu") || event.ctrlKey || event.metaKey || event.altKey) return;
    const columns = getComputedStyle(this.node.firstElementChild ?? this.node).gridTemplateColumns.split(" ").length;
    const to = entry(
      {
        ArrowRight: this.at + 1,
        ArrowLeft: this.at - 1,
        ArrowDown: this.at + columns,
        ArrowUp: this.at - columns,
        Home: 0,
        End: this.books.length - 1,
      },
      event.key,
    );
    const onTitle = target.matches(".open");
    if (event.key === " " && onTitle) this.select(this.at, event.shiftKey);
    else if (to === undefined || to < 0) return;
    else {
      if (event.shiftKey) this.select(Math.min(to, this.books.length - 1), true);
      this.focus(to);
    }
    event.preventDefault();
  }

  // --- selecting -----------------------------------------------------------------------------------

  /** @param {Book} book @param {MouseEvent} event */
  pressed(book, event) {
    if (this.selecting || event.shiftKey) {
      event.preventDefault();
      return this.select(this.indexOf(book), event.shiftKey);
    }
    this.on.open(book, event);
  }

  /**
   * Selects a card or takes it out; `range`: everything from the last one to it is selected.
   * @param {number} index
   * @param {boolean} range
   */
  select(index, range) {
    const { id } = this.books[index];
    if (range) {
      const [first, last] = [Math.min(this.from, index), Math.max(this.from, index)];
      for (const book of this.books.slice(first, last + 1)) this.selected.add(book.id);
    } else {
      this.from = index;
      if (!this.selected.delete(id)) this.selected.add(id);
    }
    this.setSelecting(true);
  }

  /** Selects every book that is shown now: of a shelf, or found. */
  selectAll() {
    for (const book of this.books) this.selected.add(book.id);
    this.setSelecting(true);
  }

  /** @param {boolean} selecting */
  setSelecting(selecting) {
    this.selecting = selecting;
    if (!selecting) this.selected.clear();
    this.node.classList.toggle("selecting", selecting);
    for (const card of all(this.node, ".bk")) this.mark(card, card.dataset.id ?? "");
    this.on.selected();
  }

  /** @param {Element} card @param {string} id */
  mark(card, id) {
    card.classList.toggle("sel", this.selected.has(id));
    card.querySelector(".ck")?.setAttribute("aria-checked", String(this.selected.has(id)));
  }
}

/** What scrolls the screen. @param {Element} root @returns {Element | null} */
export function scrollerOf(root) {
  /** @type {Element | null} */
  let node = /** @type {ShadowRoot} */ (root.getRootNode()).host ?? null;
  while (node && !/auto|scroll/.test(getComputedStyle(node).overflowY)) node = node.parentElement;
  return node ?? document.scrollingElement;
}
