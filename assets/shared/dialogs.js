// The browser's Back closes the dialog that is open, as in every app of a phone: an open dialog is an entry of the history.
// With a mouse or a trackpad, what is typed goes into the field that it begins with at once, where that takes words.

import { focusField } from "./fields.js";
import { screen } from "./screens.js";
import { DIALOG, DIALOG_CLOSE } from "./streamlit.js";

const GONE_MS = 600; // a dialog that is drawn again, or that leads to another screen, takes less

/** Takes a book out of the library's address: Streamlit leaves the one that a dialog or a card led to. */
export function plainLibrary() {
  if (!screen() && new URLSearchParams(location.search).has("book")) history.replaceState(history.state, "", location.pathname);
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
    if (shown) focusField(open);
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
