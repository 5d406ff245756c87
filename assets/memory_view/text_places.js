// Places in the text, as a paragraph and a UTF-16 offset in it, and the positions in the DOM that show them.

import { all } from "../shared/dom.js";

/** @import { StoredText } from "./text_store.js" */

/** @typedef {{paragraph: number, offset: number}} Spot */

const TEXT = 4; // NodeFilter.SHOW_TEXT
const MOST_WITHOUT_BOX = 40; // characters in a row

/**
 * The place of a position in the DOM. One outside of a paragraph (a heading, a gist, a margin) is moved to the nearest
 * paragraph after it, or with `end` before it. Null where there is none.
 * @returns {Spot | null}
 * @param {Element} column
 * @param {Node} container
 * @param {number} offset
 */
export function spotAt(column, container, offset, end = false) {
  if (!column.contains(container)) return null;
  const element = container instanceof Element ? container : container.parentElement;
  /** @type {HTMLElement | null | undefined} */
  const inside = element?.closest("p[data-i]");
  if (inside) {
    const range = document.createRange();
    range.setStart(inside, 0);
    range.setEnd(container, offset);
    return { paragraph: Number(inside.dataset.i), offset: range.toString().length };
  }
  const here = document.createRange();
  here.setStart(container, offset);
  const paragraphs = all(column, "p[data-i]");
  let [low, high] = [0, paragraphs.length]; // how many begin before the position
  while (low < high) {
    const middle = (low + high) >> 1;
    if (here.comparePoint(paragraphs[middle], 0) < 0) low = middle + 1;
    else high = middle;
  }
  const found = paragraphs[end ? low - 1 : low];
  return found ? { paragraph: Number(found.dataset.i), offset: end ? found.textContent.length : 0 } : null;
}

/**
 * The position in the DOM of an offset in a paragraph's element.
 * @param {Node} paragraph
 * @param {number} offset
 * @returns {[Node, number]}
 */
export function pointIn(paragraph, offset) {
  const walker = document.createTreeWalker(paragraph, TEXT);
  let left = offset;
  /** @type {Text | null} */
  let last = null;
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (left <= node.data.length) return [node, left];
    left -= node.data.length;
    last = node;
  }
  return last ? [last, last.data.length] : [paragraph, 0];
}

/**
 * The box of a character, or of the nearest one after it that has one, else before it (line ends and hidden signs have
 * none); null in an empty paragraph, or one that is not drawn.
 * @param {Node} paragraph
 * @param {number} at
 * @param {number} length of its text
 */
export function boxOfCharacter(paragraph, at, length) {
  /** @param {number} from */
  const boxAt = (from) => [...rangeIn(paragraph, from, from + 1).getClientRects()].find((box) => box.height && box.width);
  const nearest = Math.min(Math.max(0, at), length - 1);
  for (let near = nearest; near < Math.min(length, nearest + MOST_WITHOUT_BOX); near++) {
    const box = boxAt(near);
    if (box) return box;
  }
  for (let near = nearest - 1; near >= Math.max(0, nearest - MOST_WITHOUT_BOX); near--) {
    const box = boxAt(near);
    if (box) return box;
  }
  return null;
}

/**
 * The first character of a paragraph whose box passes a test that all characters after it pass too; its length where none does.
 * @param {Node} paragraph
 * @param {number} length
 * @param {(box: DOMRect) => boolean} test
 */
export function firstCharacter(paragraph, length, test) {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const box = boxOfCharacter(paragraph, middle, length);
    if (!box || test(box)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** @param {Spot} a @param {Spot} b */
export const isBefore = (a, b) => a.paragraph < b.paragraph || (a.paragraph === b.paragraph && a.offset < b.offset);

/** A range of a paragraph's element. @param {Node} paragraph @param {number} from @param {number} to */
export function rangeIn(paragraph, from, to) {
  const range = document.createRange();
  range.setStart(...pointIn(paragraph, from));
  range.setEnd(...pointIn(paragraph, to));
  return range;
}

/**
 * The parts of a passage as [paragraph, from, to], also of paragraphs that have not come yet. @param {Spot} start @param {Spot} end
 * @param {StoredText} book
 */
export function partsOf(book, start, end) {
  /** @type {[number, number, number][]} */
  const parts = [];
  for (let i = start.paragraph; i <= end.paragraph && i < book.outline.paragraphs; i++) {
    const length = book.text[i]?.length ?? Infinity;
    const [from, to] = [i === start.paragraph ? start.offset : 0, i === end.paragraph ? Math.min(end.offset, length) : length];
    if (to > from) parts.push([i, from, to]);
  }
  return parts;
}

/**
 * The words of a passage as they are stored, without the signs round emphasised ones.
 * @param {StoredText} book
 * @param {(Element | undefined)[]} nodes
 * @param {Spot} start
 * @param {Spot} end
 */
export function wordsOf(book, nodes, start, end) {
  /** @param {[number, number, number]} part */
  const shown = ([i, from, to]) => {
    const node = nodes[i];
    if (!book.outline.emphasis || !node) return book.text[i].slice(from, to);
    const copy = rangeIn(node, from, to).cloneContents();
    for (const star of copy.querySelectorAll(".star")) star.remove();
    return copy.textContent;
  };
  return partsOf(book, start, end).map(shown).join("\n\n").trim();
}

const LETTER = /^[\p{L}\p{M}\p{N}]$/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * The passage with whole words at its ends, in a script that has spaces between words.
 * @param {StoredText} book
 * @param {Spot} start
 * @param {Spot} end
 */
export function wholeWords(book, start, end) {
  /** @param {string} text @param {number} at */
  const within = (text, at) => LETTER.test(text[at - 1] ?? "") && LETTER.test(text[at] ?? "") && !UNSPACED.test(text[at - 1] + text[at]);
  const [first, last] = [book.text[start.paragraph], book.text[end.paragraph]];
  let [from, to] = [start.offset, end.offset];
  while (within(first, from)) from--;
  while (within(last, to)) to++;
  return [
    { ...start, offset: from },
    { ...end, offset: to },
  ];
}

/**
 * The passage without white space at its ends; null where nothing else is in it.
 * @param {StoredText} book
 * @param {Spot} start
 * @param {Spot} end
 */
export function trimmed(book, start, end) {
  let [a, b] = [{ ...start }, { ...end }];
  const parts = partsOf(book, a, b).filter(([i, from, to]) => book.text[i].slice(from, to).trim());
  if (!parts.length) return null;
  const [[first, from, firstTo], [last, lastFrom, to]] = [parts[0], parts[parts.length - 1]];
  const head = book.text[first].slice(from, firstTo);
  const tail = book.text[last].slice(lastFrom, to);
  a = { paragraph: first, offset: from + head.length - head.trimStart().length };
  b = { paragraph: last, offset: to - (tail.length - tail.trimEnd().length) };
  return { start: a, end: b };
}
