// On a phone the panel of Ask in Read is a sheet. It grows when a question is asked, so that the answer has the screen, and
// goes down to half of it when a claim is followed, so that the marked words are seen above; where it lies over them all
// the same, to its head alone. Its head can be dragged: up for all of the screen, down for half, down again to close.

import { treeOf } from "../shared/dom.js";
import { container } from "../shared/streamlit.js";

const DRAGGED = 24; // px

export class Sheet {
  /** The sheet that a component's root is in; null outside of it. @param {HTMLElement} root */
  static of(root) {
    const panel = /** @type {ShadowRoot} */ (root.getRootNode()).host?.closest(container("ask_panel"));
    return panel ? new Sheet(panel, root) : null;
  }

  /** @param {Element} panel @param {HTMLElement} root */
  constructor(panel, root) {
    this.panel = panel;
    this.root = root;
    this.ended = new AbortController();
    const { signal } = this.ended;
    const head = panel.querySelector(container("ask_head"));
    let from = 0;
    head?.addEventListener("pointerdown", (event) => (from = /** @type {PointerEvent} */ (event).clientY), { signal });
    document.addEventListener("pointerup", (event) => this.dragged(head, event, from), { signal });
    panel.addEventListener("keydown", (event) => this.key(/** @type {KeyboardEvent} */ (event)), { signal });
    panel.addEventListener("readagent-cite", () => this.grow(false), { signal });
    panel.querySelector(container("ask_up"))?.addEventListener("click", () => this.grow(false), { signal });
    /** @param {Event} event */
    const shown = (event) => {
      const { detail } = /** @type {CustomEvent<Range[]>} */ (event);
      requestAnimationFrame(() => this.isOver(detail) && this.set("low")); // once the text has moved
    };
    document.addEventListener("readagent-cited", shown, { signal });
  }

  /** Whether the panel, or the way back that stands over it, lies over a part of what is marked. @param {Range[]} marked */
  isOver(marked) {
    const panel = this.panel.getBoundingClientRect();
    const back = treeOf(marked[0].startContainer).querySelector(".backchip");
    const end = Math.min(panel.top, back?.checkVisibility() ? back.getBoundingClientRect().top : panel.top);
    return marked.some((range) => {
      const { right, bottom } = range.getBoundingClientRect();
      return right > panel.left && bottom > end;
    });
  }

  /** @param {Element | null} head @param {PointerEvent} event @param {number} from */
  dragged(head, event, from) {
    const by = event.clientY - from;
    const on = event.target;
    if (!head || !(on instanceof Element) || !head.contains(on) || (Math.abs(by) < DRAGGED && on.closest("button, label"))) return;
    if (this.at === "low" && by < DRAGGED) this.grow(false);
    else if (Math.abs(by) < DRAGGED) this.grow(this.at !== "tall");
    else if (by < 0 || this.at === "tall") this.grow(by < 0);
    else this.leave();
  }

  /** Escape in the empty line closes the panel, where no answer is under way. @param {KeyboardEvent} event */
  key(event) {
    const { key, target } = event;
    if (key !== "Escape" || event.isComposing || !(target instanceof HTMLTextAreaElement) || target.value) return;
    if (this.root.querySelector("[aria-busy=true]")) return;
    event.stopPropagation(); // what else is open stays
    this.leave();
    document.dispatchEvent(new Event("readagent-ask-left"));
  }

  leave() {
    const close = document.querySelector(`${container("ask_close")} button`);
    if (close instanceof HTMLElement) close.click();
  }

  get at() {
    return document.documentElement.dataset.sheet;
  }

  /** @param {"tall" | "low" | undefined} height */
  set(height) {
    if (height) document.documentElement.dataset.sheet = height;
    else delete document.documentElement.dataset.sheet;
  }

  /** @param {boolean} tall */
  grow(tall) {
    this.set(tall ? "tall" : undefined);
  }

  close() {
    this.ended.abort();
    this.grow(false);
  }
}
