// Asks the server about the pages of a PDF.

/**
 * @import { PdfFacts, PdfPlaces, PdfProblem, PdfWords } from "../protocol.js"
 * @import { Places } from "./boxes.js"
 */

/** The whole address of what pages/parts/read/original.py serves. @param {string} address */
export const pagesUrl = (address) => String(new URL(address, document.baseURI));

/**
 * An answer of the server: what was asked for, or why it cannot be had.
 * @template T
 * @typedef {{ok: true, value: T} | {ok: false, value: PdfProblem}} Answer
 */

/**
 * @template T
 * @param {string} address
 * @param {object | null} [values] what is sent, if anything
 * @returns {Promise<Answer<T>>}
 */
export async function askPages(address, values = null) {
  try {
    const send = values && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values) };
    const answer = await fetch(pagesUrl(address), send ?? {});
    const isJson = answer.headers.get("content-type")?.includes("json");
    return isJson
      ? { ok: answer.ok, value: await answer.json() }
      : { ok: false, value: { text: "The page did not arrive whole. Try again." } };
  } catch {
    return { ok: false, value: { text: "ReadAgent cannot be reached. Check that it is still running, then try again." } };
  }
}

/**
 * The places of words by page, or the problem in the way; null as soon as they are `wanted` no more.
 * @param {string | null} book
 * @param {PdfWords[]} words
 * @param {() => boolean} wanted
 * @returns {Promise<Places | PdfProblem | null>}
 */
export async function findPlaces(book, words, wanted) {
  /** @type {Places} */
  const found = new Map();
  for (const { text, start, end, place } of words) {
    /** The server counts code points. @param {number} at */
    const points = (at) => [...text.slice(0, at)].length;
    /** @type {Answer<PdfPlaces>} */
    const { ok, value } = await askPages(`original/${book}/places`, { text, start: points(start), end: points(end), place });
    if (!wanted()) return null;
    if (!ok) return value;
    for (const [page, boxes] of value.places) found.set(page, [...(found.get(page) ?? []), ...boxes]);
  }
  return found;
}

/** The printed number of a page. @param {PdfFacts | null} facts @param {number} page */
export const labelOf = (facts, page) => facts?.labels[page - 1] ?? String(page);

/**
 * The page with the printed number that a place names: the nearest to page `near`; 0 if there is none.
 * @param {string} place
 * @param {PdfFacts | null} facts
 * @param {number} near
 */
export function pageNamed(place, facts, near) {
  const pages = Array.from({ length: facts?.pages ?? 0 }, (_, i) => i + 1).filter((page) => `p. ${labelOf(facts, page)}` === place);
  return pages.sort((a, b) => Math.abs(a - near) - Math.abs(b - near))[0] ?? 0;
}
