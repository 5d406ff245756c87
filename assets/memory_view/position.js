// Where the person is: reported to the server, jumped from and gone back to. How the text is moved on the screen is the
// business of the flow (scrolled.js, paged.js), what the browser's history has that of place_history.js.

import { button, el } from "../shared/dom.js";
import { isAddressOf, isSame, LeftPlace, storedIn } from "./left_place.js";
import { PlaceHistory, placeFrom } from "./place_history.js";
import { ABOVE } from "./state.js";
import { isLoaded, shareRead, wordsBetween } from "./text_store.js";

/**
 * @import { At, Goto } from "../protocol.js"
 * @import { Paged, Standing } from "./paged.js"
 * @import { Scrolled } from "./scrolled.js"
 * @import { Here, Place, ReadingState, Show } from "./state.js"
 * @import { BackPlace } from "./text_store.js"
 * @import { Units } from "./units.js"
 *
 * @typedef {Scrolled | Paged} Flow
 * @typedef {{place: Place, id: string | null, before: Place | null, screen: string}} Wanted
 *
 * @typedef {object} PositionEvents
 * @property {() => void} jumped
 * @property {() => void} wentBack
 * @property {(again: boolean) => void} opened the book is at its place for the first time; `again`: and at the height where the window had it
 * @property {(page: number | null, before: number | null) => void} page another page is read
 * @property {(first: number, last: number, moved: boolean) => void} seen these paragraphs are in view; whether another is read
 * @property {() => void} moved
 * @property {(text: string) => void} said
 * @property {(at: At) => void} report
 */

const MOST_BACK = 20; // places to go back to
const READ_ON_WORDS = 600; // read on after a jump, about two pages: then the way back goes
const STAYED_WORDS = 100; // read on at a place that was looked up, less than a screen: then it is where the person reads

