// The reader: pages in a scroller with the map beside them. Sends messages to the server only when a person does
// something that must be stored or searched; position.js has the position, search_hits.js the hits.

import { el } from "../shared/dom.js";
import { bookOf, oncePerFrame } from "./book_store.js";
import { Editor } from "./gist_editor.js";
import { readerKey } from "./keys.js";
import { drawMap, markHere } from "./map.js";
import { pageElement } from "./page.js";
import { Position } from "./position.js";
import { Hits } from "./search_hits.js";
import { Toolbar } from "./toolbar.js";

export class Reader {
  constructor(root, { send, setState }) {
    this.send = (act) => (this.position.flush(), send(act));
    this.setState = setState; // states: "at", where the person is; "query", what is searched
    this.leaves = new Map();
    this.hits = new Hits(this);
    this.data = {};
    this.view = "both";
    this.toolbar = new Toolbar(this);
    this.editor = new Editor(this);
    this.column = el("div", { class: "col" });
    this.soon = this.soonLeaf();
    this.scroller = el("div", { class: "leaves", tabindex: "0", role: "region", "aria-label": "Pages" }, this.column);
    this.mapbox = el("div", { class: "mapbox", tabindex: "0", role: "slider", "aria-label": "Map of the book",
      "aria-orientation": "vertical", "aria-valuemin": "1" });
    this.live = el("p", { class: "sr", "aria-live": "polite" });
    this.title = el("h1", { class: "sr", dir: "auto" });
    this.room = el("div", { class: "room" }, this.scroller, this.mapbox);
    root.replaceChildren(this.title, ...this.toolbar.nodes, this.room, this.live);
    this.root = root;
    this.position = new Position(this);
    this.keys = (event) => readerKey(this, event);
    document.addEventListener("keydown", this.keys);
    this.resize = new ResizeObserver(() => this.drawMap());
    this.resize.observe(this.mapbox);
  }

  get here() {
    return this.position.here;
  }

  goto(page, how) {
    this.position.goto(page, how);
  }

  // Called by the position: another page is the current one.
  moved() {
    if (this.cells) markHere(this.mapbox, this.cells, this.here);
    this.hits.followSoon();
    this.labelMap();
    this.toolbar.at(this.here);
  }

  close() {
    document.removeEventListener("keydown", this.keys);
    this.resize.disconnect();
    clearTimeout(this.mapping);
    this.hits.close();
    this.position.close();
    this.book?.removeEventListener("pages", this.onpages);
    this.book?.removeEventListener("goto", this.ongoto);
  }

  // --- what comes from the server -----------------------------------------------------------------

  /** @param {import("./types.js").ReaderData} data */
  update(data) {
    const other = this.data.scope !== data.scope;
    if (other) this.changeBook(data.scope);
    const looked = new Map(Object.entries(data.looked ?? {}).map(([page, n]) => [Number(page), n]));
    const restyle = JSON.stringify([data.looked, data.can]) !== JSON.stringify([this.data.looked, this.data.can]);
    const newSearch = data.hits?.query !== this.data.hits?.query;
    const searched = other || JSON.stringify(data.hits) !== JSON.stringify(this.data.hits);
    this.data = data;
    this.looked = looked; // page -> the number of answers that looked it up
    if (searched) this.hits.take(data.hits, newSearch);
    if (data.count < this.leaves.size) this.dropAfter(data.count);
    if (restyle) this.redraw([...this.leaves.keys()]);
    if (other) this.setView(data.view ?? "both"); // later changes are made here; the server repeats old values for a while
    this.title.textContent = data.meta.title;
    this.toolbar.update(data);
    this.takePages();
    this.position.request(data.goto);
  }

  changeBook(scope) {
    this.book?.removeEventListener("pages", this.onpages);
    this.book?.removeEventListener("goto", this.ongoto);
    this.book = bookOf(scope);
    const take = oncePerFrame((changed) => this.root.isConnected && this.takePages(changed));
    this.book.addEventListener("pages", (this.onpages = (e) => take(e.detail)));
    this.book.addEventListener("goto", (this.ongoto = (e) => this.goto(e.detail)));
    this.leaves.clear();
    this.column.replaceChildren(this.soon);
    this.hits.clear();
    // the component was mounted again in this tab: back to where the person was, whether or not the server knows it
    this.position.begin(this.book.at && { ...this.book.at, id: this.book.visited });
  }

  // Pages that came or changed; new ones are added at the end, so nothing that is in view moves.
  takePages(changed = []) {
    const fresh = [];
    for (let n = 1; n <= this.data.count; n++) {
      const page = this.book.pages[n - 1];
      if (!page) break;
      if (!this.leaves.has(n)) fresh.push(this.add(page));
    }
    if (fresh.length) {
      this.soon.before(...fresh);
      if (this.data.job?.running) this.announce(`Page ${this.leaves.size} is read.`);
    }
    this.redraw(changed.filter((n) => this.leaves.has(n) && !fresh.includes(this.leaves.get(n))));
    const next = this.leaves.size + 1;
    this.soon.hidden = !(this.data.job?.running && this.data.job.paging);
    this.soon.querySelector("strong").textContent = `Page ${next}`;
    this.position.tryWanted();
    this.mapSoon();
    this.position.settle();
  }

