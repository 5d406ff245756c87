// What you know so far: the card of a name at its place in the margin, on a phone a sheet. It counts up to the paragraph in
// which the name was pressed, and asks nobody.

import { button, el, icon, plural, withoutSigns } from "../shared/dom.js";
import { fromEarlier } from "./earlier_books.js";
import { drawStrip, stripCells } from "./presence_strip.js";
import { sentencesOf } from "./sentences.js";
import { toldLine } from "./told.js";

/**
 * @import { NoteRecord } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { Names, Named } from "./names.js"
 * @import { ReadingState, Send } from "./state.js"
 * @import { Units } from "./units.js"
 * @import { Known } from "./world.js"
 *
 * @typedef {object} CardActs
 * @property {(words: Pick<NoteRecord, "at" | "end">) => void} go to the words that a line rests on
 * @property {(name: string) => void} find all places of a name
 * @property {() => void} opening
 * @property {(said: string) => void} changed by hand, what can be undone
 * @property {Send} send
 */

const SHOWN = 6; // the newest lines; the others open with a press
const STRIP = 214; // px
const KNOWN = ["What you know so far", "What the book tells"]; // under the limit, and with it lifted
const NAMED = ["Named so far", "Named in the book"]; // where a card has only the places of the name
const [WIDE, GAP] = [240, 26]; // of the card, and between it and the text

/** What a card holds. @param {Known} known @param {{lifted: boolean}} data */
export const knownSaid = ({ lines }, { lifted }) => (lines.length ? KNOWN : NAMED)[Number(lifted)];

export class NameCard {
  /** @param {{state: ReadingState, frame: Frame, units: Units, names: Names, on: CardActs}} needs */
  constructor({ state, frame, units, names, on }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.names = names;
    this.on = on;
    /** @type {Named | null} the mention that it is about */
    this.named = null;
    this.whole = false; // all lines are shown
    this.menu = ""; // what is open below the card: the menu, or the list of others
    this.node = el("div", { class: "markcard namecard", hidden: true, role: "dialog", onkeydown: (event) => this.key(event) });
    this.ended = new AbortController();
    const follow = () => this.opened && !frame.isPhone && this.position();
    frame.scroller.addEventListener("scroll", follow, { passive: true, signal: this.ended.signal });
  }

  get opened() {
    return !this.node.hidden;
  }

  /** @param {Named} named */
  open(named) {
    this.on.opening();
    this.named = named;
    this.whole = false;
    this.menu = "";
    this.draw();
    if (this.opened) this.node.querySelector("button")?.focus({ preventScroll: true });
  }

  /** Opens the card of the next name in view, or of the one before. @param {number} step */
  step(step) {
    const next = this.names.next(this.opened ? this.named : null, step);
    if (next) this.open(next);
    else this.frame.say("Nobody on the screen has a card.");
  }

  /** Closes it; whether it was open. */
  close() {
    if (!this.opened) return false;
    const inside = this.node.contains(this.frame.active);
    this.node.hidden = true;
    this.names.markOpen(null);
    this.frame.room.classList.remove("with-card");
    if (inside) this.frame.focusText();
    return true;
  }

  stop() {
    this.ended.abort();
  }

  /** Other things are known: the same card again. */
  update() {
    if (this.opened) this.draw();
  }

