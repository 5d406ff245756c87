// References in the text: a note opens in a card at its number, a link in the book is followed and can be gone back from,
// a link out of the book asks first.

import { button, copyText, el, fill } from "../shared/dom.js";
import { putAt } from "./selection.js";
import { withSpans } from "./text_spans.js";
import { placeOf } from "./text_store.js";

/**
 * @import { Frame } from "./frame.js"
 * @import { Jump, ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 */

const TARGET_MS = 2000; // a paragraph that a link led to is marked for so long
const MOST_PARAGRAPHS = 30; // of a note

export class References {
  /** @param {{state: ReadingState, frame: Frame, units: Units, jump: Jump, opening: () => void}} needs */
  constructor({ state, frame, units, jump, opening }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.jump = jump;
    this.opening = opening;
    /** @type {HTMLElement | null} the reference whose card is open */
    this.from = null;
    this.node = el("div", { class: "markcard notecard", hidden: true, role: "dialog" });
    for (const part of [frame.scroller, this.node]) {
      part.addEventListener("click", (event) => this.pressed(event), true);
      part.addEventListener("keydown", (event) => event.key === "Enter" && this.pressed(event), true);
    }
  }

  get opened() {
    return !this.node.hidden;
  }

  /** @param {Event} event */
  pressed(event) {
    const path = event.composedPath();
    const reference = path.find((node) => node instanceof HTMLElement && node.matches(".ref"));
    if (!(reference instanceof HTMLElement) || String(this.frame.selection() ?? "")) return;
    event.preventDefault();
    event.stopPropagation();
    const { to, mark, address } = reference.dataset;
    if (address !== undefined) this.ask(reference, address);
    else if (mark !== undefined) this.openNote(reference, mark, Number(to));
    else this.follow(Number(to));
  }

  /** @param {HTMLElement} reference @param {string} mark @param {number} to */
  openNote(reference, mark, to) {
    if (reference === this.from && this.opened) return void this.close();
    const { book } = this.state;
    const words = { class: "noteword", lang: book.outline.language, dir: book.outline.rtl ? "rtl" : "ltr" };
    const paragraphs = noteFrom(this.state, to).map((paragraph) => {
      const node = el("p", { dir: "auto" });
      const text = book.text[paragraph];
      const plain = (/** @type {number} */ a, /** @type {number} */ b) => withSpans(text, book.spans.get(paragraph) ?? [], a, b);
      fill(node, text, [], book.outline.emphasis, 0, text.length, plain);
      return node;
    });
    const missing = el("p", { class: "dim" }, "This note is missing in the file.");
    const where = placeOf(book, to);
    const go = button("Go to the note", () => this.follow(to), { kind: "quiet slim", hidden: !paragraphs.length });
    const foot = el("div", { class: "erow" }, go, el("span", { class: "small dimmer where" }, where));
    this.open(reference, `Note ${mark}`, el("div", words, ...(paragraphs.length ? paragraphs : [missing])), foot);
  }

  /** @param {HTMLElement} reference @param {string} address */
  ask(reference, address) {
    const open = button("Open in a new tab", () => {
      window.open(address, "_blank", "noopener,noreferrer");
      this.close();
    });
    const copy = button("Copy address", (event) => copyText(address, event.currentTarget), { kind: "quiet" });
    const words = el("p", { class: "small dim address" }, address);
    this.open(reference, "This link leaves the book", words, el("div", { class: "erow" }, open, copy));
  }

  /** @param {HTMLElement} reference @param {string} name @param {...Node} content */
  open(reference, name, ...content) {
    this.opening();
    if (!this.node.contains(reference)) this.from = reference;
    const close = button("", () => this.close(), { kind: "quiet icon slim", icon: "close", name: "Close" });
    this.node.setAttribute("aria-label", name);
    this.node.replaceChildren(el("div", { class: "chead" }, el("strong", {}, name), close), ...content);
    this.node.hidden = false;
    this.from?.classList.add("open");
    const boxes = [...(this.from ?? reference).getClientRects()];
    putAt(this.frame, this.state, this.node, boxes, { below: true });
    close.focus({ preventScroll: true });
  }

  /** Jumps to a paragraph, also to one in view, with a way back. @param {number} to */
  follow(to) {
    this.close();
    const node = this.units.nodes[to];
    if (!node) return;
    this.jump({ paragraph: to }, { focus: true, always: true, lookup: true });
    node.classList.add("target");
    setTimeout(() => node.classList.remove("target"), TARGET_MS);
  }

  /** Closes the card; whether it was open. */
  close() {
    if (!this.opened) return false;
    const inside = this.node.contains(this.frame.active);
    this.node.hidden = true;
    this.from?.classList.remove("open");
    if (inside) this.from?.focus({ preventScroll: true });
    this.from = null;
    return true;
  }
}

/** The paragraphs of the note that begins in paragraph `to`: up to where another begins. @param {ReadingState} state @param {number} to */
function noteFrom({ book }, to) {
  const found = [];
  for (let at = to; at < to + MOST_PARAGRAPHS && book.text[at] !== undefined; at++) {
    if (at > to && (!book.notes.has(at) || book.targets.has(at) || book.heads.has(at))) break;
    found.push(at);
  }
  return found;
}
