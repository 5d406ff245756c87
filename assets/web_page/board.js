// A saved web page beside its parts: the page in a sandboxed frame, the gists of its parts, the steps of a decision and the
// action it led to. The frame has no scripts, so marks come with its address; a fragment moves it to an element.

import { button, el, entry, first, icon, number, plural, rootOf } from "../shared/dom.js";
import { SIGNER_ICONS } from "../shared/signer.js";

/**
 * @import { Act, Board } from "../protocol.js"
 * @import { Component } from "../shared/mount.js"
 */

const DARK = matchMedia("(prefers-color-scheme: dark)");

function theme() {
  const chosen = document.documentElement.dataset.theme ?? "system";
  return chosen === "system" ? (DARK.matches ? "dark" : "light") : chosen;
}

class View {
  /** @param {HTMLElement} root @param {(act: Act) => void} send @param {Board} data */
  constructor(root, send, data) {
    this.root = root;
    this.send = send;
    this.data = data;
    this.drawn = this.decided = this.shown = ""; // what was drawn from, as JSON
    this.made = 0; // when the decision was made that was brought into sight last
    this.added = -1; // and the one that was added to what is done
    this.target = ""; // the element to show

    this.step = 0;
    /** @type {Map<number, string>} HTML of parts by number */
    this.texts = new Map();
    /** @type {Set<number>} */
    this.unfolded = new Set();
    // scripts, forms, windows and this page are out of reach of what is shown: the attribute allows nothing
    this.frame = el("iframe", { sandbox: "", referrerpolicy: "no-referrer", title: "The web page, drawn without scripts" });
    this.caption = el("p", { class: "small dim about" });
    this.result = el("section", { class: "result", "aria-live": "polite" });
    this.list = el("ol", { class: "parts", "aria-label": "Parts of the page" });
    this.told = el("p", { class: "small dim told" }, "The page in parts, and of each a gist: what it is about, in short.");
    this.bar = el("div", { class: "bar" });
    this.side = el("div", { class: "side" }, this.result, this.told, this.list);
    root.append(this.bar, el("div", { class: "two" }, el("div", { class: "page" }, this.caption, this.frame), this.side));
    root.tabIndex = -1;
    root.addEventListener("keydown", (event) => {
      if (event.target instanceof Element && event.target.closest("summary, pre")) return;
      const to = entry({ ArrowLeft: this.step - 1, ArrowRight: this.step + 1 }, event.key);
      if (to !== undefined && this.go(to)) event.preventDefault();
    });
    this.retheme = () => this.aim();
    this.themes = new MutationObserver(this.retheme);
    this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    DARK.addEventListener("change", this.retheme);
  }

  close() {
    this.themes.disconnect();
    DARK.removeEventListener("change", this.retheme);
  }

  /** @param {Board} data */
  update(data) {
    const key = JSON.stringify(data);
    if (key === this.drawn) return;
    const found = this.drawn && data.made && data.made !== this.made;
    this.drawn = key;
    this.made = data.made || this.made;
    const decided = JSON.stringify([data.book, data.version, data.steps, data.action]);
    if (data.version !== this.data.version) this.texts.clear();
    this.data = data;
    if (decided !== this.decided) {
      this.decided = decided;
      this.step = Math.max(0, data.steps.length - 1);
      this.target = data.action?.element ? `e${data.action.element}` : "";
    }
    this.caption.textContent = data.about;
    this.draw();
    if (decided !== this.shown) this.showFirstOpened();
    this.shown = decided;
    if (found) this.result.scrollIntoView({ block: "nearest" }); // in a narrow or low window it is below the form
  }

  /** @param {number} at */
  go(at) {
    if (this.data.running || at < 0 || at >= this.data.steps.length) return false;
    this.step = at;
    const { opened, ends } = this.now;
    this.target = ends && this.data.action?.element ? `e${this.data.action.element}` : this.anchor(opened[0]);
    this.draw();
    this.showFirstOpened();
    first(this.bar, '[aria-current="step"]')?.focus();
    return true;
  }

  get now() {
    return this.data.steps[this.step] ?? { title: "", opened: [], ends: false };
  }

  /** @param {number | undefined} n */
  anchor(n) {
    return n ? (this.data.snippets[n - 1]?.anchor ?? "") : "";
  }

  draw() {
    this.aim();
    this.drawBar();
    this.drawResult();
    this.drawParts();
  }

  // Another fragment moves the page that is loaded; other marks load it again.
  aim(again = false) {
    const { book, version, action } = this.data;
    const query = new URLSearchParams({ theme: theme(), opened: this.now.opened.join(",") });
    if (this.now.ends && action?.element) query.set("chosen", action.element);
    const address = new URL(`webpage/${book}/${version}?${query}#${this.target ?? ""}`, document.baseURI).href;
    if (again || this.frame.src !== address) this.frame.src = address;
  }

