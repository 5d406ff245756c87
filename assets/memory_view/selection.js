// What follows when words are selected: a menu of what can be done with them, above the words or, on a phone, a sheet.

import { button, el, entry, treeOf } from "../shared/dom.js";
import { COLOUR_NAMES, COLOURS, paint } from "./mark_kinds.js";
import { isBefore, spotAt, trimmed, wholeWords, wordsOf } from "./text_places.js";
import { placeOf } from "./text_store.js";

/**
 * @import { PassageTask } from "../protocol.js"
 * @import { IconName } from "../shared/dom.js"
 * @import { Toast } from "../shared/toast.js"
 * @import { Frame } from "./frame.js"
 * @import { Marks } from "./marks.js"
 * @import { ReadingState, Send } from "./state.js"
 * @import { Spot } from "./text_places.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {object} SelectionEvents
 * @property {() => void} shown
 * @property {(passage: Passage) => void} write a note
 * @property {(task: PassageTask, passage: Passage, words: string) => void} asked
 * @property {Send} send
 */

/** @type {Record<string, PassageTask>} */
const TASKS = { e: "explain", d: "define", t: "translate" };
const GAP = 8; // px between the words and the menu
const SETTLE_MS = 350; // after the last change of a selection by touch or keyboard

/** @typedef {{start: Spot, end: Spot}} Passage */

export class SelectionMenu {
  /**
   * @param {{state: ReadingState, frame: Frame, units: Units, marks: Marks, toast: Toast, on: SelectionEvents}} needs
   */
  constructor({ state, frame, units, marks, toast, on }) {
    this.state = state;
    this.frame = frame;
    this.units = units;
    this.marks = marks;
    this.toast = toast;
    this.on = on;
    /** @type {Passage | null} what is selected */
    this.passage = null;
    this.byKey = false; // selected by keyboard
    this.pressed = false; // the mouse is down
    this.quote = el("q", { class: "of", dir: "auto" });
    this.colours = COLOURS.map((colour, i) =>
      button(el("span", {}, COLOUR_NAMES[colour]), () => this.act(String(i + 1)), {
        kind: `swatch hue-${colour}`,
        name: `${COLOUR_NAMES[colour]} highlight`,
        "aria-keyshortcuts": String(i + 1),
      }),
    );
    /** @param {string} key @param {IconName} shape @param {string} label */
    const item = (key, shape, label) =>
      button(el("span", {}, label), () => this.act(key), { kind: "item", icon: shape, "aria-keyshortcuts": key });
    this.items = {
      n: item("n", "note", "Note"),
      a: item("a", "ask", "Ask"),
      e: item("e", "bulb", "Explain"),
      d: item("d", "define", "Define"),
      t: item("t", "translate", "Translate"),
      c: item("c", "copy", "Copy with page"),
    };
    this.price = el("span", { class: "small dim num price" });
    this.node = el(
      "div",
      { class: "selmenu", hidden: true, role: "toolbar", "aria-label": "Selected words", onkeydown: (event) => this.moved(event) },
      el("div", { class: "hand", "aria-hidden": "true" }),
      this.quote,
      el("div", { class: "swatches" }, ...this.colours),
      el("div", { class: "acts" }, ...Object.values(this.items), this.price),
    );
    this.node.addEventListener("pointerdown", (event) => event.preventDefault()); // the words stay selected
    this.ended = new AbortController();
    const until = { signal: this.ended.signal };
    document.addEventListener("selectionchange", () => this.later(this.pressed ? null : SETTLE_MS), until);
    document.addEventListener("pointerdown", (event) => this.down(event), until);
    document.addEventListener("pointerup", (event) => this.up(event), until);
    frame.scroller.addEventListener("dblclick", () => this.pressedTwice(), until);
    frame.scroller.addEventListener("scroll", () => this.open && !frame.isPhone && this.position(), until);
  }

  close() {
    clearTimeout(this.timer);
    this.ended.abort();
    paint("chosen", []);
  }

  get open() {
    return !this.node.hidden;
  }

  /** @param {PointerEvent} event */
  down(event) {
    this.pressed = event.pointerType === "mouse";
    if (!event.composedPath().includes(this.node)) this.byKey = false;
  }

  /** @param {PointerEvent} event */
  up(event) {
    this.pressed = false;
    this.later(event.pointerType === "touch" ? SETTLE_MS : 0);
  }

  /** @param {number | null} ms */
  later(ms) {
    clearTimeout(this.timer);
    if (ms !== null && !this.byKey) this.timer = setTimeout(() => this.check(), ms);
  }

