// What happened: as it is told, or in the order of time; and where the person was: what was told last.

import { button, el, plural } from "../shared/dom.js";
import { toldLine } from "./told.js";

/**
 * @import { NoteRecord } from "../protocol.js"
 * @import { Known, World } from "./world.js"
 *
 * @typedef {"told" | "time"} Order
 */

/** Kinds of notes that are events. */
const HAPPENS = new Set(["does", "dies", "moves"]);
const MOST = 100; // events that are drawn; the earlier ones with a press,
const FEW = 25; // unless they are few

/** What happened up to the end of a paragraph, as it is told or in the order of time. @param {World} world @param {number} paragraph @param {Order} order */
export function eventsOf(world, paragraph, order) {
  const notes = order === "time" && world.inTime.length ? world.inTime : world.notes;
  const events = notes.filter((note) => HAPPENS.has(note.kind) && note.from <= paragraph);
  return order === "time" && world.inTime.length ? events : events.sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1]);
}

/** The events under the titles of their chapters, in the order given. @param {NoteRecord[]} events @param {(paragraph: number) => string} titleOf */
export function byChapter(events, titleOf) {
  /** @type {[string, NoteRecord[]][]} */
  const found = [];
  for (const event of events) {
    const title = titleOf(event.at[0]);
    const last = found.at(-1);
    if (last && last[0] === title) last[1].push(event);
    else found.push([title, [event]]);
  }
  return found;
}

/** The names under which those of a note are known. @param {World} world @param {Map<string, Known>} known @param {number} paragraph */
export function namer(world, known, paragraph) {
  const root = world.rootsAt(paragraph);
  return (/** @type {NoteRecord} */ note) => known.get(root(note.of[0]))?.name ?? "";
}

/** What stands over an event in the order of time: none stands under the day of another. @param {NoteRecord[]} events @param {number} i */
export function whenSaid(events, i) {
  const [time, before] = [events[i].time ?? "", i ? (events[i - 1].time ?? "") : null];
  return time === before ? "" : time || "Time not told";
}

/**
 * The list of events; `whole`: all are drawn.
 * @param {NoteRecord[]} events
 * @param {{order: Order, titleOf: (paragraph: number) => string, nameOf: (note: NoteRecord) => string,
 *   go: (note: NoteRecord) => void, whole: boolean, showWhole: () => void}} options
 */
export function eventList(events, { order, titleOf, nameOf, go, whole, showWhole }) {
  const shown = whole || events.length <= MOST + FEW ? events : events.slice(-MOST);
  const more = events.length - shown.length;
  const earlier = more ? button(plural(more, "earlier event"), showWhole, { kind: "quiet slim earlier", icon: "up" }) : "";
  /** @param {NoteRecord} note @param {number} i */
  const line = (note, i) => {
    const when = el("span", { class: "when" }, whenSaid(shown, i));
    const row = toldLine(note, go, { name: nameOf(note) });
    row.prepend(order === "time" ? when : "");
    return row;
  };
  const groups = order === "time" ? /** @type {[string, NoteRecord[]][]} */ ([["", shown]]) : byChapter(shown, titleOf);
  return [
    earlier,
    ...groups.map(([title, notes]) =>
      el(
        "section",
        { class: "hgroup" },
        title ? el("h4", { dir: "auto" }, title) : "",
        el("ol", { class: `kl hl ${order}` }, ...notes.map(line)),
      ),
    ),
  ];
}

/**
 * The pages between the last that was read and the one that is on the screen, after a jump, in a sentence; "" where none are.
 * @param {number} read
 * @param {number | null} here
 */
export function skippedSentence(read, here) {
  if (here === null || here <= read + 1) return "";
  const skipped = here === read + 2 ? `Page ${read + 1} is` : `Pages ${read + 1} to ${here - 1} are`;
  return `${skipped} not read yet, and not told of here.`;
}

const PARTS = 6; // of what was told so far, where there are no more chapters
const MOST_OF_PART = 2;

/**
 * What was told, for who comes back: of each earlier chapter, or part of what was read, the events of those who are named most,
 * of one each first, then all of the last pages.
 * @param {NoteRecord[]} events as they are told
 * @param {{chapterOf: (paragraph: number) => number, weight: (note: NoteRecord) => number, page: number, pages?: number}} options
 */
export function recapOf(events, { chapterOf, weight, page, pages = 2 }) {
  const before = events.filter((note) => note.page > page - pages);
  const earlier = events.slice(0, events.length - before.length);
  const chapters = new Set(earlier.map((note) => chapterOf(note.at[0])));
  /** @type {Map<number, NoteRecord[]>} */
  const parts = new Map();
  for (const [i, note] of earlier.entries()) {
    const part = chapters.size >= PARTS ? chapterOf(note.at[0]) : Math.floor((i * PARTS) / earlier.length);
    const there = parts.get(part);
    if (there) there.push(note);
    else parts.set(part, [note]);
  }
  const soFar = [...parts.values()].flatMap((notes) => {
    const ranked = notes.filter((note) => weight(note) > 1).sort((a, b) => weight(b) - weight(a)); // not those named in passing
    const ofEach = ranked.filter((note, i) => ranked.findIndex((one) => one.of[0] === note.of[0]) === i);
    const best = [...new Set(ranked.length ? [...ofEach, ...ranked] : notes)].slice(0, MOST_OF_PART);
    return notes.filter((note) => best.includes(note));
  });
  return { soFar, before };
}
