// The reader's toolbar: views, search, page number, type (Aa), help, export, and more where it is narrow.

import { button, el, number } from "../shared/dom.js";
import { SIDEBAR_OPENER } from "../shared/streamlit.js";
import { grainWords } from "./chapter_lines.js";
import { helpPanel } from "./help_panel.js";
import { lookPanel } from "./look_panel.js";
import { PageField } from "./page_field.js";
import { SearchField } from "./search_field.js";
import { readingTime } from "./text_store.js";

/**
 * @import { Look, ReaderView } from "../protocol.js"
 * @import { Frame } from "./frame.js"
 * @import { Search } from "./search.js"
 * @import { Here, Jump, ReadingState, Send } from "./state.js"
 *
 * @typedef {"type" | "help" | "more"} Panel
 * @typedef {object} Acts
 * @property {(view: ReaderView) => void} view
 * @property {(look: Look) => void} look
 * @property {() => void} bookmark sets one, or removes it
 * @property {() => void} listen
 * @property {(open?: boolean) => void} notes
 * @property {() => void} recap where was I
 * @property {() => void} world who is who
 * @property {() => void} toggled a panel was opened or closed
 * @property {() => void} closed
 */

/** @type {[ReaderView, string][]} */
const VIEWS = [
  ["both", "With gists"],
  ["text", "Text"],
  ["gists", "Gists"],
  ["chapters", "Chapters"],
];

export class Toolbar {
  /**
   * `original`: the button that opens the PDF; `bare`: the one for full screen; `hits`: the one for the list of hits.
   * @param {{state: ReadingState, frame: Frame, jump: Jump, send: Send, finder: Search, original: Element, bare: HTMLElement, hits: Element, on: Acts}} needs
   */
  constructor({ state, frame, jump, send, finder, original, bare, hits, on }) {
    this.state = state;
    this.frame = frame;
    this.send = send;
    this.on = on;
    this.placed = 0; // marks in the text
    this.searching = new SearchField(finder);
    this.pageField = new PageField({ state, frame, jump });
    /** @type {Map<ReaderView, HTMLElement>} */
    this.minutes = new Map(VIEWS.slice(1).map(([view]) => [view, el("span", { class: "small num mins" })]));
    this.views = VIEWS.map(([view, label]) => {
      const node = button(label, () => on.view(view), {
        kind: `seg-${view}`,
        "aria-label": view === "both" ? null : label,
      });
      node.append(this.minutes.get(view) ?? "");
      return node;
    });
    this.seg = el("div", { class: "seg views", role: "group", "aria-label": "View", hidden: true }, ...this.views);
    this.aa = this.opener("Aa", "type", "Type and theme", "quiet aa");
    this.help = this.opener("?", "help", "Keyboard shortcuts", "quiet icon helpb");
    this.more = this.opener("…", "more", "More", "quiet icon moreb");
    this.contents = button("", () => this.openContents(), { kind: "quiet icon contentsb", icon: "contents", name: "Contents (o)" });
    this.full = bare;
    this.openers = { type: this.aa, help: this.help, more: this.more };
    this.export = this.opening("Export", "export", "quiet notnarrow exportb");
    this.ask = button("Ask", () => send({ do: "ask", page: 0 }), { kind: "first askb" });
    this.told = this.telling("quiet notnarrow told");
    this.bookmark = button("", on.bookmark, { kind: "quiet icon", icon: "bookmark", name: "Bookmark this place", "aria-pressed": "false" });
    this.listening = button("", on.listen, { kind: "quiet icon notphone", icon: "listen", name: "Listen", "aria-pressed": "false" });
    this.notesCount = el("span", { class: "num" });
    this.notes = button(this.notesCount, () => on.notes(), {
      kind: "quiet notesb notphone",
      icon: "note",
      name: "Notes",
      "aria-pressed": "false",
    });
    this.bar = el(
      "div",
      { class: "tbar", role: "toolbar", "aria-label": "Reading" },
      this.contents,
      this.seg,
      ...this.searching.nodes,
      hits,
      el("span", { class: "gap" }),
      this.pageField.node,
      ...this.told,
      this.bookmark,
      this.notes,
      this.listening,
      original,
      this.aa,
      bare,
      this.help,
      this.export,
      this.more,
      this.ask,
    );
    this.bar.addEventListener("click", (event) => this.clicked(event));
    /** @type {Panel} */
    this.named = "type"; // the panel that was opened last
    this.panel = el("div", { class: "panel", hidden: true });
    this.nodes = [this.bar, this.panel];
  }