  /** The words that are selected now, by whatever means. @returns {Passage | null} */
  selected() {
    const { book } = this.state;
    const { root, column } = this.frame;
    const selection = this.frame.selection();
    if (!book.known || !selection?.rangeCount) return null;
    const tree = treeOf(root);
    // where the tree of the component has no selection of its own, the page's is asked for the part in it
    const composed = !("getSelection" in tree) && "getComposedRanges" in selection && tree instanceof ShadowRoot;
    const range = (composed && selection.getComposedRanges({ shadowRoots: [tree] })[0]) || selection.getRangeAt(0);
    if (range.startContainer === range.endContainer && range.startOffset === range.endOffset) return null;
    const start = spotAt(column, range.startContainer, range.startOffset);
    const end = spotAt(column, range.endContainer, range.endOffset, true);
    const forward = start && end && isBefore(start, end);
    const passage = forward ? trimmed(book, start, end) : null;
    if (!passage) return null;
    const [from, to] = wholeWords(book, passage.start, passage.end);
    return { start: from, end: to };
  }

  check() {
    if (!this.frame.isShown) return;
    const passage = this.selected();
    if (!passage) return this.passage ? this.hide() : undefined;
    if (JSON.stringify(passage) === JSON.stringify(this.passage) && this.open) return;
    this.show(passage);
  }

  /** Looks a word up where there are dictionaries; the menu is one press away in its card. */
  pressedTwice() {
    if (!this.frame.isShown || !this.marks.store?.dictionaries) return;
    this.check();
    if (this.passage) this.act("d");
  }

  /** @param {Passage} passage */
  show(passage, { focus = false } = {}) {
    this.passage = passage;
    this.on.shown();
    this.quote.textContent = wordsOf(this.state.book, this.units.nodes, passage.start, passage.end);
    this.quote.lang = this.state.book.outline.language;
    const model = Boolean(this.marks.store?.model);
    for (const node of [this.items.e, this.items.t]) {
      node.setAttribute("aria-disabled", String(!model));
      node.title = model ? "" : "Needs a model";
    }
    const price = model ? (this.marks.store?.price ?? "") : "";
    this.price.textContent = price;
    this.price.title = price ? "Each time the model explains, defines or translates" : "";
    this.items.d.title = model || this.marks.store?.dictionaries ? "" : "Where else it is in the book";
    this.items.d.hidden = !/[\p{L}\p{N}]/u.test(this.quote.textContent); // a mark alone is no word
    this.items.a.hidden = !this.state.data.can.ask;
    const can = Boolean(this.marks.store);
    for (const part of [...this.colours, this.items.n]) part.hidden = !can;
    this.node.hidden = false;
    this.position();
    for (const [i, part] of [...this.colours, ...Object.values(this.items)].entries()) part.tabIndex = i ? -1 : 0;
    if (focus) this.buttons()[0].focus();
    this.frame.say("Words selected. Press 1 to 4 for a colour, Enter for the menu.");
  }

  /** Shows what can be done with words that are not selected any more. @param {Passage} passage */
  offer(passage) {
    clearTimeout(this.timer);
    this.byKey = true; // no change of the selection hides it
    this.show(passage, { focus: true });
  }

  buttons() {
    return [...this.node.querySelectorAll("button")].filter((part) => !part.hidden);
  }

  position() {
    if (this.passage) putAt(this.frame, this.state, this.node, this.units.boxes(this.passage));
  }

  hide() {
    this.passage = null;
    this.byKey = false;
    this.node.hidden = true;
  }

  /** Ends the selection itself too. */
  clear() {
    this.frame.selection()?.removeAllRanges();
    const focused = this.node.contains(this.frame.active);
    this.hide();
    if (focused) this.frame.focusText();
  }

  /** @param {KeyboardEvent} event */
  moved(event) {
    const parts = this.buttons();
    const step = entry({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }, event.key);
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const at = parts.indexOf(/** @type {HTMLButtonElement} */ (this.frame.active));
    parts[(at + step + parts.length) % parts.length].focus();
  }

  /** Handles a key while words are selected; whether it was one of these. @param {KeyboardEvent} event */
  key(event) {
    if (!this.passage || event.altKey) return false;
    const inMenu = event.composedPath().includes(this.node);
    if (event.key === "Escape") {
      this.clear();
      return true;
    }
    const on = event.composedPath()[0];
    if (event.key === "Enter" && !inMenu && !(on instanceof Element && on.closest("button, a"))) {
      this.show(this.passage, { focus: true });
      return true;
    }
    if (!/^[1-4naedtc]$/.test(event.key)) return false;
    this.act(event.key);
    return true;
  }

