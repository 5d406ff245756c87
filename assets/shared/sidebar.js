// The sidebar in a narrow window, where it lies over the screen.

import { SIDEBAR_CLOSER, SIDEBAR_OPENER } from "./streamlit.js";

const OVER = 760; // px, as in streamlit.css

/** Closes the sidebar where it is open and lies over the screen; false where it does not. */
export function uncover() {
  if (innerWidth > OVER || document.querySelector(SIDEBAR_OPENER)) return false;
  /** @type {HTMLElement | null} */ (document.querySelector(SIDEBAR_CLOSER))?.click();
  return true;
}
