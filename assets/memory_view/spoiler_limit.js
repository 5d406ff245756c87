// The line on Ask's map up to which pages are let in: dragged, or moved with the keys. Below it the map is hatched.

import { button, el, entry, svg } from "../shared/dom.js";
import { columnOf, hatching, patternName } from "./map.js";

/**
 * @import { LimitData } from "../protocol.js"
 * @import { Cell } from "./map.js"
 */

const COMMIT_MS = 900; // after the last key
const EDGE = 14; // pixels: half of the handle, for the place before the first page

/** @param {number} from @param {number} to */
const rangeName = (from, to) => (from === to ? `page ${to}` : `pages ${from} to ${to}`);

/** The last page of which more than half is above height `y`; 0 for none. @param {Cell[]} places @param {number} y */
export const lastPageAbove = (places, y) => places.filter(([top, height]) => y >= top + height / 2).length;

/**
 * The pages that a new limit lets in although they were not read, as [first, last]; null where there are none.
 * @param {number} to the last page to let in
 * @param {LimitData} limit
 * @returns {[number, number] | null}
 */
export function unreadLetIn(to, { page, read }) {
  const from = Math.max(page, read) + 1;
  return to < from ? null : [from, to];
}

export class SpoilerLimit {
  /** `onset`: called with the number of the last page to let in, 0 for none. @param {(page: number) => void} onset */
  constructor(onset) {
    this.onset = onset;
    this.box = el("div"); // the map
    /** @type {Cell[]} */
    this.places = [];
    /** @type {LimitData} */
    this.limit = { page: 0, shown: 0, read: 0, last: 0 };
    /** @type {number | null} where it was moved to, until the server has confirmed it */
    this.draft = null;
    this.held = false; // whether the person moves it now
    this.shown = "";
    this.label = el("span", { class: "limitsaid" });
    this.grip = el(
      "button",
      {
        type: "button",
        class: "limitgrip",
        role: "slider",
        "aria-orientation": "vertical",
        "aria-label": "Spoiler limit",
        "aria-valuemin": "0",
      },
      el("span", { class: "grip", "aria-hidden": "true" }),
      this.label,
    );
    this.question = el("div", { class: "limitask", role: "alertdialog", "aria-label": "Let in more pages", hidden: true });
    this.node = el("div", { class: "limitline", hidden: true }, this.grip, this.question);
    this.grip.addEventListener("pointerdown", (e) => this.grab(e));
    this.grip.addEventListener("keydown", (e) => this.key(e));
    this.grip.addEventListener("blur", () => this.settle());
  }

  close() {
    clearTimeout(this.timer);
  }

  /**
   * @param {HTMLElement} box the map, drawn already
   * @param {Cell[]} places
   * @param {LimitData | null} limit
   */
  draw(box, places, limit) {
    const key = JSON.stringify(limit);
    if (key !== this.shown && !this.held) this.draft = null; // the server has confirmed it, or changed it
    this.shown = key;
    this.node.hidden = !limit || !places.length;
    if (!limit || !places.length) return;
    Object.assign(this, { box, places, limit });
    this.place();
  }

  get page() {
    return this.draft ?? this.limit.page;
  }

  // Puts the line after the last page let in, and hatches the cells below it.
  place() {
    const { box, places, limit, page } = this;
    const [top, height] = page ? places[page - 1] : [places[0][0], 0];
    const y = top + height + (page ? 1 : -1);
    this.node.style.top = `${box.offsetTop + Math.max(y, EDGE)}px`;
    this.label.textContent = page ? `I have read up to page ${page}` : "I have read no page yet";
    this.grip.setAttribute("aria-valuemax", String(limit.last));
    this.grip.setAttribute("aria-valuenow", String(page));
    this.grip.setAttribute("aria-valuetext", this.label.textContent);
    const map = box.querySelector("svg");
    map?.querySelector(".keptout")?.remove();
    const open = this.draft ?? limit.shown;
    if (open >= places.length) return;
    const { x, wide } = columnOf(Number(map?.getAttribute("width")));
    const from = places[open][0];
    const [lastTop, lastHeight] = places[places.length - 1];
    const tall = lastTop + lastHeight - from;
    const id = patternName();
    const title = svg("title", {}, `${rangeName(open + 1, places.length)}, kept out`);
    const cells = svg("rect", { x, y: from, width: wide, height: tall, fill: `url(#${id})` }, title);
    map?.append(svg("g", { class: "keptout" }, hatching(id), cells));
  }

  /** @param {number} clientY */
  pageAt(clientY) {
    const top = this.box.querySelector("svg")?.getBoundingClientRect().top ?? 0;
    return lastPageAbove(this.places, clientY - top);
  }

  /** @param {PointerEvent} event */
  grab(event) {
    if (event.button) return;
    event.preventDefault();
    this.grip.focus({ preventScroll: true });
    this.grip.setPointerCapture(event.pointerId);
    this.held = true;
    /** @param {PointerEvent} e */
    const move = (e) => this.move(this.pageAt(e.clientY));
    /** @param {PointerEvent} e */
    const drop = (e) => {
      this.grip.removeEventListener("pointermove", move);
      this.held = false;
      if (e.type === "pointerup") this.settle();
      else this.cancel();
    };
    this.grip.addEventListener("pointermove", move);
    this.grip.addEventListener("pointerup", drop, { once: true });
    this.grip.addEventListener("pointercancel", drop, { once: true });
  }

  /** @param {number} page */
  move(page) {
    this.question.hidden = true;
    this.draft = Math.min(Math.max(0, page), this.limit.last);
    this.place();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const to = entry(
      {
        ArrowUp: this.page - 1,
        ArrowLeft: this.page - 1,
        ArrowDown: this.page + 1,
        ArrowRight: this.page + 1,
        PageUp: this.page - 10,
        PageDown: this.page + 10,
        Home: 0,
        End: this.limit.last,
      },
      event.key,
    );
    if (event.key === "Escape") this.cancel();
    if (event.key === "Enter") this.settle();
    if (to === undefined && event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    clearTimeout(this.timer);
    if (to === undefined) return;
    this.held = true;
    this.move(to);
    this.timer = setTimeout(() => this.settle(), COMMIT_MS);
  }

  // Sends the new place; one that lets in pages which were not read is asked about first.
  settle() {
    clearTimeout(this.timer);
    this.held = false;
    const { draft, limit } = this;
    if (draft === null || !this.question.hidden) return;
    if (draft === limit.page) return this.cancel();
    const unread = unreadLetIn(draft, limit);
    if (!unread) return this.onset(draft);
    const [from] = unread;
    const letIn = () => {
      this.hide();
      this.onset(draft);
    };
    const yes = button("Let in", letIn, { kind: "slim" });
    this.question.replaceChildren(
      el("p", {}, `Let in ${rangeName(from, draft)}? You have not read ${from === draft ? "it" : "them"} yet.`),
      el(
        "div",
        { class: "erow" },
        yes,
        button("Cancel", () => this.cancel(), { kind: "quiet slim" }),
      ),
    );
    this.question.onkeydown = (e) => {
      if (e.key === "Escape") this.cancel();
    };
    this.question.hidden = false;
    this.question.classList.toggle("above", this.node.offsetTop > this.box.offsetHeight - 140);
    yes.focus({ preventScroll: true });
  }

  hide() {
    this.question.hidden = true;
    this.grip.focus({ preventScroll: true });
  }

  cancel() {
    const asked = !this.question.hidden;
    this.held = false;
    this.draft = null;
    this.question.hidden = true;
    this.place();
    if (asked) this.grip.focus({ preventScroll: true });
  }
}
