// A line that says what was done, with Undo, for a few seconds.

import { button, el } from "./dom.js";

const SHOWN_MS = 10_000;
const SHORT_MS = 2_500; // without Undo

export class Toast {
  constructor() {
    const hold = () => clearTimeout(this.timer);
    this.node = el("div", {
      class: "toast",
      role: "status",
      hidden: true,
      onpointerenter: hold,
      onpointerleave: () => this.wait(),
      onfocusin: hold,
    });
  }

  /** @param {(() => void) | null} undo @param {string} text @param {(() => void) | null} [undo] */
  say(text, undo = null) {
    const press = () => {
      this.close();
      undo?.();
    };
    this.node.replaceChildren(
      el("span", { dir: "auto" }, undo ? `${text}.` : text),
      ...(undo ? [button("Undo", press, { kind: "quiet slim" })] : []),
    );
    this.node.hidden = false;
    this.length = undo ? SHOWN_MS : SHORT_MS;
    this.wait();
  }

  wait() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.close(), this.length);
  }

  close() {
    clearTimeout(this.timer);
    this.node.hidden = true;
  }
}
