// Reading without furniture: nothing but the text and one line below it. 'f' or the button begins it; a press in the middle
// shows the bars for a moment. A low window (as at a zoom of 200 %) begins so. On a phone the bars go while one scrolls
// onwards, and come back by a tap in the middle or by scrolling back. Pages have the whole screen of a phone: the bars lie
// over them when they are called, and go with a turn. No line of the text moves.

import { button, el, icon } from "../shared/dom.js";
import { container } from "../shared/streamlit.js";
import { endSaid } from "./foot.js";
import { chapterOf, readingTime, sectionAt, shareRead, wordsBetween } from "./text_store.js";

/**
 * @import { Frame } from "./frame.js"
 * @import { ReadingState } from "./state.js"
 */

export const LOW = 520; // px, as in memory_view.css; a lower window has no room for bars
const BARS_MS = 4000;
const EDGE = 28; // px
const THIRD = 1 / 3;
const SMALL = matchMedia("(max-width: 760px)"); // as in tokens.css
const MOVED = 12; // px of a finger or the wheel, before the bars go or come back
const STAY = ".panel:not([hidden]), .popup:not([hidden])"; // the bars, while one is open

export class Bare {
  /** @param {{state: ReadingState, frame: Frame, keepPlace: (change: () => void) => void}} needs */
  constructor({ state, frame, keepPlace }) {
    this.state = state;
    this.frame = frame;
    this.keepPlace = keepPlace;
    this.on = false;
    this.gone = false; // the bars, on a phone
    this.closes = false; // the press closes what is open
    this.left = false; // by hand: a low window does not begin it again
    this.where = el("span", { class: "num" });
    this.leave = el("span");
    this.leaving = button(this.leave, () => (this.on ? this.toggle(false) : this.setGone(false)), { kind: "quiet slim", title: "Esc" });
    this.line = el("div", { class: "bareline small dim" }, this.where, this.leaving);
    this.button = button("", () => this.toggle(true), { kind: "quiet icon bareb", icon: "grow", name: "Full screen (f)" });
    this.ended = new AbortController();
    const { signal } = this.ended;
    frame.scroller.addEventListener("click", (event) => this.pressed(event), { signal });
    // a press that closes a panel does nothing else
    const before = () => (this.closes = frame.root.querySelector(STAY) !== null);
    frame.root.addEventListener("pointerdown", before, { capture: true, signal });
    this.followFinger(signal);
    frame.root.addEventListener("pointermove", (event) => this.pointed(event), { signal });
    window.addEventListener("resize", () => this.checkHeight(), { signal });
    const other = () => {
      this.setGone(false);
      this.draw();
    };
    SMALL.addEventListener("change", other, { signal });
    document.addEventListener("fullscreenchange", () => !document.fullscreenElement && this.on && this.full && this.toggle(false), {
      signal,
    });
  }

  close() {
    this.ended.abort();
    clearTimeout(this.timer);
    this.set(false);
    this.setGone(false);
  }

  /** @param {AbortSignal} signal */
  followFinger(signal) {
    const { scroller } = this.frame;
    let [x, y] = [0, 0];
    const options = { passive: true, signal };
    /** @param {number} up */
    const moved = (up) => {
      if (!this.state.paged && Math.abs(up) >= MOVED) this.setGone(up > 0);
    };
    scroller.addEventListener("wheel", ({ deltaY }) => moved(deltaY), options);
    scroller.addEventListener("touchstart", ({ touches }) => ([x, y] = [touches[0].clientX, touches[0].clientY]), options);
    const finger = (/** @type {TouchEvent} */ { touches: [{ clientX, clientY }, second] }) => {
      if (!second && Math.abs(clientY - y) > Math.abs(clientX - x)) moved(y - clientY);
    };
    scroller.addEventListener("touchmove", finger, options);
    // what has the focus is seen, and whoever walks by Tab finds the bars
    document.addEventListener("keydown", ({ key }) => key === "Tab" && this.setGone(false), { signal });
  }

  /** Whether the bars lie over the text where they are shown. */
  get over() {
    const alone = !this.frame.root.classList.contains("with-original");
    return SMALL.matches && window.innerHeight >= LOW && this.state.paged && alone && !this.on;
  }

