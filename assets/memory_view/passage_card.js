// What a passage means: the card at the place where words are explained, defined or translated by the model, signed, with
// its cost. A definition comes from the person's dictionaries first. Without a model and without a dictionary that has
// the words it is a list of the places where they occur in the book.

import { button, el, icon } from "../shared/dom.js";
import { SIGNER_ICONS } from "../shared/signer.js";
import { paint } from "./mark_kinds.js";
import { askPassage, newId } from "./marks_store.js";
import { putAt } from "./selection.js";

/**
 * @import { PassageData, PassagePlace, PassageTask } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { Marks } from "./marks.js"
 * @import { StoredMarks } from "./marks_store.js"
 * @import { Passage } from "./selection.js"
 * @import { Jump, ReadingState, Send } from "./state.js"
 * @import { Units } from "./units.js"
 */

/** @typedef {{id: string, task: PassageTask, words: string, start: [number, number], end: [number, number], seen: [number, number]}} Asked */

/** @type {Record<PassageTask, string>} */
const TITLES = { explain: "Explanation", define: "Definition", translate: "Translation" };

/** @type {PassageData} */
const NOTHING_YET = {
  book: "",
  id: "",
  at: 0,
  state: "running",
  text: "",
  signer: null,
  cost: "",
  error: "",
  waiting: "",
  entries: [],
  places: [],
  more: 0,
  language: "",
};

export class PassageCard {
  /**
   * `menu` shows what else can be done with the words.
   * @param {{state: ReadingState, frame: Frame, units: Units, marks: Marks, jump: Jump, opening: () => void,
   *   menu: (passage: Passage) => void, send: Send}} needs
   */
  constructor({ state, frame, units, marks, jump, opening, menu, send }) {
    this.send = send;
    this.menu = menu;
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.marks = marks;
    this.jump = jump;
    this.opening = opening;
    this.node = el("div", { class: "markcard passage", hidden: true, role: "dialog" });
    /** @type {StoredMarks | null} */
    this.store = null;
    /** @type {Passage} */
    this.passage = { start: { paragraph: 0, offset: 0 }, end: { paragraph: 0, offset: 0 } };
    /** @type {Asked} */
    this.asked = { id: "", task: "define", words: "", start: [0, 0], end: [0, 0], seen: [0, 0] };
    this.title = this.drawn = "";
    this.came = () => {
      if (this.opened) this.draw();
    };
  }

  /** `model`: of a definition, ask the model and no dictionary. @param {PassageTask} task @param {Passage} passage @param {string} words */
  ask(task, passage, words, language = "", model = false) {
    const { store } = this.marks;
    if (!store) return;
    this.store?.removeEventListener("passage", this.came);
    this.store = store;
    store.addEventListener("passage", this.came);
    this.passage = passage;
    const { start, end } = passage;
    const { here, last } = this.state;
    const [from, to] = [start, end].map(({ paragraph, offset }) => /** @type {[number, number]} */ ([paragraph, offset]));
    this.asked = { id: newId(), task, words, start: from, end: to, seen: [here.paragraph, last] };
    askPassage(store, { ...this.asked, language: language || navigator.language, model });
    this.opening();
    this.title = TITLES[task];
    this.node.setAttribute("aria-label", this.title);
    this.node.hidden = false;
    paint("chosen", this.units.ranges(passage)); // the card took the selection's place
    this.drawn = "";
    this.draw();
    this.node.querySelector("button")?.focus({ preventScroll: true });
  }

  get opened() {
    return !this.node.hidden;
  }

  again(language = "") {
    const { task, words } = this.asked;
    this.ask(task, this.passage, words, language, true);
  }

  close() {
    if (!this.opened) return false;
    if (this.record().state === "running") this.cancel();
    this.store?.removeEventListener("passage", this.came);
    const inside = this.node.contains(this.frame.active);
    this.node.hidden = true;
    paint("chosen", []);
    if (inside) this.frame.focusText();
    return true;
  }

  cancel() {
    if (this.store) askPassage(this.store, { task: "cancel", id: this.asked.id });
  }

  /** @returns {PassageData} */
  record() {
    const data = this.store?.passage;
    return data?.id === this.asked.id ? data : NOTHING_YET;
  }

