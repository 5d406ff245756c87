// The rows of a comparison, which come drawn as elements. Called again with new data on the same element; every text is
// added as a text node.

/**
 * An element: its tag, its attributes, then its children, each an element or a text. Built in
 * readagent_core/export/comparison_view.py.
 * @typedef {[string, Record<string, string>, ...(Element_ | string)[]]} Element_
 *
 * Data of the component, sent by pages/parts/compare/rows.py.
 * @typedef {object} ComparisonData
 * @property {Element_[]} rows
 */

/** @param {Element_ | string} node */
function build(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, ...children] = node;
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") element.style.cssText = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.map(build));
  return element;
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
