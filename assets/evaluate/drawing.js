// A drawing, given as the text of an SVG that readagent_core.evaluation.plots made (every text in it is escaped there),
// for wide and for narrow places, and the colours of its families. It is parsed as XML and stripped of everything but
// shapes, so that nothing in it can run.

import { el, rootOf } from "../shared/dom.js";

/**
 * @import { DrawingData } from "../protocol.js"
 * @import { Component } from "../shared/mount.js"
 */

const ALLOWED = new Set(["svg", "g", "line", "rect", "circle", "text", "title"]);

/** @param {string} svg */
function parse(svg) {
  const drawing = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  for (const node of [...drawing.querySelectorAll("*")]) if (!ALLOWED.has(node.localName)) node.remove();
  return document.importNode(drawing, true);
}

/** @param {Component<DrawingData>} component */
export default function mount({ parentElement, data: [{ svg, narrow, families }] }) {
  const drawings = narrow ? [el("div", { class: "broad" }, parse(svg)), el("div", { class: "slim" }, parse(narrow))] : [parse(svg)];
  const items = families.map(({ name, colour }) => el("li", colour ? { style: `--of: ${colour}` } : { class: "theirs" }, name));
  const key = items.length ? [el("ul", {}, ...items)] : [];
  rootOf(parentElement).replaceChildren(...drawings, ...key);
}
