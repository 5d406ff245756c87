// Runs a fragment again: asks the server `seconds` after its last answer, and later where a click may lead to another
// screen (see navigation.js), and while a dialog is open, which a run of the whole screen would close.

import { arrived, buttonAnswered, delayForPolling, noteSent } from "./navigation.js";
import { DIALOG } from "./streamlit.js";

/**
 * @import { Polling } from "../protocol.js"
 * @import { Component } from "./mount.js"
 */

const RETRY_SECONDS = 4; // after which a poll without an answer is sent again, then after twice as long: it ends a run
const LEFT_SECONDS = 1; // between looks at whether the screen that was left is shown again
const DIALOG_SECONDS = 0.3; // between looks at whether the dialog is still open
/** @type {WeakMap<Element, {timer: number, sent: boolean, retry: number}>} element -> its timer, whether a poll is on its way, seconds to the next try */
const polls = new WeakMap();

/** @param {Component<Polling>} component */
export default function mount({ parentElement, data: [data], setTriggerValue }) {
  const before = polls.get(parentElement);
  const isLeft = () => location.pathname.split("/").pop() !== data.screen; // Back leads away before the screen goes
  if (!before && !isLeft()) arrived();
  if (!before?.sent) buttonAnswered(); // a click caused this run, not a poll
  clearTimeout(before?.timer);
  const { seconds } = data;
  const own = { timer: 0, sent: false, retry: RETRY_SECONDS };
  polls.set(parentElement, own);
  const host = /** @type {ShadowRoot} */ (parentElement.getRootNode()).host ?? parentElement;
  /** @param {number} seconds */
  const wait = (seconds) => (own.timer = setTimeout(poll, 1000 * seconds));
  const poll = () => {
    const delay = delayForPolling();
    if (isLeft()) return void wait(LEFT_SECONDS);
    if (delay > 0) return void wait(delay / 1000);
    if ([...document.querySelectorAll(DIALOG)].some((dialog) => !dialog.contains(host))) return void wait(DIALOG_SECONDS);
    own.sent = true;
    wait(own.retry + (seconds ?? 0));
    own.retry *= 2;
    setTriggerValue("poll", data.turn);
    noteSent();
  };
  if (seconds) wait(seconds);
  return () => clearTimeout(own.timer);
}
