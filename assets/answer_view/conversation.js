// The conversation: its exchanges in order, each drawn by its own part and drawn again only where it changed.

import { button, el } from "../shared/dom.js";
import { conversationOf, subscribe } from "./conversation_state.js";
import { Exchange } from "./exchange.js";
import { questions } from "./lists.js";
import { ColumnScroll } from "./scroll.js";
import { Sheet } from "./sheet.js";

/**
 * @import { AskState, ConversationData, ExchangeRecord } from "../protocol.js"
 * @import { IconName } from "../shared/dom.js"
 * @import { Api } from "../shared/mount.js"
 */

const SMALL = matchMedia("(max-width: 1240px), (max-height: 560px)"); // how it was found would push the answer down

export class Conversation {
  /** @param {HTMLElement} root @param {Api} api @param {ConversationData} data */
  constructor(root, { send }, data) {
    this.root = root;
    this.send = send;
    this.data = data;
    this.indexed = "";
    this.indexNode = el("nav");
    /** @type {Map<string, ExchangeRecord>} */
    this.finished = new Map();
    /** @type {Map<string, {node: HTMLElement, part: Exchange}>} exchange id -> its part */
    this.parts = new Map();
    this.asked = ""; // the newest question that was drawn
    /** @type {{exchange?: string | null, step?: number}} what was drawn of an answer that has ended */
    this.replayed = {};
    this.waits = ""; // the question that waits, as JSON
    this.waitingNode = el("section", { "data-kind": "exchange" });
    this.sheet = Sheet.of(root);
    this.ended = new AbortController();
    SMALL.addEventListener("change", () => this.drawAnew(), this.ended);
  }

  /** @param {ConversationData} data */
  update(data) {
    this.data = data;
    this.finished = new Map(data.records.map((record) => [record.id, record]));
    this.unsubscribe?.();
    this.unsubscribe = subscribe(data.book, (now, step) => this.draw(now, step));
  }

  close() {
    this.ended.abort();
    this.unsubscribe?.();
    this.sheet?.close();
  }

  /** Draws every exchange as the window, which was small or large before, has room for. */
  drawAnew() {
    for (const { part } of this.parts.values()) part.close();
    this.parts.clear();
    this.update(this.data);
  }

  /** @param {AskState} now @param {number} step */
  draw(now, step) {
    const { order, records, exchange, views, running, kept, waiting } = now;
    const newest = order.at(-1) ?? "";
    const follows = this.asked !== "" && order.at(-2) === this.asked; // else another conversation is shown
    if (newest !== this.asked && (running || follows)) this.sheet?.grow(true);
    this.asked = newest;
    for (const [id, { node, part }] of this.parts) {
      if (order.includes(id)) continue;
      part.close();
      node.remove();
      this.parts.delete(id);
    }
    const originals = now.shelf
      ? Object.fromEntries(now.shelf.books.map((book) => [book.number, book.memory?.original]))
      : { 0: now.memory?.original };
    /** @type {HTMLElement[]} */
    const nodes = this.data.earlier && order.length ? [this.earlier()] : [];
    if (now.questions.length) nodes.push(this.index(now.questions, exchange));
    if (now.notice) nodes.push(el("p", { class: "small dim notice" }, now.notice));
    for (const id of order) {
      const replayed = id === exchange && !running ? views[step]?.record : null;
      const { style, offsetHeight } = this.parts.get(id)?.node ?? { style: null, offsetHeight: 0 };
      if (style) style.minHeight = replayed ? style.minHeight || `${offsetHeight}px` : ""; // nothing moves at a step
      const record = replayed ?? records[id] ?? this.finished.get(id);
      if (record)
        this.part(record).update({
          ...record,
          current: id === exchange,
          among: order.length > 1,
          alone: now.questions.length > 0,
          folded: now.questions.length > 0 && this.sheet !== null, // beside the text nobody asked it
          kept: kept.includes(id),
          keptBefore: kept.includes(record.beside?.record.id ?? ""),
          originals: now.shelf && id !== exchange ? null : originals,
        });
      const drawn = this.parts.get(id);
      if (drawn) nodes.push(drawn.node);
    }
    if (waiting) nodes.push(this.waitingNode);
    else if (!order.length) nodes.push(this.begin());
    nodes.forEach((node, i) => {
      if (this.root.children[i] !== node) this.root.insertBefore(node, this.root.children[i] ?? null);
    });
    while (this.root.children.length > nodes.length) this.root.lastElementChild?.remove();
    this.wait(waiting);
    const { replayed } = this;
    const shown = this.parts.get(exchange ?? "");
    const state = conversationOf(this.data.book);
    const moved = exchange === replayed.exchange ? step !== replayed.step : state.wentBack;
    if (shown && !running && moved) ColumnScroll.of(this.root)?.bring(shown.node);
    if (exchange !== replayed.exchange) state.wentBack = false;
    this.replayed = running ? {} : { exchange, step };
  }

