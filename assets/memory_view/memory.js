// The gist memory as Ask shows it: every gist in order, with the looked-up pages opened in place.

import { conversationOf, subscribe } from "../answer_view/conversation_state.js";
import { showConversation } from "../answer_view/sides.js";
import { CitedOriginal } from "../pdf_page/original.js";
import { button, el, first, icon } from "../shared/dom.js";
import { bookOf, oncePerFrame } from "./book_store.js";
import { MemoryMap } from "./memory_map.js";
import { MemoryRows } from "./memory_rows.js";
import { Parts } from "./parts.js";
import { WhatIf } from "./what_if.js";

/**
 * @import { FollowData, MemoryData, MemoryStep, Page } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 * @import { StoredBook } from "./book_store.js"
 *
 * @typedef {MemoryData & MemoryStep} Shown
 */

const BLOCK = 25; // rows in an element of their own, which the browser renders only when it is in view
const HELD = 30; // frames in which the browser finds out how high the blocks in view are
const OWN = ["wheel", "touchstart", "pointerdown", "keydown"]; // of a person, who scrolls to another place
/** @type {WeakMap<HTMLElement, AbortController>} what scrolls -> what keeps a place in view */
const held = new WeakMap();

/** Removes the mark of the gist that a claim rests on. @param {HTMLElement} box */
function unmark(box) {
  for (const cited of box.querySelectorAll(".cited")) cited.classList.remove("cited");
}

/** Scrolls back to the beginning. @param {HTMLElement} scroller */
export const begin = (scroller) => hold(scroller, scroller, () => -scroller.scrollTop);

/** Scrolls by what `off` says while `row` is drawn, until that stays. @param {HTMLElement} scroller @param {HTMLElement} row @param {() => number} off px */
export function hold(scroller, row, off) {
  held.get(scroller)?.abort();
  const now = new AbortController();
  held.set(scroller, now);
  for (const kind of OWN) scroller.addEventListener(kind, () => now.abort(), { passive: true, signal: now.signal });
  let frames = HELD;
  const place = () => {
    if (now.signal.aborted || !row.getClientRects().length) return;
    scroller.scrollBy({ top: off(), behavior: "instant" });
    if (frames--) requestAnimationFrame(place);
    else now.abort();
  };
  place();
}

export class Memory {
  /**
   * `scroller`: what scrolls, where this is one of several books in it; `head`: of the book, which stays at its top.
   * @param {HTMLElement} root
   * @param {Pick<Api, "send"> & {scroller?: HTMLElement, head?: HTMLElement}} options
   */
  constructor(root, { send, scroller, head }) {
    this.root = root;
    this.head = head;
    this.send = send;
    /** @type {Map<number, {key: string, node: HTMLElement, text: string}>} page -> its row, and what it was drawn from */
    this.rows = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.blocks = new Map();
    this.parts = new Parts();
    /** @type {Set<number>} pages that the person opened, not the model */
    this.peeked = new Set();
    /** @type {Set<number>} pages that the model opened and the person closed */
    this.shut = new Set();
    this.whatIf = new WhatIf({
      ask: () => {
        showConversation();
        send({ do: "what-if", text: this.openNow().join(",") });
      },
      reset: () => this.putBack(),
    });
    this.made = new MemoryRows({
      toggle: (n) => this.toggle(n),
      redraw: (n) => this.draw([n]),
      read: (n) => send({ do: "open", page: n }),
      original: (n, back) => this.showOriginal(n, back),
    });
    this.fresh = this.focused = this.curtained = this.taken = ""; // what was drawn from, as JSON
    this.changes = 0; // of pages
    /** @type {number | null} the page to go to as soon as it is there; 0: the beginning */
    this.wanted = null;
    /** @type {string | null} whose memory is shown */
    this.exchange = null;
    this.about = ""; // where it went last, in which answer
    this.note = el("span", { class: "small dim num" });
    this.list = el("div", { class: "list", tabindex: "0", role: "region", onkeydown: (event) => this.key(event) });
    this.map = new MemoryMap({ limit: (page) => send({ do: "limit", page }), show: (page) => this.show(page) });
    this.curtain = el("div", { class: "curtain", hidden: true });
    this.scroller = scroller ?? this.list;
    this.list.append(this.curtain);
    this.original = new CitedOriginal((page) => this.quotedOf(page));
    root.replaceChildren(
      el("div", { class: "mh" }, el("h2", {}, "Memory"), this.note, this.original.button),
      el("div", { class: "mbody" }, this.map.box, this.map.limit.node, this.list, this.original.panel.node),
      this.whatIf.node,
    );
    this.resize = new ResizeObserver(() => this.resized());
    this.resize.observe(this.map.box);
  }

