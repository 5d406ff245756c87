// The reader's toolbar: views, search, page number, type (Aa), help, export, and more where it is narrow.

import { button, el, icon, number } from "../shared/dom.js";
import { lookPanel } from "./look_panel.js";
import { placeOf } from "./text_store.js";

const VIEWS = [
  ["both", "Side by side"],
  ["text", "Text"],
  ["gists", "Gists"],
];
const KEYS = [
  ["j  k", "next page, previous page (also ← →)"],
  ["[  ]", "previous chapter, next chapter"],
  ["Home  End", "beginning, end"],
  ["Backspace", "back to where I was, after a jump"],
  ["p", "the PDF's own page"],
  ["g", "side by side, text, gists"],
  ["/", "search; n N next hit, previous hit"],
  ["o", "outline"],
  ["m", "map; then ↑ ↓"],
  ["b", "bookmark"],
  ["i", "notes"],
  ["l", "listen, pause"],
  ["v", "select a sentence; then ← → by word, ↑ ↓ by sentence, Shift for its beginning, Enter for the menu"],
  ["1  2  3  4", "highlight what is selected; n note, a ask, e explain, d define, t translate, c copy"],
  ["Esc", "close"],
  ["?", "this help"],
];

export class Toolbar {
  constructor(reader) {
    this.reader = reader;
    // in a narrow window the gist comes after its page, not beside it
    const both = (label) => el("span", {}, el("span", { class: "beside" }, label), el("span", { class: "over" }, "Both"));
    this.views = VIEWS.map(([view, label]) =>
      button(view === "both" ? both(label) : label, () => reader.chooseView(view), { kind: `seg-${view}` }),
    );
    this.seg = el("div", { class: "seg views", role: "group", "aria-label": "View", hidden: true }, ...this.views);
    this.input = el("input", {
      type: "search",
      "aria-label": "Search this book",
      placeholder: "Search the text",
      oninput: () => this.typed(),
      onkeydown: (e) => this.entered(e),
    });
    this.count = el("span", { class: "small dim num count", role: "status" });
    const [before, next] = [
      ["up", -1, "Previous hit"],
      ["down", 1, "Next hit"],
    ].map(([shape, step, name]) => button("", () => reader.search.step(step), { kind: "quiet icon hitstep", icon: shape, name }));
    this.page = this.pageInput();
    this.of = el("span", { class: "dim num", role: "status" });
    this.goto = el("label", { class: "goto", hidden: true }, el("span", { class: "dim notnarrow" }, "Page"), this.page, this.of);
    const panel = (name) => () => this.toggle(name);
    this.aa = button("Aa", panel("type"), {
      kind: "quiet aa",
      "aria-expanded": "false",
      "aria-label": "Type and theme",
      title: "Type and theme",
    });
    this.help = button("?", panel("help"), {
      kind: "quiet icon helpb",
      "aria-expanded": "false",
      "aria-label": "Keyboard shortcuts",
      title: "Keyboard shortcuts",
    });
    this.more = button("…", panel("more"), { kind: "quiet icon moreb", "aria-expanded": "false", name: "More" });
    this.openers = { type: this.aa, help: this.help, more: this.more };
    this.export = this.opening("Export", "export", "quiet notnarrow exportb");
    this.ask = button("Ask", () => reader.send({ do: "ask", page: 0 }), { kind: "first" });
    this.told = this.telling("quiet notnarrow told");
    this.bookmark = button("", () => reader.marks.toggleBookmark(), {
      kind: "quiet icon",
      icon: "bookmark",
      name: "Bookmark this place",
      "aria-pressed": "false",
    });
    this.listening = button("", () => reader.listen.open(), {
      kind: "quiet icon notphone",
      icon: "listen",
      name: "Listen",
      "aria-pressed": "false",
    });
    this.notesCount = el("span", { class: "num" });
    this.notes = button(this.notesCount, () => reader.notes.toggle(), {
      kind: "quiet notesb notphone",
      icon: "note",
      "aria-pressed": "false",
      "aria-label": "Notes",
      title: "Notes",
    });
    this.bar = el(
      "div",
      { class: "tbar", role: "toolbar", "aria-label": "Reading" },
      this.seg,
      el("label", { class: "field find" }, icon("search"), this.input, this.count),
      before,
      next,
      el("span", { class: "gap" }),
      this.goto,
      ...this.told,
      this.bookmark,
      this.notes,
      this.listening,
      this.aa,
      this.help,
      this.export,
      this.more,
      this.ask,
    );
    this.panel = el("div", { class: "panel", hidden: true });
    this.nothing = el("div", { class: "nothing", hidden: true, role: "status" });
    this.nodes = [this.bar, this.panel, this.nothing];
  }

