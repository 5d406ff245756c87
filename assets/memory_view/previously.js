// Previously: after more than a few days away, one sentence in the margin with the pages that it is from. The first turn of
// a page takes it away.

import { button, el } from "../shared/dom.js";
import { pagesSaid } from "./name_card.js";
import { sentenceOf, withQuotes } from "./told.js";

/**
 * @import { Frame } from "./frame.js"
 * @import { ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 * @import { StoredWorld } from "./world_store.js"
 */

const [NARROWEST, WIDEST, BEFORE, AFTER] = [210, 240, 26, 14]; // px, of it in the margin and of what is free beside it
const DAYS = 4; // away, from which on it is shown

export class Previously {
  /**
   * `recap`: opens what was told so far; `earlier`: what the earlier books told.
   * @param {{state: ReadingState, frame: Frame, units: Units, recap: () => void, earlier: () => void}} needs
   */
  constructor({ state, frame, units, recap, earlier }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.recap = recap;
    this.earlier = earlier;
    this.node = el("aside", { class: "previously", hidden: true, "aria-label": "Previously" });
    /** @type {Set<string>} the books of which it was shown and left */
    this.left = new Set();
    this.book = ""; // that it tells of
    /** @type {HTMLElement[]} gists that made room for it */
    this.aside = [];
    /** @type {number | null} where the person was when it came */
    this.page = null;
  }

  /** @param {StoredWorld} store */
  update({ data, series }) {
    const { book, away, previously } = data;
    if (this.book !== book) this.hide();
    this.book = book;
    const earlier = this.state.furthest === 0 ? (series?.books.length ?? 0) : 0;
    if (earlier && this.state.book.known && !this.left.has(series?.book ?? "")) return this.offer(earlier);
    if (away < DAYS || !previously.length || this.left.has(book) || !this.state.book.known) return this.hide();
    if (!this.node.hidden) return this.position();
    const said = previously.map(([text, , name], i) => {
      const words = name ? `${name} ${text}` : text;
      return i < previously.length - 1 ? words.replace(/[.。]$/, "") : words;
    });
    const close = button("", () => this.leave(), { kind: "quiet icon slim", icon: "close", name: "Close" });
    const pages = [...new Set(previously.map(([, page]) => page))].sort((a, b) => a - b);
    this.node.replaceChildren(
      el("div", { class: "chead" }, el("strong", {}, "Previously"), el("span", { class: "small dimmer" }, `${away} days ago`), close),
      el("p", { dir: "auto" }, ...withQuotes(sentenceOf(said.join(/[\u3040-\u30ff\u4e00-\u9fff]/.test(said[0]) ? "。" : "; ")))),
      el(
        "div",
        { class: "erow" },
        el("span", { class: "small dim" }, pagesSaid(pages)),
        button("Where was I?", () => this.recap(), { kind: "linkb slim quiet" }),
      ),
    );
    this.node.hidden = false;
    this.page = null;
    this.position();
  }

  /** Before the first page: what the earlier books of the series told. @param {number} books */
  offer(books) {
    if (!this.node.hidden) return this.position();
    const close = button("", () => this.leave(), { kind: "quiet icon slim", icon: "close", name: "Close" });
    const read = button("Read it", () => this.earlier(), { kind: "linkb slim quiet" });
    const said =
      books > 1 ? `What the ${books} earlier books told, as far as you read them.` : "What the earlier book told, as far as you read it.";
    this.node.replaceChildren(
      el("div", { class: "chead" }, el("strong", {}, "Previously"), el("span", { class: "small dimmer" }, "earlier books"), close),
      el("p", {}, said),
      el("div", { class: "erow" }, read),
    );
    this.node.hidden = false;
    this.page = null;
    this.position();
  }

  /** In the margin, where it has room; else above the text. */
  position() {
    if (this.node.hidden) return;
    const { frame } = this;
    const { paragraph } = this.state.here;
    const text = this.units.nodes[paragraph]?.getBoundingClientRect();
    const room = frame.room.getBoundingClientRect();
    const view = frame.scroller.getBoundingClientRect();
    const wide = text && !frame.isNarrow ? Math.min(WIDEST, view.right - text.right - BEFORE - AFTER) : 0;
    const inMargin = text && wide >= NARROWEST;
    this.node.classList.toggle("below", !inMargin);
    this.node.style.left = inMargin ? `${text.right - room.left + BEFORE}px` : "";
    this.node.style.width = inMargin ? `${wide}px` : "";
    this.makeRoom();
  }

  /** Moves the gists that it would cover down, within their page; where a page is too short, its gist is not shown. */
  makeRoom() {
    for (const gist of this.aside) gist.style.removeProperty("translate");
    for (const gist of this.aside) gist.style.removeProperty("display");
    this.aside = [];
    if (this.node.hidden || this.node.classList.contains("below")) return;
    const { bottom } = this.node.getBoundingClientRect();
    for (const gist of /** @type {NodeListOf<HTMLElement>} */ (this.frame.room.querySelectorAll(".leaf .in, .beside-gists"))) {
      const place = gist.getBoundingClientRect();
      const page = gist.parentElement?.getBoundingClientRect() ?? place;
      if (!place.height || place.bottom < 0 || place.top >= bottom) continue;
      const down = bottom + 12 - place.top;
      if (place.bottom + down <= page.bottom) gist.style.translate = `0 ${down}px`;
      else gist.style.display = "none"; // its buttons too
      this.aside.push(gist);
    }
  }

  /** Another paragraph is read. */
  moved() {
    if (this.node.hidden) return;
    const now = this.state.here.page ?? Math.floor(this.state.here.paragraph / 12);
    this.page ??= now;
    if (now !== this.page) this.leave();
    else this.makeRoom();
  }

  leave() {
    this.left.add(this.state.data.book);
    this.hide();
  }

  /** Hides it; whether it was shown. */
  hide() {
    const shown = !this.node.hidden;
    this.node.hidden = true;
    this.makeRoom();
    return shown;
  }
}
