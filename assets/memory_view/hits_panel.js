// The panel with all hits of a search: the words around each, by chapter, and where they are in the book. It lies over the
// margin with the gists and the map, so that no line of the text moves; on a phone it is a sheet over the text.

import { button, el, fill, number, plural } from "../shared/dom.js";
import { excerpts, nearWords, titled } from "./hits.js";
import { hitsSaid } from "./search_field.js";
import { sectionAt, shareRead } from "./text_store.js";

/**
 * @import { MarkRecord } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { Excerpt } from "./hits.js"
 * @import { Marks } from "./marks.js"
 * @import { Hit, Search } from "./search.js"
 * @import { Jump, ReadingState } from "./state.js"
 *
 * @typedef {"t" | "g" | "n"} Where the text, the gists, the person's notes
 */

const MOST = 300; // hits that are listed
const SOME = 5; // titles of chapters above hits in the text
const LETTERS = 2; // of a query that is listed
/** @type {[Where, string][]} */
const KINDS = [
  ["t", "Text"],
  ["g", "Gists"],
  ["n", "Notes"],
];

export class HitsPanel {
  /**
   * @param {{state: ReadingState, frame: Frame, search: Search, marks: Marks, jump: Jump, ask: (query: string) => void,
   *   showAhead: () => void, keepPlace: (change: () => void) => void, toggled: () => void}} needs `ask`: searches for other
   *   words; `showAhead`: shows the hits on pages that were not read
   */
  constructor({ state, frame, search, marks, jump, ask, showAhead, keepPlace, toggled }) {
    this.state = state;
    this.frame = frame;
    this.search = search;
    this.marks = marks;
    this.jump = jump;
    this.ask = ask;
    this.showAhead = showAhead;
    this.keepPlace = keepPlace;
    this.toggled = toggled;
    this.query = ""; // whose hits are listed
    /** @type {Where} */
    this.kind = "t";
    this.at = ""; // the hit that the list followed last
    this.listed = ""; // what the list was drawn from
    /** @type {Map<Hit, HTMLElement>} */
    this.rows = new Map();
    this.title = el("h2");
    this.flat = el("div", { class: "flat", "aria-hidden": "true" });
    this.chips = el("div", { class: "chips", role: "group", "aria-label": "Where the hits are" });
    this.list = el("div", { class: "items", tabindex: "-1" });
    this.more = el("div", { class: "ahead", hidden: true, role: "status" });
    const shut = button("", () => this.close(), { kind: "quiet icon slim", icon: "close", name: "Close the list of hits" });
    const head = el("div", { class: "ph" }, this.title, el("span", { class: "gap" }), shut);
    this.node = el("aside", { class: "hitspanel", hidden: true, "aria-label": "Hits" }, head, this.flat, this.chips, this.list, this.more);
    const again = () => button("All hits", () => this.open(), { kind: "quiet slim allhits" });
    this.again = again();
    this.again.hidden = true;
    this.count = el("span", { class: "small num hitat" });
    /** @param {import("../shared/dom.js").IconName} icon @param {string} name @param {() => void} act */
    const acting = (icon, name, act) => button("", act, { kind: "quiet icon", icon, name });
    this.bar = el(
      "div",
      { class: "hitbar", hidden: true },
      again(),
      this.count,
      acting("up", "Previous hit", () => search.step(-1)),
      acting("down", "Next hit", () => search.step(1)),
      acting("close", "Clear search", () => ask("")),
    );
    this.nodes = [this.node, this.bar];
  }

  get opened() {
    return !this.node.hidden;
  }

  /** The search has found something else, or gone on. */
  update() {
    const { query, shown } = this.search;
    if (query !== this.query || (shown && String(shown) !== this.at)) this.kind = shown?.[0] ?? "t";
    this.at = String(shown);
    if (query !== this.query) {
      this.query = query;
      if (query.length >= LETTERS || this.search.hits.length) this.open();
      else this.close();
    } else if (this.opened) this.draw();
    this.drawClosed();
  }

  /** What stands for the closed list: a button, on a phone a bar. */
  drawClosed() {
    this.again.hidden = this.bar.hidden = !this.query || this.opened;
    this.count.textContent = hitsSaid(this.search);
  }

  open() {
    if (!this.opened) this.keepPlace(() => this.show(true));
    this.listed = "";
    this.draw();
  }

  close() {
    if (this.opened) this.keepPlace(() => this.show(false));
  }

