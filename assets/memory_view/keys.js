// The keys of the reader, and of a dialog that lies over it.

// Keys work anywhere on the screen, but never while someone types.
function readerKey(reader, event) {
  if (!reader.root.isConnected || event.ctrlKey || event.metaKey || event.altKey) return;
  const dialog = document.querySelector('[role="dialog"]');
  if (event.key === "Escape") return dialog ? leaveDialog(dialog) : reader.toolbar.escape(event);
  if (typing(event)) return;
  const inMap = event.composedPath().includes(reader.mapbox);
  if (dialog && !inMap) return;
  const page = (step) => reader.goto(Math.min(reader.leaves.size, Math.max(1, reader.here + step)));
  const does = {
    j: () => page(1), k: () => page(-1), ArrowRight: () => page(1), ArrowLeft: () => page(-1),
    ...(inMap ? { ArrowDown: () => page(1), ArrowUp: () => page(-1) } : {}),
    Home: () => reader.goto(1), End: () => reader.goto(reader.leaves.size),
    g: () => reader.turnMode(reader.here), "/": () => reader.toolbar.find(), n: () => reader.hits.step(1),
    N: () => reader.hits.step(-1), m: () => reader.mapbox.focus(), "?": () => reader.toolbar.toggle("help"),
    o: () => reader.book.dispatchEvent(new CustomEvent("outline")),
  }[event.key];
  if (!does) return;
  event.preventDefault();
  does();
}

// A dialog closes by itself while the focus is in it; a download button gives the focus away while it works.
function leaveDialog(dialog) {
  if (!dialog.contains(document.activeElement)) dialog.querySelector('[aria-label="Close"]')?.click();
}
