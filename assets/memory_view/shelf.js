// Several books in Ask: the memory of all of them, each closed or open in place, and their maps side by side.
// Both follow the conversation's state; a press on a map goes to its book in the memory.

import { conversationOf, subscribe } from "../answer_view/conversation_state.js";
import { showMemory } from "../answer_view/sides.js";
import { button, el, fill, icon, plural, svg } from "../shared/dom.js";
import { Memory } from "./memory.js";

const TALL = 42; // pixels of a page in full on a map
const HEIGHTS = { full: TALL, gist: 22, part: 10, book: 4 };
const GO = "go to a book";

/** @typedef {import("../answer_view/types.js").ShelfBook} ShelfBook */

// What is shown of a book at this step, and whether the person opened it.
const viewOf = (book, state) => state.now.views[state.step]?.shelf.books[book.n] ?? null;
const isOpen = (book, view) => Boolean(view && (view.open || book.byHand));
const pagesOf = (book) => (book.pages ? plural(book.pages, "page") : "no gists");

function said(book, view, asked) {
  if (!book.pages) return "No gists yet: only words are looked for in it.";
  if (!view?.open && !asked) return "Gists ready.";
  if (!view?.open) return book.own ? "One gist of the whole book." : "No gist of the whole book yet.";
  const full = view.expanded;
  if (!full.length) return "Opened into gists.";
  return full.length > 4 ? `In full: ${full.length} pages.` : `In full: ${full.length > 1 ? "pages" : "page"} ${full.join(", ")}.`;
}

export class Shelf {
  constructor(root, { send }) {
    this.root = root;
    this.send = send;
    this.books = new Map(); // id -> {node, head, body, memory}
    this.note = el("span", { class: "small dim num" });
    this.list = el("div", { class: "list", tabindex: "0", role: "region", "aria-label": "Memory of these books" });
    this.body = el("div", { class: "mbody" }, this.list);
    root.replaceChildren(el("div", { class: "mh" }, el("h2", {}, "Memory"), this.note), this.body);
  }

  close() {
    this.unsubscribe?.();
    this.state?.removeEventListener(GO, this.ongo);
    for (const one of this.books.values()) this.drop(one);
  }

  update({ book }) {
    this.close();
    this.books.clear();
    this.list.replaceChildren();
    this.state = conversationOf(book);
    this.state.addEventListener(GO, (this.ongo = ({ detail }) => this.show(detail)));
    this.unsubscribe = subscribe(book, () => this.draw());
  }

  draw() {
    const { shelf, views } = this.state.now;
    const step = views[this.state.step]?.shelf;
    const known = new Set(shelf.books.map((book) => book.id));
    for (const [id, one] of this.books) if (!known.has(id)) this.drop(one), one.node.remove(), this.books.delete(id);
    shelf.books.forEach((book, i) => {
      const { node } = this.drawBook(book);
      if (this.list.children[i] !== node) this.list.insertBefore(node, this.list.children[i] ?? null);
    });
    this.note.textContent = step?.note || shelf.name;
    const go = step?.go && `${step.go.book} ${step.go.nonce}`;
    if (go && go !== this.gone) requestAnimationFrame(() => this.show(step.go.book));
    this.gone = go;
  }

  /** @param {ShelfBook} book */
  drawBook(book) {
    const view = viewOf(book, this.state);
    const open = isOpen(book, view);
    if (!this.books.has(book.id)) {
      const node = el("section", { class: "book", "data-book": book.id, tabindex: "-1" });
      const head = el("div", { class: "bhead" });
      const body = el("div", { class: "bbody" });
      node.append(head, body);
      this.books.set(book.id, { node, head, body, memory: null });
    }
    const one = this.books.get(book.id);
    const drawn = JSON.stringify([book, open, view?.open, view?.expanded]);
    if (one.drawn !== drawn) {
      one.drawn = drawn;
      one.head.replaceChildren(...this.head(book, view, open));
      if (!open) {
        this.drop(one);
        one.body.replaceChildren(...this.closed(book));
      }
    }
    if (open) {
      if (!one.memory) {
        const inside = el("div", { class: "inplace" });
        one.body.replaceChildren(inside);
        one.memory = new Memory(inside, { send: (act) => this.send({ ...act, of: book.id }), scroller: this.list });
        this.body.append(one.memory.original.panel.node); // over the memory of all books
        one.cited = conversationOf(book.id);
        one.cited.addEventListener("original", (one.point = ({ detail }) => this.showOriginal(one.memory.original, detail)));
      }
      const data = { ...book.memory, ...view };
      const key = JSON.stringify(data);
      if (one.taken !== key || one.taker !== one.memory) one.memory.take(data);
      [one.taken, one.taker] = [key, one.memory];
    }
    return one;
  }

  // Removes the drawing of an opened book.
  drop(one) {
    if (!one.memory) return;
    one.cited.removeEventListener("original", one.point);
    one.memory.original.panel.node.remove();
    one.memory.close();
    one.memory = null;
  }

  // Opens the PDF of one book at a page; that of another book is closed.
  showOriginal(original, { page, back }) {
    for (const { memory } of this.books.values())
      if (memory && memory.original !== original && memory.original.panel.open) memory.original.toggle();
    original.open(page, back);
  }

