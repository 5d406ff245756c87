// The book's world at a glance: people by presence over the chapters, what happened, somebody's card, where the person was;
// as of any page that was let in. It lies over the reader and is drawn from what the browser has: nothing is asked.

import { button, el } from "../shared/dom.js";
import { GlancePeople } from "./glance_people.js";
import { GlanceSide } from "./glance_side.js";
import { lastUpTo, unitEnd } from "./text_store.js";
import { presence } from "./world.js";

/**
 * @import { Frame } from "./frame.js"
 * @import { CardActs } from "./name_card.js"
 * @import { Names } from "./names.js"
 * @import { ReadingState, Send } from "./state.js"
 * @import { Known } from "./world.js"
 *
 * @typedef {"happened" | "card" | "recap" | "earlier"} Side what stands beside the strips
 * @typedef {{number: number, start: number, end: number, words: number, startAt?: number, gist?: {text: string}}} Part a page, or where none is made a part of the text
 * @typedef {{paragraph: number, page: number, known: Map<string, Known>, counts: Map<string, Uint16Array>, rows: Known[],
 *   once: Known[]}} Shown `once`: persons without a name who were met once
 */

const NARROW = 1000; // px; narrower, one column with tabs

export class Glance {
  /**
   * `bound`: the last paragraph that may be told of; `inView`: the last on the screen; `go`: to the words that a note rests on;
   * `toPage`: to a page; `setFurthest`: says how many paragraphs were read.
   * @param {{state: ReadingState, frame: Frame, names: Names, bound: () => number, inView: () => number, go: CardActs["go"],
   *   find: CardActs["find"], toPage: (page: number) => void, setFurthest: (paragraph: number) => void, send: Send}} needs
   */
  constructor({ state, frame, names, bound, inView, go, find, toPage, setFurthest, send }) {
    this.state = state;
    this.frame = frame;
    this.names = names;
    this.bound = bound;
    this.send = send;
    /** @type {CardActs["go"]} */
    const leave = (words) => {
      this.close();
      go(words);
    };
    /** @type {Side} */
    this.side = "happened";
    this.tab = "kind"; // on a narrow screen: the strips, or what else stands beside them
    /** @type {string | null} who is selected */
    this.selected = null;
    /** @type {number | null} the page that the handle was moved to; null: it follows the reading */
    this.at = null;
    this.people = new GlancePeople(this, setFurthest);
    this.beside = new GlanceSide(this, { inView, go: leave, find, toPage });
    this.node = el("section", { class: "worldpage", hidden: true, "aria-label": "The book’s world", tabindex: "-1" });
    this.resize = new ResizeObserver(() => this.soon());
    this.resize.observe(this.node);
  }

  stop() {
    this.resize.disconnect();
    document.documentElement.removeAttribute("data-world");
    cancelAnimationFrame(this.waiting ?? 0);
  }

  get opened() {
    return !this.node.hidden;
  }

  /** @param {{side?: Side, id?: string | null}} what */
  open({ side = "happened", id = null } = {}) {
    this.side = id ? "card" : side;
    this.selected = id;
    this.tab = side === "recap" || side === "earlier" ? "recap" : "kind";
    this.at = null;
    this.people.fold();
    this.beside.everything = false;
    this.node.hidden = false;
    this.cover(true);
    this.draw();
    this.node.focus({ preventScroll: true });
  }

  /** Closes it; whether it was open. */
  close() {
    if (!this.opened) return false;
    this.node.hidden = true;
    this.cover(false);
    this.frame.focusText();
    return true;
  }

  /** What it lies over cannot be reached while it is open. @param {boolean} open */
  cover(open) {
    document.documentElement.toggleAttribute("data-world", open); // the panel of Ask steps back
    for (const other of this.node.parentElement?.children ?? [])
      if (other instanceof HTMLElement) other.inert = open && other !== this.node;
  }

