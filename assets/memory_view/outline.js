// The sections with how far the person has read, and the map's legend. Follows the reader without the server.

import { el, percent, plural, sumOf, svg } from "../shared/dom.js";
import { bookOf, oncePerFrame, sectionStarts } from "./book_store.js";
import { hatching } from "./map.js";

export class Outline {
  constructor(root) {
    this.list = el("ol", { class: "outline" });
    this.head = el("p", { class: "lab" }, "Outline");
    this.line = el("p", { class: "small dim bookline" });
    root.replaceChildren(this.line, el("nav", { "aria-label": "Outline" }, this.head, this.list), mapKey());
  }

  /** @param {import("./types.js").OutlineData} data */
  update(data) {
    if (this.scope !== data.scope) {
      this.close();
      this.scope = data.scope;
      this.book = bookOf(data.scope);
      const draw = oncePerFrame(() => this.draw());
      this.book.addEventListener("pages", (this.onpages = () => draw()));
      this.book.addEventListener("at", (this.onat = () => this.mark()));
      this.book.addEventListener("outline", (this.onkey = () => this.reveal()));
    }
    this.data = data;
    this.draw();
  }

  close() {
    const listeners = { pages: this.onpages, at: this.onat, outline: this.onkey };
    for (const [name, listener] of Object.entries(listeners)) this.book?.removeEventListener(name, listener);
  }

  draw() {
    this.sections = sectionStarts(this.book, this.data.sections);
    this.head.hidden = !this.sections.length;
    const read = this.book.pages.filter((p) => p?.g);
    const words = sumOf(read, (p) => p.w);
    const share = percent(sumOf(read, (p) => p.g.w), words);
    this.line.textContent = !read.length ? "" : this.data.meta.complete
      ? `${plural(read.length, "page")}, ${plural(words, "word")}. The gists are ${share} as long.`
      : `${plural(read.length, "page")} so far. Their gists are ${share} as long.`;
    const go = (page) => () => this.book.dispatchEvent(new CustomEvent("goto", { detail: page }));
    this.list.replaceChildren(...this.sections.map((s) => {
      const pages = s.page === null ? "" : s.last > s.page ? `${s.page}–${s.last}` : String(s.page);
      const link = el("button", { type: "button", onclick: go(s.page), disabled: s.page === null },
        el("span", { lang: this.data.meta.language, dir: "auto" }, s.title), el("span", { class: "num pg" }, pages));
      return el("li", { class: `l${Math.min(s.level, 3)}` }, link, el("div", { class: "bar" }, el("b")));
    }));
    this.mark();
  }

  mark() {
    const at = this.book.at?.paragraph ?? -1;
    const known = this.book.pages.reduce((n, p) => Math.max(n, p ? p.s + p.t.length : 0), 0);
    [...this.list.children].forEach((item, i) => {
      const { start, next } = this.sections[i];
      const end = Math.min(next, known);
      const done = at < start ? 0 : at >= next - 1 ? 100 : (100 * (at - start + 1)) / Math.max(1, end - start);
      const here = start <= at && at < next;
      item.classList.toggle("on", here);
      if (here) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
      item.querySelector("b").style.width = `${Math.min(100, done)}%`;
    });
  }

  reveal() {
    (this.list.querySelector(".on button") ?? this.list.querySelector("button"))?.focus();
  }
}

function mapKey() {
  const cell = (...shapes) => svg("svg", { viewBox: "0 0 22 14", "aria-hidden": "true" }, ...shapes);
  const rect = (kind, x, width, rest = {}) => svg("rect", { class: kind, x, width, height: 14, ...rest });
  const rows = [
    [cell(rect("m1", 0, 10), rect("m4", 12, 10)), "Darker: a longer gist for its page"],
    [cell(rect("mlook", 0, 22, { rx: 1 })), "Wider: looked up in the last answer"],
    [cell(hatching("keyhatch"), rect("m2", 3, 16), rect("", 3, 16, { fill: "url(#keyhatch)" })), "By rule, not by the model"],
    [cell(rect("m2", 3, 16), svg("path", { class: "medit", d: "M12 0h7v7z" })), "Gist edited by you"],
    [cell(rect("m2", 5, 12, { y: 3, height: 8 }), rect("mcur", 2, 18, { y: 1, height: 12, rx: 2 })), "You are here"],
    [cell(svg("circle", { class: "mtick", cx: 11, cy: 7, r: 3 })), "Search hit"],
  ];
  const key = el("div", { class: "key" }, ...rows.flatMap(([shape, text]) => [shape, el("span", {}, text)]));
  return el("div", { class: "mapkey" }, el("p", { class: "lab" }, "The map"), key);
}
