// A card at a mark: its colour, its note, what can be done with it. On a phone it is a sheet.

import { button, el, icon } from "../shared/dom.js";
import { COLOURS, COLOUR_NAMES, kindName } from "./marks.js";
import { putAt, withSource } from "./selection.js";
import { wordsOf } from "./text_places.js";

export class MarkCard {
  constructor(reader) {
    this.reader = reader;
    this.node = el("div", { class: "markcard", hidden: true, role: "dialog" });
  }

  get opened() {
    return !this.node.hidden;
  }

  /** Writes a note about words that may have no mark yet. */
  write(passage) {
    const { reader } = this;
    const mark = {
      k: "note",
      c: "sky",
      s: [passage.start.paragraph, passage.start.offset],
      e: [passage.end.paragraph, passage.end.offset],
      n: "",
    };
    const there = reader.marks.all.find((other) => other.c && `${other.s} ${other.e}` === `${mark.s} ${mark.e}`);
    if (there) return this.open(there.id, { edit: true });
    this.show(mark, { edit: true, save: (note, colour) => note && reader.marks.note(passage, note, colour) });
  }

  /** Opens the card of a mark. */
  open(id, { edit = false } = {}) {
    const { marks } = this.reader;
    const mark = marks.store?.all.get(id);
    if (!mark) return;
    const save = (note, colour) => {
      const changes = { ...(note !== mark.n ? { n: note } : {}), ...(colour !== mark.c ? { c: colour } : {}) };
      if (Object.keys(changes).length) marks.change(mark, changes);
    };
    this.show(mark, { edit, save, saved: true });
  }

  show(mark, { edit, save, saved = false }) {
    const { reader } = this;
    this.from = reader.root.getRootNode().activeElement;
    reader.passageCard.close();
    let colour = mark.c;
    const area = el("textarea", { rows: 3, "aria-label": "Note", placeholder: "Write a note", dir: "auto" });
    area.value = mark.n ?? "";
    const finish = () => (save(area.value.trim(), colour), this.close());
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) finish();
    });
    const swatches = COLOURS.map((name) =>
      button(
        el("span", {}, COLOUR_NAMES[name]),
        () => {
          colour = name;
          swatches.forEach((node, i) => node.setAttribute("aria-pressed", String(COLOURS[i] === name)));
          if (saved && !area.matches(":focus") && area.value.trim() === (mark.n ?? "")) finish();
        },
        { kind: `swatch hue-${name}`, name: COLOUR_NAMES[name], "aria-pressed": String(name === colour) },
      ),
    );
    const name = saved ? kindName(mark) : "Note";
    const remove = () => (this.close(), reader.marks.remove(mark));
    const copy = () =>
      navigator.clipboard
        ?.writeText(
          withSource(reader, wordsOf(reader, { paragraph: mark.s[0], offset: mark.s[1] }, { paragraph: mark.e[0], offset: mark.e[1] }), {
            paragraph: mark.s[0],
            offset: mark.s[1],
          }),
        )
        .then(() => reader.toast.say("Copied with its page"));
    this.node.setAttribute("aria-label", name);
    this.node.replaceChildren(
      el(
        "div",
        { class: "chead" },
        el("strong", {}, name),
        button("", () => this.close(), { kind: "quiet icon slim", icon: "close", name: "Close" }),
      ),
      ...(mark.k === "answer" ? [answerOf(mark, (cite) => this.follow(cite), reader.book.outline.language)] : []),
      ...(mark.c ? [el("div", { class: "swatches" }, ...swatches)] : []),
      area,
      el(
        "div",
        { class: "erow" },
        button("Save", finish, { kind: "slim go" }),
        saved && mark.c ? button("Copy", copy, { kind: "quiet slim" }) : null,
        saved ? button("Remove", remove, { kind: "quiet slim" }) : button("Cancel", () => this.close(), { kind: "quiet slim" }),
      ),
    );
    this.node.hidden = false;
    putAt(reader, this.node, reader.marks.boxes(mark), { below: true });
    if (edit) area.focus();
    else
      (mark.k === "answer" ? this.node.querySelector("button") : (this.node.querySelector(".swatch") ?? area)).focus({
        preventScroll: true,
      });
  }

  follow(cite) {
    this.close();
    const place = placeOfCite(this.reader, cite);
    if (place) this.reader.position.jump(place, { focus: true });
  }

  close() {
    if (!this.opened) return false;
    const inside = this.node.contains(this.reader.root.getRootNode().activeElement);
    this.node.hidden = true;
    if (inside) (this.from?.isConnected ? this.from : this.reader.scroller).focus({ preventScroll: true });
    return true;
  }
}

/** Where a citation of a kept answer leads: to its words, else to its page. */
export function placeOfCite({ layer }, { page, s }) {
  const there = layer.pages[page - 1];
  return s ? { paragraph: s[0], at: s[1] } : there ? { paragraph: there.s, at: there.a ?? 0 } : null;
}

/** A kept answer: the question, who answered, the answer and the pages it cites. */
export function answerOf(mark, follow, language) {
  const { question, signer, pieces } = mark.a;
  const lines = [[]]; // the text and the citations of each paragraph
  for (const { text, cites } of pieces) {
    text.split(/\n\s*\n/).forEach((part, i) => (i ? lines.push([part]) : lines.at(-1).push(part)));
    for (const cite of cites)
      lines.at(-1).push(
        " ",
        button(`p. ${cite.page}`, () => follow(cite), { kind: "cite slim", "aria-label": `Go to page ${cite.page}` }),
      );
  }
  return el(
    "div",
    { class: "keptanswer" },
    el("p", { class: "kq", dir: "auto", lang: language }, question),
    el(
      "p",
      { class: "small dim signed" },
      icon(signer.startsWith("A recording") ? "reels" : signer.startsWith("Built-in") ? "wordlines" : "plug"),
      signer,
    ),
    ...lines.map((parts) => el("p", { class: "kt", dir: "auto", lang: language }, ...parts)),
  );
}