  close() {
    this.searching.close();
    this.pageField.close();
  }

  // --- what is shown ------------------------------------------------------------------------------

  update() {
    const made = this.state.gistsMade();
    this.seg.hidden = !made;
    this.export.hidden = !made;
    this.ask.hidden = !this.state.data.can.ask;
    const narrow = this.frame.root.clientWidth < 560;
    this.searching.input.placeholder = narrow ? "Search" : "Search the book";
    this.pageField.update();
    const { book, pages } = this.state;
    this.contents.hidden = !book.outline.sections.length;
    if (!made) return;
    const words = grainWords(book, pages);
    for (const [view, node] of this.minutes) {
      node.textContent = readingTime(book, words[/** @type {keyof typeof words} */ (view)]);
      node.parentElement?.setAttribute("aria-description", node.textContent);
    }
    this.views[3].hidden = book.outline.chapters.length < 2;
  }

  /**
   * How many marks there are, of them in the text, and what is open.
   * @param {{count: number, placed: number, notes: boolean, listening: boolean}} now
   */
  marked({ count, placed, notes, listening }) {
    this.placed = placed;
    this.notesCount.textContent = count ? number(count) : "";
    this.notes.setAttribute("aria-label", count ? `Notes, ${number(count)}` : "Notes");
    this.notes.setAttribute("aria-pressed", String(notes));
    this.listening.setAttribute("aria-pressed", String(listening));
  }

  /** Whether a bookmark is in view. @param {boolean} there */
  bookmarked(there) {
    const name = there ? "Remove the bookmark" : "Bookmark this place";
    if (this.bookmark.title === name) return;
    this.bookmark.setAttribute("aria-pressed", String(there));
    this.bookmark.setAttribute("aria-label", name);
    this.bookmark.title = name;
  }

  found() {
    this.bar.classList.toggle("found", this.searching.found());
  }

  find() {
    this.searching.focus();
  }

  /** @param {ReaderView} view */
  view(view) {
    for (const [i, node] of this.views.entries()) node.setAttribute("aria-pressed", String(VIEWS[i][0] === view));
  }

  /** @param {Here} here */
  at(here) {
    this.pageField.at(here);
  }

  /** After a press by hand on what only switches something, or closes a panel, the text has the focus: the space bar scrolls it, and does not press again. @param {MouseEvent} event */
  clicked(event) {
    const { active } = this.frame;
    if (event.detail && active?.matches(".tbar :is([aria-pressed], [aria-expanded=false])")) this.frame.focusText();
  }

  // --- panels -------------------------------------------------------------------------------------

  get opened() {
    return !this.panel.hidden;
  }

  /** @param {Panel} name */
  toggle(name) {
    const closes = this.named === name && this.opened;
    this.panel.hidden = closes;
    this.on.toggled();
    this.panel.dataset.name = this.named = name;
    for (const [which, opener] of Object.entries(this.openers)) opener.setAttribute("aria-expanded", String(!closes && name === which));
    if (closes) return this.on.closed();
    this.byHand = this.frame.byHand;
    const content = { type: () => this.typePanel(), help: () => helpPanel(() => this.toggle("help")), more: () => this.morePanel() };
    this.panel.replaceChildren(...content[name]());
    /** @type {HTMLElement | null} */ (this.panel.querySelector("button:not(.shut)"))?.focus();
  }

  /** A press outside closes the panel; its button does so by itself. @param {EventTarget[]} path */
  pressed(path) {
    const own = [this.panel, ...Object.values(this.openers)];
    if (this.opened && !own.some((node) => path.includes(node))) this.toggle(this.named);
  }

  /** Closes the panel, else the search; whether there was one. @param {KeyboardEvent} event */
  escape(event) {
    if (!this.opened) return this.searching.escape(event);
    const opener = this.openers[this.named];
    this.toggle(this.named);
    if (this.byHand) this.frame.focusText();
    else (opener.checkVisibility() ? opener : this.more).focus();
    return true;
  }

