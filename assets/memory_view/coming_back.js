// When the person comes back to this tab, the server is asked for what another tab or device has changed meanwhile.

import { DIALOG } from "../shared/streamlit.js";

const AWAY_MS = 1000;

/**
 * @param {() => void} ask
 * @param {AddEventListenerOptions} until
 */
export function whenBack(ask, until) {
  /** @type {number | null} */
  let left = null;
  const leave = () => (left ??= Date.now());
  const back = () => {
    const away = left !== null && Date.now() - left > AWAY_MS;
    left = null;
    if (away && !document.querySelector(DIALOG)) ask();
  };
  window.addEventListener("blur", leave, until);
  window.addEventListener("focus", back, until);
  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : back()), until);
}
