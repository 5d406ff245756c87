// A strip of a book's pages, as long as their words, with a gap between chapters: a block for each page that names somebody,
// darker the more often, a thin line for the others. Pages are joined until a block is wide enough to be seen.

import { plural, svg } from "../shared/dom.js";

/**
 * @typedef {{x: number, wide: number, first: number, last: number}} Cell of pages `first` to `last`
 * @typedef {{words: number, start: number}} StripPage
 */

const LEAST = 4; // px; of a cell
const CHAPTER_GAP = 6; // px

/** The index of the chapter of each page. @param {StripPage[]} pages @param {number[]} chapters their first paragraphs, in order */
export function chaptersOf(pages, chapters) {
  let at = 0;
  return pages.map(({ start }) => {
    while (at + 1 < chapters.length && chapters[at + 1] <= start) at++;
    return at;
  });
}

/**
 * The places of the pages on a strip.
 * @param {StripPage[]} pages
 * @param {number[]} chapters first paragraphs
 * @param {number} width
 * @returns {Cell[]}
 */
export function stripCells(pages, chapters, width) {
  const of = chaptersOf(pages, chapters);
  const count = (of.at(-1) ?? 0) + 1;
  const gap = count > 1 && width / count > 4 * CHAPTER_GAP ? CHAPTER_GAP : 0;
  const words = Math.max(1, pages.reduce((sum, page) => sum + page.words, 0)); // biome-ignore format: one line
  const scale = (width - gap * (count - 1)) / words;
  /** @type {Cell[]} */
  const cells = [];
  let x = 0;
  let before = 0;
  for (const [i, page] of pages.entries()) {
    const wide = page.words * scale;
    const last = cells.at(-1);
    const fresh = of[i] !== before;
    if (fresh) x += gap * (of[i] - before);
    if (last && !(fresh && gap) && last.wide < LEAST) {
      last.wide += wide;
      last.last = i + 1;
    } else cells.push({ x, wide, first: i + 1, last: i + 1 });
    x += wide;
    before = of[i];
  }
  return cells;
}

/** How dark a cell is, from the times that one of its pages names somebody most. @param {number} most */
export const shade = (most) => (most > 5 ? "m4" : most > 1 ? "m3" : "m2");

/**
 * Draws a strip. `counts`: how often each page names somebody; pages after `upTo` are thin lines.
 * @param {Cell[]} cells
 * @param {ArrayLike<number>} counts
 * @param {{width: number, height: number, upTo: number, label?: string, dots?: Set<number>}} options `dots`: pages marked below
 */
export function drawStrip(cells, counts, { width, height, upTo, label = "", dots = new Set() }) {
  const tall = height + (dots.size ? 10 : 0);
  const shape = svg("svg", {
    width: "100%",
    height: tall,
    viewBox: `0 0 ${width} ${tall}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": label,
  });
  const middle = height / 2;
  for (const { x, wide, first, last } of cells) {
    let [most, sum] = [0, 0];
    for (let page = first; page <= Math.min(last, upTo); page++) {
      most = Math.max(most, counts[page - 1] ?? 0);
      sum += counts[page - 1] ?? 0;
    }
    const room = Math.max(0.6, wide - (wide > 4 ? 1.5 : 0.3));
    const place = { x: x.toFixed(1), width: room.toFixed(1) };
    if (!most) {
      shape.append(svg("rect", { ...place, y: middle - 0.75, height: 1.5, class: "sline" }));
      continue;
    }
    const pages = first === last ? `Page ${first}` : `Pages ${first}–${last}`;
    const title = svg("title", {}, `${pages}: ${plural(sum, "time")}`);
    shape.append(svg("rect", { ...place, y: 0, height, rx: wide > 4 ? 1 : 0, class: shade(most) }, title));
    const marked = [...dots].some((page) => page >= first && page <= Math.min(last, upTo));
    if (marked) shape.append(svg("circle", { cx: (x + room / 2).toFixed(1), cy: height + 6, r: 2.5, class: "sdot" }));
  }
  return shape;
}

/** The place on a strip where a page ends. @param {Cell[]} cells @param {number} page */
export function edgeOf(cells, page) {
  const cell = cells.findLast(({ first }) => first <= page);
  if (!cell || page < 1) return 0;
  return cell.x + (cell.wide * (Math.min(page, cell.last) - cell.first + 1)) / (cell.last - cell.first + 1);
}

/** The last page that is wholly, or by more than a half, before a place on the strip; 0 for none. @param {Cell[]} cells @param {number} x @param {number} pages */
export function pageBefore(cells, x, pages) {
  let [low, high] = [0, pages];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const [from, to] = [edgeOf(cells, middle - 1), edgeOf(cells, middle)];
    if ((from + to) / 2 <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}
