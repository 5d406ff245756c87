// The reader: the text of a book with the pages and gists of a reading in its margins, and the map beside it. It makes the
// parts, gives each what it needs, and tells the others what one of them reports. Sends messages to the server only when
// the person does something that must be stored.

import { ReaderOriginal } from "../pdf_page/original.js";
import { el } from "../shared/dom.js";
import { focusField, holdTyped } from "../shared/fields.js";
import { container } from "../shared/streamlit.js";
import { tabState } from "../shared/tab_state.js";
import { Annotations } from "./annotations.js";
import { Bare } from "./bare.js";
import { BesideGists } from "./beside.js";
import { BookMap } from "./book_map.js";
import { ChapterLines } from "./chapter_lines.js";
import { Cited } from "./cited.js";
import { whenBack } from "./coming_back.js";
import { readerCommands } from "./commands.js";
import { Foot } from "./foot.js";
import { Frame } from "./frame.js";
import { GistCard } from "./gist_card.js";
import { GistSpeed } from "./gist_speed.js";
import { GistsSaid } from "./gists_said.js";
import { HitsPanel } from "./hits_panel.js";
import { readerKey } from "./keys.js";
import { Layer } from "./layer.js";
import { Leaves } from "./leaves.js";
import { Position } from "./position.js";
import { Progress } from "./progress.js";
import { ReadingView } from "./reading_view.js";
import { Search } from "./search.js";
import { ReadingState } from "./state.js";
import { textOf } from "./text_store.js";
import { Toolbar } from "./toolbar.js";
import { Units } from "./units.js";
import { WorldParts } from "./world_parts.js";

/**
 * @import { GistsLine, Look, ReaderData, ReaderView } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 * @import { Commands } from "./keys.js"
 * @import { Scrolled } from "./scrolled.js"
 * @import { Jump, Send, Show } from "./state.js"
 */