  drawBar() {
    const { steps, running } = this.data;
    this.bar.hidden = !steps.length;
    const list = el(
      "ol",
      { class: "steps" },
      ...steps.map(({ title }, i) =>
        el(
          "li",
          {},
          el(
            "button",
            { type: "button", "aria-current": i === this.step ? "step" : null, disabled: running, onclick: () => this.go(i) },
            el("span", { class: "num" }, String(i + 1)),
            title,
          ),
        ),
      ),
    );
    this.bar.replaceChildren(
      el("strong", { class: "small notnarrow" }, "Replay"),
      list,
      el("span", { class: "sp" }),
      button("Prompt and reply", () => this.send({ do: "prompt", page: this.step }), { kind: "quiet slim", disabled: running }),
    );
  }

  drawResult() {
    const { action, signature } = this.data;
    this.result.hidden = !action;
    if (!action) return;
    const name =
      signature &&
      el(
        "p",
        { class: "signer small", "data-signer": signature.kind },
        icon(SIGNER_ICONS[signature.kind]),
        el("span", {}, el("b", {}, signature.name), signature.rest),
      );
    this.result.replaceChildren(
      ...[
        name,
        el("p", { class: "small dim", dir: "auto" }, `Task: ${this.data.task}`),
        el("h2", { dir: "auto" }, action.text),
        action.reason && el("p", { dir: "auto" }, action.reason),
        ...action.notes.map((note) => el("p", { class: "small dim" }, note)),
        action.element &&
          el(
            "div",
            { class: "acts" },
            button("Show it on the page", () => this.show(`e${action.element}`, this.data.steps.length - 1), { kind: "slim" }),
            this.addButton(),
          ),
        action.element &&
          el(
            "details",
            { class: "small dim" },
            el("summary", {}, "Details"),
            `Part ${action.snippet}; element ${action.element}, ${action.operation}. ${action.figures}.`,
          ),
      ].filter((node) => node !== null && node !== ""),
    );
  }

  /** @returns {HTMLButtonElement} */
  addButton() {
    const { made, running } = this.data;
    if (made === this.added) return button("Added", () => {}, { kind: "slim", icon: "check", disabled: true });
    const add = button(
      "Add to what is done",
      () => {
        this.added = made;
        add.replaceWith(this.addButton());
        this.send({ do: "done" });
      },
      { kind: "slim", disabled: running },
    );
    return add;
  }

  // Again where it is shown already: the page may have been scrolled away from it.
  /** @param {string} target */
  show(target, step = this.step) {
    this.target = target;
    if (step !== this.step) {
      this.step = step;
      this.draw();
    }
    this.aim(true);
    const { top, height } = this.frame.getBoundingClientRect();
    if (top < 0 || top + height / 2 > innerHeight) this.frame.scrollIntoView({ block: "nearest" });
  }

  drawParts() {
    const { snippets, lang, action } = this.data;
    const opened = new Set(this.now.opened);
    this.list.replaceChildren(
      ...snippets.map(({ number: n, words, gist, anchor }) => {
        const chosen = this.now.ends && action?.snippet === n;
        const told = [plural(words, "word"), opened.has(n) && "looked at", chosen && "the action is here"].filter(Boolean).join(" · ");
        const html = el("pre", { tabindex: 0 }, this.texts.get(n) ?? "");
        const details = el("details", { open: this.unfolded.has(n) }, el("summary", {}, "HTML of this part"), html);
        details.addEventListener("toggle", () => this.unfold(n, details.open, html));
        return el(
          "li",
          { "data-n": String(n), class: [opened.has(n) && "opened", chosen && "chosen"].filter(Boolean).join(" ") || null },
          el(
            "button",
            {
              type: "button",
              class: "part",
              "aria-label": `Part ${n}: show it on the page`,
              onclick: () => this.show(anchor),
            },
            el("span", { class: "small dim" }, el("b", { class: "num" }, `Part ${number(n)}`), ` · ${told}`),
            el("span", { class: gist ? "gist" : "gist dim", lang, dir: "auto" }, gist || "No gist yet"),
          ),
          details,
        );
      }),
    );
  }

  // Scrolls the side column only: the window stays where the person has it.
  showFirstOpened() {
    const row = first(this.list, `[data-n="${this.now.opened[0]}"]`);
    if (row && !this.now.ends) this.side.scrollTop = row.offsetTop - this.side.offsetTop - 8;
    else this.side.scrollTop = 0;
  }

  /** @param {number} n @param {boolean} open @param {Element} into */
  async unfold(n, open, into) {
    if (!open) return void this.unfolded.delete(n);
    this.unfolded.add(n);
    if (this.texts.has(n)) return;
    const { book, version } = this.data;
    into.textContent = "Loading …";
    const reply = await fetch(new URL(`webpage/${book}/${version}/${n}.txt`, document.baseURI)).catch(() => null);
    const text = reply?.ok ? await reply.text() : "This part cannot be loaded. Close it and open it again.";
    if (reply?.ok) this.texts.set(n, text);
    into.textContent = text;
  }
}

/** @type {WeakMap<HTMLElement, View>} */
const views = new WeakMap();

/** @param {Component<Board>} component */
export default function mount({ parentElement, data: [data], setTriggerValue }) {
  const root = rootOf(parentElement);
  /** @param {Act} act */
  const send = (act) => setTriggerValue("act", act);
  const view = views.get(root) ?? new View(root, send, data);
  views.set(root, view);
  view.send = send;
  view.update(data);
  return () => {
    view.close();
    views.delete(root);
    root.replaceChildren();
  };
}
