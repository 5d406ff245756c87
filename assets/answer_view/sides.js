// The two sides of Ask, of which a phone shows one at a time.

import { first } from "../shared/dom.js";
import { container } from "../shared/streamlit.js";

/** @param {"first" | "last"} tab */
const show = (tab) => {
  const button = first(document, `${container("ask_tabs")} button:${tab}-of-type`);
  if (button?.checkVisibility() && button.ariaChecked !== "true") button.click();
};

/** Shows the conversation; does nothing where both sides are shown. */
export const showConversation = () => show("first");

/** Shows the memory; does nothing where both sides are shown. */
export const showMemory = () => show("last");
