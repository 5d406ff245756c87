// The book and its sections in the sidebar: how long each takes, how far the person has read. Follows the reader without
// the server.

import { el, first, number, percent, plural, sumOf, svg } from "../shared/dom.js";
import { uncover } from "../shared/sidebar.js";
import { SIDEBAR_OPENER } from "../shared/streamlit.js";
import { layerOf, oncePerFrame } from "./book_store.js";
import { listFigures } from "./figures.js";
import { hatching } from "./map.js";
import { readingTime, textOf, wordsBetween } from "./text_store.js";

/**
 * @import { OutlineData } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 */

export class Outline {
  /** @param {HTMLElement} root @param {Api} _api @param {OutlineData} data */
  constructor(root, _api, { scope, layer }) {
    this.root = root;
    this.book = textOf(scope);
    this.scope = scope;
    this.layer = layer;
    /** @type {number[]} where each section ends */
    this.ends = [];
    this.on = -1; // the section that the person is in
    this.title = el("p", { class: "btitle", dir: "auto" });
    this.author = el("p", { class: "small dim", dir: "auto" });
    this.list = el("ol", { class: "outline" });
    this.head = el("p", { class: "lab" }, "Chapters");
    this.figures = el("details", { class: "figures", hidden: true });
    this.line = el("p", { class: "small dim bookline" });
    root.replaceChildren(
      this.title,
      this.author,
      this.line,
      el("nav", { "aria-label": "Outline" }, this.head, this.list),
      this.figures,
      mapKey(),
    );
    this.sized = new ResizeObserver(() => this.place()); // a sidebar that opens grows to its width
    this.draw = oncePerFrame(() => this.drawNow());
  }

  /** @param {OutlineData} data */
  update({ scope, layer }) {
    if (this.heard && this.scope === scope && this.layer === layer) return;
    this.close();
    this.heard = new AbortController();
    const until = { signal: this.heard.signal };
    Object.assign(this, { scope, layer, book: textOf(scope) });
    this.book.addEventListener("outline", () => this.draw(), until);
    this.book.addEventListener("at", () => this.mark(), until);
    this.book.addEventListener("show outline", () => this.reveal(), until);
    if (layer) layerOf(layer).addEventListener("pages", () => this.draw(), until);
    document.addEventListener("keydown", (event) => this.key(event), { ...until, capture: true }); // before the reader
    this.sized.observe(this.list);
    this.draw();
  }

  close() {
    this.heard?.abort();
    this.sized.disconnect();
  }

  drawNow() {
    const { book } = this;
    const { outline } = book;
    if (!book.known) return;
    const words = { lang: outline.language, dir: "auto" };
    this.title.textContent = outline.title;
    this.title.lang = outline.language;
    this.author.textContent = outline.author;
    this.head.hidden = !outline.sections.length;
    const length = outline.unspaced ? `${number(2 * outline.words)} characters` : plural(outline.words, "word");
    const facts = [
      `${length}, ${readingTime(book, outline.words)}`,
      this.gistsLine(),
      outline.recognised ? "The text was recognised by a machine in pictures of pages: some words may be wrong" : "",
    ].filter(Boolean);
    this.line.textContent = facts.join(". ") + (facts.length > 1 ? "." : "");
    /** @param {number} start */
    const go = (start) => () => {
      book.dispatchEvent(new CustomEvent("goto", { detail: start }));
      uncover();
    };
    this.list.replaceChildren(
      ...outline.sections.map(([title, level, start, count]) => {
        const time = readingTime(book, count);
        const link = el("button", { type: "button", onclick: go(start) }, el("span", words, title), el("span", { class: "num pg" }, time));
        return el("li", { class: `l${Math.min(level, 3)}` }, link, el("div", { class: "bar" }, el("b")));
      }),
    );
    const figures = listFigures(outline, go);
    this.figures.hidden = !figures.length;
    this.figures.replaceChildren(
      el("summary", { class: "lab" }, `Pictures (${number(figures.length)})`),
      el("ol", { class: "outline" }, ...figures),
    );
    this.ends = outline.sections.map(
      ([, level], i) => outline.sections.find((later, k) => k > i && later[1] <= level)?.[2] ?? outline.paragraphs,
    );
    this.on = -1;
    this.mark();
  }

