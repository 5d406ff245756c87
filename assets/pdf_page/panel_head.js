// The line above a page of a PDF: which page it is, and the buttons that turn, zoom and close.

import { button, el, entry, number } from "../shared/dom.js";

/**
 * @import { IconName } from "../shared/dom.js"
 *
 * @typedef {{turn: (step: number) => void, zoom: (step: number) => void, fit: () => void, close: () => void, toText?: () => void}} PanelActs
 */

export const ZOOMS = [50, 75, 100, 125, 150, 200, 300]; // per cent of the panel's width

export class PanelHead {
  /** @param {PanelActs} on */
  constructor(on) {
    /** @param {string} name @param {IconName} shape @param {() => void} act */
    const tool = (name, shape, act) => button("", act, { kind: "quiet icon slim", icon: shape, name });
    this.where = el("span", { class: "num", role: "status" });
    this.before = tool("Previous PDF page (←)", "left", () => on.turn(-1));
    this.after = tool("Next PDF page (→)", "right", () => on.turn(1));
    this.smaller = button("−", () => on.zoom(-1), { kind: "quiet icon slim", name: "Smaller (−)" });
    this.percent = button("", on.fit, { kind: "quiet slim num", title: "Fit the width (0)" });
    this.larger = tool("Larger (+)", "plus", () => on.zoom(1));
    const text = { kind: "quiet slim", title: "Go to the text of this page" };
    this.node = el(
      "div",
      { class: "phead small" },
      this.where,
      this.before,
      this.after,
      this.smaller,
      this.percent,
      this.larger,
      on.toText ? button("Go to text", on.toText, text) : null,
      tool("Close the PDF page (Esc)", "close", on.close),
    );
  }

  empty() {
    this.where.textContent = "The original PDF";
  }

  /**
   * `text`: 'Page 6 of 9' of the reading; `label`: the printed number.
   * @param {{text: string, page: number, pages: number, label: string, zoom: number}} now
   */
  draw({ text, page, pages, label, zoom }) {
    const printed = label === String(page) ? "" : ` (printed ${label})`;
    this.where.textContent = `${text ? `${text} · ` : ""}PDF page ${number(page)} of ${number(pages)}${printed}`;
    this.before.disabled = page <= 1;
    this.after.disabled = page >= pages;
    this.percent.textContent = `${zoom} %`;
    this.smaller.disabled = zoom === ZOOMS[0];
    this.larger.disabled = zoom === ZOOMS.at(-1);
  }
}

const READING = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "]; // the view scrolls by itself with these

/** A key that is pressed on the panel; none of them moves the text beside it. @param {KeyboardEvent} event @param {PanelActs} on */
export function panelKey(event, on) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) {
    if (event.key !== "Escape") return event.stopPropagation();
  }
  const act = entry(
    {
      ArrowRight: () => on.turn(1),
      ArrowLeft: () => on.turn(-1),
      "+": () => on.zoom(1),
      "=": () => on.zoom(1),
      "-": () => on.zoom(-1),
      0: on.fit,
      Escape: on.close,
    },
    event.key,
  );
  if (READING.includes(event.key)) event.stopPropagation();
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}
