// The line over the strips at which the book's world is shown: dragged, or moved with the keys, over the pages that were let
// in. What comes after is hatched.

import { el, entry, icon } from "../shared/dom.js";
import { edgeOf, pageBefore } from "./presence_strip.js";

/** @import { Cell } from "./presence_strip.js" */

export class WorldHandle {
  /** `moved`: called with the page it was moved to. @param {(page: number) => void} moved */
  constructor(moved) {
    this.moved = moved;
    /** @type {Cell[]} */
    this.cells = [];
    this.pages = 0;
    this.page = 0; // where it stands
    this.last = 0; // the last page it may stand at
    this.left = 0; // px before the strips
    this.width = 1;
    this.label = el("span", {});
    this.grip = el(
      "button",
      {
        type: "button",
        class: "asofgrip",
        role: "slider",
        "aria-label": "As of page",
        "aria-valuemin": "1",
        onkeydown: (event) => this.key(event),
      },
      icon("grip"),
      this.label,
    );
    this.node = el("div", { class: "asofline" }, this.grip);
    this.read = el("div", { class: "readline", hidden: true, title: "Read to here" });
    this.later = el("div", { class: "laterpart" }, el("p", { class: "small dimmer" }));
    this.grip.addEventListener("pointerdown", (event) => this.grab(event));
  }

  /** @param {{cells: Cell[], pages: number, page: number, inPart: boolean, last: number, left: number, width: number, unit: string}} now */
  draw({ cells, pages, page, inPart, last, left, width, unit }) {
    Object.assign(this, { cells, pages, page, last, left, width });
    const x = left + edgeOf(cells, page);
    const end = left + edgeOf(cells, last);
    this.node.style.left = `${x}px`;
    this.node.classList.toggle("atstart", x < 130);
    this.node.classList.toggle("atend", x > left + width - 60);
    this.label.textContent = `As of ${unit} ${page}${inPart ? ", so far" : ""}`;
    this.read.hidden = page >= last;
    this.read.style.left = `${end}px`;
    this.later.hidden = last >= pages;
    this.later.style.left = `${end}px`;
    const text = this.later.firstElementChild;
    const named = `${unit[0].toUpperCase()}${unit.slice(1)}`;
    const later = last + 1 < pages ? `${named}s ${last + 1} to ${pages}` : `${named} ${pages}`;
    if (text) text.textContent = `${later}: still to read`;
    for (const [name, value] of Object.entries({ valuemax: last, valuenow: page, valuetext: this.label.textContent }))
      this.grip.setAttribute(`aria-${name}`, String(value));
  }

  /** @param {number} page */
  to(page) {
    const next = Math.min(Math.max(1, page), this.last);
    if (next !== this.page) this.moved(next);
  }

  /** @param {PointerEvent} event */
  grab(event) {
    if (event.button) return;
    event.preventDefault();
    this.grip.focus({ preventScroll: true });
    this.grip.setPointerCapture(event.pointerId);
    const from = this.node.parentElement?.getBoundingClientRect().left ?? 0;
    /** @param {PointerEvent} e */
    const move = (e) => this.to(pageBefore(this.cells, e.clientX - from - this.left, this.pages));
    const drop = () => {
      this.grip.removeEventListener("pointermove", move);
      this.grip.removeEventListener("pointerup", drop);
      this.grip.removeEventListener("pointercancel", drop);
    };
    this.grip.addEventListener("pointermove", move);
    this.grip.addEventListener("pointerup", drop);
    this.grip.addEventListener("pointercancel", drop);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const to = entry(
      { ArrowLeft: this.page - 1, ArrowRight: this.page + 1, PageUp: this.page - 10, PageDown: this.page + 10, Home: 1, End: this.last },
      event.key,
    );
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.to(to);
  }
}
