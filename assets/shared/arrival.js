// Shows the first screen at once when all of it is there, instead of piece by piece with every piece moving the others.

import { APP_DONE, COMPONENT_HOST, SKELETON } from "./streamlit.js";

const FRAMES = 2; // in a row in which the screen is whole: what was drawn is measured and set right in the next
const UNDRAWN = "div.root:empty:not([data-kind])"; // the element of a component of ours before its script has run
const LONGEST_MS = 4000; // a screen that is not whole by then is shown as it is

/** Marks the root element until the script has run once and no element is missing; streamlit.css hides the screen. */
export function showWhenWhole() {
  const root = document.documentElement;
  let whole = 0;
  const look = () => {
    whole = document.querySelector(APP_DONE) && !document.querySelector(SKELETON) && drawn() ? whole + 1 : 0;
    if (whole < FRAMES && performance.now() < LONGEST_MS) requestAnimationFrame(look);
    else root.removeAttribute("data-arriving");
  };
  root.setAttribute("data-arriving", "");
  look();
}

const drawn = () =>
  [...document.querySelectorAll(COMPONENT_HOST)].every((host) => host.shadowRoot && !host.shadowRoot.querySelector(UNDRAWN));
