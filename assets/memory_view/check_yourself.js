// Check yourself: a quiet line under the end of a chapter that was read opens questions about it, each with the page that
// answers it. They are made when they are asked for. Space shows an answer, 1 knew it, 2 not yet.

import { button, el, plural } from "../shared/dom.js";
import { putAt } from "./selection.js";

/**
 * @import { CheckQuestion, StudyData } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { ReadingState, Send } from "./state.js"
 * @import { Units } from "./units.js"
 * @import { StoredWorld } from "./world_store.js"
 *
 * @typedef {StudyData["chapters"][number]} Chapter
 */

export class CheckYourself {
  /**
   * `go`: to a page.
   * @param {{state: ReadingState, frame: Frame, units: Units, send: Send, opening: () => void, go: (page: number) => void}} needs
   */
  constructor({ state, frame, units, send, opening, go }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.send = send;
    this.opening = opening;
    this.go = go;
    /** @type {StudyData | null} */
    this.data = null;
    /** @type {Map<number, HTMLElement>} by the paragraph after the chapter */
    this.lines = new Map();
    /** @type {Chapter | null} whose questions are open */
    this.chapter = null;
    /** @type {Set<string>} the questions whose answers are shown */
    this.shown = new Set();
    /** @type {Map<string, number>} what was answered since the server was told */
    this.answered = new Map();
    this.node = el("div", {
      class: "markcard checkcard",
      hidden: true,
      role: "dialog",
      "aria-label": "Check yourself",
      onkeydown: (event) => this.key(event),
    });
  }

  /** @param {StoredWorld} store */
  update({ study }) {
    if (study === this.data) return;
    this.data = study;
    this.chapter = study?.chapters.find(({ end }) => end === this.chapter?.end) ?? null;
    if (this.opened && this.chapter) this.draw();
    for (const line of this.lines.values()) line.remove();
    this.lines.clear();
    for (const { end } of study?.chapters ?? []) this.paragraphDrawn(end - 1);
  }

  /** The elements of a paragraph are there: where a chapter ends with it, its line is drawn. @param {number} paragraph */
  paragraphDrawn(paragraph) {
    const chapter = this.data?.chapters.find(({ end }) => end === paragraph + 1);
    const node = this.units.nodes[paragraph];
    if (!chapter || !node || this.lines.get(chapter.end)?.isConnected) return;
    if (!node.parentElement) return void requestAnimationFrame(() => node.parentElement && this.paragraphDrawn(paragraph));
    const open = button("Check yourself", () => this.open(chapter), {
      kind: "quiet slim checkb",
      "aria-label": `Check yourself: ${chapter.title}`,
    });
    const line = el("div", { class: "checkline" }, open);
    line.style.gridRow = String(this.units.rows[paragraph] + 1); // the empty row after it
    node.after(line);
    this.lines.set(chapter.end, line);
  }

  get opened() {
    return !this.node.hidden;
  }

  /** @param {Chapter} chapter */
  open(chapter) {
    this.opening();
    this.chapter = chapter;
    this.shown.clear();
    this.node.hidden = false;
    if (!chapter.questions.length && !chapter.making) this.make();
    this.draw();
    const first = this.node.querySelector(".checks button") ?? this.node.querySelector("button"); // Space shows the answer
    if (first instanceof HTMLElement) first.focus({ preventScroll: true });
  }

  make() {
    if (this.chapter) this.send({ do: "study_make", text: String(this.chapter.pages[0]) });
  }

  /** Closes it; whether it was open. */
  close() {
    if (!this.opened) return false;
    const inside = this.node.contains(this.frame.active);
    this.node.hidden = true;
    if (inside) this.frame.focusText();
    return true;
  }

  /** 1: knew it; 0: not yet. @param {CheckQuestion} question */
  answerOf({ text }) {
    return this.answered.get(text) ?? this.data?.answered[text];
  }