  gistsLine() {
    const made = (this.layer ? layerOf(this.layer).pages : []).flatMap((page) =>
      page?.gist || page?.veiled ? [{ words: page.words, gist: page.gist?.words ?? page.veiled ?? 0 }] : [],
    );
    const share = percent(
      sumOf(made, (page) => page.gist),
      sumOf(made, (page) => page.words),
    );
    return made.length ? `The gists are ${share.replace(" ", "\u00a0")} as long` : "";
  }

  // Marks the innermost section that the person is in, and how much of each has been read.
  mark() {
    const { outline, at, known } = this.book;
    if (!known) return;
    const furthest = this.book.furthest ?? 0;
    const { sections } = outline;
    const here = at ? sections.findLastIndex(([, , start]) => start <= at.paragraph) : -1;
    [...this.list.children].forEach((item, i) => {
      const [start, end] = [sections[i][2], this.ends[i]];
      const whole = wordsBetween(this.book, start, end);
      const read = furthest <= start ? 0 : wordsBetween(this.book, start, Math.min(furthest, end));
      /** @type {HTMLElement} */ (item.querySelector("b")).style.width = `${whole ? Math.min(100, (100 * read) / whole).toFixed(0) : 0}%`;
      item.classList.toggle("on", i === here);
      if (i === here) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    });
    if (here >= 0 && here !== this.on) this.list.children[here]?.scrollIntoView({ block: "nearest" });
    this.on = here;
  }

  /** Escape closes the sidebar where it lies over the text, and leads from it to the text. @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== "Escape") return;
    const within = event.composedPath().includes(this.root);
    if (!uncover() && !within) return;
    event.stopImmediatePropagation();
    if (within) this.book.dispatchEvent(new Event("outline left"));
  }

  // Also in a sidebar that was hidden, as it is on a phone.
  reveal() {
    /** @type {HTMLElement | null} */ (document.querySelector(SIDEBAR_OPENER))?.click();
    const chapter = first(this.list, ".on button") ?? this.list.querySelector("button");
    chapter?.focus({ preventScroll: true });
    this.place();
  }

  // Shows the chapter that the person is in, from the top as far as it takes.
  place() {
    this.title.scrollIntoView({ block: "end" });
    this.list.children[Math.max(0, this.on)]?.scrollIntoView({ block: "nearest" });
  }
}

function mapKey() {
  /** @param {...SVGElement} shapes */
  const cell = (...shapes) => svg("svg", { viewBox: "0 0 22 14", "aria-hidden": "true" }, ...shapes);
  /** @param {string} kind @param {number} x @param {number} width @param {Record<string, string | number>} [rest] */
  const rect = (kind, x, width, rest = {}) => svg("rect", { class: kind, x, width, height: 14, ...rest });
  const rows = [
    [cell(svg("path", { class: "mhere", d: "M4 1l9 6-9 6z" })), "You are here"],
    [cell(svg("circle", { class: "mring", cx: 9, cy: 7, r: 5 })), "You are here, beyond what you have read"],
    [cell(svg("path", { class: "mline", d: "M0 7h22" })), "You have read up to here: drag it"],
    [cell(rect("mopen", 3, 16, { y: 0.5, height: 13 })), "No pages yet"],
    [cell(rect("m1", 0, 10), rect("m4", 12, 10)), "Darker: a longer gist"],
    [cell(rect("mlook", 0, 22, { rx: 1 })), "Looked up in the last answer"],
    [cell(hatching("keyhatch"), rect("m2", 3, 16), rect("", 3, 16, { fill: "url(#keyhatch)" })), "By rule, not by the model"],
    [cell(rect("m2", 3, 16), svg("path", { class: "medit", d: "M12 0h7v7z" })), "Gist edited by you"],
    [cell(svg("circle", { class: "mtick", cx: 11, cy: 7, r: 3 })), "Search hit"],
    [cell(...["rose", "sky"].map((hue, i) => rect(`marktick hue-${hue}`, 2 + 10 * i, 8, { y: 5, height: 3 }))), "Your marks"],
  ];
  const key = el("div", { class: "key" }, ...rows.flatMap(([shape, text]) => [shape, el("span", {}, text)]));
  return el("details", { class: "mapkey" }, el("summary", { class: "lab" }, "What the map shows"), key);
}