  /** Draws the question that waits, and brings it into view when it is new. @param {AskState["waiting"]} waiting */
  wait(waiting) {
    const key = JSON.stringify(waiting);
    if (key === this.waits) return;
    this.waits = key;
    const scroll = ColumnScroll.of(this.root);
    scroll?.remove(this.waitingNode);
    if (!waiting) return;
    const { question, why, ways } = waiting;
    /** @param {string} text @param {string} label @param {string} kind */
    const way = (text, label, kind) => button(label, () => this.send({ do: "ask-kept", text }), { kind });
    const choices = ways.map(([text, label], i) => way(text, label, i ? "slim" : "slim first"));
    this.waitingNode.replaceChildren(
      el("p", { class: "qt", lang: this.data.language, dir: "auto" }, question),
      el(
        "div",
        { class: "missing waits" },
        why && el("p", {}, why),
        el("div", { class: "acts" }, ...choices, way("", "Not now", "quiet slim")),
      ),
    );
    this.sheet?.grow(true);
    requestAnimationFrame(() => scroll?.add(this.waitingNode, { current: true }));
  }

  /** @param {ExchangeRecord} record */
  part({ id, beside }) {
    const known = this.parts.get(id);
    if (known) return known.part;
    const node = el("section", { "data-kind": "exchange" });
    const folds = this.sheet !== null || SMALL.matches || beside !== null;
    const part = new Exchange(node, { send: (act) => this.send({ of: id, ...act }) }, folds);
    this.parts.set(id, { node, part });
    return part;
  }

  /**
   * The list of a recording's questions. It is drawn again only when it changes, so it stays open or closed.
   * @param {[string, string][]} questions
   * @param {string | null} current
   */
  index(questions, current) {
    const key = JSON.stringify([questions, current]);
    if (key === this.indexed) return this.indexNode;
    this.indexed = key;
    const at = questions.findIndex(([id]) => id === current);
    /** @param {number} to */
    const choose = (to) => this.send({ do: "replay", of: questions[to][0] });
    /** @param {IconName} shape @param {string} name @param {number} to */
    const step = (shape, name, to) => {
      const arrow = button(null, () => choose(to), { kind: "quiet icon slim", icon: shape, name });
      arrow.disabled = !questions[to];
      return arrow;
    };
    const items = questions.map(([id, text], i) =>
      el("li", {}, el("button", { type: "button", "aria-current": id === current ? "true" : null, onclick: () => choose(i) }, text)),
    );
    const list = el(
      "details",
      {},
      el("summary", { class: "small" }, `Question ${at + 1} of ${questions.length} in this recording`),
      el("ol", { class: "convs small" }, ...items),
    );
    this.indexNode = el(
      "nav",
      { class: "index", "aria-label": "Questions of the recording" },
      list,
      step("left", "Question before", at - 1),
      step("right", "Next question", at + 1),
    );
    return this.indexNode;
  }

  begin() {
    const { title, empty, questions: items, language } = this.data;
    const named = title ? [el("p", { class: "title", dir: "auto" }, title)] : [];
    return el("div", { class: "begin" }, ...named, el("p", { class: "dim" }, empty), questions(items, language, this.send));
  }

  earlier() {
    return button(this.data.earlier, () => this.send({ do: "earlier" }), { kind: "quiet slim earlier" });
  }
}
