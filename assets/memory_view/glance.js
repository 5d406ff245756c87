// The book's world at a glance: people by presence over the chapters, what happened, somebody's card, where the person was;
// as of any page that was let in. It lies over the reader and is drawn from what the browser has: nothing is asked.

import { button, el, number, plural, withoutSigns } from "../shared/dom.js";
import { earlierBooks, fromEarlier } from "./earlier_books.js";
import { byChapter, eventList, eventsOf, namer, recapOf, skippedSentence } from "./happened.js";
import { knownSaid, linesOf, placesSaid } from "./name_card.js";
import { drawStrip, stripCells } from "./presence_strip.js";
import { pickedPlaces } from "./sentences.js";
import { lastUpTo, sectionAt, unitEnd } from "./text_store.js";
import { sentenceOf, toldLine } from "./told.js";
import { lastWhole, presence, roleOf } from "./world.js";
import { WorldHandle } from "./world_handle.js";

/**
 * @import { NoteRecord, WorldKind } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { Order } from "./happened.js"
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

/** @type {[WorldKind, string, string][]} */
const KINDS = [
  ["person", "People", "Nobody is named yet."],
  ["place", "Places", "No place is named yet."],
  ["thing", "Things", "Nothing is named yet."],
  ["group", "Groups", "No group is named yet."],
];
const MOST_ROWS = 12; // the others open with a press
const NAMES_WIDE = 216; // px; of the column of names
const NARROW = 1000; // px; narrower, one column with tabs
const FEW_EVENTS = 3; // fewer tell less of what was read than its gists do
const GISTS_BY_RULE = 6; // whose first sentences tell where one was, where there are few notes
const RECAP_WORDS = 120; // of gists

