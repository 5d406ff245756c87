// Shows a comparison, which Python sends as a tree of elements. Streamlit calls `mount` again, on the same element, when
// the data changes. Every text is added as a text node.

import { el, icon, rootOf } from "../shared/dom.js";
import { beforeLeaving } from "../shared/navigation.js";
import { SIGNER_ICONS } from "../shared/signer.js";
import { container, MAIN } from "../shared/streamlit.js";

/**
 * @import { ComparisonData, ElementTree } from "../protocol.js"
 * @import { Component } from "../shared/mount.js"
 */

/** @param {ElementTree | string} node @returns {HTMLElement | string} */
function build(node) {
  if (typeof node === "string") return node;
  const [tag, attributes, ...children] = node;
  return el(/** @type {keyof HTMLElementTagNameMap} */ (tag), attributes, ...children.map(build));
}

/** The method whose row has the node. @param {Element} node */
const methodOf = (node) => /** @type {HTMLElement} */ (node.closest("[data-method]")).dataset.method ?? "";

/** @type {WeakMap<Element, Set<string | undefined>>} for each root: the keys of the details that a person has opened */
const opened = new WeakMap();

const SETTLE_MS = 120;
let left = 0; // how far down the screen was when a citation was followed, in px
let seen = 0; // how often the person had asked when the head last came into view

/** Bring the question into view where it is in the lower half of the window, once what is above it has folded. */
function showHead(before = Number.NaN) {
  const head = document.querySelector(container("compare_asked"));
  const top = head?.getBoundingClientRect().top ?? 0;
  if (top !== before) setTimeout(showHead, SETTLE_MS, top);
  else if (top > innerHeight / 2) head?.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion)").matches ? "instant" : "smooth" });
}

/** Goes down again to the row that was left, once the rows have their heights. @param {number} top */
function comeBack(top, looks = 15) {
  const main = document.querySelector(MAIN);
  if (!main) return;
  main.scrollTop = top;
  if (main.scrollTop < top - 1 && looks) setTimeout(comeBack, SETTLE_MS, top, looks - 1);
}

/** @param {Component<ComparisonData>} component */
export default function mount({ parentElement, data: [{ rows, signature, asked }], setTriggerValue }) {
  const root = rootOf(parentElement);
  if (left && !opened.has(root)) comeBack(left);
  if (!opened.has(root)) left = 0;
  const keys = opened.get(root) ?? new Set();
  opened.set(root, keys);
  const signer =
    signature &&
    el(
      "p",
      { class: "signer small", "data-signer": signature.kind },
      icon(SIGNER_ICONS[signature.kind]),
      el("span", {}, el("b", {}, signature.name), signature.rest),
    );
  root.replaceChildren(...[signer, ...rows.map(build)].filter((node) => node !== null));
  root.onclick = (event) => {
    const pressed = event.composedPath()[0];
    /** @type {HTMLElement | null} */
    const cited = pressed instanceof Element ? pressed.closest("button.cite") : null;
    if (!cited) return;
    beforeLeaving();
    left = document.querySelector(MAIN)?.scrollTop ?? 0;
    setTriggerValue("act", { do: "open", page: Number(cited.dataset.page), of: cited.dataset.book ?? "", text: methodOf(cited) });
  };
  for (const details of root.querySelectorAll("details")) {
    const key = details.dataset.key;
    details.open = keys.has(key);
    details.addEventListener("toggle", () => keys[details.open ? "add" : "delete"](key));
  }
  if (asked > seen) {
    seen = asked;
    showHead();
  }
}
