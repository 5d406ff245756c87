// Several books in Ask: the memory of all of them, each closed or open in place.

import { conversationOf, subscribe } from "../answer_view/conversation_state.js";
import { showMemory } from "../answer_view/sides.js";
import { all, button, el, fill, first, icon, plural } from "../shared/dom.js";
import { begin, hold, Memory } from "./memory.js";

/**
 * @import { CitedOriginal } from "../pdf_page/original.js"
 * @import { AskState, FollowData, FoundLine, ShelfBook, ShelfBookStep, ShelfData } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 *
 * @typedef {object} DrawnBook
 * @property {HTMLElement} node
 * @property {HTMLElement} head
 * @property {HTMLElement} body
 * @property {Memory | null} memory
 * @property {string} [drawn]
 * @property {string} [taken] what the memory shows
 * @property {AbortController} [heard]
 */

const GO = "go to a book";

/**
 * What is shown of a book at this step.
 * @param {ShelfBook} book @param {AskState} now @param {number} step
 * @returns {ShelfBookStep | null}
 */
export const viewOf = (book, now, step) => now.views[step]?.shelf?.books[book.number] ?? null;

/**
 * The elements of the books that are asked and of those kept out, in the order of the choice.
 * @param {HTMLElement[]} asked @param {HTMLElement[]} keptOut @param {ShelfData} shelf
 */
export function inOrder(asked, keptOut, shelf) {
  const found = [...asked];
  for (const [i, { at }] of shelf.keptOut.entries()) found.splice(at, 0, keptOut[i]);
  return found;
}

/** How many pages of a book have gists. @param {ShelfBook} book */
const pagesOf = (book) => (book.pages ? plural(book.pages, "page") : "no gists");

/** Goes to a book in the memory. @param {string} conversation @param {ShelfBook} book */
export function goToBook(conversation, book) {
  showMemory();
  requestAnimationFrame(() => conversationOf(conversation).dispatchEvent(new CustomEvent(GO, { detail: book.number })));
}

export class Shelf {
  /** @param {HTMLElement} root @param {Api} api */
  constructor(root, { send }) {
    this.root = root;
    this.send = send;
    /** @type {Map<string, DrawnBook>} by id */
    this.books = new Map();
    /** @type {ShelfBook[]} */
    this.shown = [];
    /** @type {Set<number>} the books whose memory goes to a place of its own */
    this.going = new Set();
    this.gone = this.limits = ""; // where it went last, and the limits that were drawn
    /** @type {number[] | null} the book and the line to go to once the memory is in view */
    this.wanted = null;
    /** @type {{id: string, top: number} | null} the book whose limit is being changed, and where that was pressed */
    this.pressed = null;
    this.note = el("span", { class: "small dim num" });
    /** @type {HTMLElement[]} */
    this.keptOut = [];
    this.others = el("p", { class: "small dim others" });
    this.shut = ""; // the books kept out as they were drawn last, as JSON
    this.list = el("div", { class: "list", tabindex: "0", role: "region", "aria-label": "Memory of these books" });
    this.body = el("div", { class: "mbody" }, this.list);
    this.resize = new ResizeObserver(() => this.settle());
    this.resize.observe(this.list);
    root.replaceChildren(el("div", { class: "mh" }, el("h2", {}, "Memory"), this.note), this.body);
  }

  close() {
    this.resize.disconnect();
    this.leave();
  }

  /** Leaves the conversation that is shown. */
  leave() {
    this.unsubscribe?.();
    this.heard?.abort();
    for (const one of this.books.values()) this.drop(one);
  }

  /** @param {FollowData} data */
  update({ book }) {
    this.leave();
    this.books.clear();
    this.list.replaceChildren(this.others);
    this.heard = new AbortController();
    const go = (/** @type {Event} */ event) => this.show(/** @type {CustomEvent} */ (event).detail);
    conversationOf(book).addEventListener(GO, go, { signal: this.heard.signal });
    this.unsubscribe = subscribe(book, (now, step) => this.draw(now, step));
  }

