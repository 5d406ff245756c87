// The map of a book in Ask: one cell for each page, as high as the page is long, darker the longer its gist is.
// States have a shape as well as a colour: wider = looked up, hatched = fallback, corner = edited. A part of which only
// one gist was shown is one narrow cell, so the wider a cell is, the further that place was opened.

import { percent, plural, sumOf, svg } from "../shared/dom.js";

/**
 * @import { Gist } from "../protocol.js"
 *
 * @typedef {[top: number, height: number]} Cell of a page, in pixels
 * @typedef {[first: number, last: number, depth: number]} Closed a part in one gist: its pages, and how many parts it is inside of
 * @typedef {{number: number, words: number, rule?: number, gist?: Gist, veiled?: number, out?: boolean, paragraphs?: string[]}} MapPage
 *   `out`: left out of what is shown
 */

const SHADES = [0.8, 0.95, 1.1]; // relative to the average gist of this book

/**
 * By words, not by the share of the page: the built-in reader gives every gist the same share.
 * @param {{words: number, own: boolean}} gist of one page, or of several together; `own`: the text itself
 * @param {number} average
 */
export function shadeOf({ words, own }, average) {
  return own ? "m4" : `m${1 + SHADES.filter((limit) => words / average >= limit).length}`;
}

/** The words of an average gist of `pages`. @param {MapPage[]} pages */
export function averageGist(pages) {
  const made = pages.flatMap((page) => (page.gist && !page.gist.own ? page.gist.words : []));
  return sumOf(made, Number) / made.length || 1;
}

/** The place of each page's cell, by words. @param {MapPage[]} pages @param {number} height */
export function mapPlaces(pages, height) {
  const whole = Math.max(
    1,
    sumOf(pages, (page) => page.words),
  );
  const room = height / Math.max(1, pages.length);
  const gap = room > 7 ? 2 : room > 3.5 ? 1 : 0;
  const scale = (height - 8 - gap * pages.length) / whole;
  let top = 4;
  return pages.map((page) => {
    /** @type {Cell} */
    const cell = [top, Math.max(0.5, page.words * scale)];
    top += page.words * scale + gap;
    return cell;
  });
}

/** The page whose cell is at height `y`. @param {Cell[]} places @param {number} y */
export function pageAt(places, y) {
  const found = places.findIndex(([top, height]) => y < top + height + 1);
  return found < 0 ? places.length : found + 1;
}

/**
 * Neighbours joined as [first, last] until a cell is high enough to be seen. Marks of single pages (looked up, fallback,
 * edited, found) are still drawn for each of them.
 * @param {MapPage[]} pages
 * @param {number} height
 * @param {Closed[]} closed
 */
export function mapGroups(pages, height, closed) {
  const step = Math.max(1, Math.ceil(pages.length / (height / 1.5)));
  /** @type {[MapPage, MapPage][]} */
  const groups = [];
  for (const page of pages) {
    if (isClosed(closed, page.number)) continue;
    const last = groups.at(-1);
    if (last && last[1].number === page.number - 1 && page.number - last[0].number < step) last[1] = page;
    else groups.push([page, page]);
  }
  return groups;
}

/** @param {Closed[]} closed @param {number} n */
const isClosed = (closed, n) => closed.some(([first, last]) => first <= n && n <= last);

/**
 * What one cell says of pages: its class, and its title.
 * @param {MapPage[]} group
 * @param {number} average
 */
export function cellOf(group, average) {
  const [first, last] = [group[0], group[group.length - 1]];
  const gists = group.flatMap((page) => page.gist ?? []);
  const made = gists.length === group.length;
  const words = sumOf(group, (page) => page.words);
  const gistWords = sumOf(gists, (gist) => gist.words);
  const name = first === last ? `Page ${first.number}` : `Pages ${first.number}–${last.number}`;
  const own = gists.every((gist) => gist.own);
  const veiled = group.some((page) => page.veiled);
  const unmade = veiled ? ", not read yet" : group.some((page) => page.out) ? ", left out" : ", gist to come";
  return {
    kind: made ? shadeOf({ words: gistWords / group.length, own }, average) : veiled ? "mtodo mveil" : "mtodo",
    title: `${name}, ${plural(words, "word")}${made ? `, gist ${percent(gistWords, words)}` : unmade}`,
  };
}

/** The title of one page's cell, with its states. @param {MapPage} page @param {boolean} looked */
function pageTitle(page, looked) {
  const marks = [page.rule || page.gist?.rule ? "by rule" : "", page.gist?.edited ? "edited" : "", looked ? "looked up" : ""];
  return [cellOf([page], 1).title, ...marks.filter(Boolean)].join(", ");
}

