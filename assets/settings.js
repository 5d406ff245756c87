// Keeps the eye and the focus in Settings. The card of a test comes into view when the test begins; so does the form when a
// reader is chosen, the answer to a press, and a box that says what went wrong, but for what the model in use came to: a
// press that shows it is answered in its own place. Where Streamlit replaces or removes the button that has the focus, the
// focus goes to a place near it. Numbers are saved together or not at all.

import { APP_DONE, container, OPENER, POPOVER, POPOVER_OPEN } from "./shared/streamlit.js";

/** @import { Component } from "./shared/mount.js" */

const SETTLE_MS = 120;
const HEAD_PX = 160; // of the card: its verdict or progress, and which model is tested
const FOCUSED = ":is(button, input, textarea)";
const FORM = `${container("model_form")} :is(input, button)`; // its first field
const SAVE = '[class*="st-key-save_numbers"]'; // the button that saves the numbers around it
const NUMBERS = 'details, .st-key-kept_states, [role="tabpanel"]'; // around it
const KEYED = '[class*="st-key-"]';
const ERROR = `${container("settings")} [class*="st-key-error_"]:not(${container("model_now")} *)`;
const TAB = `${container("settings")} [role="tab"][aria-selected="true"]`;
let shown = Number.POSITIVE_INFINITY; // when the last test began whose card may have come into view, in seconds
let answers = Number.POSITIVE_INFINITY; // how often something was said under the buttons, as far as it is shown
let form = ""; // the card whose form is shown
/** @type {?{tab: string, errors: string[]}} */
let told = null; // the tab that was shown when a run had ended, and what its boxes said
/** @type {HTMLElement | null} */
let last = null; // what has the focus, or had it as it was taken from the page
/** @type {string[]} */
let keys = []; // of its widget and of the parts of the screen around it, the innermost first
let gone = ""; // the key of the widget in whose place its part has the focus

const behavior = () => (matchMedia("(prefers-reduced-motion)").matches ? "instant" : "smooth");

/** Bring the head of the card into view, once what is above it stays where it is. */
function showCard(before = Number.NaN) {
  const card = document.querySelector(container("test_place"));
  const head = card?.querySelector(`${container("test_now")} ${container("test_card")} > *`); // beside the form it stays in view
  const top = head?.getBoundingClientRect().top ?? 0;
  if (top !== before) setTimeout(showCard, SETTLE_MS, top);
  else if (top < 0 || top + HEAD_PX > innerHeight) card?.scrollIntoView({ behavior: behavior() });
}

/** Bring a part of the form into view, once it stays where it is. @param {string} part */
function showPart(part, before = Number.NaN) {
  const shownPart = document.querySelector(part);
  const end = shownPart?.getBoundingClientRect().bottom ?? 0;
  if (end !== before) setTimeout(showPart, SETTLE_MS, part, end);
  else shownPart?.scrollIntoView({ behavior: behavior(), block: "nearest" });
}

/** After a run, bring a box into view that was not there after the run before, unless it came with its tab. */
function showError() {
  const tab = document.querySelector(TAB)?.textContent ?? "";
  if (tab && !document.querySelector(APP_DONE)) return;
  const boxes = [...document.querySelectorAll(ERROR)].filter((box) => box.checkVisibility());
  const before = told?.tab === tab ? told.errors : null;
  told = tab ? { tab, errors: boxes.map((box) => box.textContent ?? "") } : null;
  const fresh = boxes.find((box) => before && !before.includes(box.textContent ?? ""));
  if (fresh) showPart(`.${[...fresh.classList].find((name) => name.startsWith("st-key-"))}`);
}

/** The part of the screen around an element; around what is in a popover, that of its button. @param {?Element} [of] */
function partAround(of) {
  return of?.closest(KEYED) ?? (of?.closest(POPOVER) ? document.querySelector(POPOVER_OPEN)?.closest(KEYED) : null);
}

/** The focus goes to what took the place of the widget that had it, else to what is left of the part that it was in: to
 * its first button that changes nothing, if it has one. A widget that comes again gets it back from its part. */
function restoreFocus() {
  const back = gone && document.activeElement === last && document.querySelector(`.${gone} ${FOCUSED}`);
  if (back instanceof HTMLElement) back.focus({ preventScroll: true });
  if (!last || last.isConnected || document.activeElement !== document.body || !document.querySelector(APP_DONE)) return;
  const left = keys.find((key) => document.querySelector(`.${key}`));
  const part = document.querySelector(`.${left}`);
  const widget = part?.querySelector(left === keys[0] ? FOCUSED : OPENER);
  const place = widget ?? part;
  if (!(place instanceof HTMLElement)) return;
  if (!widget) place.tabIndex = -1;
  const [before] = keys;
  place.focus({ preventScroll: true });
  gone = widget ? "" : before;
}

/** No number is saved while one is out of its range, which Streamlit does not send: the focus goes to that one.
 * @param {MouseEvent} event */
function refuseWrong(event) {
  const pressed = event.target instanceof Element ? event.target.closest(SAVE) : null;
  const wrong = pressed?.closest(NUMBERS)?.querySelector('[aria-invalid="true"]');
  if (!(wrong instanceof HTMLElement)) return;
  event.stopPropagation();
  wrong.focus();
}
addEventListener("click", refuseWrong, true);

addEventListener("focusin", ({ target }) => {
  last = target instanceof HTMLElement ? target : null;
  keys = [];
  gone = "";
  for (let part = partAround(last); part; part = partAround(part.parentElement))
    keys.push([...part.classList].find((name) => name.startsWith("st-key-")) ?? "");
});
addEventListener("focusout", ({ target, isTrusted }) => {
  const forget = () => {
    if (target === last && last?.isConnected && document.activeElement !== last) last = null; // the person left it
  };
  if (isTrusted) setTimeout(forget);
});
// what a run no longer draws goes about its end, and what it draws is then as it will be
const what = { subtree: true, childList: true, attributeFilter: ["data-test-script-state"] };
let timer = 0;
new MutationObserver(() => {
  clearTimeout(timer);
  timer = setTimeout(showError, SETTLE_MS);
  if (gone || (last && !last.isConnected)) setTimeout(restoreFocus, SETTLE_MS);
}).observe(document.body, what);

/** @param {Component<{began: number, said: number, card: string}>} component `began`: when the last test began, in seconds;
 * 0 without one. `said`: how often something was said under the buttons. `card`: the reader that is chosen */
export default function mount({ data: [{ began, said, card }] }) {
  if (began > shown) showCard();
  shown = began;
  if (said > answers) showPart(container("model_said"));
  answers = said;
  if (form && card !== form && document.activeElement?.closest(container("who"))) showPart(FORM);
  form = card;
}
