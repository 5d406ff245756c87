// What follows when words are selected: a menu of what can be done with them, above the words or, on a phone, a sheet.

import { button, el, icon } from "../shared/dom.js";
import { COLOURS, COLOUR_NAMES, paint } from "./marks.js";
import { partsOf, rangeIn, spotAt, trimmed, wholeWords, wordsOf } from "./text_places.js";
import { placeOf } from "./text_store.js";

const GAP = 8; // px between the words and the menu
const SETTLE_MS = 350; // after the last change of a selection by touch or keyboard

/** @typedef {{start: import("./text_places.js").Spot, end: import("./text_places.js").Spot}} Passage */

export class SelectionMenu {
  constructor(reader) {
    this.reader = reader;
    this.passage = null; // what is selected
    this.quote = el("q", { class: "of", dir: "auto" });
    this.colours = COLOURS.map((colour, i) =>
      button(el("span", {}, COLOUR_NAMES[colour]), () => this.act(String(i + 1)), {
        kind: `swatch hue-${colour}`,
        name: `${COLOUR_NAMES[colour]} highlight`,
        "aria-keyshortcuts": String(i + 1),
      }),
    );
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
    this.node = el(
      "div",
      { class: "selmenu", hidden: true, role: "toolbar", "aria-label": "Selected words", onkeydown: (event) => this.moved(event) },
      el("div", { class: "hand", "aria-hidden": "true" }),
      this.quote,
      el("div", { class: "swatches" }, ...this.colours),
      el("div", { class: "acts" }, ...Object.values(this.items)),
    );
    this.node.addEventListener("pointerdown", (event) => event.preventDefault()); // the words stay selected
    const listen = (target, type, act) => (target.addEventListener(type, act), [target, type, act]);
    this.listening = [
      listen(document, "selectionchange", () => this.later(this.pressed ? null : SETTLE_MS)),
      listen(document, "pointerdown", (event) => this.down(event)),
      listen(document, "pointerup", (event) => ((this.pressed = false), this.later(event.pointerType === "touch" ? SETTLE_MS : 0))),
      listen(reader.scroller, "scroll", () => this.open && !reader.isPhone && this.position()),
    ];
  }

  close() {
    clearTimeout(this.timer);
    for (const [target, type, act] of this.listening) target.removeEventListener(type, act);
    paint("chosen", []);
  }

  get open() {
    return !this.node.hidden;
  }

  down(event) {
    this.pressed = event.pointerType === "mouse";
    if (!event.composedPath().includes(this.node)) this.byKey = false;
  }

  later(ms) {
    clearTimeout(this.timer);
    if (ms !== null && !this.byKey) this.timer = setTimeout(() => this.check(), ms);
  }

  /** The words that are selected now, by whatever means. @returns {Passage | null} */
  selected() {
    const { root, column, book } = this.reader;
    const shadow = root.getRootNode();
    const selection = shadow.getSelection?.() ?? document.getSelection();
    if (!book?.outline || !selection?.rangeCount) return null;
    const inside = selection.getComposedRanges && !shadow.getSelection ? selection.getComposedRanges({ shadowRoots: [shadow] })[0] : null;
    const range = inside ?? selection.getRangeAt(0);
    if (range.startContainer === range.endContainer && range.startOffset === range.endOffset) return null;
    const start = spotAt(column, range.startContainer, range.startOffset);
    const end = spotAt(column, range.endContainer, range.endOffset, true);
    const forward = start && end && (start.paragraph < end.paragraph || (start.paragraph === end.paragraph && start.offset < end.offset));
    const passage = forward ? trimmed(book, start, end) : null;
    if (!passage) return null;
    const [from, to] = wholeWords(book, passage.start, passage.end);
    return { start: from, end: to };
  }

  check() {
    if (!this.reader.root.isConnected) return;
    const passage = this.selected();
    if (!passage) return this.passage && this.hide();
    if (JSON.stringify(passage) === JSON.stringify(this.passage) && this.open) return;
    this.show(passage);
  }

  /** @param {Passage} passage */
  show(passage, { focus = false } = {}) {
    this.passage = passage;
    const { reader } = this;
    reader.markCard.close();
    this.quote.textContent = wordsOf(reader, passage.start, passage.end);
    this.quote.lang = reader.book.outline.language;
    const model = Boolean(reader.marks.store?.model);
    for (const key of ["e", "t"]) {
      this.items[key].setAttribute("aria-disabled", String(!model));
      this.items[key].title = model ? "" : "Needs a model";
    }
    this.items.d.title = model ? "" : "Where else it is in the book";
    this.items.a.hidden = !reader.data.can.ask;
    const can = Boolean(reader.marks.store);
    for (const part of [...this.colours, this.items.n]) part.hidden = !can;
    this.node.hidden = false;
    this.position();
    [...this.colours, ...Object.values(this.items)].forEach((part, i) => (part.tabIndex = i ? -1 : 0));
    if (focus) this.buttons()[0].focus();
    this.reader.live.textContent = "Words selected. Press 1 to 4 for a colour, Enter for the menu.";
  }

