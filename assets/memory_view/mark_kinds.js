// The kinds and colours of marks, and ranges of text that are painted.

/** @import { MarkColour, MarkKind, MarkRecord } from "../protocol.js" */

/** @type {MarkColour[]} */
export const COLOURS = ["rose", "leaf", "sky", "lilac"];
/** @type {Record<MarkColour, string>} */
export const COLOUR_NAMES = { rose: "Rose", leaf: "Leaf", sky: "Sky", lilac: "Lilac" };
const NAMES = { highlight: "Highlight", note: "Note", bookmark: "Bookmark", answer: "Answer" };
export const SUPPORTED = typeof Highlight === "function" && Boolean(CSS.highlights);

/** @param {MarkRecord} mark */
export const kindName = (mark) => NAMES[mark.kind];
/** @param {Pick<MarkRecord, "start">} mark */
export const startOf = (mark) => ({ paragraph: mark.start[0], offset: mark.start[1] });
/** @param {Pick<MarkRecord, "end">} mark */
export const endOf = (mark) => ({ paragraph: mark.end[0], offset: mark.end[1] });

const MIDDLE = /^["'“‘(]?\p{Ll}/u; // how words from the middle of a sentence begin
const END = /[.!?…。！？][*_"'”’)\]」』»]*$/u;

/** The ellipses before and after words that are quoted, where they are a part of a sentence. @param {string} words */
export const leftOut = (words) => [MIDDLE.test(words) ? "… " : "", words && !END.test(words) ? " …" : ""];

/** Shows ranges under a name of the style sheet; without the API nothing is shown. @param {string} name @param {Range[]} ranges */
export function paint(name, ranges) {
  if (SUPPORTED) CSS.highlights.set(name, new Highlight(...ranges));
}