  /** @param {boolean} shown */
  show(shown) {
    this.node.hidden = !shown;
    this.toggled();
    this.drawClosed();
    this.frame.root.classList.toggle("with-hits", shown);
  }

  /** The marks whose words or note have the query. @returns {MarkRecord[]} */
  notes() {
    return this.marks.all.filter((mark) => this.search.isIn(mark.note));
  }

  draw() {
    const { search } = this;
    const count = (/** @type {"t" | "g"} */ kind) => search.hits.filter(([field]) => field === kind).length;
    const counts = { t: count("t"), g: count("g"), n: this.notes().length };
    if (!counts[this.kind]) this.kind = KINDS.find(([kind]) => counts[kind])?.[0] ?? "t";
    const all = counts.t + counts.g + counts.n;
    const { length } = search.walked; // the number in the field
    const told = [length ? plural(length, "hit") : "", counts.n ? plural(counts.n, "note") : ""].filter(Boolean).join(", ");
    this.title.replaceChildren(el("strong", {}, `“${this.query}”`), ` ${told || (search.ahead ? "" : "0 hits")}`);
    this.chips.hidden = !all;
    this.chips.replaceChildren(
      ...KINDS.filter(([kind]) => counts[kind]).map(([kind, label]) =>
        button(el("span", {}, `${label} `, el("span", { class: "num" }, number(counts[kind]))), () => this.choose(kind), {
          kind: "chip",
          "aria-pressed": String(kind === this.kind),
        }),
      ),
    );
    const now = [this.query, this.kind, counts.t, counts.g, counts.n, search.ahead].join("|");
    if (now !== this.listed) {
      this.listed = now;
      this.rows.clear();
      const titles = this.kind === "t" ? this.titles(all ? SOME : MOST) : [];
      this.list.replaceChildren(...titles, ...(all ? this.items() : titles.length && !search.ahead ? [] : this.nothing()));
    }
    this.drawMore();
    this.drawFlat();
    this.follow();
  }

  /** @param {Where} kind */
  choose(kind) {
    this.kind = kind;
    if (kind !== "n") this.search.walk(kind);
    this.draw();
  }

  // --- the list -----------------------------------------------------------------------------------

  items() {
    if (this.kind === "n") return this.notes().map((mark) => this.note(mark));
    const { state, search } = this;
    const hits = search.hits.filter(([field]) => field === this.kind);
    /** @type {Node[]} */
    const found = [];
    let chapter = "";
    for (let at = 0; at < Math.min(hits.length, MOST); ) {
      const [field, place] = hits[at];
      let end = at;
      while (end < hits.length && hits[end][1] === place) end++;
      const paragraph = field === "t" ? place : state.pages[place - 1].start;
      const text = field === "t" ? state.book.text[place] : (state.pages[place - 1].gist?.text ?? "");
      const section = sectionAt(state.book, paragraph);
      if (section !== chapter) found.push(el("h3", { class: "ch", dir: "auto" }, section));
      chapter = section;
      const page = field === "g" ? place : state.pageAt(paragraph, hits[at][2]);
      found.push(...excerpts(text, hits.slice(at, end)).map((one) => this.row(text, one, page)));
      at = end;
    }
    if (hits.length > MOST) found.push(el("p", { class: "small dim none" }, `${number(MOST)} of ${number(hits.length)}; type more.`));
    return found;
  }

  /** The chapters whose titles have the query. @param {number} most of them */
  titles(most) {
    const { state, search } = this;
    const { outline } = state.book;
    const found = titled(outline.sections, search.patterns).slice(0, most);
    const rows = found.map(({ title, start, places }) => {
      const words = el("span", { class: "around", lang: outline.language, dir: "auto" });
      fill(
        words,
        title,
        places.map(([from, to]) => [from, to, "found"]),
      );
      const page = state.pageAt(start, 0);
      const node = button(null, () => this.leave(() => this.jump({ paragraph: start }, { focus: this.frame.isPhone })), { kind: "hitrow" });
      node.append(el("span", { class: "num small dimmer" }, page ? String(page) : ""), words);
      return node;
    });
    return rows.length ? [el("h3", { class: "ch" }, "Chapters"), ...rows] : [];
  }