  close() {
    this.map.close();
    this.original.close();
    this.following?.abort();
    this.unsubscribe?.();
    this.resize.disconnect();
    this.heard?.abort();
  }

  /** @param {FollowData} data */
  update({ book }) {
    this.following?.abort();
    this.unsubscribe?.();
    this.following = new AbortController();
    const point = (/** @type {Event} */ event) => {
      const { page, back } = /** @type {CustomEvent} */ (event).detail;
      this.showOriginal(page, back);
    };
    conversationOf(book).addEventListener("original", point, { signal: this.following.signal });
    this.unsubscribe = subscribe(book, ({ memory, views, exchange, steps }, step) => {
      const shown = views[step].memory;
      if (!memory || !shown) return;
      if (exchange !== this.exchange) this.focused = this.taken = "";
      this.exchange = exchange;
      const data = { ...memory, ...shown };
      const key = JSON.stringify(data);
      if (key !== this.taken) this.take(data);
      this.taken = key;
      const about = `${exchange} ${data.focus ?? ""}`;
      if (about !== this.about && !data.focus && (steps.length || !exchange)) this.wanted = 0; // hidden answers move nothing
      this.about = about;
      this.settle();
    });
  }

  /** @param {Shown} data */
  take(data) {
    const before = this.data;
    const other = before?.scope !== data.scope;
    if (other) this.follow(data.scope);
    const others = this.parts.differ(data.parts);
    if (other || others) {
      this.rows.clear();
      this.blocks.clear();
      this.list.replaceChildren(...this.parts.build(data.parts, data.meta), this.curtain);
    }
    const same = !other && !others && before?.count === data.count;
    const fresh = JSON.stringify([data.expanded, data.inPart, data.marked, data.passages, data.closed]);
    if (fresh !== this.fresh) {
      this.shut.clear();
      for (const n of data.expanded) this.peeked.delete(n);
      this.made.unfolded.clear();
      this.parts.byHand.clear();
    }
    this.fresh = fresh;
    this.data = data;
    this.list.setAttribute("aria-label", `Gist memory of ${data.meta.title}`);
    this.original.update(data.original);
    this.draw(same && before ? [...new Set([...touched(before), ...touched(data)])] : null);
    const focus = data.focus ? JSON.stringify([data.focus, data.passage, data.nonce, data.passages?.[data.focus] ?? 0]) : "";
    if (focus !== this.focused) this.wanted = data.focus;
    if (!focus) unmark(this.list);
    this.focused = focus;
    this.settle();
  }

  /** Another book. @param {string} scope */
  follow(scope) {
    this.heard?.abort();
    this.heard = new AbortController();
    /** @type {StoredBook<Page>} */
    this.book = bookOf(scope);
    const draw = oncePerFrame((numbers) => {
      this.changes++;
      this.draw(numbers);
    });
    const come = (/** @type {Event} */ event) => draw(/** @type {CustomEvent} */ (event).detail);
    this.book.addEventListener("pages", come, { signal: this.heard.signal });
    this.peeked.clear();
  }

