// A card at a mark: its colour, its note, what can be done with it. On a phone it is a sheet.

import { button, el, first, icon } from "../shared/dom.js";
import { SIGNER_ICONS } from "../shared/signer.js";
import { COLOUR_NAMES, COLOURS, endOf, kindName, paint, startOf } from "./mark_kinds.js";
import { putAt, withSource } from "./selection.js";
import { wordsOf } from "./text_places.js";

/**
 * @import { KeptAnswer, KeptCite, MarkColour, MarkRecord } from "../protocol.js"
 * @import { Toast } from "../shared/toast.js"
 * @import { Frame } from "./frame.js"
 * @import { Marks } from "./marks.js"
 * @import { Passage } from "./selection.js"
 * @import { Jump, ReadingState } from "./state.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {Pick<MarkRecord, "kind" | "colour" | "start" | "end" | "note"> & Partial<MarkRecord>} CardMark
 */

export class MarkCard {
  /**
   * @param {{state: ReadingState, frame: Frame, units: Units, marks: Marks, toast: Toast, jump: Jump, opening: () => void}} needs
   */
  constructor({ state, frame, units, marks, toast, jump, opening }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.marks = marks;
    this.toast = toast;
    this.jump = jump;
    this.opening = opening;
    this.keep = () => {}; // keeps what was typed when the card is closed, however that is done
    this.node = el("div", { class: "markcard", hidden: true, role: "dialog" });
  }

  get opened() {
    return !this.node.hidden;
  }

  /** Writes a note about words that may have no mark yet. @param {Passage} passage */
  write(passage) {
    /** @type {CardMark} */
    const mark = {
      kind: "note",
      colour: "sky",
      start: [passage.start.paragraph, passage.start.offset],
      end: [passage.end.paragraph, passage.end.offset],
      note: "",
    };
    const there = this.marks.all.find((other) => other.colour && `${other.start} ${other.end}` === `${mark.start} ${mark.end}`);
    if (there) return this.open(there.id, { edit: true });
    this.show(mark, {
      edit: true,
      save: (note, colour) => {
        if (note) this.marks.note(passage, note, colour || undefined);
      },
    });
  }

  /** Opens the card of a mark. @param {string} id */
  open(id, { edit = false } = {}) {
    const { marks } = this;
    const mark = marks.store?.all.get(id);
    if (!mark) return;
    /** @param {string} note @param {MarkColour | ""} colour */
    const save = (note, colour) => {
      const changes = { ...(note !== mark.note ? { note } : {}), ...(colour !== mark.colour ? { colour } : {}) };
      if (Object.keys(changes).length) marks.change(mark, changes);
    };
    this.show(mark, { edit, save, saved: mark });
  }

  /** @param {CardMark} mark @param {{edit: boolean, save: (note: string, colour: MarkColour | "") => void, saved?: MarkRecord}} options */
  show(mark, { edit, save, saved }) {
    this.from = this.frame.active;
    this.opening();
    let colour = mark.colour;
    const area = el("textarea", { rows: 3, "aria-label": "Note", placeholder: "Write a note", dir: "auto" });
    area.value = mark.note ?? "";
    this.keep = () => save(area.value.trim(), colour);
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.close();
    });
    const swatches = COLOURS.map((name) =>
      button(
        el("span", {}, COLOUR_NAMES[name]),
        () => {
          colour = name;
          for (const [i, node] of swatches.entries()) node.setAttribute("aria-pressed", String(COLOURS[i] === name));
          if (saved && !area.matches(":focus") && area.value.trim() === (mark.note ?? "")) this.close();
        },
        { kind: `swatch hue-${name}`, name: COLOUR_NAMES[name], "aria-pressed": String(name === colour) },
      ),
    );
    const name = saved ? kindName(saved) : "Note";
    const drop = () => {
      this.keep = () => {};
      this.close();
      if (saved) this.marks.remove(saved);
    };
    const copy = () =>
      navigator.clipboard
        ?.writeText(withSource(this.state, wordsOf(this.state.book, this.units.nodes, startOf(mark), endOf(mark)), startOf(mark)))
        .then(() => this.toast.say("Copied with its page"));
    this.node.setAttribute("aria-label", name);
    this.node.replaceChildren(
      el(
        "div",
        { class: "chead" },
        el("strong", {}, name),
        button("", () => this.close(), { kind: "quiet icon slim", icon: "close", name: "Close" }),
      ),
      ...(mark.answer ? [answerOf(mark.answer, (cite) => this.follow(cite), this.state.book.outline.language)] : []),
      ...(mark.colour ? [el("div", { class: "swatches" }, ...swatches)] : []),
      area,
      el(
        "div",
        { class: "erow" },
        button("Save", () => this.close(), { kind: "slim go" }),
        saved && mark.colour ? button("Copy", copy, { kind: "quiet slim" }) : null,
        button(saved ? "Remove" : "Cancel", drop, { kind: "quiet slim" }),
      ),
    );
    this.node.hidden = false;
    if (!saved) paint("chosen", this.units.ranges({ start: startOf(mark), end: endOf(mark) })); // no mark shows the words yet
    putAt(this.frame, this.state, this.node, this.marks.boxes(mark), { below: true });
    if (edit) area.focus();
    else (first(this.node, mark.kind === "answer" ? "button" : ".swatch[aria-pressed=true]") ?? area).focus({ preventScroll: true });
  }

  /** @param {KeptCite} cite */
  follow(cite) {
    this.close();
    const place = placeOfCite(this.state, cite);
    if (place) this.jump(place, { focus: true });
  }

  close() {
    if (!this.opened) return false;
    const { keep } = this;
    this.keep = () => {};
    keep();
    const inside = this.node.contains(this.frame.active);
    this.node.hidden = true;
    paint("chosen", []);
    if (inside) (this.from?.isConnected ? this.from : this.frame.scroller).focus({ preventScroll: true });
    return true;
  }
}

/** Where a citation of a kept answer leads: to its words, else to its page. @param {ReadingState} state @param {KeptCite} cite */
export function placeOfCite({ pages }, { page, start: s }) {
  const there = pages[page - 1];
  return s ? { paragraph: s[0], at: s[1] } : there ? { paragraph: there.start, at: there.startAt } : null;
}

/**
 * A kept answer: the question, who answered, the answer and the pages it cites.
 * @param {KeptAnswer} answer
 * @param {(cite: KeptCite) => void} follow
 * @param {string} language
 */
export function answerOf({ question, signer, paragraphs }, follow, language) {
  /** @param {KeptCite} cite */
  const chip = (cite) =>
    button(`${cite.gist ? "gist of " : ""}p. ${cite.page}`, () => follow(cite), {
      kind: cite.gist ? "cite slim mem" : "cite slim",
      "aria-label": `Go to page ${cite.page}`,
    });
  const lines = paragraphs.map((pieces) => {
    const nodes = pieces.flatMap(({ text, cites }) => [text, ...cites.flatMap((cite) => [" ", chip(cite)])]);
    const isQuoted = signer.kind === "builtin" && pieces[0].cites.length; // a sentence of the book
    return el("p", { class: isQuoted ? "kt quoted" : "kt", dir: "auto", lang: language }, ...nodes);
  });
  return el(
    "div",
    { class: "keptanswer" },
    el("p", { class: "kq", dir: "auto", lang: language }, question),
    el("p", { class: "small dim signed" }, icon(SIGNER_ICONS[signer.kind]), signer.line),
    ...lines,
  );
}