  draw() {
    const { named } = this;
    const known = named && this.names.world.one(named.id, this.upTo(named));
    if (!named || !known) return void this.close();
    const { language } = this.state.book.outline;
    this.node.setAttribute("aria-label", `What you know so far of ${known.name}`);
    this.node.hidden = false;
    const again = this.frame.active && this.node.contains(this.frame.active);
    this.node.replaceChildren(
      el("div", { class: "hand", "aria-hidden": "true" }),
      el(
        "div",
        { class: "chead" },
        el("h3", { lang: language, dir: "auto" }, known.name),
        button("", () => this.close(), { kind: "quiet icon slim", icon: "close", name: "Close" }),
      ),
      el("p", { class: "asof" }, el("strong", {}, knownSaid(known, this.names.store.data)), this.asOf(this.upTo(named))),
      known.also.length ? el("p", { class: "alsop", lang: language, dir: "auto" }, `also ${known.also.slice(0, 4).join(", ")}`) : "",
      ...this.body(known, named),
      ...this.acts(known, named),
    );
    if (again) this.node.querySelector("button")?.focus({ preventScroll: true });
    this.names.markOpen(named);
    this.position();
    const dim = () => this.frame.room.classList.toggle("with-card", this.opened);
    requestAnimationFrame(() => setTimeout(dim)); // the gists step back after the card is there, which they would delay
  }

  /**
   * The paragraph that it tells up to: the one with the name. With the limit lifted all that a rule finds, which is where the
   * name stands, is shown at once.
   * @param {Named} named
   */
  upTo({ paragraph }) {
    const { lifted, by } = this.names.store.data;
    return lifted && by === "rule" ? this.state.book.text.length - 1 : paragraph;
  }

  /** @param {number} paragraph */
  asOf(paragraph) {
    const page = this.state.pageAt(paragraph);
    const { page: last, by, lifted } = this.names.store.data; // by rule no more is known than where the names stand
    if (!page || (lifted && by === "rule")) return "";
    return page > last && by === "model" ? `, as of page ${last}. You have not read further` : `, as of page ${page}`;
  }

  /** @param {Known} known @param {Named} named */
  body(known, named) {
    const { data } = this.names.store;
    const page = this.state.pageAt(this.upTo(named));
    const places = this.names.placesOf(known, this.upTo(named));
    const { pages } = this.state;
    const counts = new Uint16Array(pages.length);
    for (const { paragraph, start } of places) {
      const on = this.state.pageAt(paragraph, start);
      if (on) counts[on - 1] += 1;
    }
    const cells = pages.length ? stripCells(pages, this.state.book.outline.chapters, STRIP) : [];
    const upTo = page ?? pages.length;
    const strip = el(
      "div",
      { class: "pstrip" },
      drawStrip(cells, counts, { width: STRIP, height: 8, upTo, label: "Pages that name them" }),
    );
    const earlier = known.lines.length - SHOWN;
    const shown = this.whole || earlier < 1 ? known.lines : known.lines.slice(-SHOWN);
    const more =
      earlier > 0 && !this.whole
        ? button(plural(earlier, "earlier line"), () => this.showAll(), { kind: "quiet slim earlier", icon: "up" })
        : "";
    return [
      pages.length ? strip : "",
      more,
      ...(known.lines.length
        ? [el("ol", { class: "kl" }, ...linesOf(shown, this.on.go, known.name))]
        : placesSaid(places, { state: this.state, go: this.on.go, by: data.by, last: false })),
      ...this.states(known, page, data),
      ...fromEarlier(this.names.store.series, known),
    ];
  }

  /** What is still to come, or is missing. @param {Known} known @param {number | null} page @param {{running: boolean, made: number, failed: number[], by: string, lifted: boolean}} data */
  states(known, page, { running, made, failed, by, lifted }) {
    /** @type {HTMLElement[]} */
    const found = [];
    /** @param {...(Node | string)} parts */
    const line = (...parts) => found.push(el("p", { class: "small dim statep" }, ...parts));
    const here = page ? this.state.pages[page - 1] : null;
    const { named } = this;
    const [start] = named ? this.names.pageAround(named.paragraph) : [0];
    if (!lifted && here && named && known.first >= start && named.paragraph < here.end - 1 && this.state.furthest < here.end)
      line(`The rest of page ${here.number} waits until you have read it.`);
    if (by === "model" && page && made < page)
      line(made ? `Notes reach page ${made}${running ? "; more are being made" : ""}.` : "Notes are being made.");
    const missing = failed.filter((n) => page && n <= page);
    if (missing.length) {
      const again = button("Make them again", () => this.on.send({ do: "notes_again", page: missing[0] }), { kind: "quiet slim linkb" });
      line(`${missing.length > 1 ? `Pages ${missing.join(", ")} have` : `Page ${missing[0]} has`} no notes. `, again);
    }
    return found;
  }

