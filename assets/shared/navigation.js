// Keeps a click on a link from being lost. Streamlit runs one script at a time for a session: a message that follows a
// change of screen takes its place. So polling and state values wait after a click that may lead to another screen.

import { CHAT_INPUT, COMPONENT } from "./streamlit.js";
import { tabState } from "./tab_state.js";

const LINK_MS = 10_000; // time a link has to lead to another screen
const BUTTON_MS = 1_500; // and any other button

// Times in milliseconds of `performance.now()`: until when a link or a button may still lead away. `unsent`: what Streamlit
// has not sent yet. `path`: of the screen that is shown. `left`: of the screen from which a link to another one was
// clicked; "" after any other act.
const times = tabState("navigation", () => {
  listen();
  return { linkUntil: 0, buttonUntil: 0, unsent: 0, path: location.pathname, left: "" };
});

function listen() {
  /** @param {Event} event */
  const elements = (event) => event.composedPath().filter((node) => node instanceof HTMLElement);
  /** @param {Event} event */
  const pressed = (event) => {
    if (event instanceof KeyboardEvent && event.key !== "Enter" && event.key !== " ") return;
    const path = elements(event);
    const link = path.find((node) => node instanceof HTMLAnchorElement && node.href);
    if (link) follow(/** @type {HTMLAnchorElement} */ (link));
    else if (path.some((node) => node.matches(`${CHAT_INPUT}, ${COMPONENT}`))) return;
    else if (path.some((node) => node.matches("button"))) times.buttonUntil = performance.now() + BUTTON_MS;
  };
  for (const type of ["pointerdown", "click", "keydown"]) {
    document.addEventListener(type, pressed, { capture: true, passive: true });
  }
  /**
   * What is sent waits for the browser's next task. So does a click on a link, or what was there before would take its place.
   * @param {MouseEvent} event
   */
  const delayClick = (event) => {
    const link = elements(event).find((node) => node.matches("a[href]"));
    const plain = !event.button && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || !times.unsent) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const drawn = () => document.querySelector(`a[href="${CSS.escape(link.getAttribute("href") ?? "")}"]`); // Streamlit may have replaced the link
    setTimeout(() => (link.isConnected ? link : /** @type {HTMLElement | null} */ (drawn()))?.click());
  };
  document.addEventListener("click", delayClick, true);
  addEventListener("popstate", () => {
    if (location.pathname === times.path) return;
    times.linkUntil = performance.now() + LINK_MS; // Back leads to another screen
    times.left = times.path;
  });
}

/** Call before another screen may be opened; parts that hear "readagent-leave" send what they have not sent yet. */
export function beforeLeaving(ms = LINK_MS) {
  document.dispatchEvent(new Event("readagent-leave"));
  times.linkUntil = performance.now() + ms;
  times.left = "";
}

/** @param {HTMLAnchorElement} link */
function follow({ pathname }) {
  const stays = pathname === location.pathname;
  beforeLeaving(stays ? BUTTON_MS : LINK_MS);
  if (!stays) times.left = location.pathname;
}

/** A screen was drawn. What is still drawn of the one that is left ends nothing. */
export function arrived() {
  if (delayWhileLeaving() > 0 && location.pathname === times.left) return;
  times.linkUntil = 0;
  times.path = location.pathname;
}

/** The run that a button's click caused has come. */
export function buttonAnswered() {
  times.buttonUntil = 0;
}

/** Call after a value was given to Streamlit, which sends it in the next task. */
export function noteSent() {
  times.unsent += 1;
  setTimeout(() => (times.unsent -= 1));
}

/** Milliseconds for which nothing may be sent because a link was clicked; 0 or less: none. */
export function delayWhileLeaving() {
  return times.linkUntil - performance.now();
}

/** Milliseconds for which no poll may be sent because a link or a button was clicked; 0 or less: none. */
export function delayForPolling() {
  return Math.max(times.linkUntil, times.buttonUntil) - performance.now();
}
