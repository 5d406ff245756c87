// The keys of the reader, and Escape in a dialog over it.

import { typing } from "../shared/dom.js";
import { DIALOG, DIALOG_CLOSE } from "../shared/streamlit.js";

/** Keys work anywhere on the screen, but not while the person types into a field. */
export function readerKey(reader, event) {
  if (!reader.root.isConnected || event.ctrlKey || event.metaKey || event.altKey) return;
  const dialog = document.querySelector(DIALOG);
  if (event.key === "Escape") return dialog ? closeDialog(dialog) : reader.toolbar.escape(event);
  if (typing(event)) return;
  const inMap = event.composedPath().includes(reader.mapbox);
  if (dialog && !inMap) return;
  const page = (step) => reader.goto(Math.min(reader.leaves.size, Math.max(1, reader.here + step)));
  const action = {
    j: () => page(1), k: () => page(-1), ArrowRight: () => page(1), ArrowLeft: () => page(-1),
    ...(inMap ? { ArrowDown: () => page(1), ArrowUp: () => page(-1) } : {}),
    Home: () => reader.goto(1), End: () => reader.goto(reader.leaves.size),
    g: () => reader.turnMode(reader.here), "/": () => reader.toolbar.find(), n: () => reader.hits.step(1),
    N: () => reader.hits.step(-1), m: () => reader.mapbox.focus(), "?": () => reader.toolbar.toggle("help"),
    o: () => reader.book.dispatchEvent(new CustomEvent("outline")),
  }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

// A dialog closes by itself only while the focus is in it; a download button loses the focus while it works.
function closeDialog(dialog) {
  if (!dialog.contains(document.activeElement)) dialog.querySelector(DIALOG_CLOSE)?.click();
}
