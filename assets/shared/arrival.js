// Shows the first screen at once when all of it is there, instead of piece by piece with every piece moving the others.

import { APP_DONE, SKELETON } from "./streamlit.js";

const FRAMES = 3; // in a row in which the screen is whole: components draw in the frame after they are there
const LONGEST_MS = 4000; // a screen that is not whole by then is shown as it is

/** Marks the root element until the script has run once and no element is missing; streamlit.css hides the screen. */
export function showWhenWhole() {
  const root = document.documentElement;
  let whole = 0;
  const look = () => {
    whole = document.querySelector(APP_DONE) && !document.querySelector(SKELETON) ? whole + 1 : 0;
    if (whole < FRAMES && performance.now() < LONGEST_MS) requestAnimationFrame(look);
    else root.removeAttribute("data-arriving");
  };
  root.setAttribute("data-arriving", "");
  look();
}
