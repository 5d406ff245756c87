// The right side of the book's world: what happened, where the person was, the card of somebody.

import { button, el, withoutSigns } from "../shared/dom.js";
import { earlierBooks, fromEarlier } from "./earlier_books.js";
import { byChapter, eventList, eventsOf, namer, recapOf, skippedSentence } from "./happened.js";
import { knownSaid, linesOf, placesSaid } from "./name_card.js";
import { pickedPlaces } from "./sentences.js";
import { lastUpTo, sectionAt } from "./text_store.js";
import { sentenceOf, toldLine } from "./told.js";

/**
 * @import { NoteRecord } from "../protocol.js"
 * @import { Glance, Shown } from "./glance.js"
 * @import { Order } from "./happened.js"
 * @import { CardActs } from "./name_card.js"
 * @import { Known } from "./world.js"
 */

const FEW_EVENTS = 3; // fewer tell less of what was read than its gists do
const GISTS_BY_RULE = 6; // whose first sentences tell where one was, where there are few notes
const RECAP_WORDS = 120; // of gists

const NOTHING_TO_RECALL =
  "Nothing to look back on yet. Once you have read a page to its end, this tells what happened so far, and what came just before.";

export class GlanceSide {
  /**
   * `inView`: the last paragraph on the screen; `go`: to the words that a note rests on; `toPage`: to a page.
   * @param {Glance} glance
   * @param {{inView: () => number, go: CardActs["go"], find: CardActs["find"], toPage: (page: number) => void}} ways
   */
  constructor(glance, { inView, go, find, toPage }) {
    this.glance = glance;
    this.state = glance.state;
    this.names = glance.names;
    this.inView = inView;
    this.go = go;
    this.find = find;
    this.toPage = toPage;
    /** @type {Order} */
    this.order = "told";
    this.everything = false; // all that happened is shown
  }

  /** What stands beside the strips when nobody is selected. @param {Shown} shown */
  told(shown) {
    const { series } = this.names.store;
    if (this.glance.side === "earlier" && series) {
      const back = button("Where was I?", () => this.glance.openSide("recap"), { kind: "quiet slim linkb" });
      const head = el("div", { class: "sidehead" }, el("h3", {}, "In the earlier books"), back);
      return [head, ...earlierBooks(series, this.state.book.outline.title)];
    }
    return this.glance.side === "recap" || !this.glance.eventsTold ? this.recap(shown) : this.happened(shown);
  }

  /** @param {Shown} shown */
  happened({ known, paragraph }) {
    const { world } = this.names;
    /** @param {Order} order @param {string} label */
    const choice = (order, label) => {
      const choose = () => {
        this.order = order;
        this.glance.draw();
      };
      return button(label, choose, { "aria-pressed": String(this.order === order) });
    };
    const events = eventsOf(world, paragraph, this.order);
    const showWhole = () => {
      this.everything = true;
      this.glance.draw();
    };
    const list = eventList(events, {
      order: this.order,
      titleOf: (at) => sectionAt(this.state.book, at),
      nameOf: namer(world, known, paragraph),
      go: this.go,
      whole: this.everything,
      showWhole,
    });
    const recap = button("Where was I?", () => this.glance.openSide("recap"), { kind: "quiet slim linkb" });
    return [
      el(
        "div",
        { class: "sidehead" },
        el("h3", {}, "What happened"),
        events.length
          ? el(
              "div",
              { class: "seg order", role: "group", "aria-label": "Order" },
              choice("told", "As told"),
              choice("time", "As it happened"),
            )
          : recap,
      ),
      ...(events.length ? list : [el("p", { class: "small dim" }, "Nothing that happened is noted yet.")]),
    ];
  }

  /**
   * Where was I: what was told so far in short, and what came just before. Nothing of it is from beyond the place where the
   * person is, whatever the World shows: on their page it ends where they have read to, or with what is on the screen.
   * @param {Shown} shown
   */
  recap({ counts, paragraph: shown }) {
    const { world } = this.names;
    const { book, furthest } = this.state;
    const { page: current, paragraph: top } = this.state.here;
    const end = current ? this.state.pages[current - 1].end : top;
    const paragraph = Math.min(shown, Math.max(this.inView(), Math.min(furthest, end) - 1));
    const known = world.asOf(paragraph);
    const page = lastUpTo(this.glance.pages, paragraph, (part) => part.start) + 1;
    const told = eventsOf(world, paragraph, "told");
    const gists = told.length < FEW_EVENTS ? this.gistLines(paragraph) : [];
    const events = gists.length ? [] : told;
    const root = world.rootsAt(paragraph);
    const chapters = book.outline.chapters;
    /** @param {NoteRecord} note */
    const weight = (note) => (counts.get(root(note.of[0]))?.reduce((sum, n) => sum + n, 0) ?? 0) + (note.kind === "dies" ? 1e6 : 0);
    const nameOf = namer(world, known, paragraph);
    const { soFar, before } = recapOf(events, { chapterOf: (at) => lastUpTo(chapters, at), weight, page });
    /** @param {NoteRecord[]} notes */
    const list = (notes) =>
      byChapter(notes, (at) => sectionAt(book, at)).map(([title, found]) =>
        el(
          "section",
          { class: "hgroup" },
          title ? el("h4", { dir: "auto" }, title) : "",
          el("ol", { class: "kl hl" }, ...found.map((note) => toldLine(note, this.go, { name: nameOf(note) }))),
        ),
      );
    const other =
      this.glance.eventsTold && !this.glance.node.classList.contains("onecolumn")
        ? button("What happened", () => this.glance.openSide("happened"), { kind: "quiet slim linkb" })
        : "";
    const title = sectionAt(book, top);
    const where = [current ? `You are on page ${current} of ${this.state.pages.length}` : "", title].filter(Boolean).join(", ");
    const skipped = skippedSentence(this.glance.lastPage(this.glance.pages), current);
    const nothing = paragraph < 0 ? NOTHING_TO_RECALL : "";
    return [
      el("div", { class: "sidehead" }, el("h3", {}, "Where was I?"), other),
      where ? el("p", { class: "small dim", dir: "auto" }, `${where}. ${nothing ? "" : skipped}`) : "",
      nothing ? el("p", { class: "dim" }, nothing) : "",
      nothing ? button("Back to reading", () => this.glance.close(), { kind: "slim earlierb" }) : "",
      ...(soFar.length ? [el("h4", { class: "big" }, "So far"), ...list(soFar)] : []),
      ...(before.length ? [el("h4", { class: "big" }, skipped ? "What you read last" : "Just before"), ...list(before)] : []),
      ...gists,
      this.names.store.series?.books.length
        ? button("In the earlier books", () => this.glance.openSide("earlier"), { kind: "slim earlierb" })
        : "",
      !nothing && !events.length && !gists.length
        ? el("p", { class: "dim" }, "None of the pages that you have read has a gist yet. Make gists, then look again.")
        : "",
    ];
  }