  /** Closes what is open in it, else itself; whether there was anything. */
  escape() {
    if (!this.opened) return false;
    if (this.side !== "card") return this.close();
    this.select(null);
    return true;
  }

  /** Handles a key; whether it was one of its own. @param {KeyboardEvent} event */
  key(event) {
    if (!this.opened || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "Escape") this.escape();
    else if (event.key === "w") this.close();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const inRows = event.composedPath().some((node) => node instanceof Element && node.matches(".worldside"));
      if (inRows) return true;
      const rows = /** @type {HTMLElement[]} */ ([...this.node.querySelectorAll("button.nme")]);
      const at = rows.indexOf(/** @type {HTMLElement} */ (this.frame.active));
      const next = at < 0 ? 0 : at + (event.key === "ArrowDown" ? 1 : -1);
      rows[(next + rows.length) % rows.length]?.focus();
    } else return true;
    event.preventDefault();
    return true;
  }

  /** Draws it again before the next frame. */
  soon() {
    if (!this.opened || this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if (this.opened) this.draw();
    });
  }

  // --- what is known ------------------------------------------------------------------------------

  /** The pages, or where none is made the parts of the text. @returns {Part[]} */
  get pages() {
    const { state } = this;
    if (state.pages.length) return state.pages;
    const { units } = state.book.outline;
    return units.map(([start, words], i) => ({ number: i + 1, start, end: unitEnd(state.book, i), words }));
  }

  get unit() {
    return this.state.pages.length ? "page" : "part";
  }

  /** The last page that may be told of. @param {Part[]} pages */
  lastPage(pages) {
    const bound = this.bound();
    return bound < 0 ? 0 : lastUpTo(pages, bound, (page) => page.start) + 1;
  }

  /** @returns {Shown} */
  shown() {
    const { world } = this.names;
    const pages = this.pages;
    const last = this.lastPage(pages);
    const page = Math.min(this.at ?? last, last);
    const end = page ? pages[page - 1].end - 1 : -1;
    const paragraph = Math.min(end, this.bound());
    const known = world.asOf(paragraph);
    const counts = this.countsAt(paragraph, pages);
    /** @param {Known} one */
    const weight = (one) => counts.get(one.id)?.reduce((sum, n) => sum + n, 0) ?? 0;
    const weights = new Map([...known.values()].map((one) => [one, weight(one)]));
    const all = [...known.values()].filter(({ kind }) => kind === this.people.kind);
    const rows = all.filter((one) => !one.once);
    rows.sort((a, b) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0) || b.lines.length - a.lines.length || a.first - b.first);
    const once = all.filter((one) => one.once).sort((a, b) => a.first - b.first);
    return { paragraph, page, known, counts, rows, once };
  }

  /** @param {number} paragraph @param {Part[]} pages */
  countsAt(paragraph, pages) {
    /** @type {Map<number, import("./name_matcher.js").Mention[]>} */
    const mentions = new Map();
    for (let at = 0; at <= paragraph && at < this.state.book.text.length; at++) {
      const found = this.names.mentionsIn(at);
      if (found.length) mentions.set(at, found);
    }
    const of = this.state.pages.length
      ? (/** @type {number} */ at, /** @type {number} */ from) => this.state.pageAt(at, from)
      : (/** @type {number} */ at) => lastUpTo(pages, at, (page) => page.start) + 1;
    return presence(this.names.world, mentions, of, pages.length, paragraph);
  }

  // --- drawing ------------------------------------------------------------------------------------

  draw() {
    const focus = this.frame.active && this.node.contains(this.frame.active) ? nameOf(this.frame.active) : null;
    const scrolled = [...this.node.querySelectorAll(".worldleft, .worldside")].map((part) => part.scrollTop);
    const shown = this.shown();
    if (this.selected && !shown.known.has(this.selected)) this.selected = null;
    if (this.side === "card" && !this.selected) this.side = "happened";
    const narrow = this.node.clientWidth < NARROW;
    this.node.classList.toggle("onecolumn", narrow);
    this.node.replaceChildren(...(narrow ? this.oneColumn(shown) : [this.left(shown), this.right(shown)]));
    for (const [i, part] of [...this.node.querySelectorAll(".worldleft, .worldside")].entries()) part.scrollTop = scrolled[i] ?? 0;
    this.people.strips(shown);
    if (focus) this.refocus(focus);
  }

  /** @param {string} name */
  refocus(name) {
    const found = [...this.node.querySelectorAll("button")].find((node) => nameOf(node) === name);
    if (found) found.focus({ preventScroll: true });
    else if (!this.frame.active || this.frame.active === document.body) this.node.focus({ preventScroll: true });
  }

  /** @param {Shown} shown */
  left(shown) {
    const back = button(this.backLabel(), () => this.close(), { kind: "quiet slim linkb", name: "Back to the text" });
    return el(
      "div",
      { class: "worldleft" },
      el(
        "div",
        { class: "worldhead" },
        el("h2", {}, "The book’s world"),
        el("span", { class: "dim booktitle", dir: "auto" }, this.state.book.outline.title),
        el("span", { class: "gap" }),
        back,
      ),
      ...this.people.drawn(shown),
    );
  }

  backLabel() {
    const { page } = this.state.here;
    return page ? `Back to page ${page}` : "Back to the text";
  }

  /** The handle was moved to a page. @param {number} page */
  moveTo(page) {
    this.at = page;
    this.soon();
  }

  /** @param {string | null} id */
  select(id) {
    this.selected = id;
    this.side = id ? "card" : "happened";
    this.draw();
    if (id && this.node.classList.contains("onecolumn")) this.node.querySelector(".pcard")?.scrollIntoView({ block: "nearest" });
  }

  // --- beside the strips --------------------------------------------------------------------------

  /** @param {Shown} shown */
  right(shown) {
    const card = this.side === "card" ? shown.known.get(this.selected ?? "") : null;
    const content = card ? this.beside.card(card, shown) : this.beside.told(shown);
    return el("div", { class: "worldside", tabindex: "-1" }, ...content);
  }

  /** @param {Shown} shown */
  oneColumn(shown) {
    /** @param {string} tab @param {string} label */
    const tab = (tab, label) => {
      const choose = () => {
        this.tab = tab;
        this.side = tab === "recap" ? "recap" : "happened";
        this.selected = null;
        this.draw();
      };
      return button(label, choose, { "aria-pressed": String(this.tab === tab) });
    };
    const close = button("", () => this.close(), { kind: "quiet icon", icon: "close", name: "Back to the text" });
    const card = this.side === "card" ? shown.known.get(this.selected ?? "") : null;
    const first = this.tab === "kind";
    const content = this.beside.told(shown);
    return [
      el("div", { class: "worldhead" }, el("h2", {}, "The book’s world"), el("span", { class: "gap" }), close),
      el(
        "div",
        { class: "seg tabs", role: "group", "aria-label": "What to show" },
        tab("kind", "Who is who"),
        this.eventsTold ? tab("happened", "What happened") : "",
        tab("recap", "Where was I?"),
      ),
      first ? el("div", { class: "worldleft" }, ...this.people.drawn(shown)) : el("div", { class: "worldside" }, ...content),
      card ? el("div", { class: "worldsheet" }, ...this.beside.card(card, shown)) : "",
    ];
  }

  /** Whether what happened is told apart from where the person was: a model told it. Else sentences of gists tell both. */
  get eventsTold() {
    return this.names.store.data.by === "model";
  }

  /** @param {Side} side */
  openSide(side) {
    this.side = side;
    this.tab = side === "happened" ? "happened" : "recap";
    this.draw();
  }
}

/** @param {Element} node */
const nameOf = (node) => node.getAttribute("aria-label") || node.textContent;
