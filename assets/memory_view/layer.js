// The layer of a reading over the text: for each page its number and the pause before it in one margin, its gist in the
// other. What is drawn here takes no space beside the text, so that no line moves when it comes.

import { button, el, fill, icon, number, plural } from "../shared/dom.js";
import { bookOf, oncePerFrame } from "./book_store.js";
import { lastUpTo, placeOf, unitOf } from "./text_store.js";

/** Why a page ends, as [first words, reason]. */
export function pauseReason(page) {
  if (page.f) return ["Paused here by rule:", "the model named no place it was offered, so the last one was taken"];
  if (page.e === "section") return ["Paused here:", page.r || "the section ends"];
  if (page.e === "only") return ["Paused here:", page.r || "it was the only place to pause"];
  if (page.e === "rule") return ["Cut here by rule:", page.r || "pages of even length, no model was asked"];
  if (page.e === "end") return ["The end", ""];
  return ["Paused here:", page.r || "no reason was given"];
}

export class Layer {
  constructor(reader) {
    this.reader = reader;
    this.drawn = new Map(); // page -> {mark, gist}
    this.late = new Set(); // pages whose closed line waits until its place is out of view (phones)
    this.pages = [];
  }

  change(scope) {
    this.close();
    for (const n of [...this.drawn.keys()]) this.drop(n);
    this.store = scope ? bookOf(scope) : null;
    this.count = 0;
    const take = oncePerFrame((numbers) => this.reader.root.isConnected && this.reader.book?.outline && this.take(numbers));
    this.store?.addEventListener("pages", (this.onpages = (e) => take(e.detail)));
  }

  close() {
    this.store?.removeEventListener("pages", this.onpages);
  }

  // Draws pages that have come or changed; without `numbers`, those that are not drawn yet.
  take(numbers = []) {
    const { count } = this.reader.data;
    // pages may come before the count that has them: only where the count falls are those beyond it deleted
    if (this.store && count < this.count) this.store.pages.length = Math.min(this.store.pages.length, count);
    this.count = count;
    const stored = this.store?.pages.slice(0, count) ?? [];
    const gap = stored.findIndex((page) => !page);
    this.pages = gap < 0 ? stored : stored.slice(0, gap);
    const gone = [...this.drawn.keys()].filter((n) => n > this.pages.length);
    for (const n of gone) this.drop(n);
    const fresh = this.pages.filter((page) => !this.drawn.has(page.n)).map((page) => page.n);
    const drawn = new Set([...fresh, ...numbers.filter((n) => this.drawn.has(n))]);
    for (const n of drawn) this.draw(n);
    if (gone.length || drawn.size || numbers.length) this.reader.layerChanged();
  }

  // Draws the pages of a unit whose text has just come.
  fill(unit) {
    for (const page of this.pages) if (unitOf(this.reader.book, page.s) <= unit && unit <= this.unitEnding(page)) this.draw(page.n);
  }

  unitEnding(page) {
    return unitOf(this.reader.book, page.z ? page.x : page.x - 1);
  }

  drop(n) {
    const { mark, gist } = this.drawn.get(n);
    mark?.remove();
    gist?.remove();
    this.drawn.delete(n);
    this.late.delete(n);
  }

  /** The page of a place in the text, from 1; null where none is made yet. */
  pageAt(paragraph, at = 0) {
    const after = (page) => page.s > paragraph || (page.s === paragraph && (page.a ?? 0) > at + 4);
    const found = this.pages[lastUpTo(this.pages, 0, (page) => (after(page) ? 1 : 0))];
    return found && (found.x > paragraph || (found.x === paragraph && (found.z ?? 0) > at)) ? found.n : null;
  }

  gistsMade() {
    return this.pages.filter((page) => page.g).length;
  }

