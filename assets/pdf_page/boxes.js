// Rectangles on a page of a PDF, as shares of it.

import { el } from "../shared/dom.js";

/**
 * @import { PdfBox } from "../protocol.js"
 *
 * @typedef {Map<number, PdfBox[]>} Places the rectangles of each page
 */

const ABOVE = 0.22; // of the view's height, above what is gone to

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

/** Scrolls to a rectangle of the sheet, unless it is in view. @param {HTMLElement} view @param {HTMLElement} sheet @param {PdfBox} box */
export function bringIntoView(view, sheet, box) {
  const { clientHeight, clientWidth, scrollTop, scrollLeft } = view;
  const [left, top] = [box[0] * sheet.offsetWidth, sheet.offsetTop + box[1] * sheet.offsetHeight];
  if (top < scrollTop + 8 || top > scrollTop + clientHeight * 0.8) view.scrollTop = top - ABOVE * clientHeight;
  if (left > scrollLeft + clientWidth * 0.9 || left < scrollLeft) view.scrollLeft = left - 24;
}
