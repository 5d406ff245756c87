// A cover: the book's own picture, or one drawn from its title and how far its gists are. Titles are text nodes.

import { el, svg } from "./dom.js";

const INKS = [
  ["#1b4a54", "#f3ead6"],
  ["#6a2f28", "#f4e6d2"],
  ["#525529", "#f2edd8"],
  ["#3c4a63", "#e8ecf2"],
  ["#845916", "#fbf0d9"],
  ["#d8d2c1", "#3a3a34"],
  ["#51304a", "#f3e6ee"],
  ["#2d3334", "#dfe5e4"],
]; // paper, ink
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff01-\uffef]/g;
const MOST_LINES = 4;
const [TOP, HEIGHT, MOST_BARS] = [148, 104, 36];

/**
 * @typedef {object} CoverDrawing
 * @property {string} title
 * @property {string} [author]
 * @property {string} [lang] of the title
 * @property {number} [pages] of the whole book, made and expected; none before a reading
 * @property {number} [share] of the book that has gists, 0 to 1
 */

/** Whether most of a text is of a script without spaces, whose signs are twice as wide. @param {string} text */
const isUnspaced = (text) => 2 * (text.match(UNSPACED)?.length ?? 0) > text.replace(/\s/g, "").length;

/** An author as it fits on one line of the cover. @param {string} author */
export function authorLine(author) {
  const room = isUnspaced(author) ? 12 : 24;
  return author.length <= room ? author : `${author.slice(0, room - 1).replace(/[ ,.;]+$/, "")}…`;
}

/**
 * The title in at most four lines that fit the cover; the last ends in … where more follows.
 * @param {string} title
 */
export function titleLines(title) {
  const unspaced = isUnspaced(title);
  const [room, glue] = unspaced ? [7, ""] : [15, " "];
  /** @type {string[]} */
  const lines = [];
  for (const word of unspaced ? [...title] : title.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + glue.length + word.length <= room) lines[lines.length - 1] = last + glue + word;
    else lines.push(word.length <= room + 1 ? word : `${word.slice(0, room)}…`);
  }
  if (lines.length <= MOST_LINES) return lines.length ? lines : ["—"];
  return [...lines.slice(0, MOST_LINES - 1), `${lines[MOST_LINES - 1].slice(0, room - 1).replace(/[ :,;]+$/, "")}…`];
}

/** @param {CoverDrawing} drawing */
export function drawCover({ title, author = "", lang = "", pages = 0, share = 0 }) {
  let hash = 0;
  for (const character of title) hash = (31 * hash + (character.codePointAt(0) ?? 0)) >>> 0;
  const [paper, ink] = INKS[hash % INKS.length];
  const lines = titleLines(title);
  const size = lines.length < MOST_LINES ? 22 : 19;
  const words = svg("g", { fill: ink, ...(lang && { lang }) });
  for (const [i, line] of lines.entries()) words.append(svg("text", { x: 18, y: 40 + (size + 5) * i, "font-size": size }, line));
  if (author && lines.length < MOST_LINES) {
    const place = { x: 18, y: 40 + (size + 5) * lines.length, "font-size": 13, opacity: 0.85 };
    words.append(svg("text", place, authorLine(author)));
  }
  const shape = svg("svg", { class: "cover", viewBox: "0 0 200 268", "aria-hidden": "true" });
  shape.append(
    svg("rect", { width: 200, height: 268, rx: 3, fill: paper }),
    svg("rect", { width: 7, height: 268, fill: "#000", opacity: 0.16 }),
    svg("rect", { x: 197, width: 3, height: 268, fill: "#fff", opacity: 0.14 }),
    words,
    ...bars(pages, share, ink, hash),
  );
  return shape;
}

/**
 * One bar for each page, at most MOST_BARS: thick where the page has a gist, a thin line where it has none. Their
 * lengths come from the hash of the title, so that each book has a pattern of its own.
 * @param {number} pages
 * @param {number} share
 * @param {string} ink
 * @param {number} hash
 */
function bars(pages, share, ink, hash) {
  const count = Math.max(3, Math.min(pages || 20, MOST_BARS));
  const step = HEIGHT / count;
  const made = Math.round(share * count);
  let state = hash;
  return Array.from({ length: count }, (_, i) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const bar = { x: 18, y: TOP + i * step, width: Math.round(164 * (0.45 + 0.55 * (state / 2 ** 32))), fill: ink };
    return svg(
      "rect",
      i < made ? { ...bar, height: Math.max(1, step - 1.6), opacity: [0.5, 0.62, 0.42][i % 3] } : { ...bar, height: 0.8, opacity: 0.4 },
    );
  });
}

/**
 * A picture as a cover, with a spine and an edge; `redraw` is called where it cannot be shown.
 * @param {string} source
 * @param {() => void} redraw
 */
export function pictureCover(source, redraw) {
  return el("span", { class: "cover pic" }, el("img", { alt: "", src: source, onerror: redraw, decoding: "async" }));
}
