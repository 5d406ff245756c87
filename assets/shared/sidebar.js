// The sidebar in a narrow window, where it lies over the screen.

import { forget, keptKeys } from "./browser_store.js";
import { SIDEBAR_CLOSER, SIDEBAR_OPENER, STORED_SIDEBAR } from "./streamlit.js";

const OVER = 760; // px, as in streamlit.css

/** Closes the sidebar where it is open and lies over the screen; false where it does not. */
export function uncover() {
  if (innerWidth > OVER || document.querySelector(SIDEBAR_OPENER)) return false;
  /** @type {HTMLElement | null} */ (document.querySelector(SIDEBAR_CLOSER))?.click();
  return true;
}

/** Has the sidebar closed when the page is loaded again, where it would lie over the screen. */
export function startUncovered() {
  if (innerWidth <= OVER) for (const key of keptKeys()) if (key.startsWith(STORED_SIDEBAR)) forget(key);
}
