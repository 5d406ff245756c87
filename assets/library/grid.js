// The cards of the library: a list of any length, of which only the parts near the view are drawn.

import { el } from "../shared/dom.js";
import { drawCard } from "./card.js";
import { store, wantCovers } from "./store.js";

const PART = 24; // cards drawn together: full rows of one to four columns
const AHEAD = "700px 0px"; // how far from the view a part is drawn

export class Grid {
  /**
   * @param {{open: (book: object, event: Event) => void, more: (book: object, event: Event) => void,
   *   goOn: (book: object) => void, make: (book: object) => void, model: () => string, selected: () => void}} on
   */
  constructor(on) {
    this.on = on;
    this.books = [];
    this.at = 0; // the card that has the focus, or would get it
    this.from = 0; // the card that a range of selected ones begins at
    this.selecting = false;
    this.selected = new Set();
    this.node = el("div", { class: "grid", role: "list", "aria-label": "Books" });
    const options = { rootMargin: AHEAD, scrollMargin: AHEAD };
    this.seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.fill(target);
    }, options);
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.node.addEventListener("focusin", (event) => this.focused(event));
  }

  /** Shows these books; cards that are drawn and have not changed stay as they are. */
  show(books) {
    const same = books.length === this.books.length && books.every((book, i) => book.id === this.books[i].id);
    const before = this.books;
    this.books = books;
    if (same) return books.forEach((book, i) => book !== before[i] && this.redraw(book));
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

  fill(part) {
    if (part.childElementCount) return;
    this.seen.unobserve(part);
    const first = Number(part.dataset.first);
    const books = this.books.slice(first, first + PART);
    part.append(...books.map((book, i) => this.draw(book, first + i)));
    wantCovers(books.filter((book) => book.cover).map((book) => book.id));
  }

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

  indexOf = (book) => this.books.findIndex((one) => one.id === book.id);
  cardOf = (id) => this.node.querySelector(`[data-id="${CSS.escape(id)}"]`);

  /** Draws the card of a book again, if it is drawn; the focus stays. */
  redraw(book) {
    const card = this.cardOf(book.id);
    if (!card) return;
    const focus = card.contains(card.getRootNode().activeElement) && card.getRootNode().activeElement.className;
    const drawn = this.draw(this.books[this.indexOf(book)], this.indexOf(book));
    card.replaceWith(drawn);
    if (focus) [...drawn.querySelectorAll("a, button")].find((node) => node.className === focus)?.focus();
  }

  // --- keys and the focus: one card at a time can be reached by Tab ------------------------------

  focused(event) {
    const card = event.target.closest(".bk");
    const index = this.books.findIndex((book) => book.id === card?.dataset.id);
    if (index < 0 || index === this.at) return;
    const before = this.books[this.at] && this.cardOf(this.books[this.at].id);
    if (before) this.reachable(before, false);
    this.at = index;
    this.reachable(card, true);
  }

  reachable(card, yes) {
    for (const node of card.querySelectorAll("a, button")) node.tabIndex = yes ? 0 : -1;
  }

  focus(index) {
    const to = Math.max(0, Math.min(this.books.length - 1, index));
    const part = this.node.children[Math.floor(to / PART)];
    if (!part) return;
    this.fill(part);
    const card = this.cardOf(this.books[to].id);
    card.querySelector(".open").focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (event.target.closest(".menu") || event.ctrlKey || event.metaKey || event.altKey) return;
    const columns = getComputedStyle(this.node.firstElementChild).gridTemplateColumns.split(" ").length;
    const to = {
      ArrowRight: this.at + 1,
      ArrowLeft: this.at - 1,
      ArrowDown: this.at + columns,
      ArrowUp: this.at - columns,
      Home: 0,
      End: this.books.length - 1,
    }[event.key];
    const onTitle = event.target.matches(".open");
    if (event.key === " " && onTitle) this.select(this.at, event.shiftKey);
    else if (to === undefined || to < 0) return;
    else {
      if (event.shiftKey) this.select(Math.min(to, this.books.length - 1), true);
      this.focus(to);
    }
    event.preventDefault();
  }

  // --- selecting -----------------------------------------------------------------------------------

  pressed(book, event) {
    if (this.selecting || event.shiftKey) {
      event.preventDefault();
      return this.select(this.indexOf(book), event.shiftKey);
    }
    this.on.open(book, event);
  }

  /** Selects a card or takes it out; `range`: everything from the last one to it is selected. */
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

  setSelecting(selecting) {
    this.selecting = selecting;
    if (!selecting) this.selected.clear();
    this.node.classList.toggle("selecting", selecting);
    for (const card of this.node.querySelectorAll(".bk")) this.mark(card, card.dataset.id);
    this.on.selected();
  }

  mark(card, id) {
    card.classList.toggle("sel", this.selected.has(id));
    card.querySelector(".ck").setAttribute("aria-checked", String(this.selected.has(id)));
  }
}