  add(page) {
    const node = this.make(page);
    this.leaves.set(page.n, node);
    return node;
  }

  make(page) {
    const { language, rtl, marked } = this.data.meta;
    const can = this.data.can ?? {};
    const actions = { can, mode: (n) => this.turnMode(n), edit: (n) => this.editor.open(n),
      ask: (n) => this.send({ do: "ask", page: n }) };
    return pageElement(page, { hits: this.hits.on(page.n), looked: this.looked?.get(page.n), actions, language, rtl, marked });
  }

  redraw(numbers) {
    const drawn = [...new Set(numbers)].filter((n) => this.leaves.has(n) && this.editor.page !== n).map((n) => this.leaves.get(n));
    const padding = drawn.length ? parseFloat(getComputedStyle(drawn[0]).paddingTop) : 0;
    const heights = drawn.map((old) => old.getBoundingClientRect().height - padding); // all measured before the first is replaced
    for (const [i, old] of drawn.entries()) {
      const n = Number(old.dataset.n);
      const node = this.make(this.book.pages[n - 1]);
      // the browser knows an element's height only once it was in view; until then the old one's is used
      node.style.containIntrinsicBlockSize = `auto ${heights[i]}px`;
      if (old.dataset.mode) node.dataset.mode = old.dataset.mode;
      if (old.classList.contains("cur")) node.classList.add("cur");
      this.label(node);
      this.position.replaces(node, old);
      old.replaceWith(node);
      this.leaves.set(n, node);
    }
  }

  dropAfter(count) {
    for (const [n, node] of this.leaves) if (n > count) (node.remove(), this.leaves.delete(n));
    this.book.pages.length = Math.min(this.book.pages.length, count);
  }

  soonLeaf() {
    const lines = (widths, kind) => widths.map((w) => el("div", { class: `ln ${kind}`, style: `width:${w}%` }));
    const name = el("p", { class: "small pno" }, el("strong", {}, "Page 1"), " · finding where to pause");
    return el("div", { class: "page soon", hidden: true, "aria-hidden": "true" },
      el("div", { class: "text" }, name, ...lines([100, 96, 99, 62], "")),
      el("div", { class: "gist" }, el("div", { class: "in" }, ...lines([100, 92, 48], "thin"))));
  }

  // --- looks --------------------------------------------------------------------------------------

  setView(view) {
    this.view = view;
    this.column.className = `col v-${view}`;
    for (const node of this.leaves.values()) {
      delete node.dataset.mode;
      node.style.containIntrinsicBlockSize = ""; // it was the height in the other view
      this.label(node);
    }
    this.toolbar.view(view);
    if (this.here) this.goto(this.here);
  }

  turnMode(page) {
    const node = this.leaves.get(page);
    if (!node) return;
    const next = { both: "text", text: "gists", gists: this.view === "text" ? "text" : "both" };
    const mode = next[node.dataset.mode ?? this.view];
    if (mode === this.view) delete node.dataset.mode;
    else node.dataset.mode = mode;
    this.label(node);
  }

  label(node) {
    const now = node.dataset.mode ?? this.view;
    const label = { both: "Text only", text: "Gist only", gists: this.view === "text" ? "Text only" : "Both" }[now];
    const shown = node.querySelector(".mode");
    if (shown) shown.textContent = label;
  }

  drawMap() {
    const { width, height } = this.mapbox.getBoundingClientRect();
    if (!height || !this.data.meta) return;
    const pages = this.book.pages.slice(0, this.leaves.size);
    const narrow = width < 60;
    this.cells = drawMap(this.mapbox, pages, {
      width: narrow ? 46 : 84, height: height - 24, looked: new Map((this.data.lit ?? []).map((n) => [n, 1])),
      hits: new Set(this.hits.counts.map(([page]) => page)), here: this.here, labels: !narrow,
      wordsTotal: this.data.meta.words, pagesTotal: this.data.job?.total ?? 0,
    });
    this.labelMap();
  }

  // Draws the map once for all batches of pages that come together.
  mapSoon() {
    clearTimeout(this.mapping);
    this.mapping = setTimeout(() => this.root.isConnected && this.drawMap(), this.cells ? 60 : 0);
  }

  labelMap() {
    this.mapbox.setAttribute("aria-valuemax", this.leaves.size);
    this.mapbox.setAttribute("aria-valuenow", this.here);
    this.mapbox.setAttribute("aria-valuetext", `Page ${this.here} of ${this.leaves.size}`);
  }

  // For screen readers, at most every five seconds.
  announce(text) {
    if (Date.now() - (this.spoke ?? 0) < 5000) return;
    this.spoke = Date.now();
    this.live.textContent = text;
  }
}
