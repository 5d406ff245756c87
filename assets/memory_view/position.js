// Where the person is: reported to the server, jumped from and gone back to. How the text is moved on the screen is the
// business of the flow (scrolled.js, paged.js).

import { button, el } from "../shared/dom.js";
import { isLoaded, shareRead } from "./text_store.js";

/**
 * @import { At, Goto } from "../protocol.js"
 * @import { Paged } from "./paged.js"
 * @import { Scrolled } from "./scrolled.js"
 * @import { Place, ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {Scrolled | Paged} Flow
 * @typedef {{paragraph: number, id: string | null, before?: number | null, lost?: boolean}} Wanted `lost`: the server does not know it
 *
 * @typedef {object} PositionEvents
 * @property {() => void} jumped
 * @property {() => void} opened the book is at its place for the first time
 * @property {(page: number | null, before: number | null) => void} page another page is read
 * @property {(first: number, last: number, moved: boolean) => void} seen these paragraphs are in view; whether another is read
 * @property {() => void} moved
 * @property {(text: string) => void} said
 * @property {(at: At) => void} report
 */

const MOST_BACK = 20; // places to go back to
const MOST_REPORTED = 20; // places sent to or by the server that are remembered

export class Position {
  /**
   * @param {{state: ReadingState, units: Units, flow: () => Flow, on: PositionEvents}} needs
   */
  constructor({ state, units, flow, on }) {
    this.state = state;
    this.units = units;
    this.flow = flow;
    this.on = on;
    this.restored = false; // whether the person is where they were
    /** @type {Wanted | null} the request of the server that waits for its paragraph */
    this.wanted = null;
    /** @type {string | null} what was sent last */
    this.sent = null;
    /** @type {At | null} */
    this.unsent = null;
    this.ended = new AbortController();
    document.addEventListener("readagent-leave", () => this.flush(), { signal: this.ended.signal });
    this.label = el("span", {}, "Back");
    this.chip = el(
      "div",
      { class: "backchip", hidden: true },
      button(this.label, () => this.back(), { icon: "left", title: "Back to where I was (Backspace)" }),
      button("", () => this.forgetBack(), { kind: "quiet icon slim", icon: "close", name: "Stay here" }),
    );
    this.showBack();
  }

  close() {
    clearTimeout(this.timer);
    this.ended.abort();
  }

  // Another text: forgets the position in the one before.
  begin() {
    this.sent = this.unsent = null;
    this.restored = false;
    this.showBack();
  }

  /**
   * Goes where the server asks, once for every `id`. Where it names an older place than the last one that was sent,
   * that message was lost (a click just after it replaces it): then the person stays, and the place is sent again.
   * @param {Goto} goto
   */
  request(goto) {
    const { book } = this.state;
    if (goto && goto.id !== book.visited && goto.id !== this.wanted?.id) {
      const lost = goto.before === null && goto.paragraph !== book.at?.paragraph && book.reported.slice(0, -1).includes(goto.paragraph);
      if (!lost) this.report(...(goto.before === null ? [] : [goto.before]), goto.paragraph);
      const paragraph = lost && book.at ? book.at.paragraph : goto.paragraph;
      if (!this.restored || paragraph !== this.state.here.paragraph) this.wanted = { ...goto, paragraph, lost };
      else book.visited = goto.id; // the person is there already
    } else if (!this.restored && !this.wanted) this.wanted = { paragraph: book.at?.paragraph ?? goto?.paragraph ?? 0, id: book.visited };
    this.tryWanted();
  }

  tryWanted() {
    const { book } = this.state;
    const { units } = this;
    if (!this.wanted || !units.nodes[this.wanted.paragraph]) return;
    const { paragraph, before, id, lost } = this.wanted;
    this.wanted = null;
    book.visited = id;
    if (before !== null && before !== undefined) this.remember(before);
    this.on.jumped();
    this.flow().show({ paragraph });
    this.sent = lost ? null : JSON.stringify(this.value());
    this.restored = true;
    if (lost) this.save();
    this.on.opened();
  }

  /**
   * Reported by the flow: the paragraph that is read now, and the first and last ones in view.
   * @param {number} paragraph
   * @param {number} at
   * @param {number} first
   * @param {number} last
   */
  arrived(paragraph, at, first, last) {
    const { book } = this.state;
    const before = this.state.here;
    const page = this.state.pageAt(paragraph, at);
    this.state.here = { paragraph, at, page };
    if (page !== before.page) this.on.page(page, before.page);
    if (!this.restored) return;
    this.on.seen(first, last, paragraph !== before.paragraph);
    if (paragraph === before.paragraph && page === before.page && book.at) return;
    book.at = { paragraph, page };
    book.dispatchEvent(new CustomEvent("at", { detail: book.at }));
    this.on.moved();
    this.save();
  }

  value(byHand = false) {
    const { paragraph, page } = this.state.here;
    const { book } = this.state;
    const whole = book.outline.units.every((_, unit) => isLoaded(book, unit));
    return { paragraph, page, furthest: this.state.furthest, whole, ...(byHand ? { by_hand: Date.now() } : {}) };
  }

  // Sends the position a moment after the person stopped moving, or before anything else is sent.
  save(byHand = false) {
    const value = this.value(byHand);
    clearTimeout(this.timer);
    this.unsent = null;
    if (!this.restored || (!byHand && JSON.stringify(value) === this.sent)) return;
    this.unsent = value;
    if (byHand) this.flush();
    else this.timer = setTimeout(() => this.flush(), 700);
  }

  /** Remembers places that were sent to the server or came from it. @param {...number} paragraphs */
  report(...paragraphs) {
    const { reported } = this.state.book;
    reported.push(...paragraphs);
    reported.splice(0, reported.length - MOST_REPORTED);
  }

  flush() {
    clearTimeout(this.timer);
    if (this.unsent) {
      this.report(this.unsent.paragraph);
      this.sent = JSON.stringify({ ...this.unsent, by_hand: undefined });
      this.on.report(this.unsent);
    }
    this.unsent = null;
  }

  /**
   * Goes to a place by a jump: nothing it passes counts as read, and with `back` it can be gone back from. Returns
   * whether the place before was remembered.
   * @param {Place} target
   */
  jump(target, { focus = false, back = true } = {}) {
    const { book } = this.state;
    const { units } = this;
    if (!units.nodes[target.paragraph]) return false;
    const leaves = back && !this.flow().isShown(target.paragraph);
    if (leaves) this.remember(this.state.here.paragraph);
    this.on.jumped();
    this.flow().show(target, { focus });
    this.on.said(`${Math.round(100 * shareRead(book, target.paragraph))} % of the book`);
    return leaves;
  }

  /** @param {number} paragraph */
  remember(paragraph) {
    const { back } = this.state.book;
    if (back.at(-1) !== paragraph) back.push(paragraph);
    back.splice(0, back.length - MOST_BACK);
    this.showBack();
  }

  back() {
    const { book } = this.state;
    const paragraph = book.back.pop();
    if (paragraph === undefined) return;
    this.on.jumped();
    this.flow().show({ paragraph });
    this.showBack();
  }

  forgetBack() {
    this.state.book.back.length = 0;
    this.showBack();
  }

  showBack() {
    const { book } = this.state;
    const to = book.known ? book.back.at(-1) : undefined;
    this.chip.hidden = to === undefined;
    if (to !== undefined) this.label.textContent = `Back to ${Math.round(100 * shareRead(book, to))} %`;
  }
}
