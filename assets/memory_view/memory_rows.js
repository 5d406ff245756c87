// The rows of the memory: the gist of a page, or a page opened in place with the passages that are quoted of it.

import { button, charactersAWord, el, fill, icon, lengthOf, number, plural, sumOf } from "../shared/dom.js";
import { countWords, isUnfolded, shownParts } from "./passages.js";

const BEGINS = 200; // characters of a page without a gist

/** 'Page 5'; of a page without a gist where it is, as at a claim: 'Chapter VII'. @param {Page} page */
const nameOf = ({ number: n, name = `page ${n}` }) => name[0].toUpperCase() + name.slice(1);

/**
 * @import { BookFacts, Page, PagePart } from "../protocol.js"
 * @import { Span } from "../shared/dom.js"
 * @import { Passages } from "./passages.js"
 *

 * @typedef {object} RowActs
 * @property {(n: number) => void} toggle opens or closes a page by hand
 * @property {(n: number) => void} redraw
 * @property {(n: number) => void} read opens it in the reader
 * @property {(n: number, back: HTMLElement) => void} original shows its page of the PDF
 */
export class MemoryRows {
  /** @param {RowActs} on */
  constructor(on) {
    this.on = on;
    /** @type {Set<string>} the folds that were opened, each as page, paragraph and character */
    this.unfolded = new Set();
  }

  /** The folds of a page that were opened. @param {number} n */
  folds(n) {
    return [...this.unfolded].filter((key) => key.startsWith(`${n}:`));
  }

  /**
   * The row of a page without its text. `asked`: it was looked up.
   * @param {Page} page @param {BookFacts} meta @param {boolean} asked
   */
  gist(page, meta, asked) {
    const { number: n } = page;
    const gist = el("span", { class: "g", lang: meta.language, dir: meta.rtl ? "rtl" : "ltr" });
    // without a gist, how it begins
    const text = page.gist?.text ?? beginningOf(page.paragraphs.join(" "));
    fill(gist, text, [], meta.emphasis);
    const open = { type: "button", class: "peekb", "aria-expanded": "false", "aria-label": `Open page ${n}` };
    const opener = el("button", { ...open, onclick: () => this.on.toggle(n) }, el("span", { class: "no num" }, String(n)), gist);
    return el("div", { class: `m${asked ? " look" : ""}${page.gist ? "" : " nogist"}`, "data-n": n }, opener);
  }

  /**
   * The row of a page with its text. `peek`: the person opened it; `part`: the paragraphs that the model read then.
   * @param {Page} page @param {BookFacts} meta
   * @param {{peek: boolean, part: PagePart[], passages: Passages, hasOriginal: boolean}} options
   */
  opened(page, meta, { peek, part, passages, hasOriginal }) {
    const { number: n } = page;
    const count = new Set(passages.map((passage) => passage.join())).size;
    const quoted = ["", ", one passage quoted", ", two passages quoted", ", three passages quoted"][count] ?? `, ${count} passages quoted`;
    const byHand = part.length ? "read in part; the rest opened by you" : "opened by you; the model did not read it for this answer";
    const fact = peek ? byHand : `all ${lengthOf(page.words, meta.language)} read${quoted}`;
    const label = peek ? nameOf(page) : `${nameOf(page)}, opened in place`;
    const close = button("Close", () => this.on.toggle(n), { kind: "quiet slim peekb", "aria-expanded": "true" });
    const original = button("PDF page", (event) => this.on.original(n, event.currentTarget), { kind: "quiet slim" });
    const lines = part.length
      ? page.paragraphs.flatMap((text, i) => {
          const line = this.line(text, meta, passages, i);
          if (part.some(([from, to]) => from <= i && i < to)) line.classList.add("readpart");
          return [...headAbove(page, i), line];
        })
      : this.text(page, meta, passages);
    const text = el("div", { class: "ot", lang: meta.language, dir: meta.rtl ? "rtl" : "ltr" }, ...lines);
    const body = el(
      "div",
      {},
      el("div", { class: "oh small" }, el("strong", {}, icon(part.length ? "in_part" : "open"), label), el("span", { class: "num" }, fact)),
      text,
      el(
        "div",
        { class: "ofoot" },
        close,
        button("Read it", () => this.on.read(n), { kind: "quiet slim" }),
        hasOriginal ? original : null,
      ),
    );
    const kind = peek ? "peek" : "look open";
    const number = el("span", { class: "no num" }, String(n));
    return el("div", { class: `m ${kind}`, "data-n": n, tabindex: "-1" }, number, el("div", { class: "sw" }, body));
  }

  /**
   * The row of a page opened in part: its gist, and below it only what the model was shown.
   * @param {Page} page @param {BookFacts} meta
   * @param {{part: PagePart[], passages: Passages}} options
   */
  inPart(page, meta, { part, passages }) {
    const { number: n, paragraphs } = page;
    const lengths = paragraphs.map((text) => text.length);
    const shown = part.map((one) =>
      clipsOf(one, paragraphs)
        .map(([i, first, stop]) => paragraphs[i].slice(first, stop))
        .join(" "),
    );
    const words = countWords(shown.join(" "));
    const place = { lang: meta.language, dir: meta.rtl ? "rtl" : "ltr" };
    const gist = el("p", { class: "pg", ...place });
    if (page.gist) fill(gist, page.gist.text, [], meta.emphasis);
    const texts = part.map((one) =>
      el(
        "div",
        { class: "ot pt", ...place },
        ...clipsOf(one, paragraphs).map((clip) => this.line(paragraphs[clip[0]], meta, passages, ...clip)),
      ),
    );
    const all = words >= page.words * (charactersAWord(meta.language) || 1);
    const open = all ? null : button("Open all of it", () => this.on.toggle(n), { kind: "quiet slim peekb", "aria-expanded": "false" });
    const read = `${all ? "all" : `${number(words)} of`} ${lengthOf(page.words, meta.language)}${all ? " read" : ""}`;
    const label = all ? [icon("open"), `${nameOf(page)}, opened in place`] : [icon("in_part"), `${nameOf(page)}, in part`];
    const head = el("div", { class: "oh small" }, el("strong", {}, ...label), el("span", { class: "num" }, read), open);
    const gauge = el("span", { class: "gauge", "aria-hidden": "true" }, ...barsOf(part, lengths).map(([top, tall]) => bar(top, tall)));
    const side = el("span", { class: "no num" }, String(n), gauge);
    return el("div", { class: "m look inpart", "data-n": n, tabindex: "-1" }, side, el("div", {}, head, gist, ...texts));
  }

