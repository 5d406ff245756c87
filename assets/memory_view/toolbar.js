// The reader's toolbar: views, search, page number, type (Aa), help, more (where narrow); and a reading under way.

import { button, el, icon, number } from "../shared/dom.js";
import { storeTheme } from "../shared/streamlit.js";

const VIEWS = [["both", "Side by side"], ["text", "Text"], ["gists", "Gists"]];
const SIZES = [15, 16.5, 18, 20, 23];
const MEASURES = [["narrow", "Narrow", "48ch"], ["middle", "Medium", "60ch"], ["wide", "Wide", "74ch"]];
const THEMES = [["system", "System"], ["light", "Light"], ["sepia", "Sepia"], ["dark", "Dark"]];
const KEYS = [
  ["j  k", "next page, previous page (also ← →)"], ["Home  End", "first page, last page"],
  ["g", "this page: both, text only, gist only"], ["/", "search; n N next hit, previous hit"],
  ["o", "outline"], ["m", "map; then ↑ ↓"], ["Esc", "close"], ["?", "this help"],
];

export class Toolbar {
  constructor(reader) {
    this.reader = reader;
    const choose = (view) => () => (reader.setView(view), reader.send({ do: "view", text: view }));
    // in a narrow window the gist is above its text, not beside it
    const both = (label) => el("span", {}, el("span", { class: "beside" }, label), el("span", { class: "over" }, "Both"));
    this.views = VIEWS.map(([view, label]) =>
      button(view === "both" ? both(label) : label, choose(view), { kind: `seg-${view}` }));
    this.input = el("input", { type: "search", "aria-label": "Search text and gists", placeholder: "Search",
      oninput: () => this.typed(), onkeydown: (e) => this.entered(e) });
    this.count = el("span", { class: "small dim num count", role: "status" });
    const [before, next] = [["up", -1, "Previous hit"], ["down", 1, "Next hit"]].map(([shape, step, name]) =>
      button("", () => reader.hits.step(step), { kind: "quiet icon hitstep", icon: shape, name }));
    this.page = this.pageInput();
    this.of = el("span", { class: "dim num", role: "status" });
    const panel = (name) => () => this.toggle(name);
    this.aa = button("Aa", panel("type"), { kind: "quiet aa", "aria-expanded": "false", "aria-label": "Type and theme" });
    this.help = button("?", panel("help"), { kind: "quiet icon helpb", "aria-expanded": "false", "aria-label": "Keys" });
    this.more = button("…", panel("more"), { kind: "quiet icon moreb", "aria-expanded": "false", name: "More" });
    this.openers = { type: this.aa, help: this.help, more: this.more };
    this.bar = el("div", { class: "tbar", role: "toolbar", "aria-label": "Reading" },
      el("div", { class: "seg", role: "group", "aria-label": "View" }, ...this.views),
      el("label", { class: "field find" }, icon("search"), this.input, this.count), before, next,
      el("span", { class: "gap" }),
      el("label", { class: "goto" }, el("span", { class: "dim notnarrow" }, "Page"), this.page, this.of),
      this.aa, this.help, this.exporting("quiet notnarrow"), this.more,
      button("Ask", () => reader.send({ do: "ask", page: 0 }), { kind: "first" }));
    this.panel = el("div", { class: "panel", hidden: true });
    this.job = el("div", { class: "job", hidden: true });
    this.nothing = el("div", { class: "nothing", hidden: true, role: "status" });
    this.nodes = [this.bar, this.panel, this.job, this.nothing];
  }

  update({ hits, job, look, count }) {
    const { total, at } = this.reader.hits;
    const asked = hits?.query ?? "";
    if (this.reader.root.getRootNode().activeElement !== this.input) this.input.value = asked;
    this.count.textContent = !asked ? "" : total ? `${number(at + 1)} of ${number(total)}` : "no hits";
    this.bar.classList.toggle("found", total > 0);
    this.nothing.hidden = !asked || total > 0;
    if (!this.nothing.hidden) this.nothing.replaceChildren(...this.noHits(asked, count));
    const narrow = this.reader.root.clientWidth < 560;
    this.input.placeholder = narrow ? "Search" : job?.running ? "Search what has been read" : "Search text and gists";
    this.drawJob(job);
    if (!this.look) this.applyLook({ ...look }); // later changes are made here
    this.of.textContent = this.missing ? `no page ${this.missing}` : `of ${number(count)}`;
  }