export class Reader {
  /** @param {HTMLElement} root @param {Api} api */
  constructor(root, { send, setState }) {
    this.frame = new Frame(root);
    this.state = new ReadingState();
    const { frame, state } = this;
    /** @type {Send} */
    this.send = (act) => {
      this.position.flush();
      if (act.do === "ask") {
        this.annotations.selection.clear();
        this.bare.readOn();
      }
      const asked = act.do === "ask" && (act.text || !document.querySelector(container("ask_panel")));
      if (act.do !== "ask" || !this.leaveBeside() || act.page || act.text) send(act);
      if (asked) focusField(() => document.querySelector(container("ask_line")), holdTyped());
    };
    /** @type {Jump} */
    const jump = (place, options) => this.position.jump(place, options);
    /** @type {Show} */
    const show = (place, options) => this.view.flow.show(place, options);
    const setFurthest = this.setFurthest.bind(this);
    const of = { state, frame, jump, show, send: this.send };
    const units = new Units({
      ...of,
      marksIn: (paragraph) => this.annotations.marks.spans(paragraph),
      drawn: (paragraph) => {
        this.annotations.marks.paragraphDrawn(paragraph);
        this.world.paragraphDrawn(paragraph);
      },
    });
    const leaves = new Leaves({
      ...of,
      hitsInGist: (page) => this.search.inGist(page),
      openGist: (page, options) => this.card.open(page, options),
      resized: (page) => this.layer.checkCut([page]),
    });
    const chapters = new ChapterLines({ state, units });
    const layer = new Layer({ ...of, units, leaves, chapters, changed: () => this.layerChanged() });
    this.units = units;
    this.layer = layer;
    const all = { ...of, units, layer, leaves };
    const found = () => {
      frame.root.classList.toggle("searching", this.search.query !== "");
      this.toolbar.found();
      this.hits.update();
      this.map.soon();
    };
    this.search = new Search({ ...all, unfold: (paragraph, at) => this.openFound(paragraph, at), found });
    this.card = new GistCard(all);
    this.annotations = new Annotations({
      ...all,
      hitsIn: (paragraph) => this.search.inText(paragraph),
      changed: () => this.marksChanged(),
      notesToggled: () => {
        if (this.annotations.notes.opened) this.hits.close(); // both would leave the text no room
        this.besideChanged();
        this.view.flow.keepPlace(() => this.view.drawClasses());
        this.marksChanged();
      },
      notesClosedWithFocus: () => this.toolbar.notes.focus({ preventScroll: true }),
    });
    this.map = new BookMap({
      ...of,
      search: this.search,
      marks: this.annotations.marks,
      setFurthest,
      wheeled: (event) => this.view.flow.wheeled(event),
    });
    this.position = new Position({
      ...all,
      flow: () => this.view.flow,
      on: {
        jumped: () => {
          this.progress.jumped();
          this.bare.readOn();
        },
        wentBack: () => this.search.leave(),
        opened: (again) => {
          this.moved();
          this.opening = !again;
          this.layerChanged();
          this.bare.readOn();
        },
        page: (page, before) => layer.markCurrent(page, before),
        seen: (first, last, moved) => this.seen(first, last, moved),
        moved: () => this.moved(),
        said: (text) => frame.say(text),
        report: (value) => setState("at", value),
      },
    });
    this.progress = new Progress({ state, progressed: (byHand) => this.progressed(byHand) });
    this.beside = new BesideGists({ state, leaves, found: () => `${this.search.query} ${this.search.at}` });
    this.original = new ReaderOriginal({
      ...of,
      selected: () => this.annotations.selection.selected(),
      keepPlace: (change) =>
        this.view.flow.keepPlace(() => {
          change();
          this.bare.draw();
        }),
    });
    /** @type {Scrolled["keepPlace"]} */
    const keepPlace = (change, place) => this.view.flow.keepPlace(change, place);
    this.bare = new Bare({ ...of, keepPlace });
    this.gistSpeed = new GistSpeed({
      ...all,
      chapters,
      keepPlace,
      showFold: () => this.view.showFold(),
      choose: (view) => this.view.choose(view),
      told: (text) => this.annotations.toast.say(text),
    });
    this.hits = new HitsPanel({
      ...of,
      keepPlace,
      search: this.search,
      marks: this.annotations.marks,
      ask: (query) => this.toolbar.searching.askFor(query),
      showAhead: () => {
        this.search.showAhead();
        if (matchMedia("(hover: hover)").matches) this.toolbar.searching.input.focus(); // so that Enter goes to the next hit; on a phone this would open the keyboard
      },
      toggled: () => {
        if (this.hits.opened) this.annotations.notes.toggle(false);
        this.besideChanged();
      },
    });
    this.toolbar = new Toolbar({
      ...of,
      hits: this.hits.again,
      finder: this.search,
      original: this.original.button,
      bare: this.bare.button,
      on: {
        view: (view) => this.view.choose(view),
        look: (look) => {
          this.view.changeLook(look);
          this.world.names.draw();
        },
        bookmark: () => this.annotations.marks.toggleBookmark(),
        listen: () => this.annotations.listen.open(),
        notes: (open) => this.annotations.notes.toggle(open),
        recap: () => this.world.openRecap(),
        world: () => this.world.toggle(),
        toggled: () => this.besideChanged(),
        closed: () => this.bare.readOn(),
      },
    });
    this.foot = new Foot({ ...of, end: units.end, progress: this.progress, setFurthest });
    this.view = new ReadingView({
      ...all,
      on: {
        arrived: (...seen) => this.position.arrived(...seen),
        shown: (first, last) => this.beside.draw(first, last),
        turned: (step) => step > 0 && this.bare.setGone(true),
        placed: () => this.position.restored,
        notes: () => this.annotations.notes.opened,
        textLeft: () => this.position.leaveText(),
        textAgain: () => this.position.textAgain(),
        changes: (view) => this.gistSpeed.viewChanges(view),
        flows: () => this.bare.draw(),
        changed: (view) => {
          this.toolbar.view(view);
          this.gistSpeed.draw();
        },
        resized: (other) => {
          if (other) this.toolbar.update();
          this.bare.draw();
          this.foot.drawYou();
        },
        beside: (open) => this.beside.toggle(open),
      },
    });
    this.cited = new Cited(all);
    this.world = new WorldParts({
      ...all,
      cited: this.cited,
      find: (words) => this.toolbar.searching.askFor(words),
      toast: this.annotations.toast,
      setFurthest,
      opening: () => this.annotations.closeCards(),
    });
    this.gistsSaid = new GistsSaid((line) => frame.say(line));
    this.title = el("h1", { class: "sr", dir: "auto" });
    const { notes, listen, over } = this.annotations;
    frame.room.append(
      this.beside.node,
      this.original.panel.node,
      notes.node,
      this.map.whole,
      ...this.hits.nodes,
      this.card.node,
      this.position.chip,
      ...over,
    );
    frame.room.append(...this.world.over);
    root.replaceChildren(
      this.title,
      ...this.toolbar.nodes,
      this.gistSpeed.note,
      frame.room,
      listen.node,
      this.foot.node,
      this.bare.line,
      frame.live,
      this.world.page,
    );
    this.commands = readerCommands(this);
    this.ended = new AbortController();
    const until = { signal: this.ended.signal };
    document.addEventListener("keydown", (event) => this.key(event), until);
    document.addEventListener("pointerdown", (event) => this.pressed(event.composedPath()), until);
    document.addEventListener("readagent-ask-left", () => frame.focusText(), until);
    this.opening = false; // the book is at its place, its pages may yet come
    this.cameBack = false;
    whenBack(() => {
      this.cameBack = true;
      if (this.state.book.known) this.view.takeLook(this.state.data.look); // as it was after this tab's last change
      this.send({ do: "again" });
    }, until);
  }

