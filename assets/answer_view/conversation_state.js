// What Ask shows, as the server sent it last: one state for each book in this tab, which every part that draws of it
// subscribes to. So an answer under way is one small message at a time, and a step of the replay needs no server.

import { tabState } from "../shared/tab_state.js";

/** @import { AskState } from "../protocol.js" */

/** Event: "change". */
export class ConversationState extends EventTarget {
  /** @type {AskState | null} */
  now = null;
  step = 0; // that is shown
  wentBack = false; // by the browser, to an answer that is not shown yet
  /** @type {number | null} one that was clicked and that the server has not confirmed yet */
  chosen = null;
}

/** @type {Map<string, ConversationState>} */
const states = tabState("conversations", () => new Map());

/** @param {string} book */
export function conversationOf(book) {
  const known = states.get(book) ?? new ConversationState();
  states.set(book, known);
  return known;
}

/**
 * Takes what the server sent; an older message that comes late is dropped.
 * @param {ConversationState} state
 * @param {AskState} now
 */
export function receive(state, now) {
  if (now.turn < (state.now?.turn ?? 0)) return;
  const same = state.now?.exchange === now.exchange && state.now.steps.length === now.steps.length;
  if (!same || now.running || now.at === state.chosen) state.chosen = null;
  state.now = now;
  state.step = state.chosen ?? now.at; // a click that has not reached the server yet stays shown
  state.dispatchEvent(new Event("change"));
}

/** @param {ConversationState} state @param {number} step */
export function goToStep(state, step) {
  state.step = state.chosen = step;
  state.dispatchEvent(new Event("change"));
}

/**
 * Calls `listener` now and at every change, until the function that is returned is called.
 * @param {string} book
 * @param {(now: AskState, step: number) => void} listener
 */
export function subscribe(book, listener) {
  const state = conversationOf(book);
  const heard = () => state.now && listener(state.now, state.step);
  state.addEventListener("change", heard);
  heard();
  return () => state.removeEventListener("change", heard);
}
