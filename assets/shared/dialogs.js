// The browser's Back closes the dialog that is open, as in every app of a phone: an open dialog is an entry of the history.
// With a mouse or a trackpad, what is typed goes into the field that it begins with at once, where that takes words.

import { screen } from "./screens.js";
import { DIALOG, DIALOG_CLOSE, WORD_FIELDS } from "./streamlit.js";

const FOCUS_MS = 200; // after which what is in a dialog is drawn
const GONE_MS = 600; // a dialog that is drawn again, or that leads to another screen, takes less

/** Takes a book out of the library's address: Streamlit leaves the one that a dialog or a card led to. */
export function plainLibrary() {
  if (!screen() && new URLSearchParams(location.search).has("book")) history.replaceState(history.state, "", location.pathname);
}

/** Looks for the field as long as what is in the dialog is not drawn. @param {() => Element | null} open @param {number} [looks] */
function focusField(open, looks = 10) {
  const first = /** @type {HTMLElement | null | undefined} */ (open()?.querySelector("textarea, input"));
  if (!first && looks) setTimeout(() => focusField(open, looks - 1), FOCUS_MS);
  if (first?.matches(WORD_FIELDS) && !document.activeElement?.matches("input, textarea")) first.focus();
}

export function closeDialogsByBack() {
  let own = false; // whether the open dialog has its entry
  let ending = false; // whether the next step back is ours
  let timer = 0;
  const open = () => document.querySelector(`body > * ${DIALOG}`);
  const back = () => {
    if (open() || !history.state?.dialog) return; // it led to another screen
    ending = true;
    history.back();
  };
  const changed = () => {
    const shown = Boolean(open());
    if (shown === own) return;
    own = shown;
    clearTimeout(timer);
    if (shown && matchMedia("(pointer: fine)").matches) {
      setTimeout(() => focusField(open), FOCUS_MS);
    }
    if (shown) plainLibrary();
    if (shown && !history.state?.dialog) history.pushState({ ...history.state, dialog: true }, "");
    else if (!shown) timer = setTimeout(back, GONE_MS);
  };
  new MutationObserver(changed).observe(document.body, { childList: true }); // where Streamlit puts dialogs
  /** @param {PopStateEvent} event */
  const moved = (event) => {
    /** @type {HTMLElement | null | undefined} */
    const close = open()?.querySelector(DIALOG_CLOSE);
    const left = !close && event.state?.dialog; // an entry of a dialog that led to another screen
    if (!ending && !close && !left) return;
    event.stopImmediatePropagation(); // Streamlit would run the screen again
    ending = false;
    close?.click();
    if (left) history.back();
  };
  addEventListener("popstate", moved, true);
}
