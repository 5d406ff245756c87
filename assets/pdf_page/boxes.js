// Rectangles on a page of a PDF, as shares of it.

import { el } from "../shared/dom.js";

/**
 * @import { PdfBox } from "../protocol.js"
 *
 * @typedef {Map<number, PdfBox[]>} Places the rectangles of each page
 */

/** @param {number} part */
const share = (part) => `${100 * part}%`;

/** @param {string} kind @param {number} left @param {number} top @param {number} right @param {number} bottom */
export function boxed(kind, left, top, right, bottom) {
  return el("i", {
    class: kind,
    style: `left:${share(left)};top:${share(top)};width:${share(right - left)};height:${share(bottom - top)}`,
  });
}

/** One rectangle for each page: what is read, from its first line to its last. @param {Places} places */
export function besides(places) {
  /** @param {PdfBox[]} boxes @returns {PdfBox} */
  const around = (boxes) => {
    /** @param {0 | 1 | 2 | 3} edge */
    const all = (edge) => boxes.map((box) => box[edge]);
    return [Math.min(...all(0)), Math.min(...all(1)), Math.max(...all(2)), Math.max(...all(3))];
  };
  return new Map([...places].map(([page, boxes]) => [page, [around(boxes)]]));
}
