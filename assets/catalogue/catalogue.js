// The screen of catalogues: those that are known, and the page of one that is open, with its lists and its books.

import { drawCover, pictureCover } from "../shared/cover.js";
import { all, button, el, first, focused, icon, percent, plural, typing, entry as valueIn } from "../shared/dom.js";
import { mountParts } from "../shared/mount.js";
import { screen } from "../shared/screens.js";

/**
 * @import { Act, CatalogueBook, CatalogueData } from "../protocol.js"
 * @import { Api } from "../shared/mount.js"
 */

/** @type {Record<string, string>} */
const NO_BUTTON = { borrow: "Borrowing needs its own app", buy: "Sold by the catalogue’s own page", none: "In no format that opens here" };
/** @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
/** @type {Record<string, string[]>} books of those that are offered, whose drawn covers stand for what they hold */
const HOLDS = {
  "Standard Ebooks": ["Middlemarch", "Leaves of Grass", "Jane Eyre"],
  "Project Gutenberg": ["Moby Dick", "Faust", "Les Misérables"],
};
const GREY = 10; // covers that stand for what is asked for

class CatalogueScreen {
  /** @param {HTMLElement} root @param {Api} api */
  constructor(root, { send }) {
    this.send = send;
    this.drawn = "";
    this.typed = ""; // the address of another catalogue, while it is asked
    /** @type {Map<string, Element>} by their place, with their address or title */
    this.covers = new Map();
    /** @type {CatalogueData | null} */
    this.data = null;
    this.list = el("aside", { class: "cats", "aria-label": "Catalogues" });
    this.main = el("section", { class: "page", "aria-label": "Catalogue" });
    root.append(
      el("h1", {}, "Add a book"),
      el("p", { class: "way" }, "From a catalogue"),
      el("div", { class: "two" }, this.list, this.main),
    );
    root.addEventListener("keydown", (event) => this.key(event));
    this.ended = new AbortController();
    this.at = -1; // of what was seen, which the browser's history counts
    window.addEventListener("popstate", (event) => this.moved(event), { capture: true, signal: this.ended.signal });
    document.addEventListener("keydown", (event) => this.slash(event), { signal: this.ended.signal });
  }

  close() {
    this.ended.abort();
  }

  /** @param {CatalogueData} data */
  update(data) {
    const drawn = JSON.stringify(data);
    if (drawn === this.drawn) return; // a button that is replaced while it is pressed does nothing
    const before = focused(this.main)?.dataset.at;
    const typed = data.chosen ? "" : (this.main.querySelector("input")?.value ?? this.typed);
    this.typed = typed;
    this.drawn = drawn;
    this.data = data;
    this.note(data.at);
    this.drawList(data);
    this.drawPage(data);
    if (before) first(this.main, `[data-at="${before}"]`)?.focus();
  }

  /** Every page that is shown is an entry of the browser's history. @param {number} at */
  note(at) {
    const entry = { ...history.state, catalogue: at };
    if (this.at >= 0 && at > this.at && history.state?.catalogue !== at) history.pushState(entry, "");
    else history.replaceState(entry, "");
    this.at = at;
  }

  /** Back and Forward within the catalogues, before Streamlit hears of it. @param {PopStateEvent} event */
  moved(event) {
    const at = event.state?.catalogue;
    if (at === undefined || screen() !== "catalogue") return;
    event.stopImmediatePropagation();
    this.send({ do: "visit", page: at });
  }

  /** Reports what was pressed, and shows that a catalogue is being asked. @param {Act} act @param {string} name */
  ask(act, name) {
    this.drawn = "";
    this.typed = this.main.querySelector("input")?.value ?? "";
    this.covers.clear();
    const grey = Array.from({ length: GREY }, () => el("li", {}, el("span", { class: "cover grey" })));
    this.main.replaceChildren(
      el("p", { class: "dim asking", role: "status" }, `Asking ${name}…`),
      el("ul", { class: "books", "aria-hidden": "true" }, ...grey),
    );
    this.send(act);
  }

  /** @param {CatalogueData} data */
  drawList(data) {
    const rows = data.catalogues.map((one) => {
      const on = one.address === data.chosen;
      const label = el(
        "span",
        {},
        el("b", { dir: "auto" }, one.name),
        el("span", { class: "small dim" }, one.home ? `${one.about}, at home` : one.about),
      );
      const row = button(label, () => this.ask({ do: "choose", of: one.address }, one.name), {
        kind: "cat",
        "aria-current": on ? "true" : null,
      });
      row.disabled = data.off;
      return el("li", {}, row);
    });
    const another = button("Another address", () => this.send({ do: "name" }), { kind: "quiet", icon: "plus" });
    another.disabled = data.off;
    const hint = data.off
      ? "Links are turned off in Settings."
      : "Any catalogue that speaks OPDS: Calibre, Kavita, Komga, a library of yours.";
    this.list.replaceChildren(el("ul", {}, ...rows), another, el("p", { class: "small dim" }, hint));
  }