  update() {
    const { layer, root, data } = this.reader;
    const made = layer.gistsMade();
    this.seg.hidden = !made;
    this.goto.hidden = !layer.pages.length && !this.reader.book.places.length;
    this.export.hidden = !made;
    this.ask.hidden = !data.can.ask;
    const narrow = root.clientWidth < 560;
    this.input.placeholder = narrow ? "Search" : made ? "Search text and gists" : "Search the text";
    this.of.textContent = this.missing ? `no page ${this.missing}` : layer.pages.length ? `of ${number(layer.pages.length)}` : "";
  }

  // How many marks there are, and what is open.
  marked() {
    const { marks, notes, listen } = this.reader;
    const count = marks.all.length + (marks.store?.lost.length ?? 0);
    this.notesCount.textContent = count ? number(count) : "";
    this.notes.setAttribute("aria-label", count ? `Notes, ${number(count)}` : "Notes");
    this.notes.setAttribute("aria-pressed", String(notes.opened));
    this.listening.setAttribute("aria-pressed", String(listen.opened));
    this.bookmarked();
  }

  bookmarked() {
    const there = this.reader.marks.bookmarksHere.length > 0;
    const name = there ? "Remove the bookmark" : "Bookmark this place";
    if (this.bookmark.title === name) return;
    this.bookmark.setAttribute("aria-pressed", String(there));
    this.bookmark.setAttribute("aria-label", name);
    this.bookmark.title = name;
  }

  // What the search has found.
  found() {
    const { hits, at, query } = this.reader.search;
    this.count.textContent = !query ? "" : hits.length ? `${number(at + 1)} of ${number(hits.length)}` : "no hits";
    this.bar.classList.toggle("found", hits.length > 0);
    this.nothing.hidden = !query || hits.length > 0;
    const clear = () => ((this.input.value = ""), this.search());
    if (!this.nothing.hidden)
      this.nothing.replaceChildren(
        el("strong", {}, `No hits for “${query}”`),
        el("p", { class: "dim" }, "Searched the whole text and all gists."),
        button("Clear search", clear, { kind: "slim" }),
      );
  }

  view(view) {
    this.views.forEach((node, i) => node.setAttribute("aria-pressed", String(VIEWS[i][0] === view)));
  }

  at(here) {
    if (this.reader.root.getRootNode().activeElement !== this.page) this.page.value = this.pageAt(here);
  }

  // The page that the field shows: one of the reading, or of the source before there are any.
  pageAt({ page, paragraph }) {
    return String(page ?? placeOf(this.reader.book, paragraph));
  }

  // --- search and going to a page -----------------------------------------------------------------

  find() {
    this.input.focus();
    this.input.select();
  }

