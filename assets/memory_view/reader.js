// The reader: the text of a book with the pages and gists of a reading in its margins, and the map beside it. Sends
// messages to the server only when the person does something that must be stored.

import { ReaderOriginal } from "../pdf_page/original.js";
import { button, el } from "../shared/dom.js";
import { Annotations } from "./annotations.js";
import { BookMap } from "./book_map.js";
import { Foot } from "./foot.js";
import { GistCard } from "./gist_card.js";
import { readerKey } from "./keys.js";
import { Layer } from "./layer.js";
import { applyLook } from "./look_panel.js";
import { Paged } from "./paged.js";
import { Position } from "./position.js";
import { Progress } from "./progress.js";
import { Scrolled } from "./scrolled.js";
import { Search } from "./search.js";
import { lastUpTo, textOf } from "./text_store.js";
import { Toolbar } from "./toolbar.js";
import { Units } from "./units.js";

const NARROW = 860; // px; narrower, a gist comes after its page as a closed line
const PHONE = 560; // px; narrower, menus and panels are sheets
const VIEWS = ["both", "text", "gists"];

export class Reader {
  constructor(root, { send, setState }) {
    this.root = root;
    this.send = (act) => (this.position.flush(), send(act));
    this.setState = setState; // state "at": where the person is
    this.data = { count: 0, can: {} };
    this.looked = new Map(); // page -> the number of answers that looked it up
    this.view = "both";
    this.look = {};
    this.column = el("div", { class: "col" });
    this.sheet = el("div", { class: "sheet" }, this.column);
    this.probe = el("div", { class: "probe", "aria-hidden": "true" });
    this.scroller = el("div", { class: "leaves", tabindex: "0", role: "region", "aria-label": "Text" }, this.sheet, this.probe);
    this.beside = el("details", { class: "beside-gists" });
    this.backChip = el(
      "div",
      { class: "backchip", hidden: true },
      button(el("span", {}, "Back"), () => this.position.back(), { icon: "left", title: "Back to where I was (Backspace)" }),
      button("", () => this.position.forgetBack(), { kind: "quiet icon slim", icon: "close", name: "Stay here" }),
    );
    this.live = el("p", { class: "sr", "aria-live": "polite" });
    this.title = el("h1", { class: "sr", dir: "auto" });
    this.search = new Search(this);
    this.units = new Units(this);
    this.layer = new Layer(this);
    this.map = new BookMap(this);
    this.card = new GistCard(this);
    this.annotations = new Annotations(this);
    this.room = el(
      "div",
      { class: "room" },
      this.scroller,
      this.beside,
      this.notes.node,
      this.map.whole,
      this.card.node,
      this.backChip,
      ...this.annotations.over,
    );
    this.position = new Position(this);
    this.progress = new Progress(this);
    this.toolbar = new Toolbar(this);
    this.foot = new Foot(this);
    this.flow = new Scrolled(this);
    this.original = new ReaderOriginal(this);
    root.replaceChildren(this.title, ...this.toolbar.nodes, this.room, this.listen.node, this.foot.node, this.live);
    this.keys = (event) => readerKey(this, event);
    document.addEventListener("keydown", this.keys);
    this.away = (event) => this.pressed(event.composedPath());
    document.addEventListener("pointerdown", this.away);
  }

  close() {
    document.removeEventListener("keydown", this.keys);
    document.removeEventListener("pointerdown", this.away);
    clearTimeout(this.saying);
    for (const part of [
      this.position,
      this.progress,
      this.map,
      this.toolbar,
      this.foot,
      this.layer,
      this.flow,
      this.annotations,
      this.original,
    ])
      part.close();
    this.leaveBook();
  }

  get isNarrow() {
    return this.root.clientWidth <= NARROW;
  }

  get isPhone() {
    return this.root.clientWidth <= PHONE;
  }

  // A press outside closes what is open.
  pressed(path) {
    if (!path.includes(this.foot.node)) this.foot.toggleMenu(false);
    this.annotations.pressed(path);
  }

  get canBeVertical() {
    return Boolean(this.book?.outline?.unspaced || this.book?.outline?.vertical);
  }

  // Whether lines run from top to bottom: as the person chose, else as the book is set.
  get vertical() {
    const chosen = this.look.vertical;
    return this.canBeVertical && (chosen === "on" || (chosen !== "off" && Boolean(this.book.outline.vertical)));
  }

  // --- what comes from the server -----------------------------------------------------------------

