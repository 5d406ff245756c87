// Runs a fragment again: asks the server `seconds` after its last answer, and later where a click may lead to another
// screen (see navigation.js), and while a dialog is open, which a run of the whole screen would close.

import { arrived, buttonAnswered, delayForPolling } from "./navigation.js";
import { DIALOG } from "./streamlit.js";

const RETRY_SECONDS = 4; // after which a poll without an answer is sent again
const DIALOG_SECONDS = 0.3; // between looks at whether the dialog is still open
const polls = new WeakMap(); // element -> {timer, sent: whether a poll is on its way}

/**
 * Data of the component.
 * @typedef {object} Polling
 * @property {number | null} seconds until the next run; null for none
 * @property {number} turn the number of this run, sent back as trigger "poll"
 */
export default function mount({ parentElement, data: [data], setTriggerValue }) {
  const before = polls.get(parentElement);
  if (!before) arrived();
  if (!before?.sent) buttonAnswered(); // a click caused this run, not a poll
  clearTimeout(before?.timer);
  const own = { timer: 0, sent: false };
  polls.set(parentElement, own);
  const host = parentElement.getRootNode().host ?? parentElement;
  const wait = (seconds) => (own.timer = setTimeout(poll, 1000 * seconds));
  const poll = () => {
    const delay = delayForPolling();
    if (delay > 0) return void wait(delay / 1000);
    if ([...document.querySelectorAll(DIALOG)].some((dialog) => !dialog.contains(host))) return void wait(DIALOG_SECONDS);
    own.sent = true;
    wait(RETRY_SECONDS + data.seconds);
    setTriggerValue("poll", data.turn);
  };
  if (data.seconds) wait(data.seconds);
  return () => clearTimeout(own.timer);
}