const NOTHING_READ = "Nobody here yet: whoever you meet on a page is here once you have read it to its end.";
const NOTHING_TO_RECALL =
  "Nothing to look back on yet. Once you have read a page to its end, this tells what happened so far, and what came just before.";

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
    this.inView = inView;
    this.send = send;
    this.toPage = toPage;
    this.setFurthest = setFurthest;
    this.find = find;
    /** @type {CardActs["go"]} */
    this.go = (words) => {
      this.close();
      go(words);
    };
    /** @type {WorldKind} */
    this.kind = "person";
    /** @type {Order} */
    this.order = "told";
    /** @type {Side} */
    this.side = "happened";
    this.tab = "kind"; // on a narrow screen: the strips, or what else stands beside them
    /** @type {string | null} who is selected */
    this.selected = null;
    /** @type {number | null} the page that the handle was moved to; null: it follows the reading */
    this.at = null;
    this.everybody = false;
    this.metOnce = false; // whether those without a name who were met once are shown
    this.everything = false;
    this.asking = false; // whether the limit is to be lifted
    this.handle = new WorldHandle((page) => {
      this.at = page;
      this.soon();
    });
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
    this.asking = false;
    this.everybody = this.everything = this.metOnce = false;
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
    const all = [...known.values()].filter(({ kind }) => kind === this.kind);
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
    this.node.replaceChildren(...(narrow ? this.oneColumn(shown) : [this.left(shown), this.beside(shown)]));
    for (const [i, part] of [...this.node.querySelectorAll(".worldleft, .worldside")].entries()) part.scrollTop = scrolled[i] ?? 0;
    this.strips(shown);
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
      this.kinds(shown),
      ...this.people(shown),
    );
  }

  backLabel() {
    const { page } = this.state.here;
    return page ? `Back to page ${page}` : "Back to the text";
  }

  /** What is counted, as buttons. @param {Shown} shown */
  kinds({ known }) {
    const all = [...known.values()];
    const byModel = this.eventsTold; // names by rule may be of anybody or anything
    const buttons = KINDS.flatMap(([kind, title]) => {
      const label = kind === "person" && !byModel ? "Names" : title;
      const count = all.filter((one) => one.kind === kind && !one.once).length;
      if (!count && kind !== "person" && kind !== this.kind) return [];
      const choose = () => {
        this.kind = kind;
        this.asking = this.everybody = false;
        this.tab = "kind";
        this.draw();
      };
      const text = el("span", {}, label, count ? " " : "", el("span", { class: "num count" }, count ? number(count) : ""));
      return [button(text, choose, { "aria-pressed": String(this.kind === kind) })];
    });
    return el("div", { class: "seg kinds", role: "group", "aria-label": "What to show" }, ...buttons);
  }

  /** @param {Shown} shown */
  people({ rows, counts, page, once }) {
    const { data } = this.names.store;
    if (!rows.length) return [this.emptyLine(page), ...this.passing(once), page ? this.byRule() : ""];
    const shown = this.everybody ? rows : rows.slice(0, MOST_ROWS);
    const less = rows.length - shown.length;
    const list = shown.map((one) => {
      const on = one.id === this.selected;
      const row = counts.get(one.id);
      const times = row ? row.filter(Boolean).length : 0;
      const first = row ? row.findIndex(Boolean) + 1 : 0;
      const role = roleOf(one) || (first ? `${times > 1 ? `on ${plural(times, this.unit)}, first ` : ""}on ${this.unit} ${first}` : "");
      const name = el(
        "button",
        { type: "button", class: "nme", "aria-pressed": String(on), onclick: () => this.select(on ? null : one.id) },
        el("b", { dir: "auto", lang: this.state.book.outline.language }, one.name),
        el("span", { dir: "auto" }, role),
      );
      return el("li", { class: on ? "on" : null, "data-id": one.id }, name, el("div", { class: "strip1" }));
    });
    const open = () => {
      this.everybody = true;
      this.draw();
    };
    return [
      el(
        "div",
        { class: "stage" },
        el(
          "div",
          { class: "chapterscale" },
          el("span", { class: "small dim" }, this.state.book.outline.chapters.length ? "Chapter" : ""),
          el("div", { class: "small dim num chapternames" }),
        ),
        el("ol", { class: `wrows${this.selected ? " has" : ""}` }, ...list),
        this.handle.later,
        this.handle.read,
        this.handle.node,
      ),
      less ? el("div", {}, button(`${number(less)} who appear less`, open, { kind: "quiet slim linkb lessb" })) : "",
      ...this.passing(once),
      el(
        "p",
        { class: "small dim worldkey" },
        `A block is a ${this.unit} that names or tells of them; darker, more often. `,
        ...this.lifting(data.lifted),
      ),
      this.byRule(),
      this.reaching(page),
    ];
  }

  /** Those without a name who were met once: each may be somebody who is named elsewhere. @param {Known[]} once */
  passing(once) {
    if (!once.length) return [];
    const toggle = () => {
      this.metOnce = !this.metOnce;
      this.draw();
      this.node.querySelector(".passing")?.scrollIntoView({ block: "nearest" });
    };
    const label = `${number(once.length)} met once, without a name`;
    const more = button(label, toggle, { kind: "quiet slim linkb lessb", "aria-expanded": String(this.metOnce) });
    if (!this.metOnce) return [el("div", {}, more)];
    const chips = once.map((one) =>
      button(el("span", { dir: "auto", lang: this.state.book.outline.language }, one.name), () => this.select(one.id), {
        kind: "relchip",
        "aria-pressed": String(one.id === this.selected),
      }),
    );
    const told = "Each may be one of those above: the pages do not say.";
    return [el("div", { class: "passing" }, more, el("p", { class: "small dim" }, told), el("div", { class: "relchips" }, ...chips))];
  }

  /** @param {number} page */
  emptyLine(page) {
    const [, , words] = KINDS.find(([kind]) => kind === this.kind) ?? KINDS[0];
    if (page) return el("p", { class: "dim emptyp" }, words);
    const { paragraph } = this.state.here;
    const before = lastWhole(this.pages, paragraph)?.number; // the last page that ends before the one on the screen
    const read = () => {
      this.setFurthest(paragraph);
      this.soon();
    };
    return el(
      "div",
      { class: "emptyp" },
      el("p", { class: "dim" }, NOTHING_READ),
      el(
        "div",
        { class: "erow" },
        before ? button(`I have read up to ${this.unit} ${before}`, read, { kind: "slim" }) : "",
        button("Show the whole book", () => this.lift(true), { kind: "slim" }),
      ),
      el("p", { class: "small dim" }, `${before ? "Either" : "It"} holds for Ask and the gists, too.`),
    );
  }

  /** Who found the names, where no model did. */
  byRule() {
    const { by, model, price } = this.names.store.data;
    if (by !== "rule") return "";
    const choose = model ? this.making() : button("Choose a model", () => this.send({ do: "settings" }), { kind: "slim" });
    return el(
      "p",
      { class: "nomodel" },
      el(
        "span",
        {},
        el("strong", {}, "Names found by rule. "),
        "Where they stand is certain; who they are, and that two names are one person, needs a model.",
        price ? ` Notes of the pages tell it. ${price}` : "",
      ),
      choose,
    );
  }

  /** The button that makes the notes that are missing. */
  making() {
    const { price, running } = this.names.store.data;
    if (running) return el("span", { class: "small dim" }, "Notes are being made.");
    return price ? button("Make notes", () => this.send({ do: "notes_make" }), { kind: "slim", title: price }) : "";
  }

  /** How far the notes are. @param {number} page */
  reaching(page) {
    const { by, made, running, failed } = this.names.store.data;
    if (by !== "model") return "";
    const missing = failed.filter((n) => n <= page);
    const again = missing.length
      ? button("Make them again", () => this.send({ do: "notes_again", page: missing[0] }), { kind: "quiet slim linkb" })
      : "";
    const lacks = missing.length ? `${plural(missing.length, "page")} ${missing.length > 1 ? "have" : "has"} no notes. ` : "";
    const reach = made < page ? `Notes reach page ${made}${running ? "; more are being made" : ""}. ` : "";
    const rest = made < page ? this.making() : "";
    return reach || lacks ? el("p", { class: "small dim" }, reach, lacks, again, rest) : "";
  }

  /** @param {boolean} lifted @returns {(Node | string)[]} */
  lifting(lifted) {
    const pages = this.pages;
    const last = this.lastPage(pages);
    if (lifted) return [button("Keep to what I have read", () => this.lift(false), { kind: "quiet slim linkb" })];
    if (last >= pages.length || this.unit === "part") return [`The line never passes the ${this.unit} you have read to.`];
    const said = last + 1 < pages.length ? `pages ${last + 1} to ${pages.length}` : `page ${pages.length}`;
    if (this.asking)
      return [
        el(
          "span",
          { class: "liftq", role: "alertdialog", "aria-label": "Lift the limit" },
          `Show ${said} too? `,
          button("Show them", () => this.lift(true), { kind: "slim" }),
          button("No", () => this.ask(false), { kind: "quiet slim" }),
        ),
      ];
    return [
      "The line never passes the last page you have read to its end. ",
      button("Lift the limit", () => this.ask(true), { kind: "quiet slim linkb" }),
    ];
  }

  /** @param {boolean} asking */
  ask(asking) {
    this.asking = asking;
    this.draw();
  }

  /** @param {boolean} lifted */
  lift(lifted) {
    this.asking = false;
    this.at = null;
    this.send({ do: "world_lift", text: lifted ? "on" : "" });
    this.draw();
  }

  /** Draws what needs the width: the strips, the chapters over them, the handle. @param {Shown} shown */
  strips({ rows, counts, page, known, paragraph }) {
    const stage = this.node.querySelector(".stage");
    if (!stage) return;
    const { chapters } = this.state.book.outline;
    const pages = this.pages;
    const left = this.node.clientWidth < 760 ? 0 : NAMES_WIDE;
    const width = Math.max(40, stage.clientWidth - left);
    const cells = stripCells(pages, chapters, width);
    const shown = new Map(rows.map((one) => [one.id, one]));
    for (const row of stage.querySelectorAll("li[data-id]")) {
      const one = shown.get(/** @type {HTMLElement} */ (row).dataset.id ?? "");
      if (!one) continue;
      const dots = one.id === this.selected ? new Set(one.lines.map(({ note }) => note.page)) : undefined;
      const tall = left ? 16 : 11;
      const label = `Pages that name ${one.name}`;
      row
        .querySelector(".strip1")
        ?.replaceChildren(drawStrip(cells, counts.get(one.id) ?? [], { width, height: tall, upTo: page, label, dots }));
    }
    const scale = stage.querySelector(".chapternames");
    scale?.replaceChildren(...this.chapterNumbers(cells, pages, chapters, width));
    const inPart = page > 0 && paragraph < pages[page - 1].end - 1; // the page is read in part: only what is before the place is shown
    this.handle.draw({ cells, pages: pages.length, page, inPart, last: this.lastPage(pages), left, width, unit: this.unit });
    this.handle.node.hidden = !known.size;
  }

  /** @param {import("./presence_strip.js").Cell[]} cells @param {Part[]} pages @param {number[]} chapters @param {number} width */
  chapterNumbers(cells, pages, chapters, width) {
    let free = 0;
    return chapters.flatMap((start, i) => {
      const first = lastUpTo(pages, start, (page) => page.start) + 1;
      const x = cells.find((cell) => cell.last >= first)?.x ?? 0;
      if (x < free || x > width - 10) return [];
      free = x + 26;
      return [el("span", { style: `left:${x.toFixed(0)}px`, title: sectionAt(this.state.book, start) }, String(i + 1))];
    });
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
  beside(shown) {
    const card = this.side === "card" ? shown.known.get(this.selected ?? "") : null;
    const content = card ? this.card(card, shown) : this.told(shown);
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
    const content = this.told(shown);
    return [
      el("div", { class: "worldhead" }, el("h2", {}, "The book’s world"), el("span", { class: "gap" }), close),
      el(
        "div",
        { class: "seg tabs", role: "group", "aria-label": "What to show" },
        tab("kind", "Who is who"),
        this.eventsTold ? tab("happened", "What happened") : "",
        tab("recap", "Where was I?"),
      ),
      first ? el("div", { class: "worldleft" }, this.kinds(shown), ...this.people(shown)) : el("div", { class: "worldside" }, ...content),
      card ? el("div", { class: "worldsheet" }, ...this.card(card, shown)) : "",
    ];
  }

  /** Whether what happened is told apart from where the person was: a model told it. Else sentences of gists tell both. */
  get eventsTold() {
    return this.names.store.data.by === "model";
  }

  /** What stands beside the strips when nobody is selected. @param {Shown} shown */
  told(shown) {
    const { series } = this.names.store;
    if (this.side === "earlier" && series) {
      const back = button("Where was I?", () => this.openSide("recap"), { kind: "quiet slim linkb" });
      const head = el("div", { class: "sidehead" }, el("h3", {}, "In the earlier books"), back);
      return [head, ...earlierBooks(series, this.state.book.outline.title)];
    }
    return this.side === "recap" || !this.eventsTold ? this.recap(shown) : this.happened(shown);
  }

  /** @param {Shown} shown */
  happened({ known, paragraph }) {
    const { world } = this.names;
    /** @param {Order} order @param {string} label */
    const choice = (order, label) => {
      const choose = () => {
        this.order = order;
        this.draw();
      };
      return button(label, choose, { "aria-pressed": String(this.order === order) });
    };
    const events = eventsOf(world, paragraph, this.order);
    const showWhole = () => {
      this.everything = true;
      this.draw();
    };
    const list = eventList(events, {
      order: this.order,
      titleOf: (at) => sectionAt(this.state.book, at),
      nameOf: namer(world, known, paragraph),
      go: this.go,
      whole: this.everything,
      showWhole,
    });
    const recap = button("Where was I?", () => this.openSide("recap"), { kind: "quiet slim linkb" });
    return [
      el(
        "div",
        { class: "sidehead" },
        el("h3", {}, "What happened"),
        events.length
          ? el(
              "div",
              { class: "seg order", role: "group", "aria-label": "Order" },
              choice("told", "As told"),
              choice("time", "As it happened"),
            )
          : recap,
      ),
      ...(events.length ? list : [el("p", { class: "small dim" }, "Nothing that happened is noted yet.")]),
    ];
  }

  /** @param {Side} side */
  openSide(side) {
    this.side = side;
    this.tab = side === "happened" ? "happened" : "recap";
    this.draw();
  }

  /**
   * Where was I: what was told so far in short, and what came just before. Nothing of it is from beyond the place where the
   * person is, whatever the World shows: on their page it ends where they have read to, or with what is on the screen.
   * @param {Shown} shown
   */
  recap({ counts, paragraph: shown }) {
    const { world } = this.names;
    const { book, furthest } = this.state;
    const { page: current, paragraph: top } = this.state.here;
    const end = current ? this.state.pages[current - 1].end : top;
    const paragraph = Math.min(shown, Math.max(this.inView(), Math.min(furthest, end) - 1));
    const known = world.asOf(paragraph);
    const page = lastUpTo(this.pages, paragraph, (part) => part.start) + 1;
    const told = eventsOf(world, paragraph, "told");
    const gists = told.length < FEW_EVENTS ? this.gistLines(paragraph) : [];
    const events = gists.length ? [] : told;
    const root = world.rootsAt(paragraph);
    const chapters = book.outline.chapters;
    /** @param {NoteRecord} note */
    const weight = (note) => (counts.get(root(note.of[0]))?.reduce((sum, n) => sum + n, 0) ?? 0) + (note.kind === "dies" ? 1e6 : 0);
    const nameOf = namer(world, known, paragraph);
    const { soFar, before } = recapOf(events, { chapterOf: (at) => lastUpTo(chapters, at), weight, page });
    /** @param {NoteRecord[]} notes */
    const list = (notes) =>
      byChapter(notes, (at) => sectionAt(book, at)).map(([title, found]) =>
        el(
          "section",
          { class: "hgroup" },
          title ? el("h4", { dir: "auto" }, title) : "",
          el("ol", { class: "kl hl" }, ...found.map((note) => toldLine(note, this.go, { name: nameOf(note) }))),
        ),
      );
    const other =
      this.eventsTold && !this.node.classList.contains("onecolumn")
        ? button("What happened", () => this.openSide("happened"), { kind: "quiet slim linkb" })
        : "";
    const title = sectionAt(book, top);
    const where = [current ? `You are on page ${current} of ${this.state.pages.length}` : "", title].filter(Boolean).join(", ");
    const skipped = skippedSentence(this.lastPage(this.pages), current);
    const nothing = paragraph < 0 ? NOTHING_TO_RECALL : "";
    return [
      el("div", { class: "sidehead" }, el("h3", {}, "Where was I?"), other),
      where ? el("p", { class: "small dim", dir: "auto" }, `${where}. ${nothing ? "" : skipped}`) : "",
      nothing ? el("p", { class: "dim" }, nothing) : "",
      nothing ? button("Back to reading", () => this.close(), { kind: "slim earlierb" }) : "",
      ...(soFar.length ? [el("h4", { class: "big" }, "So far"), ...list(soFar)] : []),
      ...(before.length ? [el("h4", { class: "big" }, skipped ? "What you read last" : "Just before"), ...list(before)] : []),
      ...gists,
      this.names.store.series?.books.length
        ? button("In the earlier books", () => this.openSide("earlier"), { kind: "slim earlierb" })
        : "",
      !nothing && !events.length && !gists.length
        ? el("p", { class: "dim" }, "None of the pages that you have read has a gist yet. Make gists, then look again.")
        : "",
    ];
  }

  /**
   * Where notes tell little: sentences picked from the last gists of pages that were read, of the first page also where
   * only its beginning was. All in one face, though some have quotations: each is as the gist has it.
   * @param {number} paragraph
   */
  gistLines(paragraph) {
    const read = this.state.pages
      .filter((page) => page.gist && (page.number === 1 ? page.start : page.end - 1) <= paragraph)
      .slice(-GISTS_BY_RULE);
    if (!read.length) return [];
    /** @param {number} page */
    const go = (page) => () => {
      this.close();
      this.toPage(page);
    };
    const { emphasis, language } = this.state.book.outline;
    const texts = read.map(({ gist }) => withoutSigns(gist?.text ?? "", emphasis));
    const picked = pickedPlaces(texts, language, RECAP_WORDS);
    const lines = picked.map(([i, place], n) => {
      const page = read[i].number;
      const again = picked[n - 1]?.[0] === i; // under the number of its page
      return el(
        "li",
        {},
        el(
          "button",
          { type: "button", class: "toldline", onclick: go(page), title: `Go to page ${page}` },
          el("span", { class: "pn num" }, again ? "" : String(page)),
          el("span", { class: "tx", dir: "auto" }, sentenceOf(texts[i].slice(...place))),
        ),
      );
    });
    const title = read.length > 1 ? "From the gists of the pages you read last" : `From the gist of page ${read[0].number}`;
    const note = "Picked sentences, not the whole story: between them much is left out.";
    return [el("h4", { class: "big" }, title), el("p", { class: "small dim" }, note), el("ol", { class: "kl hl" }, ...lines)];
  }

  /** The card of who is selected. @param {Known} one @param {Shown} shown */
  card(one, { known, paragraph, page }) {
    const { world } = this.names;
    const { language } = this.state.book.outline;
    const close = button("", () => this.select(null), { kind: "quiet icon slim", icon: "close", name: "Close the card" });
    /** @type {Map<Known, string>} */
    const related = new Map();
    const root = world.rootsAt(paragraph);
    for (const { note } of one.lines) {
      if (note.kind !== "related" || !note.other) continue;
      const meant = world.byName.get(note.other)?.find(({ from }) => from <= paragraph)?.of;
      const other = meant && known.get(root(meant));
      if (other && other.id !== one.id) related.set(other, note.text);
    }
    const chips = [...related]
      .slice(0, 8)
      .map(([other, text]) =>
        button(
          el("span", {}, el("span", { dir: "auto" }, other.name), " ", el("span", { class: "dimmer" }, text)),
          () => this.select(other.id),
          { kind: "relchip" },
        ),
      );
    return [
      el(
        "div",
        { class: "pcard" },
        el("div", { class: "chead" }, el("h3", { lang: language, dir: "auto" }, one.name), close),
        el("p", { class: "asof" }, el("strong", {}, knownSaid(one, this.names.store.data)), `, as of ${this.unit} ${page}`),
        one.also.length ? el("p", { class: "alsop", lang: language, dir: "auto" }, `also ${one.also.join(", ")}`) : "",
        ...(one.lines.length ? [el("ol", { class: "kl hl" }, ...linesOf(one.lines, this.go, one.name))] : this.places(one, paragraph)),
        ...fromEarlier(this.names.store.series, one),
        chips.length ? el("h4", { class: "big" }, "Related, so far") : "",
        el("div", { class: "relchips" }, ...chips),
      ),
    ];
  }

  /** Where one of whom nothing is told is named, up to a paragraph. @param {Known} one @param {number} paragraph */
  places(one, paragraph) {
    const places = this.names.placesOf(one, Math.min(paragraph, this.state.book.text.length - 1));
    const all = () => {
      this.close();
      this.find(places[0].name);
    };
    const more = places.length > 2 ? button("Find all places", all, { kind: "slim placesb" }) : "";
    return [...placesSaid(places, { state: this.state, go: this.go, by: this.names.store.data.by }), more];
  }
}

/** @param {Element} node */
const nameOf = (node) => node.getAttribute("aria-label") || node.textContent;
