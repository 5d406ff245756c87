// Draws the margins of a page: its number, the pause before it, and its gist.

import { button, el, fill, icon, number, plural } from "../shared/dom.js";
import { pickedPlaces, pickedSentences } from "./sentences.js";
import { placeOf } from "./text_store.js";
import { veilOf } from "./veil.js";

/**
 * @import { Gist, LayerPage } from "../protocol.js"
 * @import { IconName, Span } from "../shared/dom.js"
 * @import { Rows } from "./layer.js"
 * @import { ReadingState, Send } from "./state.js"
 */

const SHOWN_WORDS = 120; // of a gist of picked sentences; all of it with a press
const BLANK = /(\n\s*\n)/; // between paragraphs of a gist
const LONG_WORDS = 160; // a gist that has no more is shown whole

/** Why a page ends, as [first words, reason]. @param {Pick<LayerPage, "ends" | "rule" | "reason" | "veiled">} page */
export function pauseReason(page) {
  if (page.rule) return ["Paused here by rule:", "the model named no place it was offered, so the last one was taken"];
  if (page.ends === "section") return ["Paused here:", page.reason || "the section ends"];
  if (page.ends === "only") return ["Paused here:", page.reason || "it was the only place to pause"];
  if (page.ends === "rule") return ["Cut here by rule:", page.reason || "pages of even length, no model was asked"];
  if (page.ends === "end") return ["The end", ""];
  return ["Paused here:", page.reason || (page.veiled ? "you see why once you have read this far" : "no reason was given")];
}

export class Leaves {
  /**
   * @param {{state: ReadingState, hitsInGist: (page: number) => Span[],
   *   openGist: (page: number, options?: {edit?: boolean}) => void, resized: (page: number) => void, send: Send}} needs
   */
  constructor({ state, hitsInGist, openGist, resized, send }) {
    this.state = state;
    this.hitsInGist = hitsInGist;
    this.openGist = openGist;
    this.resized = resized;
    this.send = send;
    /** @type {Set<LayerPage>} the pages whose long gist was opened */
    this.whole = new Set();
  }

  /** The page's number, and the pause before it with its reason on hover, focus or a tap. @param {LayerPage} page */
  mark(page) {
    const { book } = this.state;
    const before = this.state.pages[page.number - 2];
    const [lead, reason] = before ? pauseReason(before) : ["", ""];
    const place = placeOf(book, page.start);
    const facts = [
      `Page ${page.number}, ${plural(page.words, book.outline.unspaced ? "character" : "word").replace(/^[\d,]+/, number(this.lengthOf(page.words)))}`,
      place,
    ]
      .filter(Boolean)
      .join(" · ");
    const why = el(
      "span",
      { class: "why", role: "tooltip", lang: "en", dir: "ltr" },
      before ? el("strong", {}, lead) : null,
      reason ? el("span", { dir: "auto" }, ` ${reason}`) : null,
      el("span", { class: "facts" }, facts),
    );
    const label = [facts, lead && `${lead} ${reason}`].filter(Boolean).join(". ");
    const byRule = before && (before.rule || before.ends === "rule");
    const node = el(
      "button",
      {
        type: "button",
        class: `pmark${byRule ? " fb" : ""}`,
        "data-n": page.number,
        "aria-label": label,
        onclick: () => {
          node.focus();
        },
      },
      before ? icon("pause") : null,
      el("span", { class: "num" }, String(page.number)),
      why,
    );
    return node;
  }

  /** @param {number} words */
  lengthOf(words) {
    return this.state.book.outline.unspaced ? 2 * words : words; // two characters count as a word
  }

