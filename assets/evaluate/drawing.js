// A drawing, given as the text of an SVG that report_html made (every text in it is escaped there), and the names of its
// numbered points. It is parsed as XML and stripped of everything but shapes, so that nothing in it can run.

import { el } from "../shared/dom.js";

const ALLOWED = new Set(["svg", "g", "line", "rect", "circle", "text", "title"]);

/**
 * @typedef {object} DrawingData
 * @property {string} svg
 * @property {{label: string, theirs: boolean}[]} points `theirs`: published by others
 */
export default function mount({ parentElement, data: [data] }) {
  const drawing = new DOMParser().parseFromString(data.svg, "image/svg+xml").documentElement;
  for (const node of [...drawing.querySelectorAll("*")]) if (!ALLOWED.has(node.localName)) node.remove();
  const items = data.points.map(({ label, theirs }) => el("li", { class: theirs ? "theirs" : null }, label));
  const list = items.length ? [el("ol", {}, ...items)] : [];
  parentElement.querySelector(".root").replaceChildren(document.importNode(drawing, true), ...list);
}