  draw(n) {
    const page = this.pages[n - 1];
    const before = this.drawn.get(n);
    const { units, book } = this.reader;
    const first = units.nodes[page.s];
    const spot = this.spot(page);
    if (!first || !spot) return;
    const hadFocus = before?.gist?.contains(this.reader.root.getRootNode().activeElement);
    const mark = this.markOf(page);
    const gist = this.gistOf(page, spot);
    gist.classList.toggle("cur", n === this.reader.position.here.page);
    gist.classList.toggle("open", before?.gist?.classList.contains("open") ?? false);
    if (before?.mark) before.mark.replaceWith(mark);
    else first.before(mark);
    if (before?.gist?.parentNode) before.gist.replaceWith(gist);
    else if (this.reader.isNarrow && this.isInView(spot.after)) this.late.add(n);
    else spot.after.after(gist);
    if (hadFocus) gist.querySelector("button")?.focus();
    this.drawn.set(n, { mark, gist });
    const row = units.rows[page.s];
    const share = page.a ? (100 * page.a) / Math.max(1, book.text[page.s].length) : 0;
    mark.style.cssText = `grid-row:${row} / ${row + 1};--down:${share.toFixed(2)}%`;
  }

  isInView(node) {
    const box = node.getBoundingClientRect();
    const view = this.reader.scroller.getBoundingClientRect();
    return box.bottom > view.top && box.bottom < view.bottom;
  }

  // On a phone a gist is a line in the text: those that waited are put in once their place is out of view.
  settle() {
    for (const n of this.late) {
      const spot = this.spot(this.pages[n - 1]);
      if (!spot || this.isInView(spot.after)) continue;
      spot.after.after(this.drawn.get(n).gist);
      this.late.delete(n);
    }
  }

  // The position of a gist: the rows of its page in the unit that has most of that page, and the last element in them.
  spot(page) {
    const { units, book } = this.reader;
    const last = page.z ? page.x : page.x - 1;
    const length = (from, to) => book.text.slice(from, to).reduce((sum, text) => sum + (text?.length ?? 0), 0);
    let best = null;
    for (let unit = unitOf(book, page.s); unit <= this.unitEnding(page); unit++) {
      const from = Math.max(page.s, book.outline.units[unit][0]);
      const to = Math.min(last + 1, book.outline.units[unit + 1]?.[0] ?? book.outline.paragraphs);
      if (!units.nodes[from]) continue;
      const size = length(from, to);
      if (!best || size > best.size) best = { from, to, size };
    }
    if (!best) return null;
    const skipped = best.from === page.s ? (page.a ?? 0) : 0;
    const left = page.z && best.to === last + 1 ? book.text[last].length - page.z : 0;
    return {
      after: units.nodes[best.to - 1],
      top: (100 * skipped) / Math.max(1, best.size),
      bottom: (100 * left) / Math.max(1, best.size),
      rows: [units.rows[best.from], units.rows[best.to - 1] + 1],
    };
  }