  /** @param {LayerPage} page @param {Rows} spot */
  gist(page, spot) {
    const { language, rtl } = this.state.book.outline;
    const n = page.number;
    const unit = this.state.book.outline.unspaced ? "characters" : "words";
    const length = page.gist
      ? `${number(this.lengthOf(page.gist.words))} of ${number(this.lengthOf(page.words))} ${unit}`
      : page.veiled
        ? "not read yet"
        : "gist to come";
    /** @param {{currentTarget: HTMLButtonElement}} event */
    const toggle = (event) => {
      const open = gist.classList.toggle("open");
      event.currentTarget.setAttribute("aria-expanded", String(open));
      event.currentTarget.textContent = open ? "Hide" : "Show";
    };
    const all = button("Whole gist", () => this.openGist(n), {
      kind: "quiet slim allb",
      "aria-label": `Whole gist of page ${n}`,
    });
    const gist = el(
      "aside",
      {
        class: `leaf${page.gist ? "" : page.veiled ? " veiled" : " bare"}`,
        id: `p${n}`,
        "data-n": n,
        tabindex: "-1",
        "aria-label": `Gist of page ${n}`,
      },
      el(
        "div",
        { class: "in" },
        el(
          "div",
          { class: "ghead small" },
          el("strong", {}, `${this.state.data.gists.by ? "Picked from" : "Gist of"} page ${n}`),
          el("span", { class: "dimmer num" }, length),
          page.gist || page.veiled
            ? button("Show", toggle, { kind: "quiet slim showb", "aria-expanded": "false", "aria-label": `Show the gist of page ${n}` })
            : null,
        ),
        n === 1 && page.gist ? this.about(this.state.data.gists.state === "ready") : null,
        el("div", { class: "gbody", lang: language, dir: rtl ? "rtl" : "ltr" }, ...this.body(page)),
        ...this.extras(page),
        all,
      ),
    );
    this.place(gist, spot);
    return gist;
  }

  /** @param {HTMLElement} gist @param {Rows} spot */
  place(gist, { top, bottom, rows, inside }) {
    gist.classList.toggle("inside", inside);
    gist.style.cssText = `--rows:${rows[0]} / ${rows[1]};--after:${rows[1]};--top:${top.toFixed(2)}%;--bottom:${bottom.toFixed(2)}%`;
  }

  /** What a gist of the built-in reader is; `next`: and what can be done with the gists. */
  about(next = false) {
    const by = this.state.data.gists.by ? `Picked sentences, by the ${this.state.data.gists.by}. ` : "";
    const views = el("span", { class: "wide" }, ", or Gists to read it in short"); // a phone has them in a menu
    const then = next ? el("span", { class: "next" }, "Next: press Ask to ask about the book", views, ".") : "";
    return by || next ? el("p", { class: "small about" }, by, then) : null;
  }

  /** `all`: a long gist whole, without a button. @param {LayerPage} page */
  body(page, { all = false } = {}) {
    if (page.veiled) return veilOf(page, this.send);
    if (!page.gist) return [];
    const text = el("p", { class: "gtext", dir: "auto" });
    if (all) this.fill(text, page);
    else this.refill(text, page);
    return [text];
  }

  /** What else belongs to a gist: tags and, while its page is the current one, what can be done with it. @param {LayerPage} page */
  extras(page) {
    const { can } = this.state.data;
    const tags = this.tags(page);
    const { number: n } = page;
    const edit = { kind: "quiet slim", "aria-label": `Edit the gist of page ${n}` };
    const ask = { kind: "quiet slim", "aria-label": `Ask about page ${n}` };
    const acts = [
      ...(can.edit ? [button("Edit gist", () => this.openGist(n, { edit: true }), edit)] : []),
      ...(can.ask ? [button("Ask about it", () => this.send({ do: "ask", page: n }), ask)] : []),
    ];
    return [
      ...(tags.length ? [el("div", { class: "tags" }, ...tags)] : []),
      ...(page.gist && acts.length ? [el("div", { class: "gact" }, ...acts)] : []),
    ];
  }

