// Gives the first field for words of what was just opened the focus, so that one can type at once.

import { WORD_FIELDS } from "./streamlit.js";

const LOOK_MS = 200; // after which what is opened is drawn

/**
 * Looks for the field as long as it is not drawn; with a mouse or a trackpad only: a finger would get a keyboard.
 * @param {() => Element | null} open what was opened
 * @param {number} [looks]
 */
export function focusField(open, looks = 10) {
  if (!matchMedia("(pointer: fine)").matches) return;
  setTimeout(() => {
    const first = /** @type {HTMLTextAreaElement | null | undefined} */ (open()?.querySelector("textarea, input"));
    if (!first && looks) focusField(open, looks - 1);
    if (!first?.matches(WORD_FIELDS) || document.activeElement?.matches("input, textarea")) return;
    first.focus();
    first.setSelectionRange(first.value.length, first.value.length);
  }, LOOK_MS);
}
