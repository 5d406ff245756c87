// Selecting words by keyboard. 'v' selects the sentence at the line that is read, then its paragraph; arrows move the end
// by a word (left, right) or a sentence (up, down), with Shift the beginning. Enter opens the menu.

import { entry } from "../shared/dom.js";
import { isBefore, rangeIn } from "./text_places.js";
import { nextEdge, piecesOf } from "./word_steps.js";

/**
 * @import { Frame } from "./frame.js"
 * @import { SelectionMenu } from "./selection.js"
 * @import { ReadingState, Show } from "./state.js"
 * @import { Spot } from "./text_places.js"
 * @import { Units } from "./units.js"
 * @import { Granularity } from "./word_steps.js"
 */

/** @type {Record<string, [Granularity, number]>} */
const STEPS = { ArrowRight: ["word", 1], ArrowLeft: ["word", -1], ArrowDown: ["sentence", 1], ArrowUp: ["sentence", -1] };

export class KeyboardSelection {
  /** @param {{state: ReadingState, frame: Frame, units: Units, selection: SelectionMenu, show: Show}} needs */
  constructor({ state, frame, units, selection, show }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.selection = selection;
    this.show = show;
  }

  /** Handles a key; whether it was one of these. @param {KeyboardEvent} event */
  key(event) {
    const { selection, state } = this;
    if (event.altKey || state.folded) return false;
    if (event.key === "v") {
      this.start();
      return true;
    }
    const found = entry(STEPS, event.key);
    if (!found || !selection.byKey || !selection.passage || event.composedPath().includes(selection.node)) return false;
    const [granularity, step] = found;
    const { start, end } = selection.passage;
    const beginning = event.shiftKey;
    const { text, outline } = state.book;
    const moved = nextEdge(text, outline.language, beginning ? start : end, { granularity, step, beginning });
    const [from, to] = beginning ? [moved, end] : [start, moved];
    if (from && to && isBefore(from, to)) this.select(from, to, beginning);
    return true;
  }

  start() {
    const { text, outline } = this.state.book;
    const { selection } = this;
    this.frame.focusText(); // on a button, Enter would press it
    const now = selection.byKey ? selection.passage : null;
    if (now) {
      const { paragraph } = now.end;
      return this.select({ paragraph: now.start.paragraph, offset: 0 }, { paragraph, offset: text[paragraph].length });
    }
    const { paragraph, at } = this.state.here;
    if (!text[paragraph]) return;
    const sentences = piecesOf(text[paragraph], outline.language, "sentence");
    const [from, to] = sentences.findLast(([begin]) => begin <= at) ?? [0, text[paragraph].length];
    this.select({ paragraph, offset: from }, { paragraph, offset: to });
  }

  /** @param {Spot} start @param {Spot} end */
  select(start, end, beginning = false) {
    const { frame, selection, units } = this;
    const [first, last] = [units.nodes[start.paragraph], units.nodes[end.paragraph]];
    if (!first || !last) return;
    selection.byKey = true;
    const from = rangeIn(first, start.offset, start.offset);
    const to = rangeIn(last, end.offset, end.offset);
    frame.selection()?.setBaseAndExtent(from.startContainer, from.startOffset, to.startContainer, to.startOffset);
    this.keepInView(beginning ? start : end);
    selection.show({ start, end });
    const one = start.paragraph === end.paragraph;
    frame.say(one ? this.state.book.text[start.paragraph].slice(start.offset, end.offset) : "Several paragraphs selected");
  }

  /** @param {Spot} spot */
  keepInView({ paragraph, offset }) {
    const { scroller } = this.frame;
    const box = rangeIn(this.units.nodes[paragraph], Math.max(0, offset - 1), offset).getBoundingClientRect();
    const view = scroller.getBoundingClientRect();
    if (box.top >= view.top && box.bottom <= view.bottom && box.left >= view.left && box.right <= view.right) return;
    if (this.state.paged) this.show({ paragraph, at: offset });
    else scroller.scrollTop += box.top - view.top - view.height / 3;
  }
}