  draw() {
    const { words } = this.asked;
    const data = this.record();
    const key = JSON.stringify([this.asked.id, data]);
    if (key === this.drawn) return;
    this.drawn = key;
    const { book } = this.state;
    const { active } = this.frame;
    const name = active && this.node.contains(active) ? nameOf(active) : null;
    const running = data.state === "running";
    const language = book.outline.language;
    if (data.signer?.kind === "builtin") this.title = "In this book";
    this.node.setAttribute("aria-label", this.title);
    this.node.setAttribute("aria-busy", String(running));
    this.node.replaceChildren(
      el(
        "div",
        { class: "chead" },
        el("strong", {}, this.title),
        this.languages(data),
        button("", () => this.close(), { kind: "quiet icon slim", icon: "close", name: "Close" }),
      ),
      el("q", { class: "of", dir: "auto", lang: language }, words),
      ...(data.signer ? [el("p", { class: "small dim signed" }, icon(SIGNER_ICONS[data.signer.kind]), data.signer.line)] : []),
      el(
        "div",
        { class: "said", "aria-live": "polite", dir: "auto" },
        ...data.text
          .split(/\n\s*\n/)
          .filter(Boolean)
          .map((part) => el("p", { dir: "auto" }, part)),
      ),
      ...entriesOf(data),
      ...this.placesOf(data),
      ...(data.error ? [el("p", { class: "small failed" }, data.error)] : []),
      el("div", { class: "erow" }, ...this.acts(data, running)),
    );
    const buttons = [...this.node.querySelectorAll("button")];
    if (name) (buttons.find((node) => nameOf(node) === name) ?? buttons[0])?.focus({ preventScroll: true });
    putAt(this.frame, this.state, this.node, this.units.boxes(this.passage), { below: true });
  }

  /** @param {PassageData} data @param {boolean} running */
  acts(data, running) {
    if (running)
      return [
        el("span", { class: "small dim num" }, data.waiting || (data.signer ? "Asking the model …" : "One moment …")),
        button("Stop", () => this.cancel(), { kind: "slim", icon: "stop" }),
      ];
    const by = data.signer ? ` (${data.signer.line})` : "";
    /** @param {string} note */
    const keep = (note) => () => {
      this.close();
      this.marks.note(this.passage, note);
    };
    const more = () => {
      this.close();
      this.menu(this.passage);
    };
    const [first] = data.entries;
    if (first)
      return [
        button("More", more, { kind: "quiet slim", name: "Highlight, note and more" }),
        button("Save as note", keep(`${first.word}: ${first.text} (${first.dictionary})`), { kind: "slim" }),
        this.store?.model ? button("Ask the model", () => this.again(), { kind: "quiet slim" }) : null,
      ];
    return [
      data.cost ? el("span", { class: "small dim num cost" }, data.cost) : null,
      data.text && data.state === "done" ? button("Save as note", keep(`${data.text}${by}`), { kind: "slim" }) : null,
      data.signer?.kind === "builtin"
        ? button(...this.settings(), { kind: "slim" })
        : button(data.state === "done" ? "Ask again" : "Try again", () => this.again(data.language), { kind: "quiet slim" }),
      data.signer?.kind === "builtin" ? null : el("span", { class: "small dim num price" }, this.store?.price ?? ""),
    ];
  }

  /** @returns {[string, () => void]} where what is missing is added */
  settings() {
    const dictionary = !this.store?.dictionaries && this.asked.task === "define";
    return dictionary
      ? ["Add a dictionary", () => this.send({ do: "settings", text: "Dictionaries" })]
      : ["Connect a model", () => this.send({ do: "settings", text: "Model" })];
  }

  /** @param {PassageData} data */
  languages(data) {
    if (this.asked.task !== "translate" || !data.languages) return el("span", { class: "gap" });
    /** @param {Event} event */
    const choose = (event) => this.again(/** @type {HTMLSelectElement} */ (event.target).value);
    return el(
      "select",
      { class: "btn slim", "aria-label": "Translate into", onchange: choose },
      ...data.languages.map((name) => el("option", { value: name, selected: name === data.language }, name)),
    );
  }

  /** Where else the words occur; a click goes there. @param {PassageData} data */
  placesOf({ places, more, state, signer }) {
    if (this.asked.task !== "define" || signer?.kind !== "builtin" || state !== "done") return [];
    if (!places.length && more) return [];
    const all = this.state.data.limit === null;
    if (!places.length) return [el("p", { class: "small dim" }, `These words occur nowhere else ${all ? "in the book" : "up to here"}.`)];
    /** @param {PassagePlace} place */
    const go = (place) => () => {
      this.close();
      this.jump({ paragraph: place.paragraph, at: place.at }, { lookup: true });
    };
    const rows = places.map((place) =>
      el(
        "li",
        {},
        el(
          "button",
          { type: "button", onclick: go(place), dir: "auto", lang: this.state.book.outline.language },
          place.before,
          el("b", {}, place.words),
          place.after,
        ),
        el("span", { class: "small dimmer" }, place.section),
      ),
    );
    return [
      el("p", { class: "small dim" }, more ? `The first ${places.length} of ${places.length + more} other places:` : "Other places:"),
      el("ul", { class: "places" }, ...rows),
    ];
  }
}

/** What the dictionaries say, each under its word and name. @param {PassageData} data */
const entriesOf = ({ entries }) =>
  entries.map(({ dictionary, word, text }) =>
    el(
      "section",
      { class: "entry", dir: "auto" },
      el("p", { class: "small dim" }, el("b", {}, word), ` ${dictionary}`),
      ...text.split("\n").map((line) => el("p", { dir: "auto" }, line)),
    ),
  );

/** @param {Element} node */
const nameOf = (node) => node.textContent || node.getAttribute("aria-label");
