// The foot of the reader: two facts beside each other. You: how far the person is. Gists: how far the model is, with
// what can be done about it. Nothing here takes the text away.

import { button, el, focused, sumOf } from "../shared/dom.js";
import { chapterOf, readingTime, shareRead, wordsBetween } from "./text_store.js";

/**
 * @import { GistsLine, LayerPage } from "../protocol.js"
 * @import { Progress } from "./progress.js"
 * @import { Jump, ReadingState, Send } from "./state.js"
 * @import { StoredText } from "./text_store.js"
 */

const MOST_PARTS = 60; // of a strip; a book of more chapters has one bar
const UNDO_MS = 10_000;

/** How many words the pages that begin in some paragraphs have, of those whose gist is made, shown or veiled. @param {LayerPage[]} pages @param {number} start @param {number} stop */
export const wordsMade = (pages, start, stop) =>
  sumOf(pages, (page) => ((page.gist || page.veiled) && page.start >= start && page.start < stop ? page.words : 0));

/** What stands for the time that is left, where none is. @param {ReadingState} state */
export const endSaid = ({ data, isRead }) => (isRead ? (data.finished ? "finished" : "read to the end") : "the end");

/** A label with, on a phone, who does it. @param {string} label @param {string} by */
const withMaker = (label, by) => el("span", { class: "maker" }, label, el("small", {}, ` ${by}`));

