// One card of the library, and one of Continue reading.

import { drawCover, pictureCover } from "../shared/cover.js";
import { button, el, icon } from "../shared/dom.js";
import { gistsFact, isBegun, isRead, placeText, readShare, youFact } from "./facts.js";
import { store } from "./store.js";

/**
 * @import { Book, BookGists } from "../protocol.js"
 * @import { Fact } from "./facts.js"
 *
 * @typedef {object} CardActs
 * @property {(event: MouseEvent) => void} open
 * @property {(event: MouseEvent & {currentTarget: HTMLButtonElement}) => void} more
 * @property {(event: MouseEvent) => void} select
 * @property {() => void} goOn
 * @property {() => void} make
 * @property {string} model the one in use, "" for the built-in reader
 */

/** The address of a book in Read. @param {string} id */
export const addressOf = (id) => `read?book=${encodeURIComponent(id)}`;

/** The cover of a book: its picture as soon as it is here, until then the drawn one. @param {Book} book */
export function coverOf(book) {
  const drawn = () => drawCover({ ...book, pages: book.gists?.pages, share: book.gists?.share });
  const holder = el("span", { class: "cv" });
  const picture = book.cover && store.covers.get(book.id);
  holder.append(picture ? pictureCover(picture, () => holder.replaceChildren(drawn())) : drawn());
  return holder;
}

/** @param {string} kind @param {number} share */
const bar = (kind, share) =>
  el("div", { class: `mini ${kind}`, "aria-hidden": "true" }, el("b", { style: `width:${(100 * share).toFixed(1)}%` }));

/** A fact in words, with a bar between its beginning and its end. @param {string} name @param {Fact} fact @param {string} kind */
const fact = (name, { text, share }, kind) =>
  el(
    "div",
    { class: "fx" },
    el("p", {}, ...(name ? [el("b", {}, name), " "] : []), text),
    share > 0 && share < 1 ? bar(kind, share) : null,
  );

/** @param {[string, number]} series */
const placeInSeries = ([name, number]) => (number ? `Book ${number} of ${name}` : `Of the series ${name}`);

/** @param {Book} book @param {CardActs} on */
export function drawCard(book, on) {
  const { gists, tags = [] } = book;
  const chips = [...(book.sample ? ["Sample"] : []), ...tags].map((tag) => el("span", { class: "tg" }, tag));
  return el(
    "div",
    { class: "bk", role: "listitem", "data-id": book.id },
    coverOf(book),
    el(
      "div",
      { class: "in" },
      el(
        "h3",
        { lang: book.lang, dir: "auto" },
        el("a", { class: "open", href: addressOf(book.id), tabindex: -1, title: book.title, onclick: on.open }, book.title),
      ),
      el("p", { class: "au small dim" }, el("span", { dir: "auto" }, book.author || book.kind || ""), ...chips),
      book.series ? el("p", { class: "small dim", dir: "auto" }, placeInSeries(book.series)) : null,
      el(
        "div",
        { class: "facts" },
        fact(isRead(book) || isBegun(book) ? "You" : "", youFact(book), "y"),
        gists ? fact("Gists", gistsFact(book), `g ${gists.state}`) : fact("", { text: "No gists yet", share: 0 }, ""),
      ),
      gists && ["paused", "stopped"].includes(gists.state) ? stopped(book, gists, on) : null,
    ),
    el(
      "button",
      {
        type: "button",
        class: "ck",
        role: "checkbox",
        "aria-checked": "false",
        tabindex: -1,
        onclick: on.select,
        "aria-label": `Select ${book.title}`,
      },
      icon("check"),
    ),
    button("", on.more, { kind: "quiet icon dots", icon: "dots", name: `More about ${book.title}`, tabindex: -1, "aria-haspopup": "menu" }),
  );
}

/** Why the gists stopped, and the one way on. @param {Book} book @param {BookGists} gists @param {CardActs} on */
function stopped({ title }, gists, on) {
  /** @param {string} label @param {() => void} act */
  const link = (label, act) => button(label, act, { kind: "link", tabindex: -1, "aria-label": `${label}: gists of ${title}` });
  const other = gists.model ? `Made with ${gists.model}, which is not in use now. ` : "";
  return el(
    "p",
    { class: "why" },
    gists.why ? `${gists.why} ` : "",
    other,
    gists.model ? link(on.model ? `Make gists with ${on.model}` : "Connect a model", on.make) : link("Resume", on.goOn),
  );
}

/**
 * A card of Continue reading; `first`: the one that was read last.
 * @param {Book} book
 * @param {(event: MouseEvent) => void} open
 * @param {boolean} first
 */
export function drawContinue(book, open, first) {
  return el(
    "li",
    { class: "ct" },
    coverOf(book),
    el(
      "div",
      { class: "in" },
      el("h3", { lang: book.lang, dir: "auto" }, book.title),
      el("p", { class: "small dim", dir: "auto" }, book.section || book.author || book.kind || ""),
      bar("y", readShare(book)),
      el("p", { class: "small num" }, placeText(book)),
    ),
    el(
      "a",
      { class: `btn slim open${first ? " go" : ""}`, href: addressOf(book.id), onclick: open, "aria-label": `Continue ${book.title}` },
      "Continue",
    ),
  );
}
