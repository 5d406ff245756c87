// The gist memory as Ask shows it: every gist in order, with the looked-up pages opened in place.

import { conversationOf, subscribe } from "../answer_view/conversation_state.js";
import { CitedOriginal } from "../pdf_page/original.js";
import { button, el, fill, icon, plural } from "../shared/dom.js";
import { bookOf, oncePerFrame } from "./book_store.js";
import { drawMap, pageAt } from "./map.js";
import { Parts } from "./parts.js";
import { SpoilerLimit } from "./spoiler_limit.js";

const AROUND = 230; // characters of a page shown on each side of a quoted passage
const SENTENCE_END = /[.!?。！？"”」](\s|$)|[。！？」]/;
const BLOCK = 25; // rows in an element of their own, which the browser renders only when it is in view

export class Memory {
  // `scroller`: what scrolls, where this is one of several books in it.
  constructor(root, { send, scroller = null }) {
    this.root = root;
    this.send = send;
    this.rows = new Map();
    this.blocks = new Map();
    this.parts = new Parts();
    this.peeked = new Set(); // pages that the person opened, not the model
    this.unfolded = new Set();
    this.note = el("span", { class: "small dim num" });
    this.list = el("div", { class: "list", tabindex: "0", role: "region", onkeydown: (e) => this.key(e) });
    this.mapbox = el("div", { class: "mmap" });
    this.limit = new SpoilerLimit((page) => this.send({ do: "limit", page }));
    this.curtain = el("div", { class: "curtain", hidden: true });
    this.scroller = scroller ?? this.list;
    this.list.append(this.curtain);
    this.original = new CitedOriginal(this);
    root.replaceChildren(
      el("div", { class: "mh" }, el("h2", {}, "Memory"), this.note, this.original.button),
      el("div", { class: "mbody" }, this.mapbox, this.limit.node, this.list, this.original.panel.node),
    );
    this.resize = new ResizeObserver(() => (this.mapSoon(), this.data && this.settle()));
    this.resize.observe(this.mapbox);
    this.mapbox.addEventListener("click", (e) => {
      const y = e.clientY - this.mapbox.firstChild.getBoundingClientRect().top;
      if (this.places) this.show(Math.min(pageAt(this.places, y), this.data.count));
    });
  }

  close() {
    clearTimeout(this.mapping);
    this.limit.close();
    this.original.close();
    this.unsubscribe?.();
    this.resize.disconnect();
    this.book?.removeEventListener("pages", this.onpages);
  }

  update({ book }) {
    this.unsubscribe?.();
    const conversation = conversationOf(book);
    const point = ({ detail }) => this.original.open(detail.page, detail.back);
    conversation.addEventListener("original", point);
    const unsubscribe = subscribe(book, () => {
      const { now, step } = conversationOf(book);
      const data = { ...now.memory, ...now.views[step].memory };
      const key = JSON.stringify(data);
      if (key !== this.taken) this.take(data);
      this.taken = key;
    });
    this.unsubscribe = () => (unsubscribe(), conversation.removeEventListener("original", point));
  }

  /** @param {import("../answer_view/types.js").MemoryData & import("../answer_view/types.js").MemoryStep} data */
  take(data) {
    if (this.data?.scope !== data.scope) {
      this.book?.removeEventListener("pages", this.onpages);
      this.book = bookOf(data.scope);
      const draw = oncePerFrame((numbers) => ((this.changes = (this.changes ?? 0) + 1), this.draw(numbers)));
      this.book.addEventListener("pages", (this.onpages = (e) => draw(e.detail)));
      this.peeked.clear();
    }
    const same = this.data?.scope === data.scope && this.data.count === data.count && !this.parts.differ(data.parts);
    if (this.data?.scope !== data.scope || this.parts.differ(data.parts)) {
      this.rows.clear();
      this.blocks.clear();
      this.list.replaceChildren(...this.parts.build(data.parts, data.meta), this.curtain);
    }
    const fresh = JSON.stringify([data.expanded, data.marked, data.passages, data.closed]);
    const before = this.touched();
    if (fresh !== this.fresh) {
      this.unfolded.clear();
      this.parts.byHand.clear();
    }
    this.fresh = fresh;
    this.data = data;
    this.list.setAttribute("aria-label", `Gist memory of ${data.meta.title}`);
    this.original.update(data.original);
    this.draw(same ? [...new Set([...before, ...this.touched()])] : null);
    const focus = data.focus && JSON.stringify([data.focus, data.passage, data.nonce, data.passages?.[data.focus] ?? 0]);
    if (focus && focus !== this.focused) this.wanted = data.focus;
    this.focused = focus;
    this.settle();
  }

  // Goes to the page in focus once its row exists and the memory is in view: pages may come after the question did.
  settle() {
    if (!this.wanted || !this.rows.has(this.wanted) || !this.list.clientHeight) return;
    const page = this.wanted;
    this.wanted = null;
    requestAnimationFrame(() => this.show(page, { passage: this.data.passage, open: this.data.wanted }));
    this.original.cite(page, this.data.passage);
  }

  // The pages that are opened, asked for or quoted.
  touched() {
    const { expanded = [], marked = [], passages = {} } = this.data ?? {};
    return [...expanded, ...marked, ...Object.keys(passages ?? {}).map(Number)];
  }

  // `only`: the pages that may have changed, all without it; pages without a row get one.
  draw(only = null) {
    const { count, expanded, marked, meta } = this.data;
    this.expanded = new Set(expanded);
    this.marked = new Set(marked);
    const gap = this.book.pages.findIndex((page) => !page);
    const shown = Math.min(count, gap < 0 ? this.book.pages.length : gap);
    const made = Math.min(this.rows.size, shown);
    const again = only?.filter((n) => n <= made) ?? range(1, made);
    for (const n of [...again, ...range(made + 1, shown)]) {
      const page = this.book.pages[n - 1];
      const state = this.expanded.has(n) ? "full" : this.peeked.has(n) ? "peek" : "gist";
      const passages = state === "full" ? (this.data.passages?.[n] ?? []).flat() : [];
      const asked = this.marked.has(n) || this.expanded.has(n);
      const unfolded = [...this.unfolded].filter((u) => u.startsWith(`${n}:`));
      const key = JSON.stringify([state, asked, passages, unfolded]); // the text is compared separately: a book has 2 MB
      const known = this.rows.get(n);
      if (known?.key === key && known.text === page.text) continue;
      const node = this.row(page, { state, asked, passages, meta });
      if (known) known.node.replaceWith(node);
      else this.block(n).append(node);
      this.rows.set(n, { key, node, text: page.text });
    }
    for (let n = this.rows.size; n > shown; n--) this.rows.get(n).node.remove(), this.rows.delete(n);
    for (const [key, block] of this.blocks) if (!block.firstChild) block.remove(), this.blocks.delete(key);
    this.parts.update(this.data);
    this.note.textContent = this.data.note;
    this.drawCurtain();
    this.mapSoon();
    this.settle();
  }

  // The row shown in place of the pages that are left out.
  drawCurtain() {
    const { curtain } = this.data;
    const key = JSON.stringify(curtain);
    if (key === this.curtained) return;
    this.curtained = key;
    this.curtain.hidden = !curtain;
    if (!curtain) return;
    const ways = curtain.ways.map(([act, label]) => button(label, () => this.send({ do: act, page: 1 }), { kind: "slim" }));
    this.curtain.replaceChildren(
      icon("unseen"),
      el(
        "div",
        {},
        el("p", {}, el("strong", {}, curtain.title)),
        el("p", { class: "small dim" }, curtain.text),
        ways.length ? el("div", { class: "erow" }, ...ways) : null,
      ),
    );
  }

  // The element that the row of page `n` belongs to: its part, else a block of rows; rows are made in order.
  block(n) {
    const { body, next } = this.parts.placeOf(n);
    if (body) return body;
    const key = `${next?.dataset.part ?? ""} ${Math.floor((n - 1) / BLOCK)}`;
    if (!this.blocks.has(key)) {
      this.blocks.set(key, el("div", { class: "mblock" }));
      (next ?? this.curtain).before(this.blocks.get(key));
    }
    return this.blocks.get(key);
  }

  // Backspace closes the page or the part that has the focus; Enter presses its button by itself.
  key(event) {
    if (event.key !== "Backspace") return;
    const close = event.target.closest(".m.peek")?.querySelector(".peekb") ?? this.parts.openButton(event.target);
    if (!close) return;
    event.preventDefault();
    close.focus();
    close.click();
  }

  row(page, { state, asked, passages, meta }) {
    const n = page.n;
    const toggle = () => {
      if (this.peeked.has(n)) this.peeked.delete(n);
      else this.peeked.add(n);
      this.draw([n]);
      this.rows.get(n).node.querySelector(".peekb")?.focus();
    };
    const words = { lang: meta.language, dir: meta.rtl ? "rtl" : "ltr" };
    const no = el("span", { class: "no num" }, String(n));
    if (state === "gist") {
      const gist = el("span", { class: "g", ...words });
      fill(gist, page.g?.t ?? "This page has no gist yet.", [], meta.emphasis);
      const opener = el(
        "button",
        { type: "button", class: "peekb", "aria-expanded": "false", onclick: toggle, "aria-label": `Open page ${n}` },
        no,
        gist,
      );
      return el("div", { class: `m${asked ? " look" : ""}`, "data-n": n }, opener);
    }
    const count = new Set(passages.map((p) => p.join())).size;
    const quoted = ["no passage", "one passage", "two passages", "three passages"][count] ?? `${count} passages`;
    const fact =
      state === "peek"
        ? "opened by you; the model did not read it for this answer"
        : count
          ? `all ${plural(page.w, "word")} read, ${quoted} quoted`
          : `all ${plural(page.w, "word")} read`;
    const label = state === "peek" ? `Page ${n}` : `Page ${n}, opened in place`;
    const head = el("div", { class: "oh small" }, el("strong", {}, icon("open"), label), el("span", { class: "num" }, fact));
    const foot = el(
      "div",
      { class: "ofoot" },
      state === "peek" ? button("Close", toggle, { kind: "quiet slim peekb", "aria-expanded": "true" }) : null,
      button("Read it", () => this.send({ do: "open", page: n }), { kind: "quiet slim" }),
      this.data.original ? button("PDF page", (e) => this.original.open(n, e.currentTarget), { kind: "quiet slim" }) : null,
    );
    const text = el("div", { class: "ot", ...words }, ...this.text(page, passages));
    const body = el("div", {}, head, text, foot);
    return el(
      "div",
      { class: `m ${state === "peek" ? "peek" : "look open"}`, "data-n": n, tabindex: "-1" },
      no,
      el("div", { class: "sw" }, body),
    );
  }

  // The page around its quoted passages; the rest is folded and opens with a click.
  text(page, passages) {
    const heads = new Map((page.h ?? []).map(([index, , title]) => [index, title]));
    const nodes = [];
    let folded = [];
    const flush = () => {
      if (!folded.length) return;
      const key = `${page.n}:${folded[0][0]}:${folded[0][1]}`;
      const run = folded;
      folded = [];
      const words = countWords(run.map(([i, a, b]) => page.t[i].slice(a, b)).join(" "));
      if (!words) return;
      const label = `+ ${plural(words, this.data.meta.language.startsWith("ja") ? "character" : "word")}`;
      return el(
        "button",
        {
          type: "button",
          class: "fold num",
          "aria-label": `Show ${label.slice(2)} more`,
          onclick: () => (this.unfolded.add(key), this.draw([page.n])),
        },
        label,
      );
    };
    const byParagraph = new Map();
    for (const [index, start, end] of passages) byParagraph.set(index, [...(byParagraph.get(index) ?? []), [start, end]]);
    page.t.forEach((text, index) => {
      const spans = byParagraph.get(index) ?? [];
      const shown = passages.length ? shownParts(text, spans) : [[0, text.length]];
      const parts = this.isUnfolded(page.n, index) ? [[0, text.length]] : shown;
      if (heads.has(index) && (parts.length || !passages.length)) nodes.push(el("p", { class: "oh3", dir: "auto" }, heads.get(index)));
      if (!parts.length) return void folded.push([index, 0, text.length]);
      const line = el("p", { dir: "auto" });
      let at = 0;
      for (const [start, end] of parts) {
        if (start > at) folded.push([index, at, start]);
        const fold = flush();
        if (fold) line.append(fold, " ");
        const piece = el("span");
        fill(
          piece,
          text,
          spans.map(([a, b]) => [a, b, "quote"]),
          this.data.meta.emphasis,
          start,
          end,
        );
        line.append(piece);
        at = end;
      }
      if (at < text.length) folded.push([index, at, text.length]);
      nodes.push(line);
    });
    const rest = flush();
    if (rest) nodes.at(-1)?.append(" ", rest);
    return nodes;
  }

  isUnfolded(n, index) {
    return [...this.unfolded].some(
      (key) => key.startsWith(`${n}:`) && Number(key.split(":")[1]) <= index && this.coversTo(key, n) >= index,
    );
  }

  // An opened fold shows every paragraph up to the next quoted one.
  coversTo(key, n) {
    const from = Number(key.split(":")[1]);
    const quoted = (this.data.passages?.[n] ?? [])
      .flat()
      .map((p) => p[0])
      .filter((i) => i > from);
    return quoted.length ? Math.min(...quoted) : Infinity;
  }

  // `open`: also where it is in a closed part; else that part is gone to.
  show(n, { passage = -1, open = false } = {}) {
    if (open) this.parts.reveal(n);
    const row = this.parts.closedAround(n) ?? this.rows.get(n)?.node;
    if (!row) return;
    const quoted = passage < 0 ? [] : row.querySelectorAll("mark");
    const target = quoted[Math.min(passage, quoted.length - 1)] ?? row;
    const box = this.scroller.getBoundingClientRect();
    const top = target.getBoundingClientRect().top - box.top;
    this.scroller.scrollTo({ top: this.scroller.scrollTop + top - (target === row ? 8 : 120), behavior: "instant" });
  }

  // Draws the map after the rows, and only if something in it changed: a long book has a thousand cells.
  mapSoon() {
    clearTimeout(this.mapping);
    this.mapping = setTimeout(() => this.drawMap(), 30);
  }

  drawMap() {
    const { width, height } = this.mapbox.getBoundingClientRect();
    if (!height || !this.book || !this.root.isConnected) return;
    const { scope, count, limit, closed, searched } = this.data;
    const drawn = JSON.stringify([
      width,
      height,
      scope,
      count,
      limit,
      this.changes,
      closed,
      searched,
      [...this.expanded],
      [...this.marked],
    ]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    // of the pages left out only the length is shown; without a limit they are those that an answer did not see
    const known = this.book.pages.slice(0, limit ? undefined : count).filter(Boolean);
    const pages = known.map((page) => (page.n <= count ? page : { n: page.n, w: page.w }));
    const looked = new Map([...this.expanded, ...(searched ? [] : this.marked)].map((n) => [n, 1]));
    const hits = searched ? this.marked : new Set();
    this.places = drawMap(this.mapbox, pages, {
      width,
      height: height - 8,
      looked,
      hits,
      closed: this.parts.withDepth(closed),
      labels: false,
    });
    this.limit.draw(this.mapbox, this.places, limit);
  }
}

// The parts of a paragraph to show around `spans`: whole sentences where they end nearby, and all of a short one.
function shownParts(text, spans) {
  if (!spans.length) return [];
  const parts = [];
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    let from = Math.max(0, start - AROUND);
    let to = Math.min(text.length, end + AROUND / 2);
    if (from > 0) from = Math.min(start, Math.max(from, text.slice(0, start).search(/[^.!?。！？]*$/)) || from);
    if (from > 0) from += text.slice(from).search(/\S/);
    const ending = to < text.length ? text.slice(end, to).search(SENTENCE_END) : -1;
    if (ending >= 0) to = end + ending + 1;
    const last = parts.at(-1);
    if (last && from <= last[1] + 40) last[1] = Math.max(last[1], to);
    else parts.push([from, to]);
  }
  if (parts[0][0] < 40) parts[0][0] = 0;
  if (text.length - parts.at(-1)[1] < 40) parts.at(-1)[1] = text.length;
  return parts;
}

const countWords = (text) => (/[\u3040-\u9fff]/.test(text) ? text.replace(/\s/g, "").length : text.split(/\s+/).filter(Boolean).length);

const range = (from, to) => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
