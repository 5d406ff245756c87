// The field of the toolbar with the page that is read, into which one types where to go: a page of the reading, or of the
// source ('p. 12').

import { el, number } from "../shared/dom.js";
import { placeOf } from "./text_store.js";

/**
 * @import { Frame } from "./frame.js"
 * @import { Here, Jump, ReadingState } from "./state.js"
 */

const MISSED_MS = 4000;

export class PageField {
  /** @param {{state: ReadingState, frame: Frame, jump: Jump}} needs */
  constructor({ state, frame, jump }) {
    this.state = state;
    this.frame = frame;
    this.jump = jump;
    this.missing = ""; // what was typed that is no page
    this.input = this.makeInput();
    this.of = el("span", { class: "dim num", role: "status" });
    this.node = el("label", { class: "goto", hidden: true }, el("span", { class: "dim notnarrow" }, "Page"), this.input, this.of);
  }

  makeInput() {
    const input = el("input", {
      type: "text",
      inputmode: "text",
      class: "pagein num",
      "aria-label": "Go to page",
      title: "Go to a page, or to a page of the source: p. 12",
      onchange: () => {
        this.go(input);
      },
      onkeydown: ({ key }) => {
        if (key === "Enter" && input.value.trim() === this.name(this.state.here)) this.go(input); // no change: to its beginning
      },
      onfocus: () => {
        input.select();
      },
    });
    return input;
  }

  /** The field once more, for a panel. */
  copy() {
    const input = this.makeInput();
    input.value = this.name(this.state.here);
    return el(
      "label",
      { class: "goto" },
      el("span", { class: "dim" }, "Page"),
      input,
      el("span", { class: "dim num" }, this.of.textContent),
    );
  }

  update() {
    const { pages, book } = this.state;
    this.node.hidden = !pages.length && !book.places.length;
    this.of.textContent = this.missing ? `no page ${this.missing}` : pages.length ? `of ${number(pages.length)}` : "";
  }

  /** @param {Here} here */
  at(here) {
    if (this.frame.active !== this.input) this.input.value = this.name(here);
  }

  /** The page that the field shows: one of the reading, or of the source before there are any. @param {Here} here */
  name({ page, paragraph }) {
    return String(page ?? placeOf(this.state.book, paragraph));
  }

  /** @param {HTMLInputElement} input */
  go(input) {
    const { pages, book } = this.state;
    const asked = input.value.trim();
    const plain = /^\d+$/.test(asked) ? pages[Number(asked) - 1] : null;
    const source = book.places.find(([, where]) => plainly(where) === plainly(asked));
    this.setMissing("");
    if (plain) this.jump({ paragraph: plain.start, at: plain.startAt }, { focus: true });
    else if (source) this.jump({ paragraph: source[0] }, { focus: true });
    else this.miss(asked);
    input.value = this.input.value = this.name(this.state.here);
  }

  /** Says for a moment that there is no such page, in the place of the number of pages. @param {string} asked */
  miss(asked) {
    this.setMissing(asked.slice(0, 12));
    clearTimeout(this.missed);
    this.missed = setTimeout(() => this.setMissing(""), MISSED_MS);
  }

  /** @param {string} missing */
  setMissing(missing) {
    this.missing = missing;
    this.update();
  }

  close() {
    clearTimeout(this.missed);
  }
}

/** @param {string} place */
const plainly = (place) => place.replace(/\s+/g, "").toLowerCase();
