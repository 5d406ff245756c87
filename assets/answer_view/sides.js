// The two sides of Ask, of which a phone shows one at a time. The browser's Back goes to the conversation from any other
// side: a side that is shown instead is an entry of the history.

import { first } from "../shared/dom.js";
import { container, MAIN } from "../shared/streamlit.js";

const FRAMES = 90; // for which the conversation may take to be as long as it was
const TABS = `${container("ask_tabs")} button`;

/** @param {"first" | "last"} tab */
const show = (tab) => {
  const button = first(document, `${TABS}:${tab}-of-type`);
  if (button?.checkVisibility() && button.ariaChecked !== "true") button.click();
};

/** Shows the conversation; does nothing where both sides are shown. */
export const showConversation = () => show("first");

/** Shows the memory; does nothing where both sides are shown. */
export const showMemory = () => show("last");

let back = false;

/** Whether the last step back was from another side: the conversation stays where it was left. */
export const cameFromSide = () => back;

/** In a low window the screen scrolls, and not the conversation: back to where it stood. @param {number} top */
function putBack(top, frames = FRAMES) {
  const screen = first(document, MAIN);
  if (!top || !screen) return;
  if (screen.scrollHeight - screen.clientHeight >= top) screen.scrollTop = top;
  else if (frames) requestAnimationFrame(() => putBack(top, frames - 1));
}

/** Keeps the entry of the history up to date until `signal`. @param {AbortSignal} signal */
export function leaveSidesByBack(signal) {
  const { pathname } = location;
  let left = ""; // the address at which another side was shown
  let ours = false; // whether the next step back is ours
  let top = 0; // how far the screen was scrolled then
  let passed = false; // whether the entry of a side was just passed
  /** @param {MouseEvent} event */
  const pressed = ({ target }) => {
    const tab = target instanceof Element ? target.closest(TABS) : null;
    if (!tab) return;
    if (tab.matches(":first-of-type")) {
      left = "";
      ours = Boolean(history.state?.side);
      if (ours) history.back();
      requestAnimationFrame(() => putBack(top));
    } else if (!history.state?.side) {
      left = location.href;
      top = first(document, MAIN)?.scrollTop ?? 0;
      history.pushState({ ...history.state, side: true }, "");
    }
  };
  /** @param {PopStateEvent} event */
  const moved = (event) => {
    if (location.pathname !== pathname) return;
    const isSide = Boolean(event.state?.side); // of an answer whose claim led to another
    back = Boolean(left) || passed;
    if (isSide || ours || (left === location.href && !passed)) event.stopImmediatePropagation(); // Streamlit would run the screen again
    ours = false;
    passed = isSide;
    left = "";
    if (isSide) history.back();
    else {
      showConversation();
      requestAnimationFrame(() => putBack(top));
    }
  };
  document.addEventListener("click", pressed, { capture: true, signal });
  addEventListener("popstate", moved, { capture: true, signal });
}