export class Position {
  /**
   * @param {{state: ReadingState, units: Units, flow: () => Flow, on: PositionEvents}} needs
   */
  constructor({ state, units, flow, on }) {
    this.state = state;
    this.units = units;
    this.flow = flow;
    this.on = on;
    this.restored = false; // whether the person is where they were
    /** @type {Wanted | null} the request of the server that waits for its paragraph */
    this.wanted = null;
    /** @type {string | null} what was sent last */
    this.sent = null;
    /** @type {At | null} */
    this.unsent = null;
    /** @type {number | null} the paragraph that the last jump led to */
    this.landed = null;
    /** @type {Here | null} where the text was left for gists or chapters */
    this.left = null;
    this.led = false; // while a jump shows its place: what arrives then was not walked to
    this.history = new PlaceHistory((place, by) => this.follow(place, by));
    this.before = new LeftPlace();
    this.ended = new AbortController();
    const { signal } = this.ended;
    document.addEventListener("readagent-leave", () => this.flush(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden && this.leave(), { signal });
    window.addEventListener("pagehide", () => this.leave(), { signal });
    this.label = el("span", {}, "Back");
    this.chip = el(
      "div",
      { class: "backchip", hidden: true },
      button(this.label, () => this.back(), { icon: "left", title: "Back to where I was (Backspace)" }),
      button("", () => this.forgetBack(), { kind: "quiet icon slim", icon: "close", name: "Stay here" }),
    );
    this.showBack();
  }

  close() {
    clearTimeout(this.timer);
    this.history.close();
    this.ended.abort();
  }

  // Another text: forgets the position in the one before.
  begin() {
    this.sent = this.unsent = null;
    this.restored = false;
    this.landed = this.left = null;
    this.history.begin(this.state.data.book);
    this.showBack();
  }

  /**
   * Goes where the server asks, once for every `id`. Where it asks for nothing, this tab knows better than the server where
   * the person is.
   * @param {Goto & {top?: number}} goto
   */
  request(goto) {
    const { book } = this.state;
    if (!this.restored && !this.wanted) {
      this.before.begin(this.state.data.book, goto);
      if (book.visited === null) goto = this.loadedAnew(goto);
    }
    const at = book.held?.place ?? book.at;
    const known = at ? placeFrom(at) : null;
    if (goto && goto.id !== book.visited && goto.id !== this.wanted?.id) {
      const { id, before, screen } = goto;
      if (before) this.wanted = { place: placeFrom(goto), id, before: placeFrom({ paragraph: before[0], at: before[1] }), screen };
      else if (this.restored) book.visited = id;
      else this.wanted = { place: known ?? placeFrom(goto), id, before: null, screen };
    } else if (!this.restored && !this.wanted)
      this.wanted = { place: known ?? placeFrom(goto), id: book.visited, before: null, screen: "" };
    this.tryWanted();
  }

  /**
   * Where to go in a window that was loaded anew: where it was, which the entry of its history has, also where something
   * was looked up there, at the same height. The person reads where the server says, or where the window before was left.
   * @param {Goto} goto
   * @returns {Goto & {top?: number}}
   */
  loadedAnew(goto) {
    const later = this.before.take(goto);
    const reads = later ?? storedIn(goto);
    const { entry } = this.history;
    const looksUp = entry ? !isSame(entry, reads) : goto.before && !(later && isAddressOf(later, location.search));
    const { paragraph, at } = looksUp ? (entry ?? goto) : reads;
    const top = entry && isSame(entry, { paragraph, at }) ? entry.top : undefined;
    if (looksUp) return { ...goto, paragraph, at, top, before: [reads.paragraph, reads.at] };
    if (later) this.state.book.at = { ...later, top };
    const from = entry?.from;
    if (from) this.state.book.back.push({ place: placeFrom(from), depth: from.depth, screen: "" });
    return { ...goto, paragraph, at, top, before: goto.screen ? goto.before : null };
  }

  tryWanted() {
    const { book } = this.state;
    const { units } = this;
    if (!this.wanted || !units.nodes[this.wanted.place.paragraph]) return;
    const { place, before, id, screen } = this.wanted;
    this.wanted = null;
    book.visited = id;
    if (!before && book.held) book.back.length = 0; // what was looked up was left for another screen
    if (before) this.remember(before, null, screen);
    else this.showBack();
    book.held = before ? { place: book.held?.place ?? this.inMessage(before), landed: null } : null;
    this.landed = null;
    this.on.jumped();
    this.lead(place);
    this.sent = null;
    this.restored = true;
    this.landed = before ? place.paragraph : null;
    if (book.held) book.held.landed = this.state.here.paragraph;
    this.write();
    if (before || book.at) this.save();
    if (book.at) {
      book.at = { ...this.inMessage(this.state.place), top: this.state.here.top }; // not what was looked up and left
      book.dispatchEvent(new CustomEvent("at", { detail: book.at }));
    }
    this.on.opened(place.top !== undefined);
  }

  /**
   * Reported by the flow: the place at the top of what is read now, and the first and last paragraphs in view.
   * @param {Standing} place
   * @param {number} first
   * @param {number} last
   * @param {boolean} atEnd whether the end of the text is in view
   */
  arrived({ paragraph, at, above, top }, first, last, atEnd) {
    const { book } = this.state;
    this.state.last = last;
    const before = this.state.here;
    const page = this.state.pageAt(paragraph, at);
    this.state.here = { paragraph, at, above, top, page };
    if (page !== before.page) this.on.page(page, before.page);
    if (!this.restored) return;
    const moved = paragraph !== before.paragraph;
    if (!this.led && (moved || page !== before.page)) this.walked(page === before.page ? null : page, first, last);
    this.on.seen(first, last, moved);
    const ended = atEnd && (paragraph > 0 || at > 0); // a text that the screen shows whole is not at its end
    const ends = ended !== this.state.atEnd;
    this.state.atEnd = ended;
    if (ends) this.on.moved();
    const same = !moved && at === before.at && above === before.above;
    if (same && page === before.page && book.at) {
      book.at.top = top;
      return;
    }
    book.at = { paragraph, at: above ? ABOVE : at, top, page };
    if (this.landed !== null && wordsBetween(book, this.landed, paragraph) > READ_ON_WORDS) this.forgetBack();
    const looked = book.held?.landed ?? null;
    if (looked !== null && wordsBetween(book, looked, paragraph) > STAYED_WORDS) book.held = null;
    if (moved || page !== before.page) {
      book.dispatchEvent(new CustomEvent("at", { detail: book.at }));
      this.on.moved();
    }
    this.save();
  }

  /** Shows a place that nobody walked to. @type {Show} */
  lead(place, options) {
    this.led = true;
    this.flow().show(place, options);
    this.led = false;
    this.showBack();
  }

  /** Whoever walked to where the way back leads needs it no more. @param {number | null} page that was walked to @param {number} first @param {number} last in view */
  walked(page, first, last) {
    const { back } = this.state.book;
    const to = back.at(-1);
    if (!to || to.screen) return;
    const { paragraph, at } = to.place;
    if ((paragraph < first || paragraph > last) && (page === null || this.state.pageAt(paragraph, at) !== page)) return;
    back.pop();
    this.showBack();
  }

  /** @param {Place} place @returns {Pick<At, "paragraph" | "at" | "page">} */
  inMessage({ paragraph, at = ABOVE }) {
    return { paragraph, at, page: this.state.pageAt(paragraph, Math.max(0, at)) };
  }

  /** What is stored: where the person reads, not what they look up. @returns {At} */
  value(byHand = false) {
    const { book } = this.state;
    const whole = book.outline.units.every((_, unit) => isLoaded(book, unit));
    const place = book.held?.place ?? this.inMessage(this.state.place);
    return { ...place, furthest: this.state.furthest, last: this.state.last, whole, ...(byHand ? { by_hand: Date.now() } : {}) };
  }

  // Writes the place a moment after the person stopped moving, or before anything else is sent, and sends where they read,
  // which stays while they look something up.
  save(byHand = false) {
    const value = this.value(byHand);
    clearTimeout(this.timer);
    this.unsent = null;
    if (!this.restored) return;
    if (byHand || JSON.stringify(value) !== this.sent) this.unsent = value;
    if (byHand) this.flush();
    else this.timer = setTimeout(() => this.flush(), 700);
  }

  flush() {
    clearTimeout(this.timer);
    this.write();
    if (this.unsent) {
      this.sent = JSON.stringify({ ...this.unsent, by_hand: undefined });
      this.before.told(this.unsent);
      this.on.report(this.unsent);
    }
    this.unsent = null;
  }

  // The window is hidden, and may be closed or loaded anew before the server hears of the place.
  leave() {
    if (!this.restored) return;
    this.flush();
    this.before.keep(this.value());
  }

  // The place goes into the browser's history and the address.
  write() {
    if (!this.restored) return;
    const last = this.state.book.back.at(-1);
    if (!last || last.screen) return this.history.write(this.state.here);
    const { paragraph, at = ABOVE, top } = last.place;
    this.history.write(this.state.here, { paragraph, at, top, depth: last.depth });
  }

  /**
   * Goes to a place by a jump: nothing it passes counts as read, and with `back` it can be gone back from, where it is not
   * in view already (`always`: there too). Returns whether the place before was remembered. `lookup`: the person still reads
   * where they were, until they read on from here.
   * @param {Place} target
   */
  jump(target, { focus = false, back = true, always = false, lookup = false } = {}) {
    const { book } = this.state;
    const { units } = this;
    if (!units.nodes[target.paragraph]) return false;
    const leaves = back && (always || !this.flow().isShown(target.paragraph));
    if (leaves) {
      this.write();
      this.remember(this.state.place, this.history.depth);
    }
    if (!lookup) book.held = null;
    else if (leaves || book.held) book.held = { place: book.held?.place ?? this.inMessage(this.state.place), landed: null };
    this.landed = null; // what is passed is not read on
    this.on.jumped();
    this.lead(target, { focus });
    this.landed = this.state.here.paragraph;
    if (book.held) book.held.landed = this.landed;
    if (leaves) this.history.add(this.state.here);
    this.on.said(`${Math.round(100 * shareRead(book, target.paragraph))} % of the book`);
    return leaves;
  }

  /**
   * @param {Place} place
   * @param {number | null} depth of the entry of the browser's history that has the place; null where none has
   * @param {string} screen to which the way back leads; "" for one to the place itself
   */
  remember(place, depth, screen = "") {
    const { back } = this.state.book;
    const last = back.at(-1)?.place;
    if (last?.paragraph !== place.paragraph || last.at !== place.at || screen) back.push({ place, depth, screen });
    back.splice(0, back.length - MOST_BACK);
    this.showBack();
  }

  /** The person has read on in another tab or on another device: there is a way to that place, until they read on here. @param {number} paragraph @param {number} at */
  offer(paragraph, at) {
    const here = this.state.here.paragraph;
    if (!this.restored || Math.abs(wordsBetween(this.state.book, here, paragraph)) <= READ_ON_WORDS) return;
    this.remember(placeFrom({ paragraph, at }), null);
    this.landed = here;
  }

  /** Gists or chapters take the place of the text. */
  leaveText() {
    this.left = this.state.here;
  }

  /** The text is shown again: where it is at another place than it was left at, there is a way back to that. */
  textAgain() {
    const { left, history } = this;
    const { here, last, book } = this.state;
    this.left = null;
    if (!left || (left.paragraph >= here.paragraph && left.paragraph <= last)) return;
    if (book.back.at(-1)?.place.paragraph === left.paragraph) return;
    history.write(left);
    this.remember(placeFrom(this.inMessage(left.above ? { paragraph: left.paragraph } : left)), history.depth);
    history.add(here);
    this.landed = here.paragraph;
  }

  back() {
    const last = this.state.book.back.at(-1);
    if (!last) return;
    if (last.depth !== null && last.depth === this.history.depth - 1) return this.history.back();
    this.state.book.back.pop();
    if (last.screen) return this.history.back(); // before this book is the screen that led here
    this.arrive(last.place);
  }

  /** The browser went `by` entries back or on, to a place. @param {Place} place @param {number} by */
  follow(place, by) {
    const { book } = this.state;
    const { depth } = this.history;
    if (by > 0) this.remember(this.state.place, depth - by);
    else book.back = book.back.filter((/** @type {BackPlace} */ entry) => entry.depth === null || entry.depth < depth);
    this.arrive(place);
  }

  /** @param {Place} place */
  arrive(place) {
    const { book } = this.state;
    if (!book.back.length) book.held = null; // where the person reads
    if (book.held) book.held.landed = null;
    this.landed = null;
    this.on.wentBack();
    this.on.jumped();
    this.lead(place);
    this.landed = place.paragraph;
    if (book.held) book.held.landed = this.state.here.paragraph;
    this.showBack();
  }

  forgetBack() {
    this.landed = null;
    this.state.book.held = null;
    this.state.book.back.length = 0;
    this.showBack();
    this.save();
  }

  showBack() {
    const { book } = this.state;
    const to = book.known ? book.back.at(-1) : undefined;
    this.chip.hidden = !to;
    if (!to) return;
    const { paragraph, at } = to.place;
    const page = this.state.pageAt(paragraph, at);
    const share = `${Math.round(100 * shareRead(book, paragraph))} %`;
    const where = paragraph ? (page ? (page === this.state.here.page ? "where I was" : `page ${page}`) : share) : "the beginning";
    this.label.textContent = `Back to ${to.screen || where}`;
  }
}
