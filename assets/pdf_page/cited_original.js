// The PDF's own page over the memory of Ask: while it is open, every citation that is clicked is shown on it.
// A citation opens it too, and the focus returns there when it is closed.

import { showConversation } from "../answer_view/sides.js";
import { button } from "../shared/dom.js";
import { tabState } from "../shared/tab_state.js";
import { PdfPanel } from "./panel.js";

const shown = tabState("cited originals shown", () => new Set()); // books whose PDF is open in this tab

export class CitedOriginal {
  constructor(memory) {
    this.memory = memory;
    this.panel = new PdfPanel({ onClose: () => this.toggle() });
    this.button = button("PDF", () => this.toggle(), { kind: "quiet slim originalb", "aria-pressed": "false", hidden: true,
      title: "Show citations on the PDF's own page" });
  }

  close() {
    this.panel.close();
  }

  /** @param {string | null} book the id under which the server has the PDF */
  update(book) {
    if (book === this.book) return;
    this.book = book ?? null;
    this.button.hidden = !this.book;
    this.draw();
  }

  toggle() {
    if (!shown.delete(this.book)) shown.add(this.book);
    this.draw();
    if (this.panel.open) this.panel.view.focus();
    else this.leave();
  }

  // The focus goes back to where the page was opened.
  leave() {
    const { back } = this;
    this.back = null;
    if (back?.isConnected && !back.checkVisibility()) showConversation();
    requestAnimationFrame(() => (back?.isConnected ? back : this.button).focus());
  }

  draw() {
    const open = Boolean(this.book) && shown.has(this.book);
    this.button.setAttribute("aria-pressed", String(open));
    this.panel.show(open ? this.book : null);
    if (open) this.cite(...(this.cited ?? []));
  }

  /**
   * Opens the PDF at a page of the memory.
   * @param {number} page
   * @param {HTMLElement} back gets the focus when the PDF is closed
   */
  open(page, back) {
    shown.add(this.book);
    this.back = back;
    this.cited = [page, null];
    this.draw();
    requestAnimationFrame(() => this.panel.view.focus()); // a phone shows the memory only then
  }

  /** Marks a passage of `page`, the pieces of its citation, or all that is quoted of it. */
  cite(page, passage = null) {
    this.cited = [page, passage];
    const { book, data } = this.memory;
    const record = book?.pages[page - 1];
    if (!record || !this.panel.open) return;
    const passages = [...(data.passages?.[page] ?? [])].sort(([a], [b]) => a[0] - b[0] || a[1] - b[1]);
    const pieces = passages[passage] ?? passages.flat();
    const whole = record.t.length ? [[0, 0, record.t[0].length]] : [];
    this.panel.point((pieces.length ? pieces : whole).map(([index, start, end]) => ({ text: record.t[index], start, end, place: placeIn(record, index) })));
  }
}

const placeIn = (page, index) => page.p?.findLast(([start]) => start <= index)?.[1] ?? "";
