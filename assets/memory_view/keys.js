// The keys of the reader, and Escape in a dialog over it.

import { typing } from "../shared/dom.js";
import { DIALOG, DIALOG_CLOSE } from "../shared/streamlit.js";

/** Keys work anywhere on the screen, but not while the person types into a field. */
export function readerKey(reader, event) {
  if (!reader.root.isConnected || !reader.book?.outline || event.ctrlKey || event.metaKey) return;
  const dialog = document.querySelector(DIALOG);
  if (!dialog && !typing(event) && (reader.selection.key(event) || reader.keyboardSelection.key(event))) return event.preventDefault();
  if (event.key === "Escape" && !event.altKey) return dialog ? closeDialog(dialog) : reader.escape(event);
  if (typing(event)) return;
  const path = event.composedPath();
  const inMap = path.includes(reader.map.whole);
  if (dialog && !inMap) return;
  const { position, flow } = reader;
  if (event.altKey) {
    if (event.key === "ArrowLeft" && reader.book.back.length) event.preventDefault(), position.back();
    return;
  }
  const onButton = path[0] instanceof Element && path[0].closest("button, a, [role=menuitem]");
  const turn = (step) => () => flow.turn(step);
  const aside = flow.isPaged ? flow.backward : -1;
  const action = {
    j: turn(1),
    k: turn(-1),
    ArrowRight: turn(-aside),
    ArrowLeft: turn(aside),
    ...(inMap || flow.isPaged ? { ArrowDown: turn(1), ArrowUp: turn(-1) } : {}),
    ...(flow.isPaged ? { PageDown: turn(1), PageUp: turn(-1), ...(onButton ? {} : { " ": turn(event.shiftKey ? -1 : 1) }) } : {}),
    p: () => reader.original.toggle(),
    Home: () => position.jump({ paragraph: 0 }),
    End: () => reader.toEnd(),
    "[": () => reader.toChapter(-1),
    "]": () => reader.toChapter(1),
    Backspace: () => position.back(),
    g: () => reader.nextView(),
    "/": () => reader.toolbar.find(),
    n: () => reader.search.step(1),
    N: () => reader.search.step(-1),
    m: () => reader.map.node.focus(),
    "?": () => reader.toolbar.toggle("help"),
    o: () => reader.book.dispatchEvent(new Event("show outline")),
    b: () => reader.marks.toggleBookmark(),
    i: () => reader.notes.toggle(),
    l: () => reader.listen.open(),
  }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

// A dialog closes by itself only while the focus is in it; a download button loses the focus while it works.
function closeDialog(dialog) {
  if (!dialog.contains(document.activeElement)) dialog.querySelector(DIALOG_CLOSE)?.click();
}
