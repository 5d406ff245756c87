// Several books in Ask: their maps side by side. A press on one goes to its book in the memory.

import { subscribe } from "../answer_view/conversation_state.js";
import { el, svg } from "../shared/dom.js";
import { goToBook, inOrder, viewOf } from "./shelf.js";

/** @import { AskState, FollowData, ShelfBook, ShelfBookStep } from "../protocol.js" */

const TALL = 42; // pixels of a page in full
const HEIGHTS = { full: TALL, gist: 22, part: 10, book: 4, none: 10 }; // none: of the pages that the answer did not see

/** @param {ShelfBook} book @param {ShelfBookStep | null} view */
function said(book, view) {
  if (!book.pages) return "No gists yet.";
  if (!view?.open) return book.own ? "One gist of the whole book." : "Gists ready.";
  const full = view.expanded;
  if (!full.length) return "Opened into gists.";
  return full.length > 4 ? `In full: ${full.length} pages.` : `In full: ${full.length > 1 ? "pages" : "page"} ${full.join(", ")}.`;
}

export class ShelfMaps {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.drawn = "";
    this.list = el("div", { class: "list maps", tabindex: "0", role: "region", "aria-label": "These books" });
    this.key = el("span", { class: "small dim" }, "taller bars: opened further");
    root.replaceChildren(el("div", { class: "mh" }, el("h2", {}, "The shelf"), this.key), this.list);
  }

  close() {
    this.unsubscribe?.();
  }

  /** @param {FollowData} data */
  update({ book }) {
    this.close();
    this.unsubscribe = subscribe(book, (now, step) => this.draw(book, now, step));
  }

  /** @param {string} conversation @param {AskState} now @param {number} step */
  draw(conversation, now, step) {
    const { shelf, exchange } = now;
    if (!shelf) return;
    this.key.hidden = !exchange; // nothing was opened yet
    const views = shelf.books.map((book) => viewOf(book, now, step));
    const key = JSON.stringify([shelf, views.map((view) => view && [view.open, view.expanded, view.closed])]);
    if (key === this.drawn) return;
    this.drawn = key;
    const rows = shelf.books.map((book, i) => this.row(book, views[i], said(book, views[i]), () => goToBook(conversation, book)));
    const out = shelf.keptOut.map(({ title, language }) =>
      el("div", {}, el("span", { class: "bt out", lang: language, dir: "auto" }, title), el("p", { class: "small dim" }, "Kept out.")),
    );
    this.list.replaceChildren(...inOrder(rows, out, shelf));
  }

  /** @param {ShelfBook} book @param {ShelfBookStep | null} view @param {string} fact @param {() => void} go */
  row(book, view, fact, go) {
    return el(
      "button",
      { type: "button", class: "bmap", onclick: go, "aria-label": `${book.title}. ${fact}` },
      el("span", { class: "bt", lang: book.language, dir: "auto" }, book.title),
      mapOf(book, view),
      el("span", { class: "small dim num" }, view?.expanded.length ? fact : book.limit || fact),
    );
  }
}

/**
 * The map of a book as a row of cells: as wide as the page is long, as high as it was opened.
 * @param {ShelfBook} book
 * @param {ShelfBookStep | null} view
 */
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
      : book.memory && i >= book.memory.count
        ? "none"
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

/** @param {number} n */
const number2 = (n) => n.toFixed(2);