  /** @param {AskState} now @param {number} step */
  draw(now, step) {
    const { shelf } = now;
    if (!shelf) return;
    const view = now.views[step]?.shelf;
    const known = new Set(shelf.books.map((book) => book.id));
    for (const [id, one] of this.books) {
      if (known.has(id)) continue;
      this.drop(one);
      one.node.remove();
      this.books.delete(id);
    }
    this.shown = shelf.books;
    this.going.clear();
    const asked = shelf.books.map((book) => this.drawBook(book, viewOf(book, now, step)).node);
    this.drawKeptOut(shelf);
    for (const [i, node] of inOrder(asked, this.keptOut, shelf).entries())
      if (this.list.children[i] !== node) this.list.insertBefore(node, this.list.children[i] ?? null);
    this.others.textContent = shelf.others;
    this.note.textContent = view?.note || shelf.name;
    const go = view?.go;
    const key = `${now.exchange} ${go ? `${go.book} ${go.nonce}` : ""}`;
    const elsewhere = key !== this.gone && !this.going.size && (now.steps.length || !now.exchange); // hidden answers move nothing
    const limits = JSON.stringify([shelf.keptOut, shelf.books.map(({ limited, letIn }) => [limited, letIn])]);
    const changed = limits !== this.limits && this.pressed;
    this.limits = limits;
    if (changed) this.stay(changed);
    else if (go && key !== this.gone) requestAnimationFrame(() => this.show(go.book, go.line));
    else if (elsewhere) this.show(0);
    this.gone = key;
  }

  /** Turns the limit of a book on or off; what is pressed stays where it is. @param {"limit" | "unlimit"} act @param {string} id @param {Event} event */
  changeLimit(act, id, { currentTarget }) {
    this.pressed = { id, top: /** @type {HTMLElement} */ (currentTarget).getBoundingClientRect().top };
    this.send({ do: act, of: id });
  }

  /** Has the way back of a press where that was: an answer that it hides or shows folds or opens pages. @param {{id: string, top: number}} pressed */
  stay({ id, top }) {
    this.pressed = null;
    for (const { memory } of this.books.values()) if (memory) memory.wanted = null;
    const book = all(this.list, ".book").find(({ dataset }) => dataset.book === id);
    const way = book && first(book, ".limitb");
    if (way) hold(this.list, way, () => way.getBoundingClientRect().top - top);
  }

  /** @param {ShelfBook} book @param {ShelfBookStep | null} view */
  drawBook(book, view) {
    const open = Boolean(view && (view.open || book.byHand));
    const one = this.books.get(book.id) ?? this.make(book);
    if (open && view?.focus) this.going.add(book.number);
    const drawn = JSON.stringify([book, open, view?.open, view?.expanded]);
    if (one.drawn !== drawn) {
      one.drawn = drawn;
      one.head.replaceChildren(...this.head(book, view, open));
      if (!open) {
        this.drop(one);
        one.body.replaceChildren(...this.closed(book));
      }
    }
    if (!open || !view || !book.memory) return one;
    one.memory ??= this.open(one, book);
    const data = { ...book.memory, ...view };
    const key = JSON.stringify(data);
    if (one.taken !== key) one.memory.take(data);
    one.taken = key;
    return one;
  }

  /** A row for each book that is kept out, with the way to let it in. @param {ShelfData} shelf */
  drawKeptOut({ keptOut }) {
    const key = JSON.stringify(keptOut);
    if (key === this.shut) return;
    this.shut = key;
    for (const node of this.keptOut) node.remove();
    this.keptOut = keptOut.map(({ id, title, language }) => {
      const press = (/** @type {Event} */ event) => this.changeLimit("unlimit", id, event);
      const letIn = button("Let it in", press, { kind: "slim limitb", "aria-label": `Let in ${title}` });
      const name = el("h3", {}, el("strong", { class: "bt", lang: language, dir: "auto" }, title));
      const why = el("p", { class: "small dim" }, "Its spoiler limit lets in no page yet.");
      const told = el("div", {}, name, why, el("div", { class: "erow" }, letIn));
      return el("section", { class: "book curtain", "data-book": id }, icon("unseen"), told);
    });
  }

  /** @param {ShelfBook} book @returns {DrawnBook} */
  make(book) {
    const node = el("section", { class: "book", "data-book": book.id, tabindex: "-1" });
    const head = el("div", { class: "bhead" });
    const body = el("div", { class: "bbody" });
    node.append(head, body);
    const made = { node, head, body, memory: null };
    this.books.set(book.id, made);
    return made;
  }