  showAll() {
    this.whole = true;
    this.draw();
    this.node.querySelector("button.toldline")?.scrollIntoView({ block: "nearest" });
  }

  // --- what can be done with it -------------------------------------------------------------------

  /** @param {Known} known @param {Named} named */
  acts(known, named) {
    const places = this.names.placesOf(known, this.upTo(named)).length;
    const ask = () => {
      this.close();
      this.on.send({ do: "ask", page: this.state.pageAt(named.paragraph, named.start) ?? 0, text: `“${known.name}”` });
    };
    const find = () => {
      this.close();
      this.on.find(named.name);
    };
    /** @param {string} name */
    const toggle = (name) => () => {
      this.menu = this.menu === name ? "" : name;
      this.draw();
      this.node.querySelector(".namemenu button")?.scrollIntoView({ block: "nearest" });
    };
    const row = el(
      "div",
      { class: "crow" },
      this.state.data.can.ask ? button("Ask", ask, { kind: "quiet slim" }) : "",
      button(plural(places, "place", "places in the text").replace(/^1 place$/, "1 place in the text"), find, { kind: "quiet slim" }),
      button("", toggle("menu"), { kind: "quiet icon slim", icon: "dots", name: "More", "aria-expanded": String(Boolean(this.menu)) }),
    );
    if (this.menu === "others") return [row, this.others(known, named)];
    if (this.menu === "split") return [row, this.splits(known)];
    if (this.menu !== "menu") return [row];
    const split = known.also.length ? button("Two people, split them", toggle("split"), { kind: "quiet slim" }) : "";
    const no = button("Not a name", () => this.change({ do: "not-a-name", name: named.name }), { kind: "quiet slim" });
    return [row, el("div", { class: "namemenu" }, split, button("Same as…", toggle("others"), { kind: "quiet slim" }), no)];
  }

  /** Whom it may be the same as. @param {Known} known @param {Named} named */
  others(known, named) {
    const all = [...this.names.world.asOf(this.upTo(named)).values()].filter(({ id, kind }) => id !== known.id && kind === known.kind);
    const listed = all.sort((a, b) => b.lines.length - a.lines.length).slice(0, 40);
    /** @param {Known} other */
    const join = (other) => () => this.change({ do: "join", name: known.name, other: other.name, paragraph: named.paragraph });
    return el(
      "div",
      { class: "namemenu" },
      el("p", { class: "small dim" }, `${known.name} is the same as`),
      ...listed.map((other) => button(other.name, join(other), { kind: "quiet slim", dir: "auto" })),
      listed.length ? "" : el("p", { class: "small dim" }, "Nobody else is known yet."),
    );
  }

  /** Which of its names is another's. @param {Known} known */
  splits(known) {
    /** @param {string} other */
    const split = (other) => () => this.change({ do: "split", name: known.name, other });
    return el(
      "div",
      { class: "namemenu" },
      el("p", { class: "small dim" }, `Not ${known.name}:`),
      ...known.also.map((other) => button(other, split(other), { kind: "quiet slim", dir: "auto" })),
    );
  }

  /** @param {{do: "join" | "split" | "not-a-name", name: string, other?: string, paragraph?: number}} change */
  change(change) {
    this.close();
    const { name, other } = change;
    const said = {
      join: `${name} and ${other} are one now`,
      split: `${name} and ${other} are two now`,
      "not-a-name": `${name} has no card now`,
    };
    this.on.changed(said[change.do]);
    this.on.send({ do: "name_change", text: JSON.stringify(change) });
  }

  // --- keys and place -----------------------------------------------------------------------------

