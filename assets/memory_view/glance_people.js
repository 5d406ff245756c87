// The left side of the book's world: who or what is named, each with a strip of where, and how far it may tell.

import { button, el, number, plural } from "../shared/dom.js";
import { drawStrip, stripCells } from "./presence_strip.js";
import { lastUpTo, sectionAt } from "./text_store.js";
import { lastWhole, roleOf } from "./world.js";
import { WorldHandle } from "./world_handle.js";

/**
 * @import { WorldKind } from "../protocol.js"
 * @import { Glance, Part, Shown } from "./glance.js"
 * @import { Known } from "./world.js"
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
const NOTHING_READ = "Nobody here yet: whoever you meet on a page is here once you have read it to its end.";

export class GlancePeople {
  /** @param {Glance} glance @param {(paragraph: number) => void} setFurthest says how many paragraphs were read */
  constructor(glance, setFurthest) {
    this.glance = glance;
    this.state = glance.state;
    this.names = glance.names;
    this.send = glance.send;
    this.setFurthest = setFurthest;
    /** @type {WorldKind} */
    this.kind = "person";
    this.everybody = false;
    this.metOnce = false; // whether those without a name who were met once are shown
    this.asking = false; // whether the limit is to be lifted
    this.handle = new WorldHandle((page) => glance.moveTo(page));
  }

  /** Folded, as it opens. */
  fold() {
    this.asking = this.everybody = this.metOnce = false;
  }

  /** @param {Shown} shown */
  drawn(shown) {
    return [this.kinds(shown), ...this.people(shown)];
  }

  /** What is counted, as buttons. @param {Shown} shown */
  kinds({ known }) {
    const all = [...known.values()];
    const byModel = this.glance.eventsTold; // names by rule may be of anybody or anything
    const buttons = KINDS.flatMap(([kind, title]) => {
      const label = kind === "person" && !byModel ? "Names" : title;
      const count = all.filter((one) => one.kind === kind && !one.once).length;
      if (!count && kind !== "person" && kind !== this.kind) return [];
      const choose = () => {
        this.kind = kind;
        this.asking = this.everybody = false;
        this.glance.tab = "kind";
        this.glance.draw();
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
      const on = one.id === this.glance.selected;
      const row = counts.get(one.id);
      const times = row ? row.filter(Boolean).length : 0;
      const first = row ? row.findIndex(Boolean) + 1 : 0;
      const role =
        roleOf(one) || (first ? `${times > 1 ? `on ${plural(times, this.glance.unit)}, first ` : ""}on ${this.glance.unit} ${first}` : "");
      const name = el(
        "button",
        { type: "button", class: "nme", "aria-pressed": String(on), onclick: () => this.glance.select(on ? null : one.id) },
        el("b", { dir: "auto", lang: this.state.book.outline.language }, one.name),
        el("span", { dir: "auto" }, role),
      );
      return el("li", { class: on ? "on" : null, "data-id": one.id }, name, el("div", { class: "strip1" }));
    });
    const open = () => {
      this.everybody = true;
      this.glance.draw();
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
        el("ol", { class: `wrows${this.glance.selected ? " has" : ""}` }, ...list),
        this.handle.later,
        this.handle.read,
        this.handle.node,
      ),
      less ? el("div", {}, button(`${number(less)} who appear less`, open, { kind: "quiet slim linkb lessb" })) : "",
      ...this.passing(once),
      el(
        "p",
        { class: "small dim worldkey" },
        `A block is a ${this.glance.unit} that names or tells of them; darker, more often. `,
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
      this.glance.draw();
      this.glance.node.querySelector(".passing")?.scrollIntoView({ block: "nearest" });
    };
    const label = `${number(once.length)} met once, without a name`;
    const more = button(label, toggle, { kind: "quiet slim linkb lessb", "aria-expanded": String(this.metOnce) });
    if (!this.metOnce) return [el("div", {}, more)];
    const chips = once.map((one) =>
      button(el("span", { dir: "auto", lang: this.state.book.outline.language }, one.name), () => this.glance.select(one.id), {
        kind: "relchip",
        "aria-pressed": String(one.id === this.glance.selected),
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
    const before = lastWhole(this.glance.pages, paragraph)?.number; // the last page that ends before the one on the screen
    const read = () => {
      this.setFurthest(paragraph);
      this.glance.soon();
    };
    return el(
      "div",
      { class: "emptyp" },
      el("p", { class: "dim" }, NOTHING_READ),
      el(
        "div",
        { class: "erow" },
        before ? button(`I have read up to ${this.glance.unit} ${before}`, read, { kind: "slim" }) : "",
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
    const pages = this.glance.pages;
    const last = this.glance.lastPage(pages);
    if (lifted) return [button("Keep to what I have read", () => this.lift(false), { kind: "quiet slim linkb" })];
    if (last >= pages.length || this.glance.unit === "part") return [`The line never passes the ${this.glance.unit} you have read to.`];
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
    this.glance.draw();
  }

  /** @param {boolean} lifted */
  lift(lifted) {
    this.asking = false;
    this.glance.at = null;
    this.send({ do: "world_lift", text: lifted ? "on" : "" });
    this.glance.draw();
  }

  /** Draws what needs the width: the strips, the chapters over them, the handle. @param {Shown} shown */
  strips({ rows, counts, page, known, paragraph }) {
    const stage = this.glance.node.querySelector(".stage");
    if (!stage) return;
    const { chapters } = this.state.book.outline;
    const pages = this.glance.pages;
    const left = this.glance.node.clientWidth < 760 ? 0 : NAMES_WIDE;
    const width = Math.max(40, stage.clientWidth - left);
    const cells = stripCells(pages, chapters, width);
    const shown = new Map(rows.map((one) => [one.id, one]));
    for (const row of stage.querySelectorAll("li[data-id]")) {
      const one = shown.get(/** @type {HTMLElement} */ (row).dataset.id ?? "");
      if (!one) continue;
      const dots = one.id === this.glance.selected ? new Set(one.lines.map(({ note }) => note.page)) : undefined;
      const tall = left ? 16 : 11;
      const label = `Pages that name ${one.name}`;
      row
        .querySelector(".strip1")
        ?.replaceChildren(drawStrip(cells, counts.get(one.id) ?? [], { width, height: tall, upTo: page, label, dots }));
    }
    const scale = stage.querySelector(".chapternames");
    scale?.replaceChildren(...this.chapterNumbers(cells, pages, chapters, width));
    const inPart = page > 0 && paragraph < pages[page - 1].end - 1; // the page is read in part: only what is before the place is shown
    this.handle.draw({ cells, pages: pages.length, page, inPart, last: this.glance.lastPage(pages), left, width, unit: this.glance.unit });
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
}
