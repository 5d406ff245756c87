// The coarsest grain of a book: a line or two for each chapter, with its minutes and the first sentences of its gists.

import { el, number, plural, sumOf, withoutSigns } from "../shared/dom.js";
import { beginningsOf } from "./sentences.js";
import { chapterOf, readingTime, sectionAt, wordsBetween } from "./text_store.js";

/**
 * @import { LayerPage } from "../protocol.js"
 * @import { ReadingState } from "./state.js"
 * @import { StoredText } from "./text_store.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {{start: number, startAt?: number, end: number, endAt?: number, node: HTMLElement | undefined}} Fold a part of the text,
 *   from and to a paragraph and a character of it, and the element that stands for it
 */

const TOLD_WORDS = 28; // of a chapter, about two lines
const TOLD_LETTERS = 200; // at most; half as many where they are as wide as words are long

/** The words of the gist of a page, also where it is veiled. @param {LayerPage} page */
export const gistWords = (page) => page.gist?.words ?? page.veiled ?? 0;

/**
 * The words that each grain of a book has: its text, its gists (the text where there is none), a line a chapter.
 * @param {StoredText} book
 * @param {LayerPage[]} pages
 */
export function grainWords(book, pages) {
  const made = pages.filter(gistWords);
  const gists = book.outline.words - sumOf(made, (page) => page.words) + sumOf(made, gistWords);
  return { text: book.outline.words, gists: Math.max(0, gists), chapters: TOLD_WORDS * book.outline.chapters.length };
}

/** The pages that begin in a chapter. @param {LayerPage[]} pages @param {number} first @param {number} end */
export const pagesIn = (pages, first, end) => pages.filter((page) => page.start >= first && page.start < end && gistWords(page));

/** Where a chapter is told in which no page begins. @param {ReadingState} state @param {number} start */
export function toldElsewhere(state, start) {
  const page = state.pages[(state.pageAt(start) ?? 0) - 1];
  return page && gistWords(page) ? `Told in the gist of page ${page.number}` : "";
}

export class ChapterLines {
  /** @param {{state: ReadingState, units: Units}} needs */
  constructor({ state, units }) {
    this.state = state;
    this.units = units;
    /** @type {Set<number>} first paragraphs of the chapters that are a line now */
    this.folded = new Set();
    /** @type {Map<number, HTMLElement>} */
    this.nodes = new Map();
  }

  /** Another book. */
  clear() {
    this.folded.clear();
    this.nodes.clear();
  }

  /** Whether the book has chapters, so that there is a grain coarser than gists. */
  get some() {
    return this.state.book.outline.chapters.length > 1;
  }

  /** @param {boolean} every */
  foldAll(every) {
    this.folded = new Set(every ? this.state.book.outline.chapters : []);
  }

  /** The chapter of a paragraph, where it is a line now. @param {number} paragraph @returns {Fold | null} */
  foldAt(paragraph) {
    if (!this.folded.size) return null;
    const [start, end] = chapterOf(this.state.book, paragraph);
    return this.folded.has(start) ? { start, end, node: this.nodes.get(start) } : null;
  }

  /** Draws the lines of the chapters whose text has come. */
  draw() {
    const { book, pages } = this.state;
    for (const start of book.outline.chapters) {
      const first = this.units.topOf(start);
      if (!first) continue;
      let node = this.nodes.get(start);
      if (!node?.isConnected) {
        node = el("div", { class: "chap", "data-start": start, tabindex: "0", role: "button" });
        node.style.gridRow = first.style.gridRow;
        first.before(node);
        this.nodes.set(start, node);
      }
      node.classList.toggle("away", !this.folded.has(start));
      const [, end] = chapterOf(book, start);
      const inside = pagesIn(pages, start, end);
      const elsewhere = inside.length ? "" : toldElsewhere(this.state, start);
      const gists = inside.flatMap((page) => (page.gist ? [withoutSigns(page.gist.text, book.outline.emphasis)] : []));
      const most = book.outline.unspaced ? TOLD_LETTERS / 2 : TOLD_LETTERS;
      const told = beginningsOf(gists, book.outline.language, most) || (inside.length ? "Opens when you have read it" : elsewhere);
      const title = book.heads.get(start)?.[0]?.[1] ?? (sectionAt(book, start) || book.outline.title);
      const line = el("span", { class: "told", lang: book.outline.language, dir: "auto", hidden: !told }, told);
      node.classList.toggle(
        "veiled",
        inside.every((page) => !page.gist),
      );
      node.replaceChildren(
        el("strong", { dir: "auto" }, title),
        el("span", { class: "small dimmer num" }, readingTime(book, wordsBetween(book, start, end))),
        line,
      );
      const words = `${number(sumOf(inside, gistWords))} of ${plural(
        sumOf(inside, (page) => page.words),
        "word",
      )}`;
      if (first.matches(".sec")) first.dataset.words = inside.length && !book.outline.unspaced ? words : elsewhere;
    }
  }
}