  close() {
    this.ended.abort();
    const { position, progress, map, toolbar, foot, layer, view, annotations, original, gistsSaid, cited, bare, world } = this;
    for (const part of [bare, position, progress, map, toolbar, foot, layer, view, annotations, original, gistsSaid, cited, world])
      part.close();
    this.leaveBook?.abort();
    document.documentElement.removeAttribute("data-beside");
  }

  /** Notes and hits, and on a phone the bar's panels, stand where the panel of Ask does, which steps back meanwhile. */
  besideChanged() {
    const { annotations, hits, toolbar, frame } = this;
    const beside = annotations.notes.opened || hits.opened || (frame.isPhone && toolbar.opened);
    document.documentElement.toggleAttribute("data-beside", beside);
  }

  /** Closes what stands there; whether the panel of Ask comes back then. */
  leaveBeside() {
    const beside = document.documentElement.hasAttribute("data-beside");
    this.annotations.notes.toggle(false);
    this.hits.close();
    if (this.toolbar.opened) this.toolbar.toggle(this.toolbar.named);
    return beside && document.querySelector(container("ask_panel")) !== null;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { book, paged } = this.state;
    const now = { map: this.map.whole, text: this.frame.scroller, paged };
    this.frame.byHand = false;
    this.frame.root.classList.toggle("tabbing", event.key === "Tab");
    if (this.frame.isShown && book.known && !this.world.key(event)) readerKey(event, this.commands, now);
  }

  /** A press outside closes what is open. @param {EventTarget[]} path */
  pressed(path) {
    this.frame.byHand = true;
    this.foot.pressed(path);
    this.toolbar.pressed(path);
    this.annotations.pressed(path);
    this.world.pressed(path);
  }

  // --- what comes from the server -----------------------------------------------------------------

  /** @param {ReaderData} data */
  update(data) {
    const { state } = this;
    const before = state.data;
    const other = before.scope !== data.scope;
    state.data = data;
    this.frame.root.classList.toggle("layered", data.layer !== null); // the line of gists below a page has its room
    if (other || before.layer !== data.layer) this.layer.change(data.layer);
    this.annotations.marks.follow(data.book);
    this.world.follow(data.book);
    if (other) this.changeBook(data);
    else if (this.cameBack) this.view.takeLook(data.look);
    const elsewhere = this.cameBack && !other ? data.elsewhere : null;
    this.cameBack = false;
    if (this.progress.takeStored(data.furthest, before.furthest) && state.book.known) this.moved();
    state.looked = new Map(Object.entries(data.looked ?? {}).map(([page, n]) => [Number(page), n]));
    const restyle = JSON.stringify(styleOf(data)) !== JSON.stringify(styleOf(before));
    this.original.update(data.original);
    if (!state.book.known) return this.foot.drawGists(data.gists);
    this.layer.take(restyle ? [...this.layer.drawn.keys()] : []);
    this.frame.root.classList.toggle("making", data.gists.running);
    if (before.layer !== data.layer || restyle) this.layerChanged();
    this.foot.drawGists(data.gists);
    if (before.finished !== data.finished) this.foot.drawYou();
    this.position.request(data.goto);
    this.position.before.stored(data.stored);
    if (elsewhere) this.position.offer(...elsewhere);
    this.cited.take(data.cited);
    this.gistsSaid.say(data.gists);
  }

  /** @param {ReaderData} data */
  changeBook(data) {
    const { state } = this;
    this.leaveBook?.abort();
    this.leaveBook = new AbortController();
    const until = { signal: this.leaveBook.signal };
    const book = textOf(data.scope);
    state.book = book;
    book.addEventListener("outline", () => this.begin(), until);
    book.addEventListener("text", (event) => this.takeText(/** @type {CustomEvent} */ (event).detail), until);
    const go = (/** @type {Event} */ event) =>
      this.position.jump({ paragraph: /** @type {CustomEvent} */ (event).detail }, { focus: true });
    book.addEventListener("goto", go, until);
    book.addEventListener("outline left", () => this.frame.focusText(), until);
    this.search.clear();
    this.hits.update();
    this.gistSpeed.clear();
    this.position.begin();
    this.progress.begin(book.furthest ?? data.furthest);
    state.look = { ...data.look }; // later changes are made here; the server repeats old values for a while
    this.view.set(data.view ?? "both");
    if (book.known) this.begin();
  }

