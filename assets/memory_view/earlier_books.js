// The earlier books of a series: what was told in each, no further than it was read, and what they told of somebody.

import { el } from "../shared/dom.js";
import { drawStrip, stripCells } from "./presence_strip.js";
import { sentenceOf, withQuotes } from "./told.js";

/** @import { SeriesData } from "../protocol.js" @import { Known } from "./world.js" */

const MOST = 3; // lines of somebody from an earlier book
const [STRIP, TALL] = [120, 12]; // px; of a book's strip, which grows with its column

/** @param {number} number */
const place = (number) => `book ${Number.isInteger(number) ? number : number.toFixed(1)}`;

/** A line that leads to its page in another book. @param {string} book @param {string} text @param {number} page @param {string} name */
function lineOf(book, text, page, name = "") {
  const words = name ? [el("b", {}, name), " ", ...withQuotes(text)] : withQuotes(sentenceOf(text));
  const address = `read?book=${encodeURIComponent(book)}&page=${page}`;
  return el(
    "li",
    {},
    el(
      "a",
      { class: "toldline", href: address, title: `Open page ${page} of that book` },
      el("span", { class: "pn num" }, String(page)),
      el("span", { class: "tx", dir: "auto" }, ...words),
    ),
  );
}

/** Who is named most in the earlier books: a strip of the pages of each, no further than it was read. @param {SeriesData} series */
function overBooks({ books, people }) {
  if (!people.length) return "";
  const cells = books.map(({ words }) => stripCells(words.map((n, start) => ({ words: n, start })), [0], STRIP)); // biome-ignore format: one line
  const rows = people.map(([name, named]) => {
    const strips = books.map((book, i) => {
      const times = new Map(named[i]);
      const counts = book.words.map((_, at) => times.get(at + 1) ?? 0);
      const label = `Pages of ${book.title} that name ${name}`;
      return drawStrip(cells[i], counts, { width: STRIP, height: TALL, upTo: book.page, label });
    });
    return el("li", {}, el("b", { dir: "auto" }, name), ...strips);
  });
  const heads = books.map((book) => el("span", { class: "small dim", title: book.title }, place(book.number)));
  return el(
    "section",
    { class: "overbooks", style: `--books: ${books.length}` },
    el("h4", { class: "big" }, "Who goes on from book to book"),
    el("ol", {}, el("li", { "aria-hidden": "true" }, el("span"), ...heads), ...rows),
    el("p", { class: "small dim" }, "A block is a page with the name; darker, more often. Pages not read are lines."),
  );
}

/** What happened in the earlier books. @param {SeriesData} series @param {string} title of this book */
export function earlierBooks(series, title) {
  const { books, name, number } = series;
  return [
    el(
      "p",
      { class: "small dim", dir: "auto" },
      `${title} is ${place(number)} of ${name}. From notes and gists, no further than you read.`,
    ),
    ...books.map((book) => {
      const none = !book.known ? "This book has no gists: make them, or read on without." : "Nothing of this book counts as read.";
      return el(
        "section",
        { class: "hgroup" },
        el("h4", { class: "big", dir: "auto" }, el("span", { class: "dimmer num" }, `${book.number} `), book.title),
        book.told.length
          ? el("ol", { class: "kl hl" }, ...book.told.map(([text, page, who]) => lineOf(book.id, text, page, who)))
          : el("p", { class: "small dim" }, none),
      );
    }),
    overBooks(series),
    el("p", { class: "small dim nothere" }, "Nothing here is from ", el("i", { dir: "auto" }, title), ": not one name, not one word."),
  ];
}

/** What the earlier books told of somebody. @param {SeriesData | null} series @param {Known} known */
export function fromEarlier(series, known) {
  const found = known.ids.flatMap((id) => series?.cast[id] ?? [])[0];
  const book = found && series?.books[found.book];
  if (!found || !book) return [];
  return [
    el("p", { class: "small dim earlierp", dir: "auto" }, el("strong", {}, `In ${place(book.number)}`), `, ${book.title}`),
    found.lines.length
      ? el("ol", { class: "kl" }, ...found.lines.slice(-MOST).map(([text, page]) => lineOf(book.id, text, page)))
      : el("p", { class: "small dim" }, `${found.name} is named there.`),
  ];
}