  /** @param {LayerPage} page */
  tags(page) {
    /** @type {Partial<Gist>} */
    const gist = page.gist ?? {};
    /** @param {string} text @param {IconName} shape */
    const tag = (text, shape, kind = "") => el("span", { class: `tag ${kind}` }, icon(shape), text);
    const looked = page.veiled ? 0 : this.state.looked.get(page.number); // where answers looked is a hint of what comes
    return [
      looked
        ? button(`Looked up in ${plural(looked, "answer")}`, () => this.send({ do: "looked", page: page.number }), {
            kind: "tag lamp",
            icon: "open",
            title: looked > 1 ? "Open the last of them" : "Open it",
          })
        : null,
      gist.rule ? tag("Made by rule from the page's first sentences", "rule") : null,
      gist.edited ? tag("Edited by you", "pencil") : null,
      gist.own ? tag("The page is short: its gist is its own text", "open") : null,
      gist.shortened ? tag(gist.shortened === 1 ? "Shortened again" : `Shortened again ${gist.shortened} times`, "rule") : null,
      ...(gist.notes ?? []).map((mark) => tag(mark, "flag", "alert")),
    ].filter((node) => node !== null);
  }

  /** Draws a gist again, with the hits of a search. @param {Element} text @param {LayerPage} page */
  refill(text, page) {
    const short = this.shortened(page);
    const opened = this.whole.has(page);
    this.fill(text, page, opened ? null : short);
    if (!short) return;
    const turn = () => {
      if (opened) this.whole.delete(page);
      else this.whole.add(page);
      this.refill(text, page);
      text.querySelector("button")?.focus({ preventScroll: true });
      this.resized(page.number);
    };
    const name = opened ? `Show less of the gist of page ${page.number}` : `Whole gist of page ${page.number}`;
    text.append(button(opened ? "Show less" : "Whole gist", turn, { kind: "quiet slim wholeb", "aria-label": name }));
  }

  /**
   * Draws the words of a gist, each paragraph a block. Picked sentences are parted by an ellipsis where they do not follow each other in the page.
   * @param {Element} text
   * @param {LayerPage} page
   * @param {Set<number> | null} shown where the sentences begin that are not hidden; null for all of them
   */
  fill(text, page, shown = null) {
    const { language, emphasis } = this.state.book.outline;
    const gist = page.gist?.text ?? "";
    const hits = this.hitsInGist(page.number);
    let [end, before] = [0, true];
    if (!this.isPicked(page)) {
      const parts = gist.split(BLANK).map((part, i) => {
        const node = el("span", i % 2 ? { hidden: true } : { class: "par" });
        fill(node, gist, hits, emphasis, end, end + part.length);
        end += part.length;
        return node;
      });
      return text.replaceChildren(...parts);
    }
    const source = this.state.book.text.slice(page.start, page.end + 1).join("\n");
    text.replaceChildren(
      ...pickedSentences(gist, language, source).flatMap(([from, to, follows]) => {
        const hidden = shown !== null && !shown.has(from);
        const apart = follows ? "apart cut" : "apart"; // cut: in short only
        const between = el("span", { hidden, class: end && !(follows && before) ? apart : "" }, gist.slice(end, from));
        const sentence = el("span", { hidden }); // still in the text: a place in a gist is the number of characters before it
        fill(sentence, gist, hits, emphasis, from, to);
        [end, before] = [to, !hidden];
        return [between, sentence];
      }),
    );
    text.append(gist.slice(end));
  }

  /** Whether a gist is sentences that were picked from its page. @param {LayerPage} page */
  isPicked({ gist }) {
    return Boolean(this.state.data.gists.by) && !gist?.edited;
  }

  /**
   * Where those sentences of a long gist of picked sentences begin that stand for it, spread over it; null where it is shown
   * whole: it is not long, a model wrote it, or a search has found something in it.
   * @param {LayerPage} page
   */
  shortened(page) {
    const { gist } = page;
    if (!gist || !this.isPicked(page) || gist.words <= LONG_WORDS || this.hitsInGist(page.number).length) return null;
    const { language, unspaced } = this.state.book.outline;
    return new Set(pickedPlaces([gist.text], language, unspaced ? 2 * SHOWN_WORDS : SHOWN_WORDS).map(([, [from]]) => from));
  }
}
