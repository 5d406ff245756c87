// A gist in a card over the margin: all of one that is longer than its page, and the editor of a gist (by hand, by
// asking the model again, or by making all gists again from that page on).

import { button, el, first } from "../shared/dom.js";

/**
 * @import { Gist } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { Layer } from "./layer.js"
 * @import { Leaves } from "./leaves.js"
 * @import { ReadingState, Send } from "./state.js"
 */

export class GistCard {
  /**
   * @param {{state: ReadingState, frame: Frame, layer: Layer, leaves: Leaves, send: Send}} needs
   */
  constructor({ state, frame, layer, leaves, send }) {
    this.state = state;
    this.frame = frame;
    this.layer = layer;
    this.leaves = leaves;
    this.send = send;
    this.page = 0; // the page whose gist is open, 0 for none
    this.node = el("div", { class: "gcard", hidden: true, role: "dialog" });
  }

  /** @param {number} n */
  open(n, { edit = false } = {}) {
    const page = this.state.pages[n - 1];
    if (!page?.gist) return;
    this.page = n;
    this.node.hidden = false;
    this.node.setAttribute("aria-label", edit ? `Edit the gist of page ${n}` : `Gist of page ${n}`);
    const close = button("", () => this.close(), { kind: "quiet icon slim", icon: "close", name: "Close" });
    const head = el("div", { class: "chead" }, el("strong", {}, `Gist of page ${n}`), close);
    const { language, rtl } = this.state.book.outline;
    const words = { class: "gbody", lang: language, dir: rtl ? "rtl" : "ltr" };
    const shown = el("div", words, ...this.leaves.body(page, { all: true }));
    this.node.replaceChildren(
      head,
      ...(edit ? this.editor(n, page.gist) : [this.leaves.about() ?? "", shown, ...this.leaves.extras(page)]),
    );
    const aside = this.layer.drawn.get(n)?.gist.querySelector(".in")?.getBoundingClientRect();
    const room = this.frame.room.getBoundingClientRect();
    const top = aside ? aside.top - room.top : 0;
    this.node.style.top = `${Math.max(8, Math.min(top - 12, room.height - this.node.offsetHeight - 8))}px`;
    (this.node.querySelector("textarea") ?? close).focus();
  }

  /** @param {number} n @param {Gist} gist */
  editor(n, gist) {
    const area = el("textarea", { rows: 9, "aria-label": `Gist of page ${n}`, dir: "auto" });
    area.value = gist.text;
    const wish = el("input", {
      type: "text",
      class: "wish",
      "aria-label": "What the new gist should say",
      placeholder: "What it should say (optional)",
    });
    /** @param {string} what @param {() => string} text */
    const act = (what, text) => () => {
      this.close();
      this.send({ do: what, page: n, text: text() });
    };
    let confirmed = false;
    const again = button(
      "Make again from here",
      () => {
        if (confirmed) return act("reread", () => "")();
        confirmed = true;
        again.textContent = `Delete the gists of pages ${n}–${this.state.pages.length} and make them again?`;
      },
      { kind: "slim quiet" },
    );
    return [
      el(
        "div",
        { class: "edit" },
        area,
        el(
          "div",
          { class: "erow" },
          button(
            "Save",
            act("save", () => area.value),
            { kind: "slim go" },
          ),
          button("Cancel", () => this.close(), { kind: "slim quiet" }),
        ),
        wish,
        el(
          "div",
          { class: "erow" },
          button(
            "Make the gist again",
            act("regenerate_gist", () => wish.value),
            { kind: "slim" },
          ),
          el("span", { class: "small dim num price" }, this.state.data.gistPrice),
          again,
        ),
      ),
    ];
  }

  close() {
    if (!this.page) return;
    const gist = this.layer.drawn.get(this.page)?.gist;
    this.page = 0;
    this.node.hidden = true;
    ((gist && first(gist, ".allb")) ?? gist)?.focus({ preventScroll: true });
  }
}
