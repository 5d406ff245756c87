// The scroll position of the conversation's column: at the exchange that the memory shows, with its question at the top
// while the answer grows below it (or as near to the top as there is text to fill the column), until the person scrolls
// to another place. At the end, it follows the end as the text grows.

import { first } from "../shared/dom.js";
import { container, MAIN } from "../shared/streamlit.js";

const CUT = 80; // px
const END = /** @type {const} */ ("end");
/** @type {WeakMap<Element, ColumnScroll>} the column's element -> its ColumnScroll */
const columns = new WeakMap();

export class ColumnScroll {
  /** The scroll position of the column that holds a component's root; null outside Ask's column. @param {HTMLElement} root */
  static of(root) {
    const box = /** @type {ShadowRoot} */ (root.getRootNode()).host?.closest(container("ask_thread"));
    if (!box) return null;
    const known = columns.get(box) ?? new ColumnScroll(box);
    columns.set(box, known);
    return known;
  }

  /** @param {Element} column */
  constructor(column) {
    this.column = column;
    /** @type {Element | typeof END | null} an exchange, the end, or where the person scrolled to */
    this.target = END;
    this.top = this.box.scrollTop;
    this.resize = new ResizeObserver(() => this.settle());
    this.resize.observe(column);
    (this.panel ?? column).addEventListener(
      "scroll",
      ({ target }) => {
        const { box } = this;
        if (target !== box) return;
        const by = box.scrollTop - this.top;
        if (Math.abs(by) <= 2) return;
        this.top = box.scrollTop;
        if (!this.nearEnd()) this.target = null;
        else if (by > 0) this.target = END; // a position above the last one was not scrolled to: the text above it shrank
      },
      { passive: true, capture: true },
    );
  }

  /** The panel of Ask in Read, which scrolls in a low window in place of the column in it; null on the screen Ask. */
  get panel() {
    return this.column.closest(container("ask_panel"));
  }

  /** What scrolls. */
  get box() {
    const { column, panel } = this;
    return panel && getComputedStyle(column).overflowY === "visible" ? panel : column;
  }

  nearEnd() {
    return this.box.scrollHeight - this.box.clientHeight - this.box.scrollTop < 40;
  }

  /**
   * An exchange that was drawn for the first time; the current one becomes the target.
   * @param {HTMLElement} root
   * @param {{current?: boolean}} record
   */
  add(root, { current }) {
    this.resize.observe(root);
    if (current) this.bring(root);
    else this.settle();
  }

  /** Shows an exchange from now on; in a low window the screen scrolls and not the column. @param {HTMLElement} root */
  bring(root) {
    this.show(root);
    if (this.panel || getComputedStyle(this.column).overflowY !== "visible") return;
    root.scrollIntoView();
    const [screen, bar] = [first(document, MAIN), first(document, container("ask_bar"))];
    if (screen && bar && screen.scrollTop < bar.offsetHeight - 8) screen.scrollTop = 0; // the replay is not cut in two
  }

  /** Keeps an exchange in view from now on. @param {HTMLElement} root */
  show(root) {
    this.target = root;
    this.settle();
  }

  // An exchange shown alone, below the list that it was chosen from.
  toTop() {
    this.target = null;
    this.box.scrollTop = this.top = 0;
  }

  /** @param {HTMLElement} root */
  remove(root) {
    this.resize.unobserve(root);
    if (this.target === root) this.target = null;
  }

  settle() {
    const { box, target } = this;
    if (target === END) box.scrollTop = box.scrollHeight;
    else if (target?.isConnected) {
      const over = box === this.column ? 0 : (box.querySelector(container("ask_head"))?.clientHeight ?? 0); // which stays
      const top = box.scrollTop + target.getBoundingClientRect().top - box.getBoundingClientRect().top - over - 16;
      box.scrollTop = top < CUT ? 0 : top; // a short line above it is not cut in two
    }
    this.top = box.scrollTop;
  }
}