  noHits(asked, count) {
    const clear = () => ((this.input.value = ""), this.search());
    return [el("strong", {}, `No hits for “${asked}”`),
      el("p", { class: "dim" }, `Searched the text and gists of ${count === 1 ? "the one page" : `all ${number(count)} pages`}.`),
      button("Clear search", clear, { kind: "slim" })];
  }

  view(view) {
    this.views.forEach((node, i) => node.setAttribute("aria-pressed", String(VIEWS[i][0] === view)));
  }

  at(page) {
    if (this.reader.root.getRootNode().activeElement !== this.page) this.page.value = page;
  }

  // --- search and going to a page -----------------------------------------------------------------

  find() {
    this.input.focus();
    this.input.select();
  }

  typed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.search(), 350);
  }

  entered(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const asked = this.reader.data.hits?.query ?? "";
    if (this.input.value.trim() === asked) this.reader.hits.step(event.shiftKey ? -1 : 1);
    else this.search();
  }

  search() {
    clearTimeout(this.waiting);
    const asked = this.input.value.trim();
    if (asked !== (this.reader.data.hits?.query ?? "")) this.reader.hits.search(asked);
  }

  pageInput() {
    return el("input", { type: "text", inputmode: "text", class: "pagein num", "aria-label": "Go to page",
      title: "Go to a page, or to a source page: p. 12", onchange: (e) => this.jump(e.target),
      onfocus: (e) => e.target.select() });
  }

  jump(input) {
    const asked = input.value.trim();
    const pages = this.reader.book.pages;
    const plain = /^\d+$/.test(asked) ? Number(asked) : null;
    const place = (text) => text.replace(/\s+/g, "").toLowerCase();
    const bySource = pages.find((p) => (p.p ?? []).some(([, where]) => place(where) === place(asked)));
    const page = plain && plain >= 1 && plain <= pages.length ? plain : bySource?.n;
    if (page) this.reader.goto(page, { focus: true });
    else this.miss(asked);
    input.value = this.page.value = page ?? this.reader.here;
  }

  // Says for a moment that there is no such page, in the place of the number of pages.
  miss(asked) {
    const show = (missing) => {
      this.missing = missing;
      for (const node of this.reader.root.querySelectorAll(".goto span.num"))
        node.textContent = missing ? `no page ${missing}` : `of ${number(this.reader.data.count)}`;
    };
    show(asked.slice(0, 12));
    clearTimeout(this.missed);
    this.missed = setTimeout(() => show(""), 4000);
  }

  // --- panels -------------------------------------------------------------------------------------

  toggle(name) {
    const closes = this.panel.dataset.name === name && !this.panel.hidden;
    this.panel.hidden = closes;
    this.panel.dataset.name = name;
    for (const [which, opener] of Object.entries(this.openers))
      opener.setAttribute("aria-expanded", String(!closes && name === which));
    if (closes) return;
    this.panel.replaceChildren(...{ type: () => this.typePanel(), help: () => this.helpPanel(), more: () => this.morePanel() }[name]());
    this.panel.querySelector("button")?.focus();
  }

  escape(event) {
    if (this.reader.editor.page) return this.reader.editor.close();
    if (!this.panel.hidden) {
      const opener = this.openers[this.panel.dataset.name];
      this.toggle(this.panel.dataset.name);
      return (opener.checkVisibility() ? opener : this.more).focus();
    }
    if (event.composedPath().includes(this.input) || this.reader.data.hits?.query) {
      this.input.value = "";
      this.search();
      this.input.blur();
    }
  }

  choices(label, options, chosen, pick) {
    const buttons = options.map(([value, text]) => button(text, () => pick(value),
      { kind: "", "aria-pressed": String(value === chosen) }));
    return el("div", { class: "choice" }, el("span", { class: "lab" }, label),
      el("div", { class: "seg", role: "group", "aria-label": label }, ...buttons));
  }

  typePanel() {
    const pick = (name) => (value) => {
      const look = { ...this.look, [name]: value };
      this.reader.position.keepPlace(() => this.applyLook(look));
      this.reader.send({ do: "look", text: JSON.stringify(look) });
      if (name === "theme") applyTheme(value);
      const at = this.panel.getRootNode().activeElement?.textContent;
      this.panel.replaceChildren(...this.typePanel());
      [...this.panel.querySelectorAll("button")].find((b) => b.textContent === at)?.focus();
    };
    const sizes = SIZES.map((_, i) => [i + 1, String(i + 1)]);
    return [this.choices("Text size", sizes, this.look.size, pick("size")),
      this.choices("Line length", MEASURES, this.look.measure, pick("measure")),
      this.choices("Typeface", [["serif", "Serif"], ["sans", "Sans"]], this.look.face, pick("face")),
      this.choices("Theme", THEMES, this.look.theme, pick("theme"))];
  }

  // The controls that have no room in a narrow window.
  morePanel() {
    const input = this.pageInput();
    input.value = this.reader.here;
    const other = (name) => () => (this.toggle("more"), this.toggle(name));
    return [el("label", { class: "goto" }, el("span", { class: "dim" }, "Page"), input,
        el("span", { class: "dim num" }, this.of.textContent)),
      el("div", { class: "erow" }, button("Type and theme", other("type"), { kind: "slim" }), this.exporting("slim"),
        button("Keys", other("help"), { kind: "slim" }))];
  }

  exporting(kind) {
    return button("Export", () => {
      if (!this.panel.hidden) this.toggle(this.panel.dataset.name);
      this.reader.send({ do: "export" });
    }, { kind });
  }

  helpPanel() {
    const rows = KEYS.flatMap(([key, what]) => [el("dt", {}, ...key.split("  ").map((k) => el("kbd", {}, k))),
      el("dd", {}, what)]);
    return [el("h2", {}, "Keys"), el("dl", { class: "keys" }, ...rows), button("Close", () => this.toggle("help"), { kind: "slim" })];
  }

  applyLook(look) {
    this.look = look;
    const style = this.reader.root.style;
    const size = SIZES[look.size - 1] ?? 18;
    style.setProperty("--book", `${size / 16}rem`);
    style.setProperty("--book-line", `${Math.round(size * 1.667) / 16}rem`);
    style.setProperty("--measure", MEASURES.find((m) => m[0] === look.measure)?.[2] ?? "60ch");
    style.setProperty("--face", look.face === "sans" ? "var(--sans)" : "var(--serif)");
  }

  // --- a reading under way ------------------------------------------------------------------------

  drawJob(job) {
    this.job.hidden = !job;
    if (!job) return this.job.replaceChildren();
    this.job.className = `job ${job.state}`;
    const line = el("p", { role: "status" }, el("strong", {}, job.line), el("span", { class: "dim num" }, job.rest ? ` · ${job.rest}` : ""));
    const before = this.job.querySelector("p");
    if (before) before.replaceWith(line);
    else this.job.replaceChildren(el("div", { class: "jrow" }, line, el("div", { class: "jb" })));
    this.drawActions(job.actions);
    this.job.querySelector(".bar")?.remove();
    if (job.percent === null) return;
    this.job.append(el("div", { class: "bar", role: "progressbar", "aria-label": "Reading", "aria-valuemin": 0, "aria-valuemax": 100,
      "aria-valuenow": Math.round(job.percent) }, el("b", { style: `width:${job.percent}%` })));
  }

  // Replaces the buttons only when they change: pressing one that is replaced before the release is no click.
  drawActions(actions) {
    const acts = this.job.querySelector(".jb");
    const same = JSON.stringify(actions);
    if (acts.dataset.same === same) return;
    const focus = acts.contains(acts.getRootNode().activeElement) ? acts.getRootNode().activeElement.textContent : null;
    acts.dataset.same = same;
    acts.replaceChildren(...actions.map(([what, label, kind]) => button(label, () => this.reader.send({ do: what }),
      { kind: `slim ${kind ?? ""}`, icon: what === "pause" ? "pause" : null })));
    if (focus) [...acts.querySelectorAll("button")].find((b) => b.textContent === focus)?.focus();
  }
}

// Light and dark are Streamlit's own themes; a change between them needs the page to be loaded again.
function applyTheme(theme) {
  storeTheme({ light: "Light", sepia: "Light", dark: "Dark", system: "System" }[theme]);
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  if (isDark !== dark) setTimeout(() => location.reload(), 900);
}