  /** Goes to the page in focus once its row exists and the memory is in view: pages may come after the question did. */
  settle() {
    const { wanted: page, data } = this;
    if (page === null || !data || !(page === 0 || this.rows.has(page)) || !this.list.clientHeight) return;
    this.wanted = null;
    if (page === 0) return begin(this.scroller);
    requestAnimationFrame(() => this.show(page, { passage: data.passage, open: data.wanted }));
    this.original.cite(page, data.passage);
  }

  /** The panel with the PDF. */
  get panel() {
    return this.original.panel.node;
  }

  /** @param {number} page @param {HTMLElement} back gets the focus when the PDF is closed */
  showOriginal(page, back) {
    this.original.open(page, back);
  }

  closeOriginal() {
    if (!this.panel.hidden) this.original.toggle();
  }

  /** A page, if it has come, and what is quoted of it. @param {number} n */
  quotedOf(n) {
    const record = this.book?.pages[n - 1];
    return record ? { record, passages: this.data?.passages?.[n] ?? [] } : null;
  }

  /** @param {number[] | null} only the pages that may have changed, null for all; pages without a row get one */
  draw(only) {
    const { data, book } = this;
    if (!data || !book) return;
    const gap = book.pages.findIndex((page) => !page);
    const shown = Math.min(data.count, gap < 0 ? book.pages.length : gap);
    const made = Math.min(this.rows.size, shown);
    const again = only?.filter((n) => n <= made) ?? range(1, made);
    for (const n of [...again, ...range(made + 1, shown)]) this.drawRow(n, data, book.pages[n - 1]);
    for (let n = this.rows.size; n > shown; n--) {
      this.rows.get(n)?.node.remove();
      this.rows.delete(n);
    }
    for (const [key, block] of this.blocks) {
      if (block.firstChild) continue;
      block.remove();
      this.blocks.delete(key);
    }
    this.parts.update(data);
    this.note.textContent = data.note;
    this.list.classList.toggle("unsent", data.unsent);
    this.root.classList.toggle("unfound", data.unfound);
    this.drawCurtain(data.curtain);
    const inOrder = (/** @type {Set<number>} */ pages) => [...pages].sort((a, b) => a - b);
    this.whatIf.update({ opened: inOrder(this.peeked), closed: inOrder(this.shut), asks: data.whatIf });
    this.drawMap();
    this.settle();
  }

  /** @param {number} n @param {Shown} data @param {Page & {text: string}} page */
  drawRow(n, data, page) {
    const shut = this.shut.has(n);
    const full = data.expanded.includes(n) && !shut;
    const peek = !full && this.peeked.has(n);
    const part = full ? null : (data.inPart?.[n] ?? null);
    const passages = full || part ? (data.passages?.[n] ?? []).flat() : [];
    const asked = full || Boolean(part) || data.marked.includes(n);
    const key = JSON.stringify([full, peek, shut, asked, passages, part, this.made.folds(n)]); // the text is compared separately: a book has 2 MB
    const known = this.rows.get(n);
    if (known?.key === key && known.text === page.text) return;
    const options = { peek, part: part ?? [], passages, hasOriginal: Boolean(data.original) };
    const node =
      full || peek
        ? this.made.opened(page, data.meta, options)
        : part
          ? this.made.inPart(page, data.meta, { part, passages })
          : this.made.gist(page, data.meta, asked);
    node.classList.toggle("shut", shut);
    if (known) known.node.replaceWith(node);
    else this.block(n).append(node);
    this.rows.set(n, { key, node, text: page.text });
  }

  /** Opens a page by hand, or closes it: its first line stays where it was. @param {number} n */
  toggle(n) {
    const byHand = this.data?.expanded.includes(n) ? this.shut : this.peeked;
    const { scroller, rows } = this;
    const top = () => rows.get(n)?.node.getBoundingClientRect().top ?? 0;
    const before = Math.max(top(), this.edge());
    const stay = () => scroller.scrollBy({ top: top() - before, behavior: "instant" });
    if (!byHand.delete(n)) byHand.add(n);
    this.draw([n]);
    const row = rows.get(n);
    if (row) first(row.node, ".peekb")?.focus({ preventScroll: true });
    stay();
    requestAnimationFrame(stay); // the browser may scroll after this, to hold the row below in its place
  }

