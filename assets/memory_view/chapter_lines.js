// The coarsest grain of a book: a line or two for each chapter, with its minutes and the first sentences of its gists.

import { el, number, plural, sumOf, withoutSigns } from "../shared/dom.js";
import { beginningsOf, sentencesOf } from "./sentences.js";
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

/** The chapter that has most of a page, as its first paragraph. @param {StoredText} book @param {LayerPage} page */
export function chapterOfPage(book, page) {
  const end = endOf(page);
  const starts = [chapterOf(book, page.start)[0], ...book.outline.chapters.filter((start) => start > page.start && start < end)];
  if (starts.length < 2) return starts[0];
  const words = starts.map((start, i) => wordsBetween(book, Math.max(start, page.start), starts[i + 1] ?? end));
  return starts[words.indexOf(Math.max(...words))];
}

/** The pages with gists of which a chapter has most. @param {ReadingState} state @param {number} chapter its first paragraph */
export const pagesIn = ({ book, pages }, chapter) => pages.filter((page) => gistWords(page) && chapterOfPage(book, page) === chapter);

/** The page that tells of a chapter which has most of none. @param {ReadingState} state @param {number} chapter its first paragraph */
export function pageTelling(state, chapter) {
  const page = state.pages[(state.pageAt(chapter) ?? 0) - 1];
  return page && gistWords(page) ? page : null;
}

/** Which gist such a chapter has. @param {ReadingState} state @param {number} chapter */
export function toldElsewhere(state, chapter) {
  const page = pageTelling(state, chapter);
  return page ? `Shares the gist of page ${page.number}` : "";
}

/** @param {LayerPage} page */
const endOf = ({ end, endAt }) => (endAt ? end + 1 : end);

/**
 * What the gists tell of a chapter, a text each. Of a page that it shares with others: the sentences that were picked from
 * the chapter, where none was the chapter's first; a model's gist goes to the chapter that has most of the page.
 * @param {ReadingState} state
 * @param {number} start
 * @param {number} end
 */
export function gistsOf(state, start, end) {
  const { book, pages, data } = state;
  const inside = book.text.slice(start, end);
  const gists = pages.flatMap((page) => {
    if (!page.gist || page.start >= end || endOf(page) <= start) return [];
    const { text } = page.gist;
    const picked = data.gists.by && (page.start < start || endOf(page) > end);
    const own = picked ? sentencesOf(text, book.outline.language).map(([from, to]) => text.slice(from, to)) : [];
    const found = own.filter((sentence) => inside.some((paragraph) => paragraph?.includes(sentence)));
    if (found.length) return [found.join(book.outline.unspaced ? "" : " ")];
    return chapterOfPage(book, page) === start ? [text] : [];
  });
  return gists.length || !data.gists.by || !pageTelling(state, start)?.gist ? gists : inside.slice(0, 1);
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

  clear() {
    this.folded.clear();
    for (const node of this.nodes.values()) node.remove();
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
    const { book } = this.state;
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
      const inside = pagesIn(this.state, start);
      const elsewhere = inside.length ? "" : toldElsewhere(this.state, start);
      const gists = gistsOf(this.state, start, end).map((text) => withoutSigns(text, book.outline.emphasis));
      const most = book.outline.unspaced ? TOLD_LETTERS / 2 : TOLD_LETTERS;
      const opens = !gists.length && inside.length > 0; // said once, of the first of them
      const told = beginningsOf(gists, book.outline.language, most) || (opens ? "Opens when you have read it" : elsewhere);
      const heads = (book.heads.get(start) ?? []).map(([, title]) => title).join(" · ");
      const title = heads || sectionAt(book, start) || book.outline.title;
      const line = el("span", { class: "told", lang: book.outline.language, dir: "auto", hidden: !told }, told);
      node.classList.toggle("veiled", !gists.length);
      node.classList.toggle("opens", opens);
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