  /** The bars go where they lie over the text, but not while something is typed in one. */
  readOn() {
    if (this.over && !this.frame.active?.matches("input")) this.setGone(true);
  }

  /** Whether the bars are gone on a phone; what is scrolled takes their room. @param {boolean} gone */
  setGone(gone) {
    const { root, scroller } = this.frame;
    const grows = !this.state.paged && !document.querySelector(container("ask_panel"));
    gone &&= SMALL.matches && !this.on && !root.querySelector(STAY) && (this.over || grows);
    if (gone === this.gone) return;
    this.gone = gone;
    const { top } = scroller.getBoundingClientRect();
    this.draw();
    scroller.style.paddingTop = gone && !this.over ? `${top - scroller.getBoundingClientRect().top}px` : "";
    this.nameLine();
  }

  /** As the text is shown now: scrolled, or in pages. */
  draw() {
    const { on, over, gone } = this;
    this.frame.root.classList.toggle("over", over);
    this.frame.root.classList.toggle("gone", gone);
    const small = SMALL.matches || this.frame.isPhone;
    this.frame.root.classList.toggle("tight", !on && !gone && (window.innerHeight < LOW || (small && this.state.paged)));
    document.documentElement.toggleAttribute("data-bars-gone", gone);
    this.nameLine();
  }

  nameLine() {
    this.leave.textContent = this.full ? "Leave full screen" : "Show the bars";
    this.leaving.replaceChildren(icon(this.gone ? "dots" : "close"), this.leave);
    this.leaving.setAttribute("aria-label", this.leave.textContent);
    this.update();
  }

  checkHeight() {
    const low = window.innerHeight < LOW;
    this.draw();
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
    this.setGone(false);
    this.on = on;
    this.keepPlace(() => {
      this.draw();
      this.frame.root.classList.toggle("bare", on);
      document.documentElement.toggleAttribute("data-bare", on);
    });
    this.nameLine();
    this.showBars(false);
  }

  /** Ends it; whether it was on. */
  escape() {
    const { on, gone } = this;
    if (on) this.toggle(false);
    this.setGone(false);
    return on || gone;
  }

  /** @param {MouseEvent} event */
  pressed(event) {
    const target = event.composedPath()[0];
    if (
      this.closes ||
      !(target instanceof Element) ||
      target.closest("button, a, input, mark, [role=link], .leaf") ||
      String(this.frame.selection() ?? "")
    )
      return;
    const box = this.frame.scroller.getBoundingClientRect();
    const inMiddle = (/** @type {number} */ share) => share > THIRD && share < 1 - THIRD;
    const across = inMiddle((event.clientX - box.left) / box.width);
    if (this.on) {
      if (across && inMiddle((event.clientY - box.top) / box.height)) this.showBars(!this.frame.root.classList.contains("bars"));
    } else if (across || !this.state.paged) this.setGone(!this.gone);
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
      const busy = this.frame.root.querySelector(":is(.tbar, .listen):is(:focus-within, :hover), .panel:not([hidden])");
      if (busy) this.timer = setTimeout(hide, BARS_MS);
      else this.showBars(false);
    };
    if (shown) this.timer = setTimeout(hide, BARS_MS);
  }

  /** What the line says. */
  update() {
    const { book, here, atEnd, isRead } = this.state;
    if (!(this.on || this.gone || this.over) || !book.known) return;
    const [, end] = chapterOf(book, here.paragraph);
    const parts = [
      sectionAt(book, here.paragraph),
      atEnd || (isRead && end === book.outline.paragraphs)
        ? endSaid(this.state)
        : `${readingTime(book, wordsBetween(book, here.paragraph, end))} left in chapter`,
      `${atEnd ? 100 : Math.round(100 * shareRead(book, here.paragraph))} %`,
    ];
    const said = parts.filter(Boolean);
    const percentage = el("span", {}, el("span", { class: "rest" }, " · "), said.pop());
    this.where.replaceChildren(...said.map((part, i) => el("span", { class: "rest" }, i ? " · " : "", part)), percentage);
  }
}
