// The keys of the reader, and Escape in a dialog over it.

import { typing } from "../shared/dom.js";
import { DIALOG, DIALOG_CLOSE } from "../shared/streamlit.js";

/**
 * What the keys do.
 * @typedef {object} Commands
 * @property {(event: KeyboardEvent) => boolean} selecting whether it was a key for selected words
 * @property {(event: KeyboardEvent) => void} escape
 * @property {(step: number) => void} turn
 * @property {(step: number) => void} screen by a screenful: in pages, to the next of these
 * @property {() => number} left the step that the left side of the screen makes
 * @property {() => void} back
 * @property {() => void} begin
 * @property {() => void} end
 * @property {(step: number) => void} chapter
 * @property {() => void} view the next one
 * @property {() => void} ask
 * @property {() => void} find
 * @property {(step: number) => void} hit
 * @property {() => void} map
 * @property {() => void} help
 * @property {() => void} outline
 * @property {() => void} bookmark
 * @property {() => void} notes
 * @property {() => void} listen
 * @property {() => void} pdf
 * @property {() => void} bare full screen
 * @property {(step: number) => void} zoom -1: to the gists; 1: back to the text
 * @property {(step: number) => void} name the card of the next name in view, or the one before
 * @property {() => void} world the book's world at a glance
 * @property {() => boolean} openPage the page that is read, among the gists; whether gists are shown
 * @property {() => void} focusText gives the text the focus, so that the browser's own keys scroll it
 */

/**
 * Keys work anywhere on the screen, but not while the person types into a field.
 * @param {KeyboardEvent} event
 * @param {Commands} commands
 * @param {{map: Element, text: Element, paged: boolean}} now `map`: which turns pages with arrows up and down
 */
export function readerKey(event, commands, { map, text, paged }) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const dialog = document.querySelector(DIALOG);
  if (!dialog && !typing(event) && commands.selecting(event)) return event.preventDefault();
  if (event.key === "Escape") return dialog ? closeDialog(dialog) : commands.escape(event);
  if (typing(event)) return;
  const path = event.composedPath();
  const inMap = path.includes(map);
  if (dialog && !inMap) return;
  const onButton = path[0] instanceof Element && path[0].closest("button, a, [role=menuitem]") !== null;
  // in a book just opened nothing has the focus, after a press on the bar a button has it: the browser would scroll nothing
  const nothing = path[0] === document.body;
  const onBar = path[0] instanceof Element && path[0].closest(".tbar, .foot") !== null;
  const screens = paged || nothing || onBar || path.includes(text);
  const action = actions(commands, {
    upAndDown: inMap || paged,
    screens,
    space: screens && !onButton,
    enter: !onButton,
    shift: event.shiftKey,
  })[event.key];
  if (action) {
    event.preventDefault();
    action();
  } else if (nothing && ["ArrowDown", "ArrowUp"].includes(event.key)) commands.focusText();
}

/**
 * @param {Commands} commands
 * @param {{upAndDown: boolean, screens: boolean, space: boolean, enter: boolean, shift: boolean}} now
 * @returns {Record<string, (() => unknown) | undefined>}
 */
function actions(commands, { upAndDown, screens, space, enter, shift }) {
  /** @param {number} step */
  const turn = (step) => () => commands.turn(step);
  const left = commands.left();
  return {
    j: turn(1),
    k: turn(-1),
    ArrowRight: turn(-left),
    ArrowLeft: turn(left),
    ...(upAndDown && { ArrowDown: turn(1), ArrowUp: turn(-1) }),
    ...(screens && { PageDown: () => commands.screen(1), PageUp: () => commands.screen(-1) }),
    ...(space && { " ": () => commands.screen(shift ? -1 : 1) }),
    Home: commands.begin,
    End: commands.end,
    "[": () => commands.chapter(-1),
    "]": () => commands.chapter(1),
    Backspace: commands.back,
    g: commands.view,
    a: commands.ask,
    "/": commands.find,
    n: () => commands.hit(1),
    N: () => commands.hit(-1),
    m: commands.map,
    "?": commands.help,
    o: commands.outline,
    b: commands.bookmark,
    i: commands.notes,
    l: commands.listen,
    p: commands.pdf,
    f: commands.bare,
    x: () => commands.name(1),
    X: () => commands.name(-1),
    w: commands.world,
    "-": () => commands.zoom(-1),
    "+": () => commands.zoom(1),
    ...(enter && { Enter: commands.openPage }),
  };
}

/** A dialog closes by itself only while the focus is in it; a download button loses the focus while it works. @param {Element} dialog */
function closeDialog(dialog) {
  if (!dialog.contains(document.activeElement)) /** @type {HTMLElement | null} */ (dialog.querySelector(DIALOG_CLOSE))?.click();
}
