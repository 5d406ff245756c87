// Says that the app does not answer, or that the page cannot go on, in place of Streamlit's own dialogs.

import { first } from "./dom.js";
import { onTrouble } from "./streamlit.js";

const UNREACHABLE = [
  "ReadAgent does not answer",
  "It was stopped, or the connection to it is lost. Start it again the way you started it; this page then goes on by itself.",
];
const BROKEN = ["This page cannot go on", "Something could not be shown. Nothing of your library is lost. Load the page again."];

/** Connects the box, which leaves the focus where it is: a book that is open can be read on. */
export function tellTrouble() {
  const box = first(document, ".trouble");
  if (!box) return;
  let closed = false; // by the person, since the app answered last
  /** @param {boolean} shown */
  const show = (shown) => {
    box.hidden = !shown;
  };
  /** @param {boolean} unreachable */
  const say = (unreachable) => {
    if (closed && unreachable) return;
    const [title, text] = unreachable ? UNREACHABLE : BROKEN;
    first(box, "h2")?.replaceChildren(title);
    first(box, "p")?.replaceChildren(text);
    show(true);
  };
  onTrouble(say, () => {
    closed = false;
    show(false);
  });
  first(box, ".close")?.addEventListener("click", () => {
    closed = true;
    show(false);
  });
  first(box, ".again")?.addEventListener("click", () => location.reload());
}
