// Reading without furniture: nothing but the text and one line below it. 'f', the button, or on a phone a tap in the middle
// begins it; a press in the middle shows the bars for a moment. A low window (as at a zoom of 200 %) begins so.

import { button, el } from "../shared/dom.js";
import { chapterOf, readingTime, sectionAt, shareRead, wordsBetween } from "./text_store.js";

/**
 * @import { Frame } from "./frame.js"
 * @import { ReadingState } from "./state.js"
 */

export const LOW = 520; // px, as in memory_view.css; a lower window has no room for bars
const BARS_MS = 4000;
const EDGE = 28; // px
const THIRD = 1 / 3;

export class Bare {
  /** @param {{state: ReadingState, frame: Frame, keepPlace: (change: () => void) => void}} needs */
  constructor({ state, frame, keepPlace }) {
    this.state = state;
    this.frame = frame;
    this.keepPlace = keepPlace;
    this.on = false;
    this.left = false; // by hand: a low window does not begin it again
    this.where = el("span", { class: "num" });
    this.leave = el("span");
    this.leaving = button(this.leave, () => this.toggle(false), { kind: "quiet slim", icon: "close", title: "Esc" });
    this.line = el("div", { class: "bareline small dim" }, this.where, this.leaving);
    this.button = button("", () => this.toggle(true), { kind: "quiet icon bareb", icon: "grow", name: "Full screen (f)" });
    this.ended = new AbortController();
    const { signal } = this.ended;
    frame.scroller.addEventListener("click", (event) => this.pressed(event), { signal });
    frame.root.addEventListener("pointermove", (event) => this.pointed(event), { signal });
    window.addEventListener("resize", () => this.checkHeight(), { signal });
    document.addEventListener("fullscreenchange", () => !document.fullscreenElement && this.on && this.full && this.toggle(false), {
      signal,
    });
  }

  close() {
    this.ended.abort();
    clearTimeout(this.timer);
    this.set(false);
  }

  checkHeight() {
    const low = window.innerHeight < LOW;
    if (low && !this.on && !this.left) this.set(true);
    else if (!low) {
      if (this.on && !this.full && !this.byHand) this.set(false);
      this.left = false;
    }
  }

  /** @param {boolean} on */
  toggle(on = !this.on) {
    this.byHand = on;
    this.left = !on;
    this.full = on;
    if (on)
      document.documentElement.requestFullscreen?.().catch(() => (this.full = false)); // refused: the bars go all the same
    else if (document.fullscreenElement) void document.exitFullscreen();
    this.set(on);
  }

  /** @param {boolean} on */
  set(on) {
    if (on === this.on) return;
    this.on = on;
    this.keepPlace(() => {
      this.frame.root.classList.toggle("bare", on);
      document.documentElement.toggleAttribute("data-bare", on);
    });
    this.leave.textContent = this.full ? "Leave full screen" : "Show the bars";
    this.leaving.setAttribute("aria-label", this.leave.textContent);
    this.showBars(false);
    this.update();
  }

  /** Ends it; whether it was on. */
  escape() {
    if (!this.on) return false;
    this.toggle(false);
    return true;
  }

  /** @param {MouseEvent} event */
  pressed(event) {
    const target = event.composedPath()[0];
    if (
      !(target instanceof Element) ||
      target.closest("button, a, input, mark, [role=link], .leaf") ||
      String(this.frame.selection() ?? "")
    )
      return;
    const box = this.frame.scroller.getBoundingClientRect();
    const inMiddle = (/** @type {number} */ share) => share > THIRD && share < 1 - THIRD;
    if (!inMiddle((event.clientX - box.left) / box.width) || !inMiddle((event.clientY - box.top) / box.height)) return;
    if (this.on) this.showBars(!this.frame.root.classList.contains("bars"));
    else if (this.frame.isPhone) this.toggle(true);
  }

  /** A mouse at the upper edge looks for the bars. @param {PointerEvent} event */
  pointed({ pointerType, clientY, buttons }) {
    const near = clientY - this.frame.root.getBoundingClientRect().top < EDGE;
    if (this.on && near && pointerType === "mouse" && !buttons && !this.frame.root.classList.contains("bars")) this.showBars(true);
  }

  /** Over the margin, or in a low window over the text; the text does not move. @param {boolean} shown */
  showBars(shown) {
    clearTimeout(this.timer);
    this.frame.root.classList.toggle("bars", shown);
    const hide = () => {
      const busy = this.frame.root.querySelector(".tbar:focus-within, .panel:not([hidden]), .tbar:hover");
      if (busy) this.timer = setTimeout(hide, BARS_MS);
      else this.showBars(false);
    };
    if (shown) this.timer = setTimeout(hide, BARS_MS);
  }

  /** What the line says. */
  update() {
    const { book, here } = this.state;
    if (!this.on || !book.known) return;
    const [, end] = chapterOf(book, here.paragraph);
    const parts = [
      sectionAt(book, here.paragraph),
      `${readingTime(book, wordsBetween(book, here.paragraph, end))} left in chapter`,
      `${Math.round(100 * shareRead(book, here.paragraph))} %`,
    ];
    this.where.textContent = parts.filter(Boolean).join(" · ");
  }
}
