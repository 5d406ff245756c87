// What the keys of the reader do.

import { Scrolled } from "./scrolled.js";
import { lastUpTo } from "./text_store.js";

/**
 * @import { ReaderOriginal } from "../pdf_page/original.js"
 * @import { Annotations } from "./annotations.js"
 * @import { Bare } from "./bare.js"
 * @import { BesideGists } from "./beside.js"
 * @import { BookMap } from "./book_map.js"
 * @import { Cited } from "./cited.js"
 * @import { Foot } from "./foot.js"
 * @import { Frame } from "./frame.js"
 * @import { GistCard } from "./gist_card.js"
 * @import { GistSpeed } from "./gist_speed.js"
 * @import { Commands } from "./keys.js"
 * @import { Position } from "./position.js"
 * @import { ReadingView } from "./reading_view.js"
 * @import { Search } from "./search.js"
 * @import { ReadingState, Send } from "./state.js"
 * @import { Toolbar } from "./toolbar.js"
 * @import { WorldParts } from "./world_parts.js"
 */

/**
 * @param {{state: ReadingState, frame: Frame, view: ReadingView, position: Position, search: Search, toolbar: Toolbar, map: BookMap,
 *   foot: Foot, card: GistCard, annotations: Annotations, original: ReaderOriginal, cited: Cited, send: Send,
 *   bare: Bare, beside: BesideGists, gistSpeed: GistSpeed, world: WorldParts}} parts
 * @returns {Commands}
 */
export function readerCommands({
  state,
  frame,
  view,
  position,
  search,
  toolbar,
  map,
  foot,
  card,
  annotations,
  original,
  cited,
  send,
  bare,
  beside,
  gistSpeed,
  world,
}) {
  const { marks, notes, listen } = annotations;
  return {
    selecting: (event) => annotations.key(event),
    escape: (event) => {
      if (annotations.escape()) return;
      if (world.escape()) return;
      if (card.page) return card.close();
      if (!toolbar.opened && original.escape()) return;
      if (foot.escape() || toolbar.escape(event) || cited.clear() || notes.toggle(false) || gistSpeed.escape() || beside.escape()) return;
      if (listen.seen || !bare.escape()) listen.close(); // while its bar is away, full screen ends first
    },
    turn: (step) => view.flow.turn(step),
    screen: (step) => {
      if (view.flow instanceof Scrolled) view.flow.scrollBy(step);
      else view.flow.turn(step);
      frame.focusText();
    },
    left: () => view.flow.backward,
    back: () => position.back(),
    begin: () => position.jump({ paragraph: 0 }),
    end: () => {
      const page = state.pages.at(-1);
      const { text, outline } = state.book;
      const paragraph = outline.paragraphs - 1;
      const inGist = state.folded && page && page.end > paragraph; // the gist stands for the whole page
      position.jump(inGist ? { paragraph: page.start, at: page.startAt } : { paragraph, at: lastWord(text[paragraph]) });
    },
    chapter: (step) => {
      const start = chapterStart(state.book.outline.chapters, state.here.paragraph, step);
      if (start !== undefined) position.jump({ paragraph: start });
    },
    view: () => view.next(),
    ask: () => state.data.can.ask && send({ do: "ask", page: 0 }),
    find: () => {
      if (bare.on) {
        notes.toggle(false); // they stand where the bars come
        bare.showBars(true); // they have the field
      } else bare.setGone(false);
      toolbar.find();
    },
    hit: (step) => search.step(step),
    map: () => map.node.focus(),
    help: () => toolbar.toggle("help"),
    outline: () => state.book.dispatchEvent(new Event("show outline")),
    bookmark: () => marks.toggleBookmark(),
    notes: () => notes.toggle(),
    listen: () => {
      if (bare.on) bare.showBars(true);
      listen.open();
    },
    pdf: () => original.toggle(),
    bare: () => bare.toggle(),
    zoom: (step) => gistSpeed.zoom(step),
    name: (step) => world.card.step(step),
    world: () => world.toggle(),
    openPage: () => gistSpeed.toggleHere(),
    focusText: () => frame.focusText(),
  };
}

/** Where the last word of a paragraph begins. @param {string} [text] */
const lastWord = (text = "") => text.trimEnd().lastIndexOf(" ") + 1;

/**
 * Where the next chapter begins, or with `step` -1 this one, at its beginning the one before; undefined where there is none.
 * @param {number[]} chapters their first paragraphs
 * @param {number} paragraph
 * @param {number} step
 * @returns {number | undefined}
 */
export function chapterStart(chapters, paragraph, step) {
  const at = lastUpTo(chapters, paragraph);
  return step < 0 && chapters[at] < paragraph ? chapters[at] : chapters[at + step];
}