/** Definitions of an SVG with the pattern `id`, which marks what was made by rule. @param {string} id */
export function hatching(id) {
  const attributes = { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  return svg("defs", {}, svg("pattern", attributes, svg("path", { class: "mhatch", d: "M0 0V5" })));
}

/** A name for a pattern that no other drawing on the page has. */
export const patternName = () => `hatch${Math.random().toString(36).slice(2)}`;

/** Where the cells begin, and how wide they are. @param {number} width of the map */
export const columnOf = (width) => (width < 60 ? { x: 12, wide: 22 } : { x: 18, wide: 26 });

/**
 * Draws the map into `box` and returns the cell of every page.
 * @param {Element} box
 * @param {MapPage[]} pages
 * @param {{width: number, height: number, looked: Set<number>, hits: Set<number>, closed: Closed[], inPart?: Map<number, Cell[]>}} options
 *   `inPart`: of pages opened in part, where the parts stand, as shares of the page
 */
export function drawMap(box, pages, { width, height, looked, hits, closed, inPart = new Map() }) {
  const average = averageGist(pages);
  const cells = mapPlaces(pages, height);
  const { x, wide } = columnOf(width);
  const label = `Map of the book: ${plural(pages.length, "page")}`;
  const shape = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const hatch = patternName();
  shape.append(hatching(hatch));
  for (const [first, last, depth] of closed.filter(([, n]) => n <= pages.length)) {
    const y = cells[first - 1][0];
    const tall = Math.max(1, cells[last - 1][0] + cells[last - 1][1] - y - 1);
    const title = svg("title", {}, `Pages ${first} to ${last}, in one gist`);
    shape.append(svg("rect", { x, y: y.toFixed(1), width: 5 + 5 * depth, height: tall.toFixed(1), class: "mpart" }, title));
  }
  for (const [first, last] of mapGroups(pages, height, closed)) {
    if (first === last && looked.has(first.number)) continue;
    const y = cells[first.number - 1][0];
    const tall = cells[last.number - 1][0] + cells[last.number - 1][1] - y;
    const group = pages.slice(first.number - 1, last.number);
    const title = svg("title", {}, first === last ? pageTitle(first, false) : cellOf(group, average).title);
    const place = { x, y: y.toFixed(1), width: wide, height: tall.toFixed(1), rx: tall > 4 ? 1 : 0 };
    shape.append(svg("rect", { ...place, class: cellOf(group, average).kind }, title));
  }
  // last, so that nothing covers them
  shape.append(...pages.flatMap((page, i) => pageMarks(page, cells[i])));
  box.replaceChildren(shape);
  return cells;

  /** @param {MapPage} page @param {Cell} cell */
  function pageMarks(page, [y, tall]) {
    const found = [];
    const cell = { x, y: y.toFixed(1), width: wide, height: tall.toFixed(1), rx: tall > 4 ? 1 : 0 };
    if (looked.has(page.number)) {
      const wider = { class: "mlook", x: x - 5, width: wide + 10, height: Math.max(tall, 3).toFixed(1) };
      found.push(svg("rect", { ...cell, ...wider }, svg("title", {}, pageTitle(page, true))));
      const place = { class: "mapin", "text-anchor": "middle", x: x + wide / 2, y: y + tall / 2 + 4 };
      if (tall > 13) found.push(svg("text", place, String(page.number)));
    }
    const parts = inPart.get(page.number) ?? [];
    if (parts.length) {
      const title = svg("title", {}, `${pageTitle(page, false)}, opened in part`);
      found.push(svg("rect", { ...cell, class: "minpart", height: Math.max(tall, 3).toFixed(1) }, title));
    }
    for (const [from, share] of parts) {
      const place = { x: x - 4, width: wide + 8, y: (y + from * tall).toFixed(1), height: Math.max(share * tall, 2.5).toFixed(1) };
      found.push(svg("rect", { ...place, class: "mlook", rx: 1, "pointer-events": "none" }));
    }
    const alone = !isClosed(closed, page.number);
    if (alone && (page.rule || page.gist?.rule)) found.push(svg("rect", { ...cell, fill: `url(#${hatch})`, "pointer-events": "none" }));
    if (alone && page.gist?.edited) found.push(svg("path", { class: "medit", d: `M${x + wide - 9} ${y}h9v${Math.min(9, tall)}z` }));
    if (hits.has(page.number)) found.push(svg("circle", { class: "mtick", cx: 5, cy: y + tall / 2, r: tall > 6 ? 3 : 2 }));
    return found;
  }
}