  /** @param {import("./types.js").ReaderData} data */
  update(data) {
    const before = this.data;
    const other = before.scope !== data.scope;
    this.data = data;
    if (other || before.layer !== data.layer) this.layer.change(data.layer);
    this.marks.follow(data.book);
    if (other) this.changeBook(data);
    this.takeFurthest(data.furthest, before.furthest);
    this.looked = new Map(Object.entries(data.looked ?? {}).map(([page, n]) => [Number(page), n]));
    const restyle = JSON.stringify([data.looked, data.can, data.lit]) !== JSON.stringify([before.looked, before.can, before.lit]);
    this.original.update(data.original);
    if (!this.book.outline) return this.foot.drawGists(data.gists);
    this.layer.take(restyle ? [...this.layer.drawn.keys()] : []);
    this.root.classList.toggle("making", data.gists?.running ?? false);
    if (before.layer !== data.layer || restyle) this.layerChanged();
    this.foot.drawGists(data.gists);
    this.position.request(data.goto);
    this.sayGists(data.gists);
  }

  // More was read in another tab. What the person has just set here by hand takes a moment to come back.
  takeFurthest(furthest, before) {
    if (this.setByHand === furthest) this.setByHand = undefined;
    if (this.setByHand !== undefined || furthest === before || furthest <= this.progress.furthest) return;
    this.progress.begin(furthest);
    this.book.furthest = furthest;
    if (this.book.outline) this.moved();
  }

  changeBook(data) {
    this.leaveBook();
    this.book = textOf(data.scope);
    this.listeners = {
      outline: () => this.begin(),
      text: (e) => this.takeText(e.detail),
      goto: (e) => this.position.jump({ paragraph: e.detail }, { focus: true }),
    };
    for (const [type, listener] of Object.entries(this.listeners)) this.book.addEventListener(type, listener);
    this.search.clear();
    this.position.begin();
    this.progress.begin(this.book.furthest ?? data.furthest);
    this.book.furthest = this.progress.furthest;
    this.look = { ...data.look }; // later changes are made here; the server repeats old values for a while
    this.setView(data.view ?? "both");
    if (this.book.outline) this.begin();
  }

  leaveBook() {
    for (const [type, listener] of Object.entries(this.listeners ?? {})) this.book.removeEventListener(type, listener);
  }

  // The outline of the text has come: everything that does not need its words can be drawn.
  begin() {
    this.title.textContent = this.book.outline.title;
    this.chooseFlow();
    for (const unit of this.units.draw()) this.layer.fill(unit);
    this.layer.take();
    this.marks.draw();
    this.applyLook();
    this.position.request(this.data.goto);
  }

  takeText(range) {
    if (!this.book.outline || !this.root.isConnected) return;
    for (const unit of this.units.take(range)) this.layer.fill(unit);
    this.position.tryWanted();
    this.search.again();
    this.map.soon();
    this.flow.relayout();
  }

  // The book is at its place for the first time.
  opened() {
    this.moved();
    this.layerChanged();
  }

  // Pages or gists have come or changed.
  layerChanged() {
    const { here } = this.position;
    const page = this.layer.pageAt(here.paragraph, here.at);
    if (page !== here.page) {
      this.layer.markCurrent(page, here.page);
      here.page = page;
    }
    this.root.classList.toggle("has-gists", this.layer.gistsMade() > 0);
    if (!this.layer.gistsMade() && this.view !== "both") this.setView("both");
    this.toolbar.update();
    this.toolbar.at(here);
    this.foot.drawGists(this.data.gists);
    this.search.again();
    this.map.soon();
    this.flow.settle();
  }

  // For screen readers, at most every five seconds.
  sayGists(line) {
    if (!line?.running || this.said === line.line) return;
    clearTimeout(this.saying);
    const say = () => {
      this.spoke = performance.now();
      this.said = line.line;
      this.live.textContent = `Gists: ${line.line}`;
    };
    const wait = (this.spoke ?? -5000) + 5000 - performance.now();
    if (wait > 0) this.saying = setTimeout(say, wait);
    else say();
  }

  // --- where the person is ------------------------------------------------------------------------

  // Called by the position: another paragraph is read.
  moved() {
    this.map.place();
    this.toolbar.at(this.position.here);
    this.foot.drawYou();
    this.original.follow();
  }

  // Called by the progress: more counts as read.
  progressed(byHand) {
    if (byHand) this.setByHand = this.progress.furthest;
    this.book.furthest = this.progress.furthest;
    this.book.dispatchEvent(new CustomEvent("at", { detail: this.book.at }));
    this.map.place();
    this.foot.drawYou();
    this.position.save(byHand);
  }

  setFurthest(paragraph) {
    const before = this.progress.furthest;
    if (paragraph === before) return;
    this.progress.set(paragraph);
    this.foot.wasSet(before);
  }

