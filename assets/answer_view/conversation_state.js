// What Ask shows, as the server sent it last: one state for each book in this tab, which every part that draws of it
// subscribes to. So an answer under way is one small message at a time, and a step of the replay needs no server.

import { tabState } from "../shared/tab_state.js";

const states = tabState("conversations", () => new Map());

/**
 * @typedef {import("./types.js").AskState} AskState
 * @typedef {EventTarget & {now: AskState | null, step: number, chosen: number | null}} ConversationState
 *   `step`: the step that is shown; `chosen`: one that was clicked and that the server has not confirmed yet
 *
 * @param {string} book
 * @returns {ConversationState}
 */
export function conversationOf(book) {
  if (!states.has(book)) states.set(book, Object.assign(new EventTarget(), { now: null, step: 0, chosen: null }));
  return states.get(book);
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

export function goToStep(state, step) {
  state.step = state.chosen = step;
  state.dispatchEvent(new Event("change"));
}

/** Calls `listener` now and at every change, until the function that is returned is called. */
export function subscribe(book, listener) {
  const state = conversationOf(book);
  state.addEventListener("change", listener);
  if (state.now) listener();
  return () => state.removeEventListener("change", listener);
}
