// How the text looks: size, measure, lines, typeface, theme, and whether it is scrolled or turned in pages (Aa).

import { button, el } from "../shared/dom.js";

/** @import { Look } from "../protocol.js" */

const SIZES = [15, 16.5, 18, 20, 23];
/**
 * @typedef {[value: string, label: string, css: string | number][]} Sized
 * @typedef {[value: string | number, label: string, ...rest: unknown[]][]} Choices
 * @typedef {(name: keyof Look, value: string | number) => void} Pick called with a choice
 */

/** @type {Sized} */
const MEASURES = [
  ["narrow", "Narrow", "48ch"],
  ["middle", "Medium", "60ch"],
  ["wide", "Wide", "74ch"],
];
/** @type {Sized} */
const LINES = [
  ["tight", "Tight", 1.45],
  ["normal", "Normal", 1.667],
  ["airy", "Loose", 1.95],
];
/** @type {Sized} */
const FACES = [
  ["serif", "Serif", "var(--serif)"],
  ["source-serif", "Source Serif", '"Source Serif", var(--serif)'],
  ["sans", "Sans", "var(--sans)"],
  ["source-sans", "Source Sans", '"Source Sans", var(--sans)'],
];
/** @type {Choices} */
const THEMES = [
  ["system", "System"],
  ["light", "Light"],
  ["sepia", "Sepia"],
  ["dark", "Dark"],
];
/** @type {Choices} */
const FLOWS = [
  ["scroll", "Scroll"],
  ["pages", "Pages"],
  ["spread", "Two pages"],
];

/** Sets the custom properties that the style sheet draws the text with. @param {CSSStyleDeclaration} style @param {Look} look */
export function applyLook(style, look) {
  const size = SIZES[look.size - 1] ?? 18;
  /** @param {Sized} rows @param {string} value */
  const of = (rows, value) => (rows.find((row) => row[0] === value) ?? rows[0])[2];
  style.setProperty("--book", `${size / 16}rem`);
  style.setProperty("--book-line", `${Math.round(size * Number(of(LINES, look.lines))) / 16}rem`);
  style.setProperty("--measure", String(of(MEASURES, look.measure)));
  style.setProperty("--face", String(of(FACES, look.face)));
}

/** @param {string} label @param {Choices} options @param {string | number} chosen @param {(value: string | number) => void} pick */
function choices(label, options, chosen, pick) {
  const buttons = options.map(([value, text]) => button(text, () => pick(value), { "aria-pressed": String(value === chosen) }));
  return el(
    "div",
    { class: "choice" },
    el("span", { class: "lab" }, label),
    el("div", { class: "seg", role: "group", "aria-label": label }, ...buttons),
  );
}

/**
 * The panel's content.
 * @param {Look} look
 * @param {{canBeVertical: boolean, vertical: boolean}} now
 * @param {Pick} pick
 */
export function lookPanel(look, { canBeVertical, vertical }, pick) {
  /** @param {string} label @param {keyof Look} name @param {Choices} options */
  const row = (label, name, options, chosen = look[name]) => choices(label, options, chosen, (value) => pick(name, value));
  /** @type {Choices} */
  const on = [
    ["off", "Off"],
    ["on", "On"],
  ];
  /** @type {Choices} */
  const directions = [
    ["off", "Horizontal"],
    ["on", "Vertical"],
  ];
  return [
    row("Layout", "flow", vertical ? FLOWS.slice(1, 2) : FLOWS, vertical ? "pages" : look.flow),
    row(
      "Text size",
      "size",
      SIZES.map((_, i) => [i + 1, String(i + 1)]),
    ),
    row("Line length", "measure", MEASURES),
    row("Line spacing", "lines", LINES),
    row("Justify lines", "justify", on),
    row("Typeface", "face", FACES),
    ...(canBeVertical ? [row("Text direction", "vertical", directions, vertical ? "on" : "off")] : []),
    row("Theme", "theme", THEMES),
  ];
}
