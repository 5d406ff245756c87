// Shows a comparison, which Python sends as a tree of elements. Streamlit calls `mount` again, on the same element, when
// the data changes. Every text is added as a text node.

import { el, icon } from "../shared/dom.js";
import { beforeLeaving } from "../shared/navigation.js";

/**
 * An element: its tag, its attributes, then its children, each an element or a text. Built in
 * readagent_core/export/comparison_view.py.
 * @typedef {[string, Record<string, string>, ...(Element_ | string)[]]} Element_
 *
 * Data of the component, sent by pages/compare.py.
 * @typedef {object} ComparisonData
 * @property {Element_[]} rows
 * @property {{kind: "model" | "builtin" | "recording", name: string, rest: string} | null} signature who answered
 */

/** @param {Element_ | string} node */
function build(node) {
  if (typeof node === "string") return node;
  const [tag, attributes, ...children] = node;
  return el(tag, attributes, ...children.map(build));
}

const opened = new WeakMap(); // for each root: the keys of the details that a person has opened

const SIGNS = { model: "plug", builtin: "wordlines", recording: "reels" };

/** @param {{parentElement: HTMLElement, data: [ComparisonData], setTriggerValue: (name: string, value: any) => void}} component */
export default function mount({ parentElement, data: [{ rows, signature }], setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  if (!opened.has(root)) opened.set(root, new Set());
  const keys = opened.get(root);
  const signer =
    signature &&
    el(
      "p",
      { class: "signer small", "data-signer": signature.kind },
      icon(SIGNS[signature.kind]),
      el("span", {}, el("b", {}, signature.name), signature.rest),
    );
  root.replaceChildren(...[signer, ...rows.map(build)].filter(Boolean));
  root.onclick = (event) => {
    const cited = event.composedPath()[0].closest?.("button.cite");
    if (!cited) return;
    beforeLeaving();
    setTriggerValue("act", { do: "open", page: Number(cited.dataset.page), of: cited.dataset.book ?? "" });
  };
  for (const details of root.querySelectorAll("details")) {
    const key = details.dataset.key;
    details.open = keys.has(key);
    details.addEventListener("toggle", () => keys[details.open ? "add" : "delete"](key));
  }
}
