// The bar below the memory after a page was opened or closed by hand: what changed, and a button that asks again with it.

import { button, el } from "../shared/dom.js";

/**
 * @typedef {object} Changed
 * @property {number[]} opened pages that the person opened
 * @property {number[]} closed pages that the model had opened and the person closed
 * @property {string | null} asks who would answer, and what that costs; null where it cannot be asked
 */

/** @param {number[]} pages */
const named = (pages) => `${pages.length > 1 ? "pages" : "page"} ${pages.join(", ")}`;

export class WhatIf {
  /** @param {{ask: () => void, reset: () => void}} on */
  constructor(on) {
    this.on = on;
    this.node = el("div", { class: "whatif", hidden: true, role: "status" });
  }

  /** @param {Changed} changed */
  update({ opened, closed, asks }) {
    this.node.hidden = asks === null || !(opened.length + closed.length);
    if (this.node.hidden) return;
    const said = [opened.length ? `${named(opened)} opened` : "", closed.length ? `${named(closed)} closed` : ""]
      .filter(Boolean)
      .join(", ");
    this.node.replaceChildren(
      el("strong", {}, `${said[0].toUpperCase()}${said.slice(1)}.`),
      button("Put back", () => this.on.reset(), { kind: "quiet slim" }),
      el("span", { class: "gap" }),
      el("span", { class: "small dim num" }, asks),
      button("What if? Ask again", () => this.on.ask(), { kind: "slim go" }),
    );
  }
}
