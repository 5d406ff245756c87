// Turning pages by hand: a click at a side (with a mouse, beside the text), the wheel, a finger that moves across.

/** @import { Frame } from "./frame.js" */

const SIDE = 0.25; // of the width
const WHEEL_MS = 250; // for one turn, however far the wheel goes on
const WHEEL_PX = 20;
const SWIPE_PX = 50;

export class Turning {
  /**
   * `left`: the step that the left side of the screen makes.
   * @param {{frame: Frame, turn: (step: number) => void, left: () => number}} needs
   */
  constructor({ frame, turn, left }) {
    this.frame = frame;
    this.turn = turn;
    this.left = left;
    this.wheelUntil = 0;
    /** @type {[number, number] | null} where a finger touched */
    this.touch = null;
    this.ended = new AbortController();
    const until = { passive: true, signal: this.ended.signal };
    frame.scroller.addEventListener("click", (event) => this.clicked(event), until);
    frame.scroller.addEventListener("wheel", (event) => this.wheeled(event), { ...until, passive: false });
    frame.scroller.addEventListener("touchstart", (event) => this.touched(event), until);
    frame.scroller.addEventListener("touchend", (event) => this.lifted(event), until);
  }

  close() {
    this.ended.abort();
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const target = event.composedPath()[0];
    // a mouse on the text may be about to choose a word by a second click
    const not = event instanceof PointerEvent && event.pointerType === "mouse" ? "p, " : "";
    if ((target instanceof Element && target.closest(`${not}button, a, input, mark, [role=link]`)) || String(this.frame.selection()))
      return;
    const { left, width } = this.frame.scroller.getBoundingClientRect();
    const share = (event.clientX - left) / width;
    if (share < SIDE) this.turn(this.left());
    else if (share > 1 - SIDE) this.turn(-this.left());
  }

  /** @param {WheelEvent} event */
  wheeled(event) {
    event.preventDefault();
    const now = performance.now();
    if (now < this.wheelUntil || Math.abs(event.deltaY) + Math.abs(event.deltaX) < WHEEL_PX) return;
    this.wheelUntil = now + WHEEL_MS;
    this.turn(event.deltaY + event.deltaX > 0 ? 1 : -1);
  }

  /** @param {TouchEvent} event */
  touched({ touches }) {
    this.touch = touches.length === 1 ? [touches[0].clientX, touches[0].clientY] : null;
  }

  /** @param {TouchEvent} event */
  lifted({ changedTouches }) {
    if (!this.touch) return;
    const x = changedTouches[0].clientX - this.touch[0];
    const y = changedTouches[0].clientY - this.touch[1];
    this.touch = null;
    if (Math.abs(x) > SWIPE_PX && Math.abs(x) > 2 * Math.abs(y)) this.turn(x > 0 ? this.left() : -this.left());
  }
}
