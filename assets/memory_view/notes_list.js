// A list of marks with its filters (kind, colour, words, chapter), of one book or of all; those that have lost their
// place come last, with their words.

import { button, el, fill, icon, number, withBothSigns } from "../shared/dom.js";
import { answerOf } from "./mark_card.js";
import { COLOUR_NAMES, COLOURS, kindName, leftOut } from "./mark_kinds.js";

/**
 * @import { Emphasis, KeptCite, MarkRecord } from "../protocol.js"
 * @import { IconName } from "../shared/dom.js"
 */

const KINDS = [
  ["", "All"],
  ["highlight", "Highlights"],
  ["note", "Notes"],
  ["bookmark", "Bookmarks"],
  ["answer", "Answers"],
];
const NOTHING = "Nothing yet. Select words in the text to highlight them or write a note.";

/**
 * @typedef {object} ListedMark
 * @property {MarkRecord} mark
 * @property {string} group the chapter, or the book
 * @property {string} where the page
 * @property {boolean} lost
 * @property {string} language
 * @property {Emphasis} emphasis
 * @property {string} [book] its id, in a list of several books
 */
export class NotesList {
  /** @param {{go: (mark: ListedMark) => void, remove?: (mark: ListedMark) => void, edit?: (mark: ListedMark) => void, cite?: (cite: KeptCite, mark: ListedMark) => void}} acts */
  constructor(acts) {
    this.acts = acts;
    /** @type {ListedMark[]} */
    this.items = [];
    this.allOf = "";
    /** @type {Map<string, HTMLElement>} id -> its row */
    this.nodes = new Map();
    this.followed = "";
    this.kind = this.colour = this.words = this.group = "";
    this.chips = el("div", { class: "chips", role: "group", "aria-label": "Kind" });
    this.input = el("input", {
      type: "search",
      placeholder: "Search notes",
      "aria-label": "Search notes",
      oninput: () => {
        this.choose({ words: this.input.value });
      },
    });
    this.dots = COLOURS.map((colour) =>
      button(el("span", { class: "sr" }, COLOUR_NAMES[colour]), () => this.choose({ colour: this.colour === colour ? "" : colour }), {
        kind: `dot hue-${colour}`,
        title: COLOUR_NAMES[colour],
      }),
    );
    this.groups = el("select", {
      class: "btn slim",
      "aria-label": "Chapter",
      onchange: () => {
        this.choose({ group: this.groups.value });
      },
    });
    this.filters = el(
      "div",
      { class: "filt" },
      el("label", { class: "field" }, icon("search"), this.input),
      el("div", { class: "dots" }, ...this.dots),
    );
    this.list = el("div", { class: "items", tabindex: "-1" });
    this.node = el("div", { class: "noteslist" }, this.chips, this.filters, this.groups, this.list);
  }

  /** @param {{kind?: string, colour?: string, words?: string, group?: string}} filter */
  choose(filter) {
    Object.assign(this, filter);
    this.draw();
  }

  /** @param {ListedMark[]} items in order */
  update(items, allOf = "All chapters") {
    this.items = items;
    this.allOf = allOf;
    this.draw();
  }

