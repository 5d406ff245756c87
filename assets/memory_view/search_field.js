// The field of the toolbar in which one searches, with the number of hits and the buttons that step through them.

import { button, el, icon, number, plural } from "../shared/dom.js";

/** @import { Search } from "./search.js" */

const TYPED_MS = 200; // after the last letter

/** How many hits there are, and where the person is among them. @param {Pick<Search, "walked" | "shown" | "ahead">} search */
export function hitsSaid({ walked, shown, ahead }) {
  if (walked.length) return shown ? `${number(walked.indexOf(shown) + 1)} of ${number(walked.length)}` : plural(walked.length, "hit");
  return ahead ? `${number(ahead)} unread` : "no hits";
}

export class SearchField {
  /** @param {Search} search */
  constructor(search) {
    this.search = search;
    this.input = el("input", {
      type: "search",
      "aria-label": "Search this book",
      placeholder: "Search the book",
      oninput: () => this.typed(),
      onkeydown: (event) => this.entered(event),
    });
    this.count = el("span", { class: "small dim num count", role: "status" });
    this.nodes = [
      el("label", { class: "field find" }, icon("search"), this.input, this.count),
      button("", () => search.step(-1), { kind: "quiet icon hitstep", icon: "up", name: "Previous hit" }),
      button("", () => search.step(1), { kind: "quiet icon hitstep", icon: "down", name: "Next hit" }),
    ];
  }

  /** What the search has found; whether it found anything. */
  found() {
    const { hits, query } = this.search;
    this.count.textContent = query ? hitsSaid(this.search) : "";
    return hits.length > 0;
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  typed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.ask(), TYPED_MS);
  }

  /** @param {KeyboardEvent} event */
  entered(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (this.input.value.trim() === this.search.query) this.search.step(event.shiftKey ? -1 : 1);
    else this.ask();
  }

  /** Searches for other words. @param {string} query */
  askFor(query) {
    this.input.value = query;
    this.ask();
  }

  ask() {
    clearTimeout(this.waiting);
    this.search.ask(this.input.value.trim());
  }

  clear() {
    this.askFor("");
  }

  /** Ends the search; whether there was one, or the field had the focus. @param {KeyboardEvent} event */
  escape(event) {
    if (!event.composedPath().includes(this.input) && !this.search.query) return false;
    this.clear();
    this.input.blur();
    return true;
  }

  close() {
    clearTimeout(this.waiting);
  }
}
