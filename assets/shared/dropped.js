// Files dropped on the screen of a book: they are opened in the library, which is shown for them; a single one is then read.

import { screen } from "./screens.js";
import { UPLOADER } from "./streamlit.js";
import { tabState } from "./tab_state.js";

/** @typedef {{files: File[], folders: string[], book?: string}} Dropped the names of the folders; the book on which it was */

const SCREENS = ["read", "ask", "compare", "act"];
/** @type {("dragenter" | "dragover" | "dragleave" | "drop")[]} */
const DRAGS = ["dragenter", "dragover", "dragleave", "drop"];

const waiting = tabState("dropped", () => ({ of: /** @type {Dropped | null} */ (null) }));

/** What was dropped, as long as the event lasts. @param {DragEvent} event @returns {Dropped} */
function droppedBy(event) {
  const items = [...(event.dataTransfer?.items ?? [])].filter((item) => item.kind === "file");
  /** @param {DataTransferItem} item */
  const folder = (item) => (item.webkitGetAsEntry()?.isDirectory ? item.webkitGetAsEntry() : null);
  return {
    files: items.filter((item) => !folder(item)).flatMap((item) => item.getAsFile() ?? []),
    folders: items.flatMap((item) => folder(item)?.name ?? []),
  };
}

/**
 * Lets files be dropped anywhere on the page.
 * @param {{may?: (event: DragEvent) => boolean, over: (is: boolean) => void, dropped: (dropped: Dropped) => void}} on `may`: whether they
 *   may be dropped now; `over`: whether files are over the page
 * @param {AddEventListenerOptions} [options]
 */
export function takeDrops({ may = () => true, over, dropped }, options) {
  /** @param {DragEvent} event */
  const dragged = (event) => {
    if (!event.dataTransfer?.types.includes("Files") || !may(event)) return;
    event.preventDefault();
    const left = event.type === "dragleave" && !event.relatedTarget; // the window, not one element for another
    over(event.type !== "drop" && !left);
    if (event.type === "drop") dropped(droppedBy(event));
  };
  for (const type of DRAGS) document.addEventListener(type, dragged, options);
  document.addEventListener("pointermove", () => over(false), options); // they were let go of elsewhere
}

/** What was dropped on another screen, once. @returns {Dropped | null} */
export function takeDropped() {
  const { of } = waiting;
  waiting.of = null;
  return of;
}

/** Lets files be dropped on the screens of a book. */
export function connectDrops() {
  takeDrops({
    // a field for files takes those itself
    may: ({ target }) => SCREENS.includes(screen()) && !(target instanceof Element && target.closest(UPLOADER)),
    over: (is) => document.documentElement.toggleAttribute("data-drop", is),
    dropped: (dropped) => {
      waiting.of = { ...dropped, book: new URLSearchParams(location.search).get("book") ?? "" };
      /** @type {HTMLElement | null} */ (document.querySelector("a.brand"))?.click();
    },
  });
}