  buttons() {
    return [...this.node.querySelectorAll("button")].filter((part) => !part.hidden);
  }

  boxes(passage = this.passage) {
    const { book, units } = this.reader;
    return partsOf(book, passage.start, passage.end)
      .flatMap(([i, from, to]) => (units.nodes[i] ? [...rangeIn(units.nodes[i], from, to).getClientRects()] : []))
      .filter((box) => box.width || box.height);
  }

  position() {
    putAt(this.reader, this.node, this.boxes());
  }

  hide() {
    this.passage = null;
    this.byKey = false;
    this.node.hidden = true;
  }

  /** Ends the selection itself too. */
  clear() {
    const shadow = this.reader.root.getRootNode();
    (shadow.getSelection?.() ?? document.getSelection())?.removeAllRanges();
    const focused = this.node.contains(shadow.activeElement);
    this.hide();
    if (focused) this.reader.scroller.focus({ preventScroll: true });
  }

  moved(event) {
    const parts = this.buttons();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const at = parts.indexOf(this.reader.root.getRootNode().activeElement);
    parts[(at + step + parts.length) % parts.length].focus();
  }

  /** Handles a key while words are selected; whether it was one of these. */
  key(event) {
    if (!this.passage || event.altKey) return false;
    const inMenu = event.composedPath().includes(this.node);
    if (event.key === "Escape") return (this.clear(), true);
    if (event.key === "Enter" && !inMenu && !event.composedPath()[0].closest?.("button, a"))
      return (this.show(this.passage, { focus: true }), true);
    if (!/^[1-4naedtc]$/.test(event.key)) return false;
    this.act(event.key);
    return true;
  }

  act(key) {
    const { reader, passage } = this;
    const part = this.items[key];
    if (!passage || part?.getAttribute("aria-disabled") === "true") return void reader.toast.say("Needs a model: connect one in Settings");
    if (part?.hidden) return;
    const words = wordsOf(reader, passage.start, passage.end);
    if (key === "c") return this.copy(words);
    this.clear();
    if (key in { 1: 0, 2: 0, 3: 0, 4: 0 }) reader.marks.highlight(passage, COLOURS[Number(key) - 1]);
    else if (key === "n") reader.markCard.write(passage);
    else if (key === "a")
      reader.send({ do: "ask", page: reader.layer.pageAt(passage.start.paragraph, passage.start.offset) ?? 0, text: quoted(words) });
    else reader.passageCard.ask({ e: "explain", d: "define", t: "translate" }[key], passage, words);
  }

  copy(words) {
    const { reader, passage } = this;
    const text = withSource(reader, words, passage.start);
    const said = (line) => () => reader.toast.say(line);
    if (!navigator.clipboard) return said("Copying is not allowed here")();
    navigator.clipboard.writeText(text).then(said("Copied with its page"), said("Copying is not allowed here"));
    this.clear();
  }
}

const quoted = (words) => `“${words}”`;

/** '“…” (Title, p. 15)': words with their title and the page of the source, or of the reading. */
export function withSource({ book, layer }, words, { paragraph, offset }) {
  const page = layer.pageAt(paragraph, offset);
  const place = placeOf(book, paragraph) || (page ? `p. ${page}` : "");
  return `${quoted(words)} (${[book.outline.title, place].filter(Boolean).join(", ")})`;
}

/** Puts a menu or card beside the words with these boxes: 8 px above them, below where there is no room. */
export function putAt(reader, node, boxes, { below = false } = {}) {
  const room = reader.room.getBoundingClientRect();
  const seen = boxes.filter((box) => box.bottom > room.top && box.top < room.bottom);
  node.classList.toggle("away", !seen.length);
  node.style.left = node.style.top = "";
  if (reader.isPhone) {
    // a sheet: the end of the words stays above it
    const under = (boxes.at(-1)?.bottom ?? 0) + 12 - node.getBoundingClientRect().top;
    if (under > 0 && !reader.flow.isPaged) reader.scroller.scrollTop += under;
    return;
  }
  const view = reader.scroller.getBoundingClientRect();
  const middleOfView = { left: view.left, right: view.right, top: view.top + 40, bottom: view.top + 40 };
  const [first, last] = seen.length ? [seen[0], seen.at(-1)] : [middleOfView, middleOfView];
  const { offsetWidth, offsetHeight } = node;
  const above = first.top - room.top - GAP - offsetHeight;
  const under = last.bottom - room.top + GAP;
  const fits = under + offsetHeight <= room.height - 4;
  const top = below ? (fits || above < 4 ? under : above) : above >= 4 || !fits ? above : under;
  const middle = (first.left + Math.min(first.right, first.left + 300)) / 2 - room.left;
  const most = reader.scroller.offsetLeft + reader.scroller.clientWidth - offsetWidth - 8;
  node.style.left = `${Math.max(8, Math.min(middle - offsetWidth / 2, most))}px`;
  node.style.top = `${Math.max(4, Math.min(top, room.height - offsetHeight - 4))}px`;
}