  // The page's number, and the pause before it with its reason on hover, focus or a tap.
  markOf(page) {
    const { book } = this.reader;
    const before = this.pages[page.n - 2];
    const [lead, reason] = before ? pauseReason(before) : ["", ""];
    const place = placeOf(book, page.s);
    const facts = [
      `Page ${page.n}, ${plural(page.w, book.outline.unspaced ? "character" : "word").replace(/^[\d,]+/, number(this.lengthOf(page.w)))}`,
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
    const byRule = before && (before.f || before.e === "rule");
    return el(
      "button",
      {
        type: "button",
        class: `pmark${byRule ? " fb" : ""}`,
        "data-n": page.n,
        "aria-label": label,
        onclick: (e) => e.currentTarget.focus(),
      },
      before ? icon("pause") : null,
      el("span", { class: "num" }, String(page.n)),
      why,
    );
  }

  lengthOf(words) {
    return this.reader.book.outline.unspaced ? 2 * words : words; // two characters count as a word
  }

  gistOf(page, { top, bottom, rows }) {
    const { language, rtl } = this.reader.book.outline;
    const n = page.n;
    const unit = this.reader.book.outline.unspaced ? "characters" : "words";
    const length = page.g ? `${number(this.lengthOf(page.g.w))} of ${number(this.lengthOf(page.w))} ${unit}` : "gist to come";
    const toggle = (event) => {
      const open = gist.classList.toggle("open");
      event.currentTarget.setAttribute("aria-expanded", String(open));
      event.currentTarget.textContent = open ? "Hide" : "Show";
    };
    const all = button("Show all", () => this.reader.card.open(n), {
      kind: "quiet slim allb",
      "aria-label": `Show all of the gist of page ${n}`,
    });
    const gist = el(
      "aside",
      { class: `leaf${page.g ? "" : " bare"}`, id: `p${n}`, "data-n": n, tabindex: "-1", "aria-label": `Gist of page ${n}` },
      el(
        "div",
        { class: "in" },
        el(
          "div",
          { class: "ghead small" },
          el("strong", {}, `Gist of page ${n}`),
          el("span", { class: "dimmer num" }, length),
          page.g
            ? button("Show", toggle, { kind: "quiet slim showb", "aria-expanded": "false", "aria-label": `Show the gist of page ${n}` })
            : null,
        ),
        el("div", { class: "gbody", lang: language, dir: rtl ? "rtl" : "ltr" }, ...this.body(page)),
        ...this.extras(page),
        all,
      ),
    );
    gist.style.cssText = `--rows:${rows[0]} / ${rows[1]};--after:${rows[1]};--top:${top.toFixed(2)}%;--bottom:${bottom.toFixed(2)}%`;
    return gist;
  }

  body(page) {
    if (!page.g) return [];
    const text = el("p", { class: "gtext", dir: "auto" });
    fill(text, page.g.t, this.reader.search.inGist(page.n), this.reader.book.outline.emphasis);
    return [text];
  }

  // What else belongs to a gist: tags and, while its page is the current one, what can be done with it.
  extras(page) {
    const { can } = this.reader.data;
    const tags = this.tags(page);
    return [
      tags.length ? el("div", { class: "tags" }, ...tags) : null,
      page.g && (can.edit || can.ask)
        ? el(
            "div",
            { class: "gact" },
            can.edit
              ? button("Edit gist", () => this.reader.card.open(page.n, { edit: true }), {
                  kind: "quiet slim",
                  "aria-label": `Edit the gist of page ${page.n}`,
                })
              : null,
            can.ask
              ? button("Ask about it", () => this.reader.send({ do: "ask", page: page.n }), {
                  kind: "quiet slim",
                  "aria-label": `Ask about page ${page.n}`,
                })
              : null,
          )
        : null,
    ];
  }

  tags(page) {
    const gist = page.g ?? {};
    const tag = (text, shape, kind = "") => el("span", { class: `tag ${kind}` }, icon(shape), text);
    const looked = this.reader.looked.get(page.n);
    return [
      looked ? tag(`Looked up in ${plural(looked, "answer")}`, "open", "lamp") : null,
      gist.f ? tag("Made by rule from the page's first sentences", "rule") : null,
      gist.e ? tag("Edited by you", "pencil") : null,
      gist.o ? tag("The page is short: its gist is its own text", "open") : null,
      gist.l ? tag(gist.l === 1 ? "Shortened again" : `Shortened again ${gist.l} times`, "rule") : null,
      ...(gist.m ?? []).map((mark) => tag(mark, "flag", "alert")),
    ].filter(Boolean);
  }

  markCurrent(n, before) {
    this.drawn.get(before)?.gist.classList.remove("cur");
    this.drawn.get(n)?.gist.classList.add("cur");
    this.checkCut([...(n ? [n] : [])]);
  }

  // Shows 'Show all' where a gist is longer than its page. Only what is in view has a height.
  checkCut(numbers) {
    for (const n of numbers) {
      const inside = this.drawn.get(n)?.gist.querySelector(".in");
      if (inside?.checkVisibility()) inside.classList.toggle("cut", inside.scrollHeight > inside.clientHeight + 2);
    }
  }

  checkCutInView(first, last) {
    this.checkCut(this.pages.filter((page) => page.s <= last && page.x >= first).map((page) => page.n));
  }

  redrawGist(n) {
    const text = this.drawn.get(n)?.gist.querySelector(".gtext");
    if (text) fill(text, this.pages[n - 1].g.t, this.reader.search.inGist(n), this.reader.book.outline.emphasis);
  }

  gistAt(paragraph) {
    return this.drawn.get(this.pageAt(paragraph))?.gist;
  }

  // In the view of gists alone: the box of the gist of the page that has a paragraph.
  boxAt(paragraph) {
    const gist = this.gistAt(paragraph);
    return gist?.isConnected ? gist.getBoundingClientRect() : { top: 1e9, bottom: 1e9, height: 0 };
  }
}