export class Foot {
  /**
   * @param {{state: ReadingState, end: HTMLElement, progress: Progress, jump: Jump, setFurthest: (paragraph: number) => void, send: Send}} needs
   *   `end`: after the last paragraph
   */
  constructor({ state, end, progress, jump, setFurthest, send }) {
    this.state = state;
    this.end = end;
    this.progress = progress;
    this.jump = jump;
    this.setFurthest = setFurthest;
    this.send = send;
    /** @type {number | undefined} the furthest place before it was set by hand, while that can be undone */
    this.undo = undefined;
    /** @type {{book: StoredText, furthest: number} | undefined} how far it was read when it was marked as finished */
    this.finished = undefined;
    this.offered = this.shown = this.ending = ""; // what is drawn
    this.youStrip = el("span", { class: "strip you", "aria-hidden": "true" });
    this.youLine = el("span", { class: "line num" });
    this.menu = el("div", { class: "popup youmenu", hidden: true, role: "menu", "aria-label": "How far you have read" });
    this.you = el(
      "button",
      { type: "button", class: "fact", "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => this.toggleMenu() },
      el("span", { class: "who" }, "You"),
      el("span", { class: "what" }, this.youStrip, this.youLine),
    );
    this.offer = el("span", { class: "offer", role: "status" });
    this.gistStrip = el("span", {
      class: "strip gists",
      role: "progressbar",
      "aria-label": "Gists",
      "aria-valuemin": "0",
      "aria-valuemax": "100",
    });
    this.gistLine = el("span", { class: "line num", role: "status" });
    this.more = button("Details", () => this.toggleMore(), { kind: "quiet slim", "aria-expanded": "false", hidden: true });
    this.details = el("p", { class: "popup details", hidden: true });
    this.acts = el("span", { class: "jb" });
    this.gists = el(
      "div",
      { class: "fact gistsfact" },
      el("span", { class: "who" }, "Gists"),
      el("span", { class: "what" }, this.gistStrip, this.gistLine),
      this.more,
      this.acts,
    );
    this.node = el(
      "div",
      { class: "foot" },
      el("div", { class: "half" }, this.you, this.offer),
      el("div", { class: "half" }, this.gists),
      this.menu,
      this.details,
    );
  }

  // --- the person ---------------------------------------------------------------------------------

  drawYou() {
    const { book } = this.state;
    if (!book.known) return;
    const { paragraph } = this.state.here;
    const { words, paragraphs, chapters } = book.outline;
    const { isRead, atEnd } = this.state;
    const read = isRead ? 100 : Math.min(99, Math.round(100 * shareRead(book, this.state.furthest))); // never 100 before the end
    const beyond = wordsBetween(book, this.state.furthest, paragraph) > 400;
    const [, end] = chapterOf(book, paragraph);
    const rest = wordsBetween(book, paragraph, paragraphs);
    const here = Math.round(100 * shareRead(book, paragraph));
    const apart = beyond && here !== read;
    const parts = [apart ? `${read} % read, at ${atEnd ? "the end" : `${here} %`}` : `${read} %`];
    if (isRead || atEnd) parts.push(...(isRead || !apart ? [endSaid(this.state)] : []));
    else {
      if (chapters.length > 1) parts.push(`${readingTime(book, wordsBetween(book, paragraph, end))} left in chapter`);
      parts.push(`${readingTime(book, rest)} left in the book`);
    }
    this.youLine.replaceChildren(
      el("strong", {}, parts[0]),
      ...parts.slice(1).map((part, i) => {
        // a phone has no room for both: there it is the book's, as the percentage is
        const [what, where = ""] = part.split(/(?= in the book$)/);
        const hidden = apart || i < parts.length - 2;
        return el("span", { class: hidden ? "rest" : "" }, ` · ${what}`, el("span", { class: "rest" }, where));
      }),
    );
    const at = words ? 100 * shareRead(book, paragraph) : 0;
    this.youStrip.replaceChildren(
      ...this.parts((start, stop) => this.share(start, stop, this.state.furthest)),
      el("i", { class: "tick", style: `left:${at.toFixed(2)}%` }),
    );
    this.drawOffer();
    this.drawEnd();
  }

  // After the last paragraph: the book ends here, and one press says that it is finished.
  drawEnd() {
    const { data, isRead } = this.state;
    const key = `${data.finished} ${isRead}`;
    if (key === this.ending) return;
    this.ending = key;
    const what = data.finished ? "You have finished it." : isRead ? "You have read it to the end." : "";
    const act = data.finished
      ? button("Not finished", () => this.unfinish(), { kind: "quiet slim" })
      : button("Mark as finished", () => this.finish(), { icon: "check" });
    this.end.replaceChildren(el("strong", {}, "The end"), what ? el("span", {}, what) : "", act);
  }

  finish() {
    const { book, data, furthest } = this.state;
    this.setFurthest(book.outline.paragraphs);
    this.finished = { book, furthest };
    this.mark(data, true);
  }

  unfinish() {
    const { book, data } = this.state;
    if (this.finished?.book === book) this.progress.set(this.finished.furthest);
    this.finished = this.undo = undefined;
    this.mark(data, false);
  }

  /** @param {{finished: boolean}} data @param {boolean} finished */
  mark(data, finished) {
    data.finished = finished; // until it has come back from the server
    this.send({ do: finished ? "finish" : "unfinish" });
    this.drawYou();
    this.end.querySelector("button")?.focus({ preventScroll: true });
  }

  /** @param {number} start @param {number} stop @param {number} to */
  share(start, stop, to) {
    const { book } = this.state;
    return Math.min(
      1,
      Math.max(0, wordsBetween(book, start, Math.min(stop, Math.max(start, to))) / Math.max(1, wordsBetween(book, start, stop))),
    );
  }

  /** A part for each chapter, as long as the chapter, filled by `done`. @param {(start: number, stop: number) => number} done */
  parts(done) {
    const { book } = this.state;
    const { chapters, paragraphs } = book.outline;
    const starts = chapters.length && chapters.length <= MOST_PARTS ? chapters : [0];
    return starts.map((start, i) => {
      const stop = starts[i + 1] ?? paragraphs;
      return el(
        "i",
        { style: `flex-grow:${wordsBetween(book, start, stop).toFixed(0)}` },
        el("b", { style: `width:${(100 * done(start, stop)).toFixed(1)}%` }),
      );
    });
  }

  // After reading beyond a gap: is all up to here read? After setting it by hand: the way back.
  drawOffer() {
    const { progress } = this;
    const asked = this.undo === undefined ? progress.offer() : null;
    const key = `${this.undo} ${asked === null}`;
    if (key === this.offered) return;
    this.offered = key;
    if (this.undo !== undefined) this.offer.replaceChildren(button("Undo", () => this.undoSet(), { kind: "quiet slim" }));
    else if (asked !== null)
      this.offer.replaceChildren(button("I have read up to here", () => this.setFurthest(progress.offer() ?? asked), { kind: "slim" }));
    else this.offer.replaceChildren();
  }

  /** Says that the furthest place was set by hand, and offers the one before for a moment. @param {number} before */
  wasSet(before) {
    this.undo = before;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.undo = undefined;
      this.drawYou();
    }, UNDO_MS);
    this.drawYou();
  }

  undoSet() {
    const before = this.undo;
    if (this.finished?.book === this.state.book && this.finished.furthest === before) return this.unfinish();
    this.undo = undefined;
    if (before !== undefined) this.progress.set(before);
    this.drawYou();
  }

  toggleMenu(open = this.menu.hidden) {
    const { book } = this.state;
    this.menu.hidden = !open;
    this.you.setAttribute("aria-expanded", String(open));
    if (!open) return;
    /** @param {string} label @param {() => void} act */
    const item = (label, act, hidden = false) => {
      const press = () => {
        this.toggleMenu(false);
        this.you.focus();
        act();
      };
      return hidden ? [] : [el("button", { type: "button", role: "menuitem", class: "item", onclick: press }, label)];
    };
    const { paragraph } = this.state.here;
    const { furthest } = this.state;
    const { paragraphs } = book.outline;
    const goThere = () => this.jump({ paragraph: Math.min(furthest, paragraphs - 1) });
    this.menu.replaceChildren(
      ...item("I have read up to here", () => this.setFurthest(paragraph), paragraph === furthest),
      ...item("Go to the furthest place I have read", goThere, !furthest || Math.abs(wordsBetween(book, furthest, paragraph)) < 200),
      ...item("I have read all of it", () => this.setFurthest(paragraphs), furthest >= paragraphs),
      ...item("Begin again: I have read nothing", () => this.setFurthest(0), !furthest),
    );
    this.menu.querySelector("button")?.focus();
  }

  // --- the gists ----------------------------------------------------------------------------------

  /** @param {GistsLine} line */
  drawGists(line) {
    const { book } = this.state;
    this.node.dataset.state = this.gists.dataset.state = line.state;
    const shown = JSON.stringify([line.line, line.rest, line.by]);
    const by = line.by && line.state === "ready" ? ` · ${line.by}` : "";
    if (shown !== this.shown) {
      this.gistLine.replaceChildren(
        el("strong", {}, line.line),
        el("span", { class: "by dim" }, by),
        el("span", { class: "rest dim" }, line.rest ? `${line.line.endsWith(".") ? " " : " · "}${line.rest}` : ""),
      );
      this.gistLine.title = `${line.line} ${line.rest}`;
    }
    this.shown = shown;
    this.more.hidden = !line.more;
    this.details.textContent = line.more;
    if (!line.more) this.details.hidden = true;
    this.gistStrip.hidden = line.percent === null || ["ready", "recording"].includes(line.state);
    if (!this.gistStrip.hidden && book.known) {
      const all =
        sumOf(this.state.pages, (page) => page.words) / Math.max(1, wordsBetween(book, 0, this.state.pages.at(-1)?.end ?? 0)) || 1;
      this.gistStrip.replaceChildren(
        ...this.parts((start, stop) =>
          Math.min(1, wordsMade(this.state.pages, start, stop) / Math.max(1, all * wordsBetween(book, start, stop))),
        ),
      );
      this.gistStrip.setAttribute("aria-valuenow", String(Math.round(line.percent ?? 0)));
    }
    this.drawActions(line.actions, line.by);
  }

  /**
   * Replaces the buttons only when they change: pressing one that is replaced before the release is no click.
   * @param {[string, string][]} actions
   * @param {string} by who would make gists, which a phone says on the button
   */
  drawActions(actions, by) {
    const same = JSON.stringify([actions, by]);
    if (this.acts.dataset.same === same) return;
    const active = focused(this.acts);
    const focus = active && this.acts.contains(active) ? active.textContent : null;
    this.acts.dataset.same = same;
    this.acts.replaceChildren(
      ...actions.map(([what, label]) =>
        button(what === "make" && by ? withMaker(label, by) : label, () => this.send({ do: what }), {
          kind: `slim ${["options", "settings"].includes(what) ? "quiet" : ["veil", "unveil_all"].includes(what) ? "limit" : ""}`,
          "data-do": what,
          icon: what === "pause" ? "pause" : null,
        }),
      ),
    );
    if (focus)
      ([...this.acts.querySelectorAll("button")].find((b) => b.textContent === focus) ?? this.acts.querySelector("button"))?.focus();
  }

  toggleMore(open = this.details.hidden) {
    this.details.hidden = !open;
    this.more.setAttribute("aria-expanded", String(open));
  }

  /** A press outside closes what is open. @param {EventTarget[]} path */
  pressed(path) {
    if (!path.includes(this.menu) && !path.includes(this.you)) this.toggleMenu(false);
    if (!path.includes(this.details) && !path.includes(this.more)) this.toggleMore(false);
  }

  /** Closes what is open; whether there was anything. */
  escape() {
    if (!this.menu.hidden) {
      this.toggleMenu(false);
      this.you.focus();
      return true;
    }
    if (this.details.hidden) return false;
    this.toggleMore(false);
    return true;
  }

  close() {
    clearTimeout(this.timer);
  }
}