  draw() {
    const { chapter } = this;
    if (!chapter) return;
    const { questions, title } = chapter;
    const knew = questions.filter((question) => this.answerOf(question) === 1).length;
    const of = [title, questions.length ? plural(questions.length, "question") : ""].filter(Boolean).join(" · ");
    this.node.replaceChildren(
      el(
        "div",
        { class: "chead" },
        el("h3", {}, "Check yourself"),
        button("", () => this.close(), { kind: "quiet icon slim", icon: "close", name: "Close" }),
      ),
      el("p", { class: "small dim", dir: "auto" }, of),
      el("ol", { class: "checks" }, ...questions.map((question) => this.question(question))),
      el(
        "div",
        { class: "erow" },
        el("span", { class: "small dim" }, this.said(chapter, knew)),
        chapter.error || chapter.none ? button("Try again", () => this.make(), { kind: "slim" }) : "",
        button("Study", () => this.send({ do: "study" }), { kind: "quiet slim linkb", title: "Words, questions and marks as cards" }),
      ),
    );
    const line = this.lines.get(chapter.end);
    putAt(this.frame, this.state, this.node, line?.checkVisibility() ? [line.getBoundingClientRect()] : [], { below: true });
  }

  /** What is said of the questions: how many are known, or that they are to come. @param {Chapter} chapter @param {number} knew */
  said({ questions, pages, making, error, none }, knew) {
    const from = pages[0] === pages[1] ? `page ${pages[0]}` : `pages ${pages[0]} to ${pages[1]}`;
    if (questions.length) return `${knew} of ${questions.length} known. Made from the gists and notes of ${from}.`;
    if (error) return error;
    if (none && !making) return "The reply had no question that its page answers.";
    return `Four questions are being made from the gists and notes of ${from}.`;
  }

  /** @param {CheckQuestion} question */
  question(question) {
    const shown = this.shown.has(question.text);
    const answer = this.answerOf(question);
    const state = answer === undefined || shown ? "" : el("span", { class: "small dim" }, answer ? "knew it" : "not yet");
    const show = shown
      ? ""
      : button("Show", () => this.show(question.text), { kind: "quiet slim linkb", "aria-label": `Show the answer: ${question.text}` });
    const head = el("div", { class: "qrow" }, el("span", { dir: "auto" }, question.text), state, show);
    if (!shown) return el("li", { "data-id": question.text }, head);
    const go = () => {
      this.close();
      this.go(question.page);
    };
    return el(
      "li",
      { "data-id": question.text },
      head,
      el(
        "div",
        { class: "answer1" },
        el("p", { dir: "auto" }, question.answer, " ", button(`page ${question.page}`, go, { kind: "slim pageb" })),
        el(
          "div",
          { class: "erow" },
          button("I knew it", () => this.answer(question, 1), { kind: "slim", icon: "check", "aria-keyshortcuts": "1" }),
          button("Not yet", () => this.answer(question, 0), { kind: "slim", "aria-keyshortcuts": "2" }),
        ),
      ),
    );
  }

  /** @param {string} text */
  item(text) {
    return [...this.node.querySelectorAll("li")].find((node) => node.dataset.id === text);
  }

  /** @param {string} id */
  show(id) {
    this.shown.add(id);
    this.draw();
    /** @type {HTMLElement | null} */
    const first = this.item(id)?.querySelector(".answer1 .erow button") ?? null;
    first?.focus({ preventScroll: true });
    first?.scrollIntoView({ block: "nearest" });
  }

  /** @param {CheckQuestion} question @param {number} knew */
  answer(question, knew) {
    this.answered.set(question.text, knew);
    this.shown.delete(question.text);
    this.send({ do: "study_answer", text: JSON.stringify([question.text, knew]) });
    this.draw();
    const next = this.chapter?.questions.find((one) => this.answerOf(one) === undefined);
    /** @type {HTMLElement | null} */
    const toFocus = (next ? this.item(next.text)?.querySelector("button") : this.node.querySelector(".chead button")) ?? null;
    toFocus?.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const item = this.frame.active?.closest("li[data-id]");
    const id = item instanceof HTMLElement ? item.dataset.id : undefined;
    const question = this.chapter?.questions.find((one) => one.text === id);
    if (!question || !this.shown.has(question.text) || !["1", "2"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    this.answer(question, event.key === "1" ? 1 : 0);
  }
}