  /** The memory of a book, in place. @param {DrawnBook} one @param {ShelfBook} book */
  open(one, book) {
    const inside = el("div", { class: "inplace" });
    one.body.replaceChildren(inside);
    const memory = new Memory(inside, { send: (act) => this.send({ ...act, of: book.id }), scroller: this.list, head: one.head });
    this.body.append(memory.panel); // over the memory of all books
    one.heard = new AbortController();
    const point = (/** @type {Event} */ event) => this.showOriginal(memory, /** @type {CustomEvent} */ (event).detail);
    conversationOf(book.id).addEventListener("original", point, { signal: one.heard.signal });
    return memory;
  }

  /** Removes the drawing of an opened book. @param {DrawnBook} one */
  drop(one) {
    one.heard?.abort();
    one.memory?.panel.remove();
    one.memory?.close();
    one.memory = null;
    one.taken = undefined;
  }

  /**
   * Opens the PDF of one book at a page; that of another book is closed.
   * @param {Memory} memory
   * @param {{page: number, back: HTMLElement}} at
   */
  showOriginal(memory, { page, back }) {
    for (const one of this.books.values()) if (one.memory !== memory) one.memory?.closeOriginal();
    memory.showOriginal(page, back);
  }

  /** @param {ShelfBook} book @param {ShelfBookStep | null} view @param {boolean} open */
  head(book, view, open) {
    const words = { lang: book.language, dir: "auto" };
    const facts = [pagesOf(book), book.limit].filter(Boolean).join(". ");
    const title = [el("strong", { class: "bt", ...words }, book.title), el("span", { class: "small num dim" }, facts)];
    /** @param {string} label @param {"limit" | "unlimit"} act @param {string} name */
    const way = (label, act, name) =>
      button(label, (event) => this.changeLimit(act, book.id, event), { kind: "quiet slim limitb", "aria-label": name });
    const limit = book.letIn
      ? [way("Limit it again", "limit", `Limit ${book.title} again`)]
      : book.limited
        ? [way("Let in all of it", "unlimit", `Let in all of ${book.title}`)]
        : [];
    if (!book.pages || view?.open) return [el("h3", {}, ...title), ...limit];
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
      ...limit,
      ...(open ? [el("p", { class: "small dim" }, "Opened by you; the model did not see these gists for this answer.")] : []),
    ];
  }

  /** @param {ShelfBook} book */
  closed(book) {
    const gist = book.gist ? el("p", { class: "g", lang: book.language, dir: "auto" }) : null;
    if (gist) fill(gist, book.gist, [], "*");
    const lines = book.found.map((line) => this.found(book, line));
    if (book.pages) return [...(gist ? [gist] : []), ...lines];
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

  /** A line in which words were found, with the way to its place in the book. @param {ShelfBook} book @param {FoundLine} line */
  found(book, { place, text, quoted, page, spot }) {
    const words = el("p", { lang: book.language, dir: "auto" });
    fill(
      words,
      text,
      quoted.map(([start, end]) => [start, end, ""]),
      "*",
    );
    const open = () => this.send({ do: "open", of: book.id, page, text: spot.join(" ") });
    const read = button("Read it", open, { kind: "quiet slim", "aria-label": `Read it: ${book.title}, ${place}` });
    const way = page || spot.length ? [read] : [];
    return el("div", { class: "found small" }, el("p", { class: "dim" }, place), words, ...way);
  }

  /** Scrolls to a book, which is not opened by that, unless its memory goes to a place of its own. @param {number} numbered 0: to the beginning @param {number} [line] of it */
  show(numbered, line = 0) {
    this.wanted = this.list.clientHeight ? null : [numbered, line];
    if (!numbered) return begin(this.list);
    const book = this.shown.find(({ number: n }) => n === numbered);
    const whole = book && this.books.get(book.id)?.node;
    const node = (line && whole && all(whole, ".found")[line]) || whole;
    if (!whole || !node || this.going.has(numbered)) return;
    const head = (node !== whole && first(whole, ".bhead")?.offsetHeight) || 0; // it stays over the lines of its book
    hold(this.list, node, () => node.getBoundingClientRect().top - this.list.getBoundingClientRect().top - head - 4);
  }

  /** Goes to the place that was asked for while a phone showed another side. */
  settle() {
    if (this.wanted && this.list.clientHeight) this.show(this.wanted[0], this.wanted[1]);
  }
}
