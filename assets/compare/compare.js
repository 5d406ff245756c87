// Shows a comparison, which Python sends as a tree of elements. Streamlit calls `mount` again, on the same element, when
// the data changes. Every text is added as a text node.

import { el } from "../shared/dom.js";

/**
 * An element: its tag, its attributes, then its children, each an element or a text. Built in
 * readagent_core/export/comparison_view.py.
 * @typedef {[string, Record<string, string>, ...(Element_ | string)[]]} Element_
 *
 * Data of the component, sent by pages/compare.py.
 * @typedef {object} ComparisonData
 * @property {Element_[]} rows
 */

/** @param {Element_ | string} node */
function build(node) {
  if (typeof node === "string") return node;
  const [tag, attributes, ...children] = node;
  return el(tag, attributes, ...children.map(build));
}

const opened = new WeakMap(); // for each root: the keys of the details that a person has opened

/** @param {{parentElement: HTMLElement, data: [ComparisonData]}} component */
export default function mount({ parentElement, data: [{ rows }] }) {
  const root = parentElement.querySelector(".root");
  if (!opened.has(root)) opened.set(root, new Set());
  const keys = opened.get(root);
  root.replaceChildren(...rows.map(build));
  for (const details of root.querySelectorAll("details")) {
    const key = details.dataset.key;
    details.open = keys.has(key);
    details.addEventListener("toggle", () => keys[details.open ? "add" : "delete"](key));
  }
}
