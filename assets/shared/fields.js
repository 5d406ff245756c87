// Gives the first field for words of what was just opened the focus, so that one can type at once.

import { typing } from "./dom.js";
import { WORD_FIELDS } from "./streamlit.js";

const LOOK_MS = 200; // after which what is opened is drawn
const LOOKS = 10;

/**
 * Looks for the field as long as it is not drawn; with a mouse or a trackpad only: a finger would get a keyboard.
 * @param {() => Element | null} open what was opened
 * @param {() => string} [typed] gives what was typed for it meanwhile
 * @param {number} [looks]
 */
export function focusField(open, typed, looks = typed ? 2 * LOOKS : LOOKS) {
  if (!matchMedia("(pointer: fine)").matches) return void typed?.();
  setTimeout(() => {
    const first = /** @type {HTMLTextAreaElement | null | undefined} */ (open()?.querySelector("textarea, input"));
    if (!first && looks) return focusField(open, typed, looks - 1);
    const words = typed?.();
    if (!first?.matches(WORD_FIELDS) || document.activeElement?.matches("input, textarea")) return;
    first.focus();
    first.setRangeText(words ?? "", first.value.length, first.value.length, "end");
    if (words) first.dispatchEvent(new Event("input", { bubbles: true }));
  }, LOOK_MS);
}

/** Holds back what is typed while a field is on its way, where letters are commands. Returns what ends that, and gives it. */
export function holdTyped() {
  let held = "";
  const ended = new AbortController();
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    const { key } = event;
    if (typing(event)) return ended.abort();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === "Backspace") held = held.slice(0, -1);
    else if (key === "Escape") {
      held = "";
      ended.abort();
    } else if (key.length > 1) return;
    else if (!event.repeat) held += key; // of the key that opened it, too
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener("keydown", pressed, { capture: true, signal: ended.signal });
  return () => {
    ended.abort();
    return held;
  };
}
