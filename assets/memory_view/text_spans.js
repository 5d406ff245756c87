// What stands beside the words of a paragraph: readings over them (ruby), references to notes, links, formulas. None of it
// is text in the DOM, so that places in the text stay what they are: marks and readings are drawn by the style sheet from
// attributes, a formula in a tree of its own in place of its letters.

import { el } from "../shared/dom.js";

/** @import { SpanRecord } from "../protocol.js" */

const MATHML = "http://www.w3.org/1998/Math/MathML";
const MATHS = /^(m[a-z]+|semantics)$/;
const SAFE_ATTRIBUTE = /^(?!on|href|src|style|xmlns)[a-z-]+$/i;

/**
 * The nodes of characters `from` to `to` of a text, with its spans. One that goes on outside is drawn in parts, what is
 * beside it with the first of them; a reference to a note follows the character before it.
 * @param {string} text
 * @param {SpanRecord[]} spans in the order of the text
 * @param {number} from
 * @param {number} to
 * @returns {(string | HTMLElement)[]}
 */
export function withSpans(text, spans, from, to) {
  /** @type {(string | HTMLElement)[]} */
  const nodes = [];
  let at = from;
  /** @param {number} end */
  const plainTo = (end) => {
    if (end > at) nodes.push(text.slice(at, end));
    at = Math.max(at, end);
  };
  for (const span of spans) {
    const [start, end, kind] = span;
    if (kind === "note") {
      if (start > to || start < at || (start === from && start > 0)) continue;
      plainTo(start);
      nodes.push(referenceTo(span));
    } else if (start < to && end > at) {
      plainTo(start);
      const stop = Math.min(end, to);
      nodes.push(drawn(span, text.slice(at, stop), at <= start));
      at = stop;
    }
  }
  plainTo(to);
  return nodes;
}

/** @param {SpanRecord} span @param {string} words @param {boolean} first whether it is the first part of the span */
function drawn([, , kind, meant, target], words, first) {
  if (kind === "ruby") return el("ruby", {}, words, first ? el("rt", { "data-reading": meant }) : null);
  if (kind === "formula") return formulaOf(words, first ? meant : "");
  const to = target === null ? { "data-address": meant } : { "data-to": target };
  return el("span", { class: `ref link${target === null ? " out" : ""}`, role: "link", tabindex: "0", ...to }, words);
}

/** @param {SpanRecord} span */
const referenceTo = ([, , , mark, target]) =>
  el("span", {
    ...{ class: "ref note", role: "link", tabindex: "0", "aria-haspopup": "dialog", "aria-label": `Note ${mark}`.trim() },
    ...{ "data-mark": mark || "*", "data-to": target },
  });

/** @param {string} words @param {string} source */
function formulaOf(words, source) {
  const node = el("span", { class: "formula" }, words);
  const parsed = source ? new DOMParser().parseFromString(source, "application/xml").documentElement : null;
  const maths = parsed && mathsFrom(parsed);
  if (maths) node.attachShadow({ mode: "open" }).append(maths);
  else if (!source) node.attachShadow({ mode: "open" });
  return node;
}

/** A copy of elements and attributes of mathematics, and of nothing else. @param {Element} source @returns {Element | null} */
function mathsFrom(source) {
  if (!MATHS.test(source.localName)) return null;
  const copy = document.createElementNS(MATHML, source.localName);
  for (const { name, value } of source.attributes) if (SAFE_ATTRIBUTE.test(name)) copy.setAttribute(name, value);
  for (const child of source.childNodes) {
    if (child instanceof Element) copy.append(...[mathsFrom(child)].filter((node) => node !== null));
    else copy.append(child.textContent ?? "");
  }
  return copy;
}