  /** The outline of the text has come: everything that does not need its words can be drawn. */
  begin() {
    this.title.textContent = this.state.book.outline.title;
    this.gistSpeed.begin(); // which chapters there are is known now
    this.view.chooseFlow();
    for (const unit of this.units.draw()) this.layer.fill(unit);
    this.layer.take();
    this.annotations.marks.draw();
    this.view.applyLook();
    this.bare.checkHeight();
    this.position.request(this.state.data.goto);
    this.cited.take(this.state.data.cited);
    const find = tabState("find", () => /** @type {{book?: string, query?: string, one?: boolean}} */ ({})); // asked for in the library
    if (!find.query || find.book !== this.state.data.book) return;
    this.toolbar.searching.askFor(find.query);
    if (find.one) this.hits.close(); // its words are marked, and the others are a press away
    find.query = "";
  }

  /** @param {[number, number]} range */
  takeText(range) {
    if (!this.state.book.known || !this.frame.isShown) return;
    for (const unit of this.units.take(range)) this.layer.fill(unit);
    this.gistSpeed.draw();
    this.position.tryWanted();
    this.search.again();
    this.cited.settle();
    this.map.soon();
    this.view.flow.relayout();
  }

  /** Pages or gists have come or changed. */
  layerChanged() {
    const { state } = this;
    const { here } = state;
    const page = state.pageAt(here.paragraph, here.at);
    if (page !== here.page) {
      this.layer.markCurrent(page, here.page);
      here.page = page;
    }
    const made = state.gistsMade() > 0;
    this.frame.root.classList.toggle("has-gists", made);
    const known = state.pages.length >= state.data.count; // else the pages are still on their way, after the text
    if (!made && known && state.view !== "both") this.view.set("both");
    this.toolbar.update();
    this.toolbar.at(here);
    this.position.showBack(); // the place before is named by its page
    this.foot.drawGists(state.data.gists);
    if (state.folded) this.view.flow.keepPlace(() => this.gistSpeed.draw());
    if (known && this.opening) this.view.showFold();
    if (known) this.opening = false;
    this.world.layerChanged();
    this.search.again();
    this.map.soon();
    this.view.flow.settle();
  }

  // --- what a part reports ------------------------------------------------------------------------

  /** Paragraphs `first` to `last` are in view; `moved`: another one is read. @param {number} first @param {number} last @param {boolean} moved */
  seen(first, last, moved) {
    this.search.follow(first, last);
    this.annotations.marks.place(first, last);
    this.world.seen(first, last);
    if (moved) this.annotations.notes.follow();
    this.toolbar.bookmarked(this.annotations.marks.bookmarksHere.length > 0);
    if (!this.state.folded) this.progress.look(first, last);
  }

  /** Another paragraph is read. */
  moved() {
    this.layer.markLine(this.state.here.paragraph);
    this.map.place();
    this.toolbar.at(this.state.here);
    this.foot.drawYou();
    this.bare.update();
    this.bare.showBars(false);
    this.original.follow();
    this.world.moved();
  }

  /** More counts as read. @param {boolean} byHand */
  progressed(byHand) {
    const { book } = this.state;
    book.dispatchEvent(new CustomEvent("at", { detail: book.at }));
    this.map.place();
    this.foot.drawYou();
    this.bare.update();
    this.position.save(byHand);
  }

  /** @param {number} paragraph @param {number | null} at null: in the gist of its page */
  openFound(paragraph, at) {
    this.gistSpeed.openFound(paragraph, at);
    this.beside.openFound(at === null);
  }

  /** @param {number} paragraph */
  setFurthest(paragraph) {
    const before = this.state.furthest;
    if (paragraph === before) return;
    this.progress.set(paragraph);
    this.foot.wasSet(before);
  }

  marksChanged() {
    const { marks, notes, listen } = this.annotations;
    const count = marks.all.length + (marks.store?.lost.length ?? 0);
    this.map.soon();
    this.toolbar.marked({ count, placed: marks.all.length, notes: notes.opened, listening: listen.opened });
    this.toolbar.bookmarked(marks.bookmarksHere.length > 0);
  }
}

/** What the margins of a page are drawn from, beside the page. @param {ReaderData} data */
const styleOf = ({ looked, can, lit, gists }) => [looked, can, lit, gists?.state === "ready", gists?.by];