  /** Arrows walk the lines. @param {KeyboardEvent} event */
  key(event) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const lines = /** @type {HTMLElement[]} */ ([...this.node.querySelectorAll("button.toldline")]);
    const at = lines.indexOf(/** @type {HTMLElement} */ (this.frame.active));
    (lines[at < 0 ? (step > 0 ? 0 : lines.length - 1) : (at + step + lines.length) % lines.length] ?? this.node).focus();
  }

  /** Beside the text at the height of the name; where the margin has no room, below the name. */
  position() {
    const { frame, node, named } = this;
    if (!named || frame.isPhone) return this.aboveSheet();
    const range = this.names.rangeOf(named);
    const paragraph = this.units.nodes[named.paragraph]?.getBoundingClientRect();
    const box = range?.getClientRects()[0];
    if (!box || !paragraph) return;
    const room = frame.room.getBoundingClientRect();
    node.classList.toggle("away", box.bottom < room.top || box.top > room.bottom);
    const right = Math.min(frame.freeRight, this.state.paged ? room.right : Number.POSITIVE_INFINITY);
    const margin = right - paragraph.right;
    const inMargin = margin >= WIDE + GAP && !this.state.vertical && !this.state.book.outline.rtl;
    node.classList.toggle("below", !inMargin);
    const tall = node.offsetHeight;
    const top = inMargin ? box.top - room.top - 4 : box.bottom - room.top + 8;
    const fits = inMargin || top + tall <= room.height - 4;
    const put = fits ? top : box.top - room.top - 8 - tall;
    node.style.top = `${Math.max(4, Math.min(put, room.height - tall - 8))}px`;
    const left = inMargin ? paragraph.right - room.left + GAP : Math.min(box.left, right - node.offsetWidth - 12) - room.left;
    node.style.left = `${Math.max(8, left)}px`;
  }

  /** On a phone the line that was pressed stays above the sheet. */
  aboveSheet() {
    const { named, node, frame } = this;
    node.style.left = node.style.top = "";
    const box = named && this.names.rangeOf(named)?.getBoundingClientRect();
    const under = box ? box.bottom + 16 - node.getBoundingClientRect().top : 0;
    if (under > 0 && !this.state.paged) frame.scroller.scrollTop += under;
  }
}

/**
 * Lines of a card, newest last. Where the story tells that two are one, that line carries what the other name had told.
 * @param {import("./world.js").Line[]} lines
 * @param {(note: NoteRecord) => void} go
 * @param {string} called the name of whom they tell, before what it is the same as
 */
export function linesOf(lines, go, called = "") {
  const { revealed, carried, shown } = dividedLines(toldOnce(lines, called));
  return shown.map((line, i) => {
    const last = i === shown.length - 1;
    if (line.note.kind !== "same") return toldLine(line.note, go, { last });
    const above = el("span", { class: "onep" }, icon("join"), `one person, from page ${line.note.page}`);
    const inside =
      line === revealed && carried.length ? [el("ol", { class: "carried" }, ...carried.map((one) => toldLine(one.note, go)))] : [];
    const name = line.note.other === called ? "" : called;
    return toldLine(line.note, go, { kind: "onel", name, above, inside, last });
  });
}

/**
 * Lines without those that tell again what one before has told, and without those that join a name to another form of it,
 * which stands among the names above.
 * @param {import("./world.js").Line[]} lines
 * @param {string} called
 */
export function toldOnce(lines, called) {
  const own = new Set(wordsOf(called));
  const told = new Set();
  return lines.filter(({ note }) => {
    if (note.kind === "same") return note.other === called || !wordsOf(note.other ?? "").some((word) => own.has(word));
    const words = wordsOf(note.text).join(" ");
    const again = told.has(words);
    told.add(words);
    return !again || !words;
  });
}

/** The words of a text but articles and titles. @param {string} text */
const wordsOf = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !SMALL.has(word));
const SMALL = new Set(["a", "an", "the", "mr", "mrs", "ms", "miss", "dr", "sir", "lady", "lord", "st"]);