  /** The pages that are open now, by the model or by hand. */
  openNow() {
    const opened = (this.data?.expanded ?? []).filter((n) => !this.shut.has(n));
    return [...new Set([...opened, ...this.peeked])].sort((a, b) => a - b);
  }

  /** Undoes what was opened and closed by hand. */
  putBack() {
    const changed = [...this.peeked, ...this.shut];
    this.peeked.clear();
    this.shut.clear();
    this.draw(changed);
  }

  /** The row shown in place of the pages that are left out. @param {Shown["curtain"]} curtain */
  drawCurtain(curtain) {
    const key = JSON.stringify(curtain);
    if (key === this.curtained) return;
    this.curtained = key;
    this.curtain.hidden = !curtain;
    if (!curtain) return;
    const ways = curtain.ways.map(([act, label]) => button(label, () => this.send({ do: act, page: 1 }), { kind: "slim" }));
    const told = el("div", {}, el("p", {}, el("strong", {}, curtain.title)), el("p", { class: "small dim" }, curtain.text));
    if (ways.length) told.append(el("div", { class: "erow" }, ...ways));
    this.curtain.replaceChildren(icon("unseen"), told);
  }

  /** The element that the row of page `n` belongs to: its part, else a block of rows; rows are made in order. @param {number} n */
  block(n) {
    const { body, next } = this.parts.placeOf(n);
    if (body) return body;
    const key = `${next?.dataset.part ?? ""} ${Math.floor((n - 1) / BLOCK)}`;
    const known = this.blocks.get(key);
    if (known) return known;
    const block = el("div", { class: "mblock" });
    this.blocks.set(key, block);
    (next ?? this.curtain).before(block);
    return block;
  }

  /** Backspace closes the page or the part that has the focus; Enter presses its button by itself. @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== "Backspace" || !(event.target instanceof Element)) return;
    const page = event.target.closest(".m.peek");
    const close = (page && first(page, ".peekb")) ?? this.parts.openButton(event.target);
    if (!close) return;
    event.preventDefault();
    close.focus();
    close.click();
  }

  /**
   * `open`: also where it is in a closed part; else that part is gone to.
   * @param {number} n
   */
  show(n, { passage = -1, open = false } = {}) {
    if (open) this.parts.reveal(n);
    const row = this.parts.closedAround(n) ?? this.rows.get(n)?.node;
    if (!row) return;
    unmark(this.scroller);
    const quoted = passage < 0 ? [] : row.querySelectorAll("mark");
    if (open && !quoted.length) row.classList.add("cited"); // of a gist no words are marked: it is shown whole
    const target = quoted[Math.min(passage, quoted.length - 1)] ?? row;
    hold(this.scroller, row, () => {
      const [from, at] = [row.getBoundingClientRect().top, target.getBoundingClientRect().top];
      const whole = at - from < this.scroller.clientHeight / 2; // what page it is stays in view over the passage
      return (whole ? from : at - 112) - this.edge();
    });
  }

  /** Where on the screen the first row in view begins. */
  edge() {
    return this.scroller.getBoundingClientRect().top + (this.head?.offsetHeight ?? 0) + 8;
  }

  resized() {
    this.drawMap();
    this.settle();
  }

  drawMap() {
    const { data, book } = this;
    if (data && book) this.map.soon(() => ({ data, pages: book.pages, changes: this.changes, closed: this.parts.withDepth(data.closed) }));
  }
}

/** The pages that are opened, asked for or quoted. @param {Shown} data */
const touched = ({ expanded, inPart, marked, passages }) => [
  ...expanded,
  ...marked,
  ...[passages, inPart].flatMap((pages) => Object.keys(pages ?? {}).map(Number)),
];

/** @param {number} from @param {number} to */
const range = (from, to) => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
