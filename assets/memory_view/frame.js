// The elements that the text is shown in, and what is asked of the window about them.

import { el, focused, treeOf } from "../shared/dom.js";
import { container } from "../shared/streamlit.js";

const NARROW = 860; // px; narrower, a gist comes after its page as a closed line
const PHONE = 560; // px; narrower, menus and panels are sheets

export class Frame {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.column = el("div", { class: "col" });
    this.sheet = el("div", { class: "sheet" }, this.column);
    this.probe = el("div", { class: "probe", "aria-hidden": "true" });
    this.scroller = el("div", { class: "leaves", tabindex: "0", role: "region", "aria-label": "Text" }, this.sheet, this.probe);
    this.room = el("div", { class: "room" }, this.scroller);
    this.byHand = false; // whether the last press was one by hand, not of a key
    this.live = el("p", { class: "sr", "aria-live": "polite" });
  }

  get isShown() {
    return this.root.isConnected;
  }

  get isNarrow() {
    return this.root.clientWidth <= NARROW;
  }

  get isPhone() {
    return this.root.clientWidth <= PHONE;
  }

  /** Where in the window the text's room ends: Ask and the list of hits lie over its right margin. */
  get freeRight() {
    const { left, right } = this.scroller.getBoundingClientRect();
    const over = [document.querySelector(container("ask_panel")), this.room.querySelector(".hitspanel")];
    const edges = over.map((node) => (node?.checkVisibility() ? node.getBoundingClientRect().left : right));
    return Math.min(right, ...edges.filter((edge) => edge > left)); // a sheet begins at the left
  }

  /** The element in the component that has the focus. */
  get active() {
    return focused(this.root);
  }

  /** What is selected; Chromium alone has it in the tree of the component. @returns {Selection | null} */
  selection() {
    return /** @type {Document} */ (treeOf(this.root)).getSelection?.() ?? document.getSelection();
  }

  focusText() {
    this.scroller.focus({ preventScroll: true });
  }

  /** For screen readers. @param {string} text */
  say(text) {
    this.live.textContent = text;
  }
}
