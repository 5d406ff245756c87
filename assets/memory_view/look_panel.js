// How the text looks: size, measure, lines, typeface, theme, and whether it is scrolled or turned in pages (Aa).

import { button, el } from "../shared/dom.js";

/** @import { Look } from "../protocol.js" */

/** @typedef {{name: "size" | "margin" | "warmth", label: string, min: number, max: number}} Scale */
/** @type {Scale[]} */
const SCALES = [
  { name: "size", label: "Text size", min: 12, max: 36 },
  { name: "margin", label: "Margins", min: 8, max: 64 },
  { name: "warmth", label: "Warmth", min: 0, max: 10 },
];
const WARMEST = 18; // per cent of amber in the page
const LOCAL = "local:"; // before the name of a typeface of this computer
const READABLE = ["OpenDyslexic", "Atkinson Hyperlegible"];
/**
 * @typedef {[value: string, label: string, css: string | number][]} Sized
 * @typedef {[value: string | number, label: string, ...rest: unknown[]][]} Choices
 * @typedef {(name: keyof Look, value: string | number, redraw?: boolean) => void} Pick called with a choice
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
  const { size, margin, warmth, face } = look;
  /** @param {Sized} rows @param {string} value */
  const of = (rows, value) => (rows.find((row) => row[0] === value) ?? rows[0])[2];
  style.setProperty("--book", `${size / 16}rem`);
  style.setProperty("--book-line", `${Math.round(size * Number(of(LINES, look.lines))) / 16}rem`);
  style.setProperty("--measure", String(of(MEASURES, look.measure)));
  style.setProperty("--face", face.startsWith(LOCAL) ? `"${nameOf(face)}", var(--serif)` : String(of(FACES, face)));
  style.setProperty("--margin", `${margin}px`);
  style.setProperty("--warm", `${(warmth * WARMEST) / 10}%`);
}

/** The name of a typeface of this computer, without what would end it in a style sheet. @param {string} face */
const nameOf = (face) => face.slice(LOCAL.length).replace(/["\\;{}]/g, "");

/** Whether a typeface is installed: words in it are not as wide as without it. @param {string} name */
function isInstalled(name) {
  const drawing = document.createElement("canvas").getContext("2d");
  if (!drawing) return false;
  /** @param {string} font */
  const width = (font) => {
    drawing.font = `72px ${font}`;
    return drawing.measureText("mmmmlliiWO 0123").width;
  };
  return ["monospace", "serif"].every((usual) => width(`"${name}", ${usual}`) !== width(usual));
}

/** A scale to move along. @param {Scale} scale @param {Look} look @param {Pick} pick */
function slider({ name, label, min, max }, look, pick) {
  const shown = el("output", { class: "num small" }, String(look[name]));
  /** @type {HTMLInputElement} */
  const input = el("input", {
    ...{ type: "range", min, max, value: look[name], "aria-label": label },
    oninput: () => (shown.textContent = input.value),
    onchange: () => pick(name, Number(input.value), false),
  });
  return el("div", { class: "choice" }, el("span", { class: "lab" }, label), el("div", { class: "slider" }, input, shown));
}

/** Typefaces of this computer: those for easier reading where they are installed, and any by its name. @param {Look} look @param {Pick} pick */
function localFaces(look, pick) {
  const missing = READABLE.filter((name) => !isInstalled(name));
  /** @type {HTMLInputElement} */
  const input = el("input", {
    ...{ type: "text", maxlength: 60, placeholder: "Name of a typeface of this computer", "aria-label": "Typeface of this computer" },
    value: look.face.startsWith(LOCAL) ? nameOf(look.face) : "",
    onchange: () => pick("face", input.value.trim() ? LOCAL + input.value.trim() : "serif"),
  });
  const told = missing.length ? el("p", { class: "small dimmer" }, `Not installed on this computer: ${missing.join(", ")}.`) : null;
  return el("div", { class: "choice" }, el("label", { class: "field" }, input), told);
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
    ...SCALES.map((scale) => slider(scale, look, pick)),
    row("Line length", "measure", MEASURES),
    row("Line spacing", "lines", LINES),
    row("Justify lines", "justify", on),
    row("Lines under names", "names", on),
    row("Typeface", "face", [
      ...FACES,
      ...READABLE.filter(isInstalled).map((name) => /** @type {[string, string]} */ ([LOCAL + name, name])),
    ]),
    localFaces(look, pick),
    ...(canBeVertical ? [row("Text direction", "vertical", directions, vertical ? "on" : "off")] : []),
    row("Theme", "theme", THEMES),
  ];
}