  draw() {
    this.chips.hidden = this.filters.hidden = !this.items.length; // nothing to choose from
    /** @param {ListedMark} item @param {string} kind */
    const fits = ({ mark, group }, kind) =>
      (!kind || mark.kind === kind) &&
      (!this.colour || mark.colour === this.colour) &&
      (!this.group || group === this.group) &&
      this.hasWords(mark);
    this.chips.replaceChildren(
      ...KINDS.flatMap(([kind, label]) => {
        const count = this.items.filter((item) => (kind ? item.mark.kind === kind : true)).length;
        if (kind && !count) return [];
        return button(el("span", {}, label, " ", el("span", { class: "num dimmer" }, number(count))), () => this.choose({ kind }), {
          kind: "chip",
          "aria-pressed": String(this.kind === kind),
        });
      }),
    );
    for (const [i, dot] of this.dots.entries()) dot.setAttribute("aria-pressed", String(this.colour === COLOURS[i]));
    const groups = [
      ...new Set(
        this.items
          .filter((item) => !item.lost)
          .map((item) => item.group)
          .filter(Boolean),
      ),
    ];
    if (!groups.includes(this.group)) this.group = "";
    this.groups.hidden = groups.length < 2;
    /** @param {string} value @param {string} label */
    const option = (value, label) => el("option", { value, selected: value === this.group }, label);
    this.groups.replaceChildren(option("", this.allOf), ...groups.map((group) => option(group, group)));
    const shown = this.items.filter((item) => fits(item, this.kind));
    this.nodes = new Map();
    /** @type {HTMLElement[]} */
    const rows = [];
    /** @type {string | null} */
    let before = null;
    for (const item of shown) {
      const group = item.lost ? "Not found in the text any more" : item.group;
      if (group !== before)
        rows.push(el("h3", { class: item.lost ? "ch lostch" : "ch", dir: "auto" }, group || "Before the first chapter"));
      before = group;
      const row = this.row(item);
      this.nodes.set(item.mark.id, row);
      rows.push(row);
    }
    if (!this.items.length) rows.push(el("p", { class: "dim none" }, NOTHING));
    else if (!shown.length) rows.push(el("p", { class: "dim none" }, "No note fits these filters."));
    const top = this.list.scrollTop;
    this.list.replaceChildren(...rows);
    this.list.scrollTop = top;
  }

  /** @param {MarkRecord} mark */
  hasWords(mark) {
    const said = (mark.answer?.paragraphs ?? []).flat().map((piece) => piece.text);
    const text = [mark.words, mark.note, mark.answer?.question ?? "", ...said].join(" ").toLowerCase();
    return this.words
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word));
  }

  /** @param {ListedMark} item */
  row(item) {
    const { mark, where, lost, language, emphasis } = item;
    const sign =
      mark.kind === "bookmark"
        ? icon("bookmark")
        : mark.kind === "answer"
          ? icon("ask")
          : el("i", { class: `spot hue-${mark.colour}`, title: mark.colour && COLOUR_NAMES[mark.colour] });
    const go = () => this.acts.go(item);
    const words = el("span", { lang: language, dir: "auto" });
    fill(words, withBothSigns(mark.words, emphasis), [], emphasis);
    const [before, after] = leftOut(mark.words);
    words.prepend(before);
    words.append(after);
    const body =
      mark.kind === "answer" && mark.answer
        ? answerOf(mark.answer, (cite) => this.acts.cite?.(cite, item), language)
        : el(
            lost ? "div" : "button",
            { ...(lost ? {} : { type: "button", onclick: go }), class: `words ${mark.colour ? `hue-${mark.colour}` : mark.kind}` },
            words,
          );
    /** @param {string} name @param {IconName} shape @param {((item: ListedMark) => void) | null | undefined} does */
    const act = (name, shape, does) => (does ? button("", () => does(item), { kind: "quiet icon slim", icon: shape, name }) : null);
    return el(
      "article",
      { class: "it", "data-id": mark.id },
      el(
        "div",
        { class: "h" },
        sign,
        el("span", {}, kindName(mark)),
        el("span", { class: "gap" }),
        act("Edit", "pencil", lost ? null : this.acts.edit),
        act("Remove", "close", this.acts.remove),
        lost ? null : el("button", { type: "button", class: "where num", onclick: go, "aria-label": `Go to ${where}` }, where),
      ),
      body,
      mark.note ? el("p", { class: "nx", dir: "auto" }, mark.note) : null,
    );
  }

  /** Marks the rows of what is in view, and brings the first of them into view. @param {Set<string>} ids */
  follow(ids) {
    let first = null;
    for (const [id, row] of this.nodes) {
      row.classList.toggle("on", ids.has(id));
      if (ids.has(id)) first ??= row;
    }
    const key = [...ids].join();
    if (first && key !== this.followed) first.scrollIntoView({ block: "nearest" });
    this.followed = key;
  }
}