  /** @param {CatalogueData} data */
  drawPage(data) {
    const chosen = data.catalogues.find((one) => one.address === data.chosen);
    this.list.hidden = !chosen;
    this.main.parentElement?.classList.toggle("start", !chosen);
    if (!chosen) return this.drawStart(data);
    const books = data.entries.map((entry, at) => ({ entry, at })).filter(({ entry }) => entry.state !== "page");
    const pages = data.entries.map((entry, at) => ({ entry, at })).filter(({ entry }) => entry.state === "page");
    const other = data.query ? data.catalogues.find((one) => one.address !== data.chosen && one.asks) : undefined;
    const elsewhere = other
      ? button(`Search ${other.name} too`, () => this.ask({ do: "search", of: other.address, text: data.query }, other.name), {
          kind: "slim",
        })
      : null;
    const empty = data.query ? `Nothing for “${data.query}” here.` : "This list is empty.";
    this.main.replaceChildren(
      el("div", { class: "head" }, this.crumbs(data), data.search ? this.search(data, chosen.name) : null),
      ...(data.error ? [this.error(data.error, () => this.again(data, chosen.name))] : []),
      ...(data.entries.length || data.error ? [] : [el("p", { class: "dim empty", role: "status" }, `${empty} `, elsewhere)]),
      el("ul", { class: "lists" }, ...pages.map(({ entry, at }) => this.list_(entry, at))),
      el("ul", { class: "books" }, ...books.map(({ entry, at }) => this.book(entry, at))),
      ...(data.more ? [button("Next page", () => this.ask({ do: "next" }, chosen.name), { kind: "more" })] : []),
      ...(data.own ? [button("Forget this catalogue", () => this.send({ do: "forget" }), { kind: "quiet slim" })] : []),
    );
  }