  /**
   * Where notes tell little: sentences picked from the last gists of pages that were read, of the first page also where
   * only its beginning was. All in one face, though some have quotations: each is as the gist has it.
   * @param {number} paragraph
   */
  gistLines(paragraph) {
    const read = this.state.pages
      .filter((page) => page.gist && (page.number === 1 ? page.start : page.end - 1) <= paragraph)
      .slice(-GISTS_BY_RULE);
    if (!read.length) return [];
    /** @param {number} page */
    const go = (page) => () => {
      this.glance.close();
      this.toPage(page);
    };
    const { emphasis, language } = this.state.book.outline;
    const texts = read.map(({ gist }) => withoutSigns(gist?.text ?? "", emphasis));
    const picked = pickedPlaces(texts, language, RECAP_WORDS);
    const lines = picked.map(([i, place], n) => {
      const page = read[i].number;
      const again = picked[n - 1]?.[0] === i; // under the number of its page
      return el(
        "li",
        {},
        el(
          "button",
          { type: "button", class: "toldline", onclick: go(page), title: `Go to page ${page}` },
          el("span", { class: "pn num" }, again ? "" : String(page)),
          el("span", { class: "tx", dir: "auto" }, sentenceOf(texts[i].slice(...place))),
        ),
      );
    });
    const title = read.length > 1 ? "From the gists of the pages you read last" : `From the gist of page ${read[0].number}`;
    const note = "Picked sentences, not the whole story: between them much is left out.";
    return [el("h4", { class: "big" }, title), el("p", { class: "small dim" }, note), el("ol", { class: "kl hl" }, ...lines)];
  }

  /** The card of who is selected. @param {Known} one @param {Shown} shown */
  card(one, { known, paragraph, page }) {
    const { world } = this.names;
    const { language } = this.state.book.outline;
    const close = button("", () => this.glance.select(null), { kind: "quiet icon slim", icon: "close", name: "Close the card" });
    /** @type {Map<Known, string>} */
    const related = new Map();
    const root = world.rootsAt(paragraph);
    for (const { note } of one.lines) {
      if (note.kind !== "related" || !note.other) continue;
      const meant = world.byName.get(note.other)?.find(({ from }) => from <= paragraph)?.of;
      const other = meant && known.get(root(meant));
      if (other && other.id !== one.id) related.set(other, note.text);
    }
    const chips = [...related]
      .slice(0, 8)
      .map(([other, text]) =>
        button(
          el("span", {}, el("span", { dir: "auto" }, other.name), " ", el("span", { class: "dimmer" }, text)),
          () => this.glance.select(other.id),
          { kind: "relchip" },
        ),
      );
    return [
      el(
        "div",
        { class: "pcard" },
        el("div", { class: "chead" }, el("h3", { lang: language, dir: "auto" }, one.name), close),
        el("p", { class: "asof" }, el("strong", {}, knownSaid(one, this.names.store.data)), `, as of ${this.glance.unit} ${page}`),
        one.also.length ? el("p", { class: "alsop", lang: language, dir: "auto" }, `also ${one.also.join(", ")}`) : "",
        ...(one.lines.length ? [el("ol", { class: "kl hl" }, ...linesOf(one.lines, this.go, one.name))] : this.places(one, paragraph)),
        ...fromEarlier(this.names.store.series, one),
        chips.length ? el("h4", { class: "big" }, "Related, so far") : "",
        el("div", { class: "relchips" }, ...chips),
      ),
    ];
  }

  /** Where one of whom nothing is told is named, up to a paragraph. @param {Known} one @param {number} paragraph */
  places(one, paragraph) {
    const places = this.names.placesOf(one, Math.min(paragraph, this.state.book.text.length - 1));
    const all = () => {
      this.glance.close();
      this.find(places[0].name);
    };
    const more = places.length > 2 ? button("Find all places", all, { kind: "slim placesb" }) : "";
    return [...placesSaid(places, { state: this.state, go: this.go, by: this.names.store.data.by }), more];
  }
}