  /** @param {string} key */
  act(key) {
    const { passage } = this;
    /** @type {HTMLButtonElement | undefined} */
    const part = entry(this.items, key);
    if (!passage || part?.getAttribute("aria-disabled") === "true") return void this.toast.say("Needs a model: connect one in Settings");
    if (part?.hidden) return;
    const words = wordsOf(this.state.book, this.units.nodes, passage.start, passage.end);
    if (key === "c") return this.copy(words, passage);
    this.clear();
    const colour = COLOURS[Number(key) - 1];
    const task = entry(TASKS, key);
    if (colour) this.marks.highlight(passage, colour);
    else if (key === "n") this.on.write(passage);
    else if (key === "a")
      this.on.send({ do: "ask", page: this.state.pageAt(passage.start.paragraph, passage.start.offset) ?? 0, text: quoted(words) });
    else if (task) this.on.asked(task, passage, words);
  }

  /** @param {string} words @param {Passage} passage */
  copy(words, passage) {
    const text = withSource(this.state, words, passage.start);
    /** @param {string} line */
    const said = (line) => () => this.toast.say(line);
    if (!navigator.clipboard) return said("Copying is not allowed here")();
    navigator.clipboard.writeText(text).then(said("Copied with its page"), said("Copying is not allowed here"));
    this.clear();
  }
}

/** @param {string} words */
const quoted = (words) => `“${words}”`;

/**
 * '“…” (Title, p. 15)': words with their title and the page of the source, or of the reading.
 * @param {ReadingState} state
 * @param {string} words
 * @param {Spot} spot
 */
export function withSource(state, words, { paragraph, offset }) {
  const { book } = state;
  const page = state.pageAt(paragraph, offset);
  const place = placeOf(book, paragraph) || (page ? `p. ${page}` : "");
  return `${quoted(words)} (${[book.outline.title, place].filter(Boolean).join(", ")})`;
}

/**
 * Puts a menu or card beside the words with these boxes: 8 px above them, below where there is no room.
 * @param {Frame} frame
 * @param {ReadingState} state
 * @param {HTMLElement} node
 * @param {DOMRect[]} boxes
 */
export function putAt(frame, state, node, boxes, { below = false } = {}) {
  const room = frame.room.getBoundingClientRect();
  const seen = boxes.filter((box) => box.bottom > room.top && box.top < room.bottom);
  node.classList.toggle("away", !seen.length);
  node.style.left = node.style.top = "";
  if (frame.isPhone) {
    // a sheet: the end of the words stays above it
    const under = (boxes.at(-1)?.bottom ?? 0) + 12 - node.getBoundingClientRect().top;
    if (under > 0 && !state.paged) frame.scroller.scrollTop += under;
    return;
  }
  const view = frame.scroller.getBoundingClientRect();
  const middleOfView = { left: view.left, right: view.right, top: view.top + 40, bottom: view.top + 40 };
  const [first, last] = seen.length ? [seen[0], seen[seen.length - 1]] : [middleOfView, middleOfView];
  const { offsetWidth, offsetHeight } = node;
  const above = first.top - room.top - GAP - offsetHeight;
  let under = last.bottom - room.top + GAP;
  if (below && above < 4 && !state.paged) {
    // there is room on neither side of the words: they move up, so that their end is seen
    const from = frame.scroller.scrollTop;
    frame.scroller.scrollTop += Math.max(0, under + offsetHeight + 4 - room.height);
    under -= frame.scroller.scrollTop - from;
  }
  const fits = under + offsetHeight <= room.height - 4;
  const top = below ? (fits || above < 4 ? under : above) : above >= 4 || !fits ? above : under;
  const middle = (first.left + Math.min(first.right, first.left + 300)) / 2 - room.left;
  const most = Math.min(view.left + frame.scroller.clientWidth, frame.freeRight) - room.left - offsetWidth - 8;
  const beside = state.vertical ? besideColumns(seen, room, offsetWidth, most) : null;
  if (beside !== null) {
    node.style.left = `${beside}px`;
    node.style.top = `${Math.max(4, Math.min(first.top - room.top, room.height - offsetHeight - 4))}px`;
    return;
  }
  node.style.left = `${Math.max(8, Math.min(middle - offsetWidth / 2, most))}px`;
  node.style.top = `${Math.max(4, Math.min(top, room.height - offsetHeight - 4))}px`;
}

/** Where `width` px have room beside columns of words, first after the last of them; null where they have none. @param {DOMRect[]} boxes @param {DOMRect} room @param {number} width @param {number} most */
function besideColumns(boxes, room, width, most) {
  if (!boxes.length) return null;
  const after = Math.min(...boxes.map(({ left }) => left)) - room.left - GAP - width;
  const before = Math.max(...boxes.map(({ right }) => right)) - room.left + GAP;
  return after >= 8 ? after : before <= most ? before : null;
}