/** The lines that stand by themselves, and those that stand below the one that reveals a name. @param {import("./world.js").Line[]} lines */
export function dividedLines(lines) {
  const revealed = lines.findLast(({ note }) => note.kind === "same");
  const carried = revealed ? lines.filter((line) => line.joined && line !== revealed) : [];
  return { revealed, carried, shown: lines.filter((line) => !carried.includes(line)) };
}

/** 'page 3', 'pages 1, 3 to 5': where something stands. @param {number[]} pages in their order @param {number} most runs */
export function pagesSaid(pages, most = 6) {
  /** @type {[number, number][]} */
  const runs = [];
  for (const page of pages) {
    const last = runs.at(-1);
    if (last && page === last[1] + 1) last[1] = page;
    else runs.push([page, page]);
  }
  const said = runs.slice(0, most).map(([a, b]) => (a === b ? String(a) : b === a + 1 ? `${a}, ${b}` : `${a} to ${b}`));
  return `${pages.length > 1 ? "pages" : "page"} ${said.join(", ")}${runs.length > most ? " …" : ""}`;
}

/**
 * Where nothing is told of a name: how often it stands in the text, and the sentences in which it does first and last.
 * @param {Named[]} places
 * @param {{state: ReadingState, go: CardActs["go"], by: string, last?: boolean}} options `by`: who found the name; `last`: not
 *   shown beside the text, where it is what was pressed
 */
export function placesSaid(places, { state, go, by, last = true }) {
  const on = [...new Set(places.flatMap(({ paragraph, start }) => state.pageAt(paragraph, start) ?? []))];
  const often = `Named ${plural(places.length, "time").replace(/^1 time$/, "once")}${on.length ? `, on ${pagesSaid(on)}` : ""}.`;
  const why = by === "rule" ? " Found by rule; what the pages tell needs a model." : "";
  const ends = places.length > 1 && last ? [places[0], places[places.length - 1]] : places.slice(0, 1);
  const { language, emphasis } = state.book.outline;
  /** @param {string} text */
  const bare = (text) => withoutSigns(text, emphasis);
  const lines = ends.map((place, i) => {
    const page = state.pageAt(place.paragraph, place.start);
    const [before, name, after] = aroundName(state.book.text[place.paragraph], place, language);
    const label = el("span", { class: "small dim" }, i ? "Last" : "First");
    const words = el("span", { class: "bookwords", dir: "auto", lang: language }, bare(before), el("b", {}, name), bare(after));
    const act = () => go({ at: [place.paragraph, place.start], end: place.end });
    const title = page ? `Go to the words on page ${page}` : "Go to the words";
    const shown = [
      el("span", { class: "pn num" }, page ? String(page) : ""),
      el("span", { class: "tx" }, places.length > 1 ? label : "", words),
    ];
    return el("li", {}, el("button", { type: "button", class: "toldline namedat", onclick: act, title }, ...shown));
  });
  return [el("p", { class: "small dim", dir: "auto" }, `${often}${why}`), el("ol", { class: "kl" }, ...lines)];
}

const AROUND = 110; // characters of a sentence on either side of a name

/**
 * The sentence round a name in three: what is before the name, the name, and what follows; of a long one the words near it.
 * @param {string} text
 * @param {{start: number, end: number}} name
 * @param {string} language
 */
export function aroundName(text, { start, end }, language) {
  const [from, to] = sentencesOf(text.replaceAll("\n", " "), language).find(([, last]) => last > start) ?? [start, end];
  const [first, last] = [Math.min(from, start), Math.max(to, end)];
  const before = text.slice(first, start);
  const after = text.slice(end, last);
  const begun = before.length > AROUND ? `… ${before.slice(-AROUND).replace(/^\S*\s/, "")}` : before;
  const ended = after.length > AROUND ? `${after.slice(0, AROUND).replace(/\s\S*$/, "")} …` : after;
  return [begun, text.slice(start, end), ended].map((part) => part.replace(/\s+/g, " "));
}
