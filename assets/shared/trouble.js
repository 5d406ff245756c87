// Says that the app does not answer, or that the page cannot go on, in place of Streamlit's own dialogs.

import { onTrouble } from "./streamlit.js";

const UNREACHABLE = [
  "ReadAgent does not answer",
  "It was stopped, or the connection to it is lost. Start it again the way you started it; this page then goes on by itself.",
];
const BROKEN = ["This page cannot go on", "Something could not be shown. Nothing of your library is lost. Load the page again."];

/** Connects the box, which leaves the focus where it is: a book that is open can be read on. */
export function tellTrouble() {
  const box = /** @type {HTMLElement} */ (document.querySelector(".trouble"));
  let closed = false; // by the person, since the app answered last
  const say = (unreachable) => {
    if (closed && unreachable) return;
    [box.querySelector("h2").textContent, box.querySelector("p").textContent] = unreachable ? UNREACHABLE : BROKEN;
    box.hidden = false;
  };
  const answered = () => { box.hidden = true; closed = false; };
  onTrouble(say, answered);
  box.querySelector(".close").addEventListener("click", () => { box.hidden = true; closed = true; });
  box.querySelector(".again").addEventListener("click", () => location.reload());
}