  typed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.search(), 200);
  }

  entered(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (this.input.value.trim() === this.reader.search.query) this.reader.search.step(event.shiftKey ? -1 : 1);
    else this.search();
  }

  search() {
    clearTimeout(this.waiting);
    this.reader.search.ask(this.input.value.trim());
  }

  pageInput() {
    return el("input", {
      type: "text",
      inputmode: "text",
      class: "pagein num",
      "aria-label": "Go to page",
      title: "Go to a page, or to a page of the source: p. 12",
      onchange: (e) => this.jump(e.target),
      onfocus: (e) => e.target.select(),
    });
  }

  jump(input) {
    const asked = input.value.trim();
    const { layer, book, position } = this.reader;
    const plain = /^\d+$/.test(asked) ? layer.pages[Number(asked) - 1] : null;
    const place = (text) => text.replace(/\s+/g, "").toLowerCase();
    const source = book.places.find(([, where]) => place(where) === place(asked));
    if (plain) position.jump({ paragraph: plain.s, at: plain.a ?? 0 }, { focus: true });
    else if (source) position.jump({ paragraph: source[0] }, { focus: true });
    else this.miss(asked);
    input.value = this.page.value = this.pageAt(position.here);
  }

  // Says for a moment that there is no such page, in the place of the number of pages.
  miss(asked) {
    const show = (missing) => ((this.missing = missing), this.update());
    show(asked.slice(0, 12));
    clearTimeout(this.missed);
    this.missed = setTimeout(() => show(""), 4000);
  }

  // --- panels -------------------------------------------------------------------------------------

  toggle(name) {
    const closes = this.panel.dataset.name === name && !this.panel.hidden;
    this.panel.hidden = closes;
    this.panel.dataset.name = name;
    for (const [which, opener] of Object.entries(this.openers)) opener.setAttribute("aria-expanded", String(!closes && name === which));
    if (closes) return;
    this.panel.replaceChildren(...{ type: () => this.typePanel(), help: () => this.helpPanel(), more: () => this.morePanel() }[name]());
    this.panel.querySelector("button")?.focus();
  }

  /** Closes the panel, else the search; whether there was one. */
  escape(event) {
    if (!this.panel.hidden) {
      const opener = this.openers[this.panel.dataset.name];
      this.toggle(this.panel.dataset.name);
      (opener.checkVisibility() ? opener : this.more).focus();
      return true;
    }
    if (event.composedPath().includes(this.input) || this.reader.search.query) {
      this.input.value = "";
      this.search();
      this.input.blur();
      return true;
    }
    return false;
  }

  typePanel() {
    const { reader } = this;
    const pick = (name, value) => {
      reader.changeLook({ ...reader.look, [name]: value });
      if (name === "theme") document.documentElement.dataset.theme = value;
      const at = this.panel.getRootNode().activeElement;
      const place = [...this.panel.querySelectorAll("button")].indexOf(at);
      this.panel.replaceChildren(...this.typePanel());
      this.panel.querySelectorAll("button")[place]?.focus();
    };
    return lookPanel(reader.look, reader, pick);
  }

  // The controls of the bar that have no room in a narrow window.
  morePanel() {
    const input = this.pageInput();
    input.value = this.pageAt(this.reader.position.here);
    const lacks = (node) => !node.hidden && !node.checkVisibility();
    return [
      !lacks(this.goto)
        ? null
        : el(
            "label",
            { class: "goto" },
            el("span", { class: "dim" }, "Page"),
            input,
            el("span", { class: "dim num" }, this.of.textContent),
          ),
      !lacks(this.seg)
        ? null
        : el(
            "div",
            { class: "seg", role: "group", "aria-label": "View" },
            ...VIEWS.map(([view, label]) =>
              button(view === "both" ? "Both" : label, () => (this.reader.chooseView(view), this.toggle("more")), {
                "aria-pressed": String(this.reader.view === view),
              }),
            ),
          ),
      el(
        "div",
        { class: "erow" },
        ...this.telling("").filter((_, i) => lacks(this.told[i])),
        lacks(this.export) ? this.opening("Export", "export", "") : null,
        ...this.hiddenOnPhones().filter((_, i) => lacks([this.notes, this.listening][i])),
        lacks(this.help) ? button("Shortcuts", () => (this.toggle("more"), this.toggle("help")), {}) : null,
      ),
    ].filter(Boolean);
  }

  // A button that opens a dialog of the screen.
  opening(label, act, kind) {
    return button(
      label,
      () => {
        if (!this.panel.hidden) this.toggle(this.panel.dataset.name);
        this.reader.send({ do: act });
      },
      { kind },
    );
  }

  hiddenOnPhones() {
    const { notes, listen, marks } = this.reader;
    const after = (act) => () => (this.toggle("more"), act());
    return [
      button(
        marks.all.length ? `Notes ${number(marks.all.length)}` : "Notes",
        after(() => notes.toggle(true)),
        { icon: "note" },
      ),
      button(
        "Listen",
        after(() => listen.open()),
        { icon: "listen" },
      ),
    ];
  }

  telling(kind) {
    return [this.opening("Where was I?", "recap", kind), this.opening("Who is who", "cast", kind)];
  }

  helpPanel() {
    const rows = KEYS.flatMap(([key, what]) => [el("dt", {}, ...key.split("  ").map((k) => el("kbd", {}, k))), el("dd", {}, what)]);
    const around = () => {
      this.toggle("help");
      document.dispatchEvent(new Event("readagent-tour"));
    };
    return [
      el("h2", {}, "Keyboard shortcuts"),
      el("dl", { class: "keys" }, ...rows),
      button("Show me around", around, { kind: "slim" }),
      button("Close", () => this.toggle("help"), { kind: "slim" }),
    ];
  }

  close() {
    clearTimeout(this.waiting);
    clearTimeout(this.missed);
  }
}
