// An answer with its claims: its text in paragraphs, each claim with a chip that says what it rests on.

import { button, el, icon } from "../shared/dom.js";
import { conversationOf } from "./conversation_state.js";
import { showMemory } from "./sides.js";

/**
 * @import { Cite, ExchangeRecord, Piece } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 * @import { Shown } from "./exchange.js"
 */

/** @param {Shown} data @param {Api["send"]} send */
export const drawAnswer = (data, send) => new Answer(data, send).nodes();

/** An element with words of a book or a model. @param {ExchangeRecord} data @param {"p" | "span"} tag @param {string} kind @param {string} text */
export const words = (data, tag, kind, text) => el(tag, { class: kind, lang: data.language, dir: "auto" }, text);

class Answer {
  /** @param {Shown} data @param {Api["send"]} send */
  constructor(data, send) {
    this.data = data;
    this.send = send;
  }

  /** @returns {(Element | null)[]} */
  nodes() {
    const { pieces, loose, running, before, notFound, hidden } = this.data;
    if (hidden) return [this.hidden(hidden)];
    if (!pieces.length && !loose.length && !notFound) return [];
    /** @type {(Element | null)[]} */
    const out = [before ? el("p", { class: "small before" }, before) : null];
    if (pieces.some((piece) => piece.shared)) return [...out, this.sentences(pieces)];
    const box = el("div", { class: "ans", lang: this.data.language, dir: "auto" });
    let line = el("p", { dir: "auto" });
    box.append(line);
    for (const { text, cites } of pieces) {
      const blocks = text.split(/\n\s*\n/);
      for (const [i, block] of blocks.entries()) {
        if (i) {
          line = el("p", { dir: "auto" });
          box.append(line);
        }
        this.run(line, block, i === blocks.length - 1 ? cites : []);
      }
    }
    if (running) line.append(el("span", { class: "caret", "aria-hidden": "true" }));
    if (pieces.length) out.push(box);
    if (notFound) return [...out.slice(0, 1), this.missing(notFound, pieces.length ? box : null)];
    if (loose.length) {
      out.push(el("p", { class: "small loose" }, "Quoted: ", ...loose.flatMap((c) => [this.chip(c), " "])));
    }
    return out;
  }

  /**
   * Sentences copied by the built-in reader, each on a line of its own; the words that the question has too underlined.
   * @param {Piece[]} pieces
   */
  sentences(pieces) {
    const box = el("div", { class: "sentences", lang: this.data.language, dir: "auto" });
    for (const { text, cites, book, shared } of pieces) {
      if (!shared) {
        box.append(el("p", { class: "small dim" }, ...withEmphasis(text)));
        continue;
      }
      const line = el("p", { class: book ? "sentence book" : "sentence", dir: "auto" });
      let at = 0;
      for (const [start, end] of shared) {
        line.append(text.slice(at, start), el("u", {}, text.slice(start, end)));
        at = end;
      }
      line.append(text.slice(at), ...this.chips(cites, book));
      box.append(line);
    }
    return box;
  }

  /**
   * The answer "not found": what was looked at, what the limit excluded, the words in the text, and what to do next.
   * @param {NonNullable<ExchangeRecord["notFound"]>} found
   * @param {Element | null} said
   */
  missing({ title, looked, kept_out, let_in, whole, words: inText, pieces }, said) {
    const { acts } = this.data;
    const ways = el("div", { class: "acts" });
    if (acts.includes("let-in")) ways.append(button(let_in, () => this.send({ do: "let-in" }), { kind: "slim" }));
    if (acts.includes("more")) ways.append(button("Look up more pages", () => this.send({ do: "more" }), { kind: "slim" }));
    if (acts.includes("whole")) {
      ways.append(button(whole, () => this.send({ do: "method", text: "full-text" }), { kind: "slim" }));
    }
    return el(
      "div",
      { class: "missing" },
      el("p", {}, el("strong", {}, title)),
      said,
      el("p", { class: "small dim" }, [looked, kept_out].filter(Boolean).join(" ")),
      inText ? el("p", { class: "small" }, inText) : null,
      pieces.length ? this.sentences(pieces) : null,
      ways,
    );
  }