  head(book, view, open) {
    const words = { lang: book.language, dir: "auto" };
    const facts = [pagesOf(book), book.limit].filter(Boolean).join(". ");
    const title = [el("strong", { class: "bt", ...words }, book.title), el("span", { class: "small num dim" }, facts)];
    const unlimit =
      book.limit &&
      button("Let in all of it", () => this.send({ do: "unlimit", of: book.id }), {
        kind: "quiet slim",
        "aria-label": `Let in all of ${book.title}`,
      });
    if (!book.pages || view?.open) return [el("h3", {}, ...title), unlimit].filter(Boolean);
    const toggle = () => this.send({ do: open ? "fold" : "unfold", of: book.id });
    return [
      el(
        "h3",
        {},
        el(
          "button",
          { type: "button", class: "bopen", "aria-expanded": String(open), onclick: toggle },
          icon(open ? "down" : "right"),
          el("span", {}, title[0], " ", title[1]),
        ),
      ),
      unlimit,
      open ? el("p", { class: "small dim" }, "Opened by you; the model did not see these gists for this answer.") : null,
    ].filter(Boolean);
  }

  closed(book) {
    const gist = book.gist ? el("p", { class: "g", lang: book.language, dir: "auto" }) : null;
    if (gist) fill(gist, book.gist, [], "*");
    const lines = book.found.map((line) => el("p", { class: "small found", lang: book.language, dir: "auto" }, line));
    if (book.pages) return [gist, ...lines].filter(Boolean);
    return [
      el("p", { class: "small dim" }, `No gists yet: only words are looked for in it. ${book.takes}`),
      ...lines,
      el(
        "div",
        { class: "erow" },
        button("Make gists", () => this.send({ do: "make", of: book.id }), { kind: "slim" }),
        button("Leave it out", () => this.send({ do: "leave", of: book.id }), { kind: "quiet slim" }),
      ),
    ];
  }

  // Scrolls to a book, which is not opened by that.
  show(numbered) {
    const book = this.state.now.shelf.books.find(({ n }) => n === numbered);
    const node = book && this.books.get(book.id)?.node;
    const inside = book && isOpen(book, viewOf(book, this.state)) && viewOf(book, this.state).focus;
    if (!node || inside) return;
    this.list.scrollTo({
      top: this.list.scrollTop + node.getBoundingClientRect().top - this.list.getBoundingClientRect().top - 4,
      behavior: "instant",
    });
  }
}

export class ShelfMaps {
  constructor(root) {
    this.root = root;
    this.list = el("div", { class: "list maps", tabindex: "0", role: "region", "aria-label": "These books" });
    root.replaceChildren(
      el("div", { class: "mh" }, el("h2", {}, "The shelf"), el("span", { class: "small dim" }, "taller bars: opened further")),
      this.list,
    );
  }

  close() {
    this.unsubscribe?.();
  }

  update({ book }) {
    this.close();
    this.state = conversationOf(book);
    this.unsubscribe = subscribe(book, () => this.draw());
  }

  draw() {
    const { shelf } = this.state.now;
    const rows = shelf.books.map((book) => [book, viewOf(book, this.state)]);
    const key = JSON.stringify([shelf, rows.map(([, view]) => view && [view.open, view.expanded, view.closed])]);
    if (key === this.drawn) return;
    this.drawn = key;
    this.list.replaceChildren(
      ...rows.map(([book, view]) => this.row(book, view)),
      ...shelf.others.map((text) => el("p", { class: "small dim others" }, text)),
    );
  }

  /** @param {ShelfBook} book */
  row(book, view) {
    const go = () => {
      showMemory();
      requestAnimationFrame(() => this.state.dispatchEvent(new CustomEvent(GO, { detail: book.n })));
    };
    const fact = said(book, view, this.state.now.exchange);
    return el(
      "button",
      { type: "button", class: "bmap", onclick: go, "aria-label": `${book.title}. ${fact}` },
      el("span", { class: "bt", lang: book.language, dir: "auto" }, book.title),
      mapOf(book, view),
      el("span", { class: "small dim num" }, fact, book.limit && ` ${book.limit}`),
    );
  }
}

// The map of a book as a row of cells: as wide as the page is long, as high as it was opened.
function mapOf(book, view) {
  const open = view?.open;
  const cells = open && book.cells.length ? book.cells : [1];
  const whole = cells.reduce((sum, words) => sum + words, 0) || 1;
  const gap = cells.length > 120 ? 0 : 0.4;
  const tallest = !open ? HEIGHTS.book : view.expanded.length ? TALL : HEIGHTS.gist;
  const drawn = svg("svg", {
    class: "bcells",
    viewBox: `0 0 100 ${tallest}`,
    preserveAspectRatio: "none",
    height: tallest,
    width: "100%",
    "aria-hidden": "true",
  });
  let left = 0;
  cells.forEach((words, i) => {
    const how = !open
      ? "book"
      : view.expanded.includes(i + 1)
        ? "full"
        : view.closed.some(([a, z]) => a <= i + 1 && i + 1 <= z)
          ? "part"
          : "gist";
    const wide = (100 * words) / whole;
    drawn.append(
      svg("rect", {
        x: number2(left),
        y: tallest - HEIGHTS[how],
        width: number2(Math.max(0.2, wide - gap)),
        height: HEIGHTS[how],
        class: book.pages ? how : "none",
      }),
    );
    left += wide;
  });
  return drawn;
}

const number2 = (n) => n.toFixed(2);
