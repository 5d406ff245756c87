// What a passage means: the card at the place where words are explained, defined or translated by the model, signed, with
// its cost. Without a model a definition is a list of the places where the words occur in the book.

import { button, el, icon } from "../shared/dom.js";
import { askPassage, newId } from "./marks_store.js";
import { putAt } from "./selection.js";

const TITLES = { explain: "Explanation", define: "Definition", translate: "Translation" };
const SIGNS = { model: "plug", builtin: "wordlines" };

export class PassageCard {
  constructor(reader) {
    this.reader = reader;
    this.node = el("div", { class: "markcard passage", hidden: true, role: "dialog" });
    this.came = () => this.asked && !this.node.hidden && this.draw();
  }

  ask(task, passage, words, language = "") {
    const { reader } = this;
    const { store } = reader.marks;
    if (!store) return;
    this.store?.removeEventListener("passage", this.came);
    this.store = store;
    store.addEventListener("passage", this.came);
    this.passage = passage;
    const { start, end } = passage;
    this.asked = { id: newId(), task, words, s: [start.paragraph, start.offset], e: [end.paragraph, end.offset] };
    askPassage(store, { ...this.asked, language: language || navigator.language });
    reader.markCard.close();
    this.title = task === "define" && !store.model ? "In this book" : TITLES[task];
    this.node.setAttribute("aria-label", this.title);
    this.node.hidden = false;
    this.drawn = null;
    this.draw();
    this.node.querySelector("button").focus({ preventScroll: true });
  }

  get opened() {
    return !this.node.hidden;
  }

  again(language = "") {
    const { task, words } = this.asked;
    this.ask(task, this.passage, words, language);
  }

  close() {
    if (!this.opened) return false;
    if (this.record().state === "running") askPassage(this.store, { task: "cancel", id: this.asked.id });
    this.store?.removeEventListener("passage", this.came);
    const inside = this.node.contains(this.reader.root.getRootNode().activeElement);
    this.node.hidden = true;
    if (inside) this.reader.scroller.focus({ preventScroll: true });
    return true;
  }

  /** @returns {import("./types.js").PassageData} */
  record() {
    const data = this.store?.passage;
    return data?.id === this.asked.id ? data : { state: "running", text: "", places: [], signer: null, cost: "", error: "", waiting: "" };
  }

  draw() {
    const { words } = this.asked;
    const data = this.record();
    const key = JSON.stringify([this.asked.id, data]);
    if (key === this.drawn) return;
    this.drawn = key;
    const { root, book } = this.reader;
    const active = root.getRootNode().activeElement;
    const name = this.node.contains(active) ? active.textContent || active.getAttribute("aria-label") : null;
    const running = data.state === "running";
    const language = book.outline.language;
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
      ...(data.signer ? [el("p", { class: "small dim signed" }, icon(SIGNS[data.signer.kind] ?? "plug"), data.signer.line)] : []),
      el(
        "div",
        { class: "said", "aria-live": "polite", dir: "auto" },
        ...data.text
          .split(/\n\s*\n/)
          .filter(Boolean)
          .map((part) => el("p", { dir: "auto" }, part)),
      ),
      ...this.placesOf(data),
      ...(data.error ? [el("p", { class: "small failed" }, data.error)] : []),
      el("div", { class: "erow" }, ...this.acts(data, running)),
    );
    if (name)
      (
        [...this.node.querySelectorAll("button")].find((node) => (node.textContent || node.getAttribute("aria-label")) === name) ??
        this.node.querySelector("button")
      ).focus({ preventScroll: true });
    putAt(this.reader, this.node, this.reader.selection.boxes(this.passage), { below: true });
  }

  acts(data, running) {
    if (running)
      return [
        el("span", { class: "small dim num" }, data.waiting || "Asking the model …"),
        button("Stop", () => askPassage(this.store, { task: "cancel", id: this.asked.id }), { kind: "slim", icon: "stop" }),
      ];
    const by = data.signer ? ` (${data.signer.line})` : "";
    const keep = () => (this.close(), this.reader.marks.note(this.passage, `${data.text}${by}`));
    return [
      data.cost ? el("span", { class: "small dim num cost" }, data.cost) : null,
      data.text && data.state === "done" ? button("Save as note", keep, { kind: "slim" }) : null,
      data.signer?.kind === "builtin"
        ? null
        : button(data.state === "done" ? "Ask again" : "Try again", () => this.again(data.language), { kind: "quiet slim" }),
    ];
  }

  languages(data) {
    if (this.asked.task !== "translate" || !data.languages) return el("span", { class: "gap" });
    const choose = (event) => this.again(event.target.value);
    return el(
      "select",
      { class: "btn slim", "aria-label": "Translate into", onchange: choose },
      ...data.languages.map((name) => el("option", { value: name, selected: name === data.language }, name)),
    );
  }

  // Where else the words occur; a click goes there.
  placesOf({ places, more, state, signer }) {
    if (this.asked.task !== "define" || signer?.kind !== "builtin" || state !== "done") return [];
    if (!places.length)
      return [el("p", { class: "small dim" }, "These words occur nowhere else, or only after the place you have read to.")];
    const go = (place) => () => (this.close(), this.reader.position.jump({ paragraph: place.paragraph, at: place.at }));
    const rows = places.map((place) =>
      el(
        "li",
        {},
        el(
          "button",
          { type: "button", onclick: go(place), dir: "auto", lang: this.reader.book.outline.language },
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
