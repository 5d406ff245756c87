// Connects a part (a class that draws into an element) with Streamlit's component interface.

import { rootOf } from "./dom.js";
import { beforeLeaving, delayWhileLeaving, noteSent } from "./navigation.js";

/**
 * @import { Act } from "../protocol.js"
 *
 * @typedef {object} Api
 * @property {(act: Act) => void} send reports what the person did; Streamlit reports it once, as trigger "act"
 * @property {(name: string, value: unknown) => void} setState sets a state value, which goes along with every run
 *
 * @typedef {(name: string, value: unknown) => void} Setter
 * @typedef {{update: (data: never) => void, close?: () => void}} Part
 * @typedef {{part: Part, timers: Record<string, number>, setStateValue: Setter, setTriggerValue: Setter}} Entry
 */

/**
 * What Streamlit calls a component with. Data comes in a list of one.
 * @template T
 * @typedef {{parentElement: HTMLElement, data: [T], setStateValue: Setter, setTriggerValue: Setter}} Component
 */

/** @type {WeakMap<HTMLElement, Entry>} root element -> part */
const mounted = new WeakMap();

/**
 * The function that Streamlit calls for a component, and again with every change of its data on the same element.
 * Its data names the `kind` of part. A part is made with its first
 * data, has `update(data)`, which is called with the first data too, and may have `close()`.
 * @param {Record<string, new (root: HTMLElement, api: Api, data: never) => Part>} kinds
 * @param {string[]} leaving the acts that lead to another screen
 */
export function mountParts(kinds, leaving = []) {
  /** @param {Omit<Component<never>, "data"> & {data: [{kind: string}]}} component */
  return ({ parentElement, data: [data], setStateValue, setTriggerValue }) => {
    const root = rootOf(parentElement);
    const entry = mounted.get(root) ?? begin(kinds[data.kind], leaving, root, { setStateValue, setTriggerValue }, data);
    root.dataset.kind = data.kind;
    Object.assign(entry, { setStateValue, setTriggerValue }); // Streamlit gives new functions at every call
    entry.part.update(/** @type {never} */ (data)); // of the type that its kind has
    return () => {
      if (root.isConnected) return; // Streamlit calls this too where new data came before the last call had ended
      entry.part.close?.();
      for (const timer of Object.values(entry.timers)) clearTimeout(timer);
      mounted.delete(root);
    };
  };
}

/**
 * @param {new (root: HTMLElement, api: Api, data: never) => Part} kind
 * @param {string[]} leaving
 * @param {HTMLElement} root
 * @param {{setStateValue: Setter, setTriggerValue: Setter}} setters
 * @param {{kind: string}} data
 * @returns {Entry}
 */
function begin(kind, leaving, root, setters, data) {
  /** @type {Api} */
  const api = {
    send: (act) => {
      if (leaving.includes(act.do)) beforeLeaving();
      entry.setTriggerValue("act", act);
      noteSent();
    },
    setState: (name, value) => {
      clearTimeout(entry.timers[name]);
      const delay = delayWhileLeaving();
      if (delay > 0) {
        entry.timers[name] = setTimeout(() => api.setState(name, value), delay);
        return;
      }
      entry.setStateValue(name, value);
      noteSent();
    },
  };
  /** @type {Entry} */
  const entry = { ...setters, timers: {}, part: new kind(root, api, /** @type {never} */ (data)) };
  mounted.set(root, entry);
  return entry;
}