  /** @returns {Element[]} */
  typePanel() {
    const { look, canBeVertical, vertical } = this.state;
    const { language, unspaced } = this.state.book.outline;
    const room = this.frame.scroller.clientWidth;
    const shut = button("", () => this.toggle("type"), { kind: "quiet icon shut", icon: "close", name: "Close" });
    const rows = lookPanel(look, { canBeVertical, vertical, language, unspaced, room }, (name, value, redraw = true) => {
      this.on.look({ ...this.state.look, [name]: value });
      if (!redraw) return;
      if (name === "theme") document.documentElement.dataset.theme = String(value);
      const place = [...this.panel.querySelectorAll("button")].indexOf(/** @type {HTMLButtonElement} */ (this.frame.active));
      this.panel.replaceChildren(...this.typePanel());
      this.panel.querySelectorAll("button")[place]?.focus();
    });
    return [el("div", { class: "chead sheethead" }, el("h2", {}, "Type and theme"), shut), ...rows]; // seen on a phone
  }

  /** The controls of the bar and the foot that have no room in a narrow window. */
  morePanel() {
    /** @param {HTMLElement} node */
    const lacks = (node) => !node.hidden && !node.checkVisibility();
    /** @param {() => void} act */
    const after = (act) => () => {
      this.toggle("more");
      act();
    };
    const notes = button(
      this.placed ? `Notes ${number(this.placed)}` : "Notes",
      after(() => this.on.notes(true)),
      { icon: "note" },
    );
    /** @type {HTMLElement | null} */
    const limit = this.frame.root.querySelector(".foot .limit");
    const row = [
      lacks(this.contents) &&
        document.querySelector(SIDEBAR_OPENER) &&
        button(
          "Contents",
          after(() => this.openContents()),
          { icon: "contents" },
        ),
      ...this.telling("").filter((_, i) => lacks(this.told[i])),
      lacks(this.export) && this.opening("Export", "export", "", "drop"),
      lacks(this.notes) && notes,
      lacks(this.listening) && button("Listen", after(this.on.listen), { icon: "listen" }),
      limit &&
        lacks(limit) &&
        button(
          limit.dataset.do === "veil" ? "Hide gists I have not read" : "Show all gists",
          after(() => limit.click()),
          { icon: limit.dataset.do === "veil" ? "unseen" : "seen" },
        ),
      lacks(this.full) &&
        button(
          "Full screen",
          after(() => this.full.click()),
          { icon: "grow" },
        ),
      lacks(this.help) &&
        matchMedia("(any-hover: hover)").matches && // else there is hardly a keyboard; '?' shows them anywhere
        button(
          "Keyboard shortcuts",
          after(() => this.toggle("help")),
          { icon: "keys" },
        ),
    ];
    return [...(lacks(this.pageField.node) ? [this.pageField.copy()] : []), el("div", { class: "items" }, ...row.filter((node) => !!node))];
  }

  /** A button that opens a panel. @param {string} label @param {Panel} panel @param {string} name @param {string} kind */
  opener(label, panel, name, kind) {
    return button(label, () => this.toggle(panel), { kind, "aria-expanded": "false", name });
  }

  /**
   * A button that opens a dialog of the screen.
   * @param {string} label @param {string} act @param {string} kind @param {import("../shared/dom.js").IconName | null} shape
   */
  opening(label, act, kind, shape = null) {
    const press = () => {
      if (this.opened) this.toggle(this.named);
      this.send({ do: act });
    };
    return button(label, press, { kind, icon: shape });
  }

  openContents() {
    this.state.book.dispatchEvent(new Event("show outline"));
  }

  /** @param {string} kind */
  telling(kind) {
    /** @param {() => void} act */
    const press = (act) => () => {
      if (this.opened) this.toggle(this.named);
      act();
    };
    return [
      button("Where was I?", press(this.on.recap), { kind, icon: kind ? null : "where" }),
      button(el("span", {}, "World"), press(this.on.world), {
        kind: `${kind} worldb`,
        icon: "people",
        "aria-label": "World",
        title: "Who is who, and what happened",
      }),
    ];
  }
}