  searched() {
    this.toolbar.found();
    this.map.soon();
  }

  toEnd() {
    const page = this.layer.pages.at(-1);
    const whole = page && page.x >= this.book.outline.paragraphs;
    this.position.jump(
      whole && !this.flow.isPaged ? { paragraph: page.s, at: page.a ?? 0 } : { paragraph: this.book.outline.paragraphs - 1 },
    );
  }

  toChapter(step) {
    const { chapters } = this.book.outline;
    const at = lastUpTo(chapters, this.position.here.paragraph);
    const start = step < 0 && chapters[at] < this.position.here.paragraph ? chapters[at] : chapters[at + step];
    if (start !== undefined) this.position.jump({ paragraph: start });
  }

  escape(event) {
    if (this.annotations.escape()) return;
    if (this.card.page) return this.card.close();
    if (this.toolbar.panel.hidden && this.original.escape()) return;
    if (!this.foot.escape() && !this.toolbar.escape(event)) this.annotations.escapeLast();
  }

  // --- views and looks ----------------------------------------------------------------------------

  chooseView(view) {
    this.setView(view);
    this.send({ do: "view", text: view });
  }

  nextView() {
    if (!this.layer.gistsMade()) return void (this.live.textContent = "There are no gists yet.");
    this.chooseView(VIEWS[(VIEWS.indexOf(this.view) + 1) % VIEWS.length]);
  }

  setView(view) {
    const here = { ...this.position.here };
    this.view = view;
    this.toolbar.view(view);
    if (!this.book?.outline) return;
    this.chooseFlow();
    this.drawClasses();
    if (this.position.restored) this.flow.show({ paragraph: here.paragraph, at: here.at });
  }

  changeLook(look) {
    this.look = look;
    this.flow.keepPlace(() => {
      this.applyLook();
      this.chooseFlow();
    });
    this.send({ do: "look", text: JSON.stringify(look) });
  }

  applyLook() {
    applyLook(this.root.style, this.look);
    this.drawClasses();
  }

  drawClasses() {
    const kinds = [
      this.isNarrow ? "slim" : "wide",
      `v-${this.view}`,
      this.flow.isPaged ? "paged" : "scrolled",
      `f-${this.flow.isPaged ? this.look.flow : "scroll"}`,
    ];
    if (this.look.justify === "on") kinds.push("justified");
    if (this.notes.opened) kinds.push("with-notes");
    if (this.vertical && this.flow.isPaged) kinds.push("vertical");
    this.room.className = `room ${kinds.join(" ")}`;
    this.root.classList.toggle("narrow", this.isNarrow);
    if (kinds.join() === this.kinds) return;
    this.kinds = kinds.join();
    this.beside.open = this.look.flow !== "spread" && !this.isNarrow; // else it is a line that opens
  }

  // Gists alone are a list, which is scrolled; vertical writing is turned in pages.
  chooseFlow() {
    const paged = this.view !== "gists" && (this.look.flow !== "scroll" || this.vertical);
    if (paged === Boolean(this.flow.isPaged)) return this.drawClasses();
    const here = { ...this.position.here };
    this.flow.close();
    this.flow = paged ? new Paged(this) : new Scrolled(this);
    this.drawClasses();
    if (this.position.restored) this.flow.show({ paragraph: here.paragraph, at: here.at });
  }

  // The view has another size.
  resized() {
    const narrow = this.root.classList.contains("narrow");
    this.drawClasses();
    if (narrow !== this.isNarrow) this.toolbar.update();
    this.foot.drawYou();
  }

  // In pages: the gists of what is in view, beside it or in a line below.
  drawBeside(first, last) {
    const pages = this.layer.pages.filter((page) => page.g && page.s <= last && (page.z ? page.x >= first : page.x > first));
    const key = JSON.stringify([this.data.layer, this.search.query, ...pages.map((page) => page.text)]);
    if (key === this.besideKey) return;
    this.besideKey = key;
    const numbers = pages.map((page) => page.n);
    const name = numbers.length > 1 ? `Gists of pages ${numbers[0]}–${numbers.at(-1)}` : `Gist of page ${numbers[0]}`;
    const { language, rtl } = this.book.outline;
    const shown = pages.map((page) =>
      el(
        "article",
        { class: "side" },
        el("div", { class: "ghead small" }, el("strong", {}, `Gist of page ${page.n}`)),
        el("div", { class: "gbody", lang: language, dir: rtl ? "rtl" : "ltr" }, ...this.layer.body(page)),
        ...this.layer.extras(page),
      ),
    );
    this.beside.hidden = !pages.length;
    this.beside.replaceChildren(el("summary", {}, name), ...shown);
  }
}