  /** @param {string} why */
  hidden(why) {
    const within = this.data.acts.includes("within")
      ? button("Ask again within the limit", () => this.send({ do: "again" }), { kind: "slim" })
      : null;
    return el(
      "div",
      { class: "missing" },
      el("p", {}, icon("unseen"), " ", why),
      within && el("div", { class: "acts" }, within, el("span", { class: "small dim num price" }, this.data.price)),
    );
  }

  /** The chips of claims, each after a space. @param {Cite[]} cites @param {boolean} [isQuoted] */
  chips(cites, isQuoted) {
    return cites.flatMap((cite) => [" ", this.chip(cite, isQuoted)]);
  }

  /**
   * Adds text with its *emphasis* as elements, and its chips.
   * @param {Element} line
   * @param {string} text
   * @param {Cite[]} cites
   */
  run(line, text, cites) {
    const nodes = withEmphasis(cites.length ? text.trimEnd() : text);
    if (!cites.length) return void line.append(...nodes);
    line.append(...nodes, ...this.chips(cites), " ");
  }

  /** A citation; where its words are on a page of a PDF that is stored, with a button that shows them there. @param {Cite} cite */
  chip(cite, isQuoted = cite.state === "page") {
    const { page, book, state, label, why, at } = cite;
    if (state === "pending") return el("span", { class: "cite pending" }, label);
    const kind = { page: cite.inPart ? "page some" : "page", memory: "mem", copied: "mem", "not found": "none" }[state];
    /** @param {MouseEvent} event */
    const follow = ({ currentTarget }) => {
      // in Read the text is beside the answer: it goes to the words
      const asked = new CustomEvent("readagent-cite", { detail: cite, bubbles: true, composed: true, cancelable: true });
      if (!(/** @type {Element} */ (currentTarget).dispatchEvent(asked))) return;
      if (page || book) showMemory();
      this.send({ do: "cite", page, text: String(at) });
    };
    const chip = el(
      "button",
      { type: "button", class: `cite ${kind}`, title: why, "aria-label": `${label}. ${why}`, "data-page": page, onclick: follow },
      state === "copied" ? null : icon(cite.inPart && state === "page" ? "in_part" : `claim_${state}`),
      el("span", {}, label),
    );
    const original = this.data.originals?.[book ?? 0];
    if (!original || !isQuoted) return chip;
    /** @param {MouseEvent} event */
    const point = (event) => {
      const { currentTarget: back } = event;
      follow(event);
      conversationOf(original).dispatchEvent(new CustomEvent("original", { detail: { page, back } }));
    };
    return el(
      "span",
      { class: "pair" },
      chip,
      el(
        "button",
        { type: "button", class: "onpdf", title: "Show on the PDF page", "aria-label": `${label}: show on the PDF page`, onclick: point },
        "PDF",
      ),
    );
  }
}

/** What stands at each option: whether it was chosen, and of two answers beside each other in which.
 * @param {ExchangeRecord["options"]} options @param {ExchangeRecord["beside"]} [beside] */
export const picks = (options, beside) =>
  options.map(({ chosen }, i) => {
    if (!beside) return chosen ? "chosen" : "";
    const sides = [beside.record.options?.[i]?.chosen ? beside.then : "", chosen ? beside.now : ""].filter(Boolean);
    return sides.length ? `chosen: ${sides.join(", ")}` : "";
  });

/** '**strong**' and '*emphasis*' as elements around text nodes; everything else unchanged. @param {string} text */
function withEmphasis(text) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(/\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*/g)) {
    if (found.index > at) nodes.push(text.slice(at, found.index));
    nodes.push(found[1] ? el("strong", {}, found[1]) : el("em", {}, found[2]));
    at = found.index + found[0].length;
  }
  if (at < text.length) nodes.push(text.slice(at));
  return nodes;
}
