// Keeps the eye and the focus in the Model tab of Settings: the card of a test comes into view when the test begins, and
// the focus of a button that Streamlit drew anew or took away is not lost.

import { APP_DONE, container } from "./shared/streamlit.js";

/** @import { Component } from "./shared/mount.js" */

const SETTLE_MS = 120;
const HEAD_PX = 160; // of the card: its verdict or progress, and which model is tested
const FOCUSED = ":is(button, input, textarea)";
const KEYED = '[class*="st-key-"]';
let shown = Number.POSITIVE_INFINITY; // when the last test began whose card may have come into view, in seconds
/** @type {HTMLElement | null} */
let last = null; // what has the focus, or had it as it was taken from the page
/** @type {string[]} */
let keys = []; // of its widget and of the parts of the screen around it, the innermost first

/** Bring the head of the card into view, once what is above it stays where it is. */
function showCard(before = Number.NaN) {
  const card = document.querySelector(container("test_place"));
  const head = card?.querySelector(`${container("test_now")} ${container("test_card")} > *`); // beside the form it stays in view
  const top = head?.getBoundingClientRect().top ?? 0;
  if (top !== before) setTimeout(showCard, SETTLE_MS, top);
  else if (top < 0 || top + HEAD_PX > innerHeight)
    card?.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion)").matches ? "instant" : "smooth" });
}

/** The focus goes to what took the place of the widget that had it, else to what is left of the part that it was in. */
function restoreFocus() {
  if (!last || last.isConnected || document.activeElement !== document.body || !document.querySelector(APP_DONE)) return;
  const left = keys.filter((key) => document.querySelector(`.${key}`));
  const again = left[0] === keys[0] && document.querySelector(`.${keys[0]} ${FOCUSED}`);
  const place = again || document.querySelector(`.${left[0]}`);
  if (!(place instanceof HTMLElement)) return;
  if (!again) place.tabIndex = -1;
  place.focus({ preventScroll: true });
}

addEventListener("focusin", ({ target }) => {
  last = target instanceof HTMLElement ? target : null;
  keys = [];
  for (let part = last?.closest(KEYED); part; part = part.parentElement?.closest(KEYED))
    keys.push([...part.classList].find((name) => name.startsWith("st-key-")) ?? "");
});
addEventListener("focusout", ({ target, isTrusted }) => {
  const forget = () => {
    if (target === last && last?.isConnected) last = null; // the person left it
  };
  if (isTrusted) setTimeout(forget);
});
// what a run no longer draws goes about its end, and what it draws is then as it will be
const what = { subtree: true, childList: true, attributeFilter: ["data-test-script-state"] };
new MutationObserver(() => last && !last.isConnected && setTimeout(restoreFocus, SETTLE_MS)).observe(document.body, what);

/** @param {Component<{began: number}>} component `began`: when the last test began, in seconds; 0 without one */
export default function mount({ data: [{ began }] }) {
  if (began > shown) showCard();
  shown = began;
}
