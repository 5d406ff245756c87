// In pages: the gists of what is in view, beside the text or in a line below it.

import { el } from "../shared/dom.js";

/**
 * @import { Leaves } from "./leaves.js"
 * @import { ReadingState } from "./state.js"
 */
export class BesideGists {
  /**
   * `found`: what is searched for, and which hit is shown, which are marked in gists.
   * @param {{state: ReadingState, leaves: Leaves, found: () => string}} needs
   */
  constructor({ state, leaves, found }) {
    this.state = state;
    this.leaves = leaves;
    this.found = found;
    this.drawn = "";
    this.opened = false; // for a hit
    this.node = el("details", { class: "beside-gists" });
  }

  /** @param {boolean} open */
  toggle(open) {
    this.node.open = open;
    this.opened = false;
  }

  /** Closes it where it lies over the text; whether it did. */
  escape() {
    const line = this.node.querySelector("summary");
    if (!this.node.open || !line?.checkVisibility()) return false;
    this.toggle(false);
    return true;
  }

  /** Opens the line for a hit in a gist, and closes it again for one in the text. @param {boolean} inGist */
  openFound(inGist) {
    if (inGist ? this.node.open : !this.opened) return;
    this.opened = this.node.open = inGist;
  }

  /** Draws the gists of paragraphs `first` to `last`. @param {number} first @param {number} last */
  draw(first, last) {
    const { pages, data, book } = this.state;
    const shown = pages.filter(
      (page) => (page.gist || page.veiled) && page.start <= last && (page.endAt ? page.end >= first : page.end > first),
    );
    const key = JSON.stringify([data.layer, this.found(), shown]);
    if (key === this.drawn) return;
    this.drawn = key;
    const numbers = shown.map((page) => page.number);
    const name = numbers.length > 1 ? `Gists of pages ${numbers[0]}–${numbers.at(-1)}` : `Gist of page ${numbers[0]}`;
    const words = { class: "gbody", lang: book.outline.language, dir: book.outline.rtl ? "rtl" : "ltr" };
    this.node.hidden = !shown.length;
    this.node.replaceChildren(
      el("summary", {}, name),
      ...shown.map((page) =>
        el(
          "article",
          { class: page.veiled ? "side veiled" : "side" },
          el(
            "div",
            { class: "ghead small" },
            el("strong", {}, `Gist of page ${page.number}`),
            page.veiled ? el("span", { class: "dimmer" }, "not read yet") : null,
          ),
          el("div", words, ...this.leaves.body(page)),
          ...this.leaves.extras(page),
        ),
      ),
    );
    this.node.querySelector("mark.now")?.scrollIntoView({ block: "nearest" });
  }
}
