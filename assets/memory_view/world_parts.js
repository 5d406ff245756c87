// The parts of the reader for the book's world: names in the text, their cards, what happened before, the world at a glance.

import { CheckYourself } from "./check_yourself.js";
import { Glance } from "./glance.js";
import { NameCard } from "./name_card.js";
import { Names } from "./names.js";
import { Previously } from "./previously.js";
import { ALL, lastWhole } from "./world.js";

/**
 * @import { NoteRecord } from "../protocol.js"
 * @import { Toast } from "../shared/toast.js"
 * @import { Cited } from "./cited.js"
 * @import { Frame } from "./frame.js"
 * @import { Jump, ReadingState, Send } from "./state.js"
 * @import { Units } from "./units.js"
 */

export class WorldParts {
  /**
   * `find`: searches for words; `opening`: a card opens, others close.
   * @param {{state: ReadingState, frame: Frame, units: Units, jump: Jump, send: Send, cited: Cited,
   *   find: (words: string) => void, opening: () => void, setFurthest: (paragraph: number) => void, toast: Toast}} needs
   */
  constructor({ state, frame, units, jump, send, cited, find, opening, setFurthest, toast }) {
    this.state = state;
    this.last = -1; // the last paragraph in view
    /** @param {Pick<NoteRecord, "at" | "end">} words */
    const go = ({ at: [paragraph, start], end }) => {
      this.card.close();
      cited.show([[paragraph, start, end]], 0, { back: true });
    };
    /** @param {number} page */
    const toPage = (page) => {
      const { start, startAt } = state.pages[page - 1];
      jump({ paragraph: start, at: startAt }, { focus: true, always: true, lookup: true });
    };
    const names = new Names({ state, frame, units, pressed: (named) => this.card.open(named), changed: () => this.changed() });
    this.names = names;
    this.card = new NameCard({
      state,
      frame,
      units,
      names,
      on: { go, find, opening: () => this.opening(opening), changed: (said) => toast.say(said, () => send({ do: "name_undo" })), send },
    });
    this.previously = new Previously({ state, frame, units, recap: () => this.openSide("recap"), earlier: () => this.openSide("earlier") });
    this.glance = new Glance({
      ...{ state, frame, names, go, find, send },
      bound: () => this.bound(),
      inView: () => this.last,
      toPage,
      setFurthest,
    });
    this.check = new CheckYourself({
      ...{ state, frame, units, send },
      opening: () => this.opening(opening),
      go: toPage,
    });
    this.studied = () => this.check.update(this.names.store);
    this.over = [this.check.node, this.card.node, this.previously.node];
    this.page = this.glance.node;
  }

  close() {
    this.names.close();
    this.names.store.removeEventListener("study", this.studied);
    this.card.stop();
    this.glance.stop();
  }

  /** The last paragraph that may be told of: of the pages that were read to their end, or that a limit set by hand lets in. */
  bound() {
    if (this.names.store.data.lifted) return ALL;
    const { pages, furthest, data } = this.state;
    const read = data.limit || furthest;
    return (pages.length ? (lastWhole(pages, read)?.end ?? 0) : read) - 1;
  }

  /** @param {string} book */
  follow(book) {
    this.names.store.removeEventListener("study", this.studied);
    this.names.follow(book);
    this.names.store.addEventListener("study", this.studied);
    this.studied();
  }

  /** Paragraphs `first` to `last` are in view. @param {number} first @param {number} last */
  seen(first, last) {
    this.last = last;
    this.names.seen(first, last);
    this.previously.position();
  }

  /** The elements of a paragraph are new. @param {number} paragraph */
  paragraphDrawn(paragraph) {
    this.names.paragraphDrawn(paragraph);
    this.check.paragraphDrawn(paragraph);
  }

  /** Another paragraph is read. */
  moved() {
    this.previously.moved();
  }

  /** Pages have come or changed. */
  layerChanged() {
    this.names.lines.clear();
    this.changed();
    this.names.draw();
  }

  /** Other things are known. */
  changed() {
    this.card?.update();
    this.glance?.soon();
    this.previously?.update(this.names.store);
  }

  openRecap() {
    this.openSide("recap");
  }

  /** @param {"recap" | "earlier"} side */
  openSide(side) {
    this.card.close();
    this.previously.leave();
    this.glance.open({ side });
  }

  toggle() {
    if (this.glance.opened) return void this.glance.close();
    const id = this.card.opened ? (this.card.named?.id ?? null) : null;
    this.card.close();
    this.glance.open({ id });
  }

  /** A card opens in the place of what is there. @param {() => void} others */
  opening(others) {
    others();
    this.previously.leave();
  }

  /** A press outside of the card closes it. @param {EventTarget[]} path */
  pressed(path) {
    for (const card of [this.card, this.check]) if (!path.includes(card.node)) card.close();
  }

  /** Closes what is open; whether there was anything. */
  escape() {
    return this.glance.escape() || this.card.close() || this.check.close() || this.previously.hide();
  }

  /** Whether a key is for the world at a glance, which lies over the reader. @param {KeyboardEvent} event */
  key(event) {
    return this.glance.key(event);
  }
}