  /**
   * A paragraph, or its characters `first` to `stop`, with its quoted passages.
   * @param {string} text @param {BookFacts} meta @param {Passages} passages @param {number} index
   */
  line(text, meta, passages, index, first = 0, stop = text.length) {
    /** @type {Span[]} */
    const quotes = passages.filter(([paragraph]) => paragraph === index).map(([, start, end]) => [start, end, "quote"]);
    const line = el("p", { dir: "auto" });
    fill(line, text, quotes, meta.emphasis, first, stop);
    if (first) line.prepend("… ");
    if (stop < text.length) line.append(" …");
    return line;
  }

  /**
   * The page around its quoted passages; the rest is folded and opens with a click.
   * @param {Page} page @param {BookFacts} meta @param {Passages} passages
   */
  text(page, meta, passages) {
    const opened = this.folds(page.number).map((key) => Number(key.split(":")[1]));
    /** @type {HTMLElement[]} */
    const nodes = [];
    /** @type {Passages} */
    let folded = [];
    const flush = () => {
      const run = folded;
      folded = [];
      return this.fold(page, meta, run);
    };
    for (const [index, text] of page.paragraphs.entries()) {
      /** @type {Span[]} */
      const quotes = passages.filter(([paragraph]) => paragraph === index).map(([, start, end]) => [start, end, "quote"]);
      const whole = !passages.length || isUnfolded(opened, index, passages);
      /** @type {[number, number][]} */
      const parts = whole
        ? [[0, text.length]]
        : shownParts(
            text,
            quotes.map(([start, end]) => [start, end]),
          );
      if (parts.length) nodes.push(...headAbove(page, index));
      if (!parts.length) {
        folded.push([index, 0, text.length]);
        continue;
      }
      const line = el("p", { dir: "auto" });
      let at = 0;
      for (const [start, end] of parts) {
        if (start > at) folded.push([index, at, start]);
        const fold = flush();
        if (fold) line.append(fold, " ");
        const piece = el("span");
        fill(piece, text, quotes, meta.emphasis, start, end);
        line.append(piece);
        at = end;
      }
      if (at < text.length) folded.push([index, at, text.length]);
      nodes.push(line);
    }
    const rest = flush();
    if (rest) nodes.at(-1)?.append(" ", rest);
    return nodes;
  }

  /** The button in place of a run of text; null where it has no words. @param {Page} page @param {BookFacts} meta @param {Passages} run */
  fold(page, meta, run) {
    const words = countWords(run.map(([index, start, end]) => page.paragraphs[index].slice(start, end)).join(" "));
    if (!run.length || !words) return null;
    const label = plural(words, charactersAWord(meta.language) ? "character" : "word");
    const show = () => {
      this.unfolded.add(`${page.number}:${run[0][0]}:${run[0][1]}`);
      this.on.redraw(page.number);
    };
    return el("button", { type: "button", class: "fold num", "aria-label": `Show ${label} more`, onclick: show }, `+ ${label}`);
  }
}

/**
 * Where the parts of a page stand on it, each as the share of the page before it and its own share.
 * @param {PagePart[]} part @param {number[]} lengths of the paragraphs
 * @returns {[number, number][]}
 */
export function barsOf(part, lengths) {
  const whole = Math.max(1, sumOf(lengths, Number));
  const until = (/** @type {number} */ end) => sumOf(lengths.slice(0, end), Number) / whole;
  return part.map(([from, to, first = 0, stop = 0]) => {
    const begins = until(from) + first / whole;
    return [begins, (stop ? until(to - 1) + stop / whole : until(to)) - begins];
  });
}

/** What a part has of each of its paragraphs: the number of the paragraph, and the characters from and to. @param {PagePart} part @param {string[]} paragraphs */
function clipsOf([from, to, first = 0, stop = 0], paragraphs) {
  return paragraphs.slice(from, to).map((text, i) => {
    const at = from + i;
    return /** @type {const} */ ([at, i ? 0 : first, stop && at === to - 1 ? stop : text.length]);
  });
}

/** The heading above a paragraph of a page, if it has one. @param {Page} page @param {number} index */
function headAbove({ headings = [] }, index) {
  const head = headings.findLast(([at]) => at === index);
  return head ? [el("p", { class: "oh3", dir: "auto" }, head[2])] : [];
}

/** How a text begins, ended after a word. @param {string} text */
export function beginningOf(text) {
  if (text.length <= BEGINS) return text;
  const at = text.lastIndexOf(" ", BEGINS);
  return `${text.slice(0, at > BEGINS / 2 ? at : BEGINS).trim()} …`; // a text without spaces anywhere
}

/** @param {number} top @param {number} tall */
const bar = (top, tall) => el("i", { style: `top:${(100 * top).toFixed(1)}%;height:${(100 * tall).toFixed(1)}%` });
