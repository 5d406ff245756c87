// Selecting words by keyboard. 'v' selects the sentence at the line that is read, then its paragraph; arrows move the end
// by a word (left, right) or a sentence (up, down), with Shift the beginning. Enter opens the menu.

import { rangeIn } from "./text_places.js";

export class KeyboardSelection {
  constructor(reader) {
    this.reader = reader;
  }

  get active() {
    return this.reader.selection.byKey;
  }

  /** Handles a key; whether it was one of these. */
  key(event) {
    const { selection } = this.reader;
    if (event.altKey || this.reader.view === "gists") return false;
    if (event.key === "v") return (this.start(), true);
    if (!this.active || event.composedPath().includes(selection.node)) return false;
    const step = { ArrowRight: ["word", 1], ArrowLeft: ["word", -1], ArrowDown: ["sentence", 1], ArrowUp: ["sentence", -1] }[event.key];
    if (!step) return false;
    this.extend(step[0], step[1], event.shiftKey);
    return true;
  }

  start() {
    const { selection, position, book, scroller } = this.reader;
    scroller.focus({ preventScroll: true }); // on a button, Enter would press it
    const now = this.active && selection.passage;
    if (now) {
      const { paragraph } = now.end;
      return this.select({ paragraph: now.start.paragraph, offset: 0 }, { paragraph, offset: book.text[paragraph].length });
    }
    const { paragraph, at } = position.here;
    const text = book.text[paragraph];
    if (!text) return;
    const [from, to] = this.pieces(paragraph, "sentence").findLast(([start]) => start <= at) ?? [0, text.length];
    this.select({ paragraph, offset: from }, { paragraph, offset: to });
  }

  // The words or sentences of a paragraph as [from, to], without the white space after them.
  pieces(paragraph, granularity) {
    const text = this.reader.book.text[paragraph] ?? "";
    const { language } = this.reader.book.outline;
    if (!Intl.Segmenter)
      return [...text.matchAll(granularity === "word" ? /\S+/g : /[^.!?。！？]+\S*\s*/g)].map((found) => [
        found.index,
        found.index + found[0].trimEnd().length,
      ]);
    const found = [...new Intl.Segmenter(language, { granularity }).segment(text)];
    return found
      .filter(({ isWordLike, segment }) => (granularity === "word" ? isWordLike : segment.trim()))
      .map(({ index, segment }) => [index, index + segment.trimEnd().length]);
  }

  extend(granularity, step, beginning) {
    const { passage } = this.reader.selection;
    const { start, end } = passage;
    const moved = this.next(beginning ? start : end, granularity, step, beginning);
    if (!moved) return;
    const [a, b] = beginning ? [moved, end] : [start, moved];
    if (a.paragraph < b.paragraph || (a.paragraph === b.paragraph && a.offset < b.offset)) this.select(a, b, beginning);
  }

  // The next place where a piece ends (or begins), in the next paragraphs too.
  next({ paragraph, offset }, granularity, step, beginning) {
    const { book } = this.reader;
    for (let at = paragraph; book.text[at] !== undefined; at += step) {
      const edges = this.pieces(at, granularity).map(([from, to]) => (beginning ? from : to));
      const there =
        at !== paragraph
          ? step > 0
            ? edges[0]
            : edges.at(-1)
          : step > 0
            ? edges.find((edge) => edge > offset)
            : edges.findLast((edge) => edge < offset);
      if (there !== undefined) return { paragraph: at, offset: there };
    }
    return null;
  }

  select(start, end, beginning = false) {
    const { selection, units, root, live, book } = this.reader;
    const [first, last] = [units.nodes[start.paragraph], units.nodes[end.paragraph]];
    if (!first || !last) return;
    selection.byKey = true;
    const from = rangeIn(first, start.offset, start.offset);
    const to = rangeIn(last, end.offset, end.offset);
    const chosen = root.getRootNode().getSelection?.() ?? document.getSelection();
    chosen.setBaseAndExtent(from.startContainer, from.startOffset, to.startContainer, to.startOffset);
    this.keepInView(beginning ? start : end);
    selection.show({ start, end });
    live.textContent =
      start.paragraph === end.paragraph ? book.text[start.paragraph].slice(start.offset, end.offset) : "Several paragraphs selected";
  }

  keepInView({ paragraph, offset }) {
    const { scroller, units, flow } = this.reader;
    const box = rangeIn(units.nodes[paragraph], Math.max(0, offset - 1), offset).getBoundingClientRect();
    const view = scroller.getBoundingClientRect();
    if (box.top >= view.top && box.bottom <= view.bottom && box.left >= view.left && box.right <= view.right) return;
    if (flow.isPaged) flow.show({ paragraph, at: offset });
    else scroller.scrollTop += box.top - view.top - view.height / 3;
  }
}