  /** The catalogues to begin with: those that a person named, those that are offered, and any other. @param {CatalogueData} data */
  drawStart(data) {
    /** @param {string} head @param {boolean} own */
    const group = (head, own) => {
      const cards = data.catalogues.filter((one) => one.own === own).map((one) => el("li", {}, this.card(one, data.off)));
      return cards.length ? [el("h2", {}, head), el("ul", { class: "offers" }, ...cards)] : [];
    };
    const input = el("input", {
      type: "text",
      inputmode: "url",
      "aria-label": "Address of a catalogue",
      placeholder: "https://… or 192.168.…",
      maxlength: 2000,
      spellcheck: "false",
      autocapitalize: "off",
    });
    input.value = this.typed;
    const open = el("button", { type: "submit", class: "btn" }, "Open");
    input.disabled = open.disabled = data.off;
    /** @param {Event} event */
    const submit = (event) => {
      event.preventDefault();
      const text = input.value.trim();
      if (text) this.ask({ do: "address", text }, text.replace(/^\w+:\/\//, "").replace(/\/.*/, ""));
    };
    const told = data.off
      ? "Links are turned off in Settings."
      : "Calibre’s content server, Kavita, Komga, a public library: any that speaks OPDS. Its help page has the address, which often ends in /opds. The home network is asked only for what you name here.";
    this.main.replaceChildren(
      el("p", { class: "lede dim" }, "Browse or search it, and add a book with one press. A catalogue is asked only once you open it."),
      ...group("Yours", true),
      ...group("Free, out of copyright", false),
      el("h2", {}, "Another catalogue"),
      el("form", { class: "other", onsubmit: submit }, el("span", { class: "find" }, input), open),
      ...(data.error ? [this.error(data.error, null)] : []),
      el("p", { class: "small dim told" }, told),
    );
    if (!data.error || !this.typed) return;
    input.focus(); // where it is mended
    first(this.main, ".bad")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {CatalogueData["catalogues"][number]} one @param {boolean} off */
  card({ name, about, address, home, asks, own }, off) {
    const titles = valueIn(HOLDS, name) ?? [name];
    const host = new URL(address).host.replace(/^(m|www)\./, "");
    const needs = own ? "" : asks ? " · no account" : " · for its patrons, by e-mail address";
    const label = el(
      "span",
      {},
      el("b", { dir: "auto" }, name),
      el("span", {}, own ? (home ? "At home" : "") : about),
      el("span", { class: "small dim" }, host + needs),
    );
    const shelf = el("span", { class: "shelf", "aria-hidden": "true" }, ...titles.map((title) => drawCover({ title })));
    const open = button(shelf, () => this.ask({ do: "choose", of: address }, name), { kind: "offer" });
    open.append(label, icon("right"));
    open.disabled = off;
    return open;
  }

  /** Asks for the page that did not come. @param {CatalogueData} data @param {string} name */
  again(data, name) {
    const searched = data.query ? { do: "search", text: data.query } : null;
    this.ask(searched ?? { do: "choose", of: data.chosen }, name);
  }

  /** @param {CatalogueData} data */
  crumbs(data) {
    const last = data.crumbs.length - 1;
    const parts = data.crumbs.map((title, at) =>
      at === last
        ? el("b", { dir: "auto" }, title)
        : button(title, () => this.send({ do: "back", page: at }), { kind: "link", dir: "auto" }),
    );
    const total = data.total === null ? null : el("span", {}, ` · ${plural(data.total, "book")}`);
    parts.unshift(button("Catalogues", () => this.send({ do: "leave" }), { kind: "link" }));
    return el("p", { class: "crumbs" }, ...parts.flatMap((part, at) => (at ? [" › ", part] : [part])), total);
  }

  /** @param {CatalogueData} data @param {string} name */
  search(data, name) {
    const input = el("input", { type: "search", "aria-label": `Search ${name}`, placeholder: `Search ${name}`, maxlength: 200 });
    input.value = data.query;
    /** @param {Event} event */
    const submit = (event) => {
      event.preventDefault();
      if (input.value.trim()) this.ask({ do: "search", text: input.value }, name);
    };
    return el("form", { class: "find", role: "search", onsubmit: submit }, icon("search"), input);
  }

  /** @param {NonNullable<CatalogueData["error"]>} error @param {(() => void) | null} again */
  error({ title, text, login }, again) {
    const enter = login
      ? button("User and password", () => this.send(again ? { do: "login" } : { do: "name", text: this.typed }), { kind: "slim" })
      : again && button("Try again", again, { kind: "slim" });
    return el("div", { class: "bad", role: "alert" }, icon("flag"), el("p", {}, el("b", {}, title), text), enter);
  }

  /** @param {CatalogueBook} entry @param {number} at */
  list_(entry, at) {
    const label = el("span", { dir: "auto" }, entry.title, entry.author ? el("span", { class: "small dim" }, entry.author) : null);
    const open = button(label, () => this.ask({ do: "open", page: at }, entry.title), { kind: "list", "data-at": at });
    open.append(icon("right"));
    return el("li", {}, open);
  }

  /** @param {CatalogueBook} entry @param {number} at */
  book(entry, at) {
    const { title, author, cover } = entry;
    const key = `${at} ${cover || title}`;
    const shown = this.covers.get(key) ?? this.cover(entry);
    this.covers.set(key, shown); // the same one in every drawing, so that it does not flash
    return el(
      "li",
      { "data-state": entry.state },
      shown,
      el("h2", { dir: "auto" }, title),
      el("p", { class: "small dim", dir: "auto" }, author),
      entry.said ? said(entry.said) : null,
      entry.state === "pdf" ? el("p", { class: "small dim" }, "Only as PDF") : null,
      this.action(entry, at),
    );
  }

  /** @param {CatalogueBook} entry @returns {Element} */
  cover({ title, author, cover }) {
    const drawn = () => el("span", { class: "cover" }, drawCover({ title, author }));
    if (!cover) return drawn();
    const picture = pictureCover(new URL(cover, document.baseURI).href, () => picture.replaceChildren(drawCover({ title, author })));
    return picture;
  }

  /** @param {CatalogueBook} entry @param {number} at */
  action(entry, at) {
    const { state, title, share, book } = entry;
    if (state === "here") {
      return button("In your library", () => this.send({ do: "read", of: book }), {
        kind: "quiet",
        icon: "check",
        "data-at": at,
        name: `Read ${title}`,
      });
    }
    if (state === "adding") {
      const far = share === null || share === undefined ? "Adding" : `Adding, ${percent(share, 1) || "0 %"}`;
      return el(
        "div",
        { class: "on", role: "status" },
        far,
        el("span", { class: "bar" }, el("b", { style: `width: ${Math.round(100 * (share ?? 0))}%` })),
      );
    }
    const why = valueIn(NO_BUTTON, state);
    if (why) return el("p", { class: "small dim on" }, why);
    return button("Add", () => this.send({ do: "add", page: at }), { icon: "plus", "data-at": at, name: `Add ${title}` });
  }

  /** The arrows move over lists and books. @param {KeyboardEvent} event */
  key(event) {
    const step = valueIn(STEPS, event.key);
    if (!step || typing(event)) return;
    const places = all(this.main, "[data-at]");
    const at = places.indexOf(/** @type {HTMLElement} */ (focused(this.main)));
    const next = places[at + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  /** @param {KeyboardEvent} event */
  slash(event) {
    const input = this.main.querySelector("input");
    if (event.key !== "/" || typing(event) || !input) return;
    event.preventDefault();
    input.focus();
  }
}

/** Why a book could not be added: its first sentence, and the others on a press. @param {string} text */
function said(text) {
  const [first, ...others] = text.split(/(?<=[.!?])\s+/);
  if (!others.length) return el("p", { class: "small said", role: "alert" }, text);
  return el("details", { class: "small said", role: "alert" }, el("summary", {}, first), others.join(" "));
}

export default mountParts({ catalogue: CatalogueScreen }, ["read"]);