  /** @param {string} text @param {Excerpt} excerpt @param {number | null} page */
  row(text, { hits, from, to }, page) {
    const { outline } = this.state.book;
    const words = el("span", { class: "around", lang: outline.language, dir: "auto" });
    fill(
      words,
      text,
      hits.map(([, , start, end]) => [start, end, "found"]),
      outline.emphasis,
      from,
      to,
    );
    if (from > 0) words.prepend("…");
    if (to < text.length) words.append("…");
    const node = button(null, () => this.go(hits[0]), { kind: "hitrow" });
    node.append(el("span", { class: "num small dimmer" }, page ? String(page) : ""), words);
    for (const hit of hits) this.rows.set(hit, node);
    return node;
  }

  /** @param {MarkRecord} mark */
  note(mark) {
    const [paragraph, at] = mark.start;
    const node = button(null, () => this.leave(() => this.jump({ paragraph, at }, { focus: this.frame.isPhone })), { kind: "hitrow" });
    const page = this.state.pageAt(paragraph, at);
    node.append(
      el("span", { class: "num small dimmer" }, page ? String(page) : ""),
      el("span", { class: "around", dir: "auto" }, mark.note),
    );
    return node;
  }

  /** No hit: the words that are nearest, among those that may be told of. */
  nothing() {
    const { search, state } = this;
    if (search.ahead) {
      const told = `Only on pages you have not read: ${plural(search.ahead, "hit")}.`;
      const show = button(search.ahead > 1 ? "Show them" : "Show it", () => this.showAhead(), { kind: "slim", icon: "seen" });
      return [el("p", { class: "none" }, told), el("div", { class: "erow" }, show)];
    }
    const near = nearWords(
      state.book.text.filter((text, i) => text !== undefined && search.mayTell(i)),
      this.query,
    );
    const found = near.map(({ word, count }) => button(`${word}, ${number(count)}`, () => this.ask(word), { kind: "slim" }));
    const where = search.limited ? "is nowhere in the book, unread pages included" : "is not in the book";
    return [
      el("p", { class: "none" }, `“${this.query}” ${where}.`),
      ...(found.length ? [el("p", { class: "none small dim" }, "Near it:"), el("div", { class: "erow" }, ...found)] : []),
    ];
  }

  drawMore() {
    const { ahead } = this.search;
    this.more.hidden = !ahead || !this.search.hits.length; // else the list itself says it
    const told = el("span", {}, el("strong", {}, `${number(ahead)} more`), " on pages you have not read.");
    const show = button("Show", () => this.showAhead(), { kind: "quiet slim", icon: "seen" });
    this.more.replaceChildren(told, show);
  }

  // --- the book, laid flat ------------------------------------------------------------------------

  drawFlat() {
    const { state, search } = this;
    const { book, pages } = state;
    /** @param {string} tag @param {number} paragraph */
    const at = (tag, paragraph) => {
      const node = el(/** @type {"i" | "b" | "u"} */ (tag));
      node.style.left = `${(100 * shareRead(book, paragraph)).toFixed(2)}%`;
      return node;
    };
    const parts = pages.length ? pages.map((page) => page.start) : book.outline.chapters;
    const starts = parts.length && parts.length < 120 ? parts : [0];
    const cells = starts.map((start, i) => {
      const cell = at("i", start);
      cell.style.right = `${(100 - 100 * shareRead(book, starts[i + 1] ?? book.outline.paragraphs)).toFixed(2)}%`;
      cell.classList.toggle("ahead", !search.mayTell(start));
      return cell;
    });
    const ticks = new Map(
      search.hits.map(([field, p]) => (field === "t" ? p : pages[p - 1].start)).map((p) => [Math.round(300 * shareRead(book, p)), p]),
    );
    this.flat.replaceChildren(...cells, ...[...ticks.values()].map((p) => at("b", p)), at("u", state.here.paragraph));
  }

  /** Marks the current hit in the list and brings it into view. */
  follow() {
    const now = this.search.shown && this.rows.get(this.search.shown);
    for (const node of this.list.querySelectorAll("[aria-current]")) if (node !== now) node.removeAttribute("aria-current");
    if (!now || now.hasAttribute("aria-current")) return;
    now.setAttribute("aria-current", "true");
    const [box, view] = [now.getBoundingClientRect(), this.list.getBoundingClientRect()];
    if (box.top < view.top || box.bottom > view.bottom) this.list.scrollTop += box.top - view.top - view.height / 3;
  }

  /** @param {Hit} hit */
  go(hit) {
    this.leave(() => this.search.goTo(hit));
  }

  /** On a phone the list covers the text. @param {() => void} act */
  leave(act) {
    if (this.frame.isPhone) this.close();
    act();
  }
}
