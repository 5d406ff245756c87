// How the text looks: size, measure, lines, typeface, theme, and whether it is scrolled or turned in pages (Aa).

import { button, el } from "../shared/dom.js";

/** @import { Look } from "../protocol.js" */

/** @typedef {{name: "size" | "lines" | "measure" | "margin" | "warmth", label: string, min: number, max: number, step?: number}} Scale */
/** @type {Scale[]} */
const SCALES = [
  { name: "size", label: "Text size", min: 12, max: 36 },
  { name: "lines", label: "Line spacing", min: 130, max: 200, step: 5 },
  { name: "measure", label: "Line length", min: 40, max: 90 },
  { name: "margin", label: "Margins", min: 8, max: 64 },
  { name: "warmth", label: "Warmth", min: 0, max: 10 },
];
export const LEAST_SPREAD = 860; // px; a narrower view shows one page
const WARMEST = 18; // per cent of amber in the page
const LOCAL = "local:"; // before the name of a typeface of this computer
/** @type {Record<string, string>} typefaces for easier reading, and where they come from */
const READABLE = {
  OpenDyslexic: "https://opendyslexic.org/",
  "Atkinson Hyperlegible": "https://www.brailleinstitute.org/freefont/",
};
/**
 * @typedef {[value: string, label: string, css: string | number][]} Sized
 * @typedef {[value: string | number, label: string, ...rest: unknown[]][]} Choices
 * @typedef {(name: keyof Look, value: string | number, redraw?: boolean) => void} Pick called with a choice
 */

/** @type {Sized} */
const FACES = [
  ["serif", "Serif", "var(--serif)"],
  ["source-serif", "Source Serif", '"Source Serif", var(--serif)'],
  ["caladea", "Caladea", '"Caladea", var(--serif)'],
  ["sans", "Sans", "var(--sans)"],
  ["source-sans", "Source Sans", '"Source Sans", var(--sans)'],
  ["lato", "Lato", '"Lato", var(--sans)'],
];
/** @type {Sized} the typefaces that a book in Japanese or Chinese letters has; the others differ in Latin letters alone */
const WIDE_FACES = [
  ["serif", "Serif", "var(--serif)"],
  ["sans", "Sans", "var(--sans)"],
];
const PACKAGED = ["Caladea", "Lato"]; // typefaces that the server has
const STYLES = { Regular: {}, Bold: { weight: "700" }, Italic: { style: "italic" }, BoldItalic: { weight: "700", style: "italic" } };
let declared = false;

/** Tells the browser where the typefaces of the server are; it fetches those that are used. */
function declareFaces() {
  if (declared) return;
  declared = true;
  for (const name of PACKAGED)
    for (const [style, kind] of Object.entries(STYLES)) {
      const address = new URL(`typeface/${name}-${style}.ttf`, document.baseURI);
      document.fonts.add(new FontFace(name, `url(${address})`, kind));
    }
}
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
  const { size, margin, warmth, face, measure, lines } = look;
  if (PACKAGED.some((name) => name.toLowerCase() === face)) declareFaces();
  /** @param {Sized} rows @param {string} value */
  const of = (rows, value) => (rows.find((row) => row[0] === value) ?? rows[0])[2];
  style.setProperty("--book", `${size / 16}rem`);
  style.setProperty("--book-line", `${Math.round((size * lines) / 100) / 16}rem`);
  style.setProperty("--measure", `${measure}ch`);
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
function slider({ name, label, min, max, step = 1 }, look, pick) {
  /** @param {number} value */
  const said = (value) => (name === "lines" ? (value / 100).toFixed(2) : String(value));
  const shown = el("output", { class: "num small" }, said(look[name]));
  /** @param {number} by */
  const stepping = (by) => () => {
    input.value = String(Number(input.value) + by * step);
    input.dispatchEvent(new Event("change"));
  };
  /** @param {string} sign @param {string} to @param {number} by */
  const stepper = (sign, to, by) => button(sign, stepping(by), { kind: "quiet slim stepper", "aria-label": `${label}: ${to}` });
  /** @type {HTMLInputElement} */
  const input = el("input", {
    ...{ type: "range", min, max, step, value: look[name], "aria-label": label },
    oninput: () => (shown.textContent = said(Number(input.value))),
    onchange: () => {
      shown.textContent = said(Number(input.value));
      pick(name, Number(input.value), false);
    },
  });
  return el(
    "div",
    { class: "scale" },
    el("span", { class: "lab" }, label),
    stepper("–", "less", -1),
    input,
    stepper("+", "more", 1),
    shown,
  );
}

/**
 * The typefaces to choose from, and which of them the text is in.
 * @param {string} face as it was chosen
 * @param {boolean} wide whether the book is in Japanese or Chinese letters
 * @returns {{rows: Sized, chosen: string}}
 */
export function facesFor(face, wide) {
  if (!wide) return { rows: FACES, chosen: face };
  const css = String((FACES.find(([value]) => value === face) ?? [])[2] ?? "");
  return { rows: WIDE_FACES, chosen: WIDE_FACES.find(([, , family]) => css.endsWith(String(family)))?.[0] ?? face };
}

/** Typefaces of this computer: those for easier reading where they are installed, and any by its name. @param {Look} look @param {boolean} wide @param {Pick} pick */
function localFaces(look, wide, pick) {
  const missing = Object.entries(wide ? {} : READABLE).filter(([name]) => !isInstalled(name));
  /** @type {HTMLInputElement} */
  const input = el("input", {
    ...{ type: "text", maxlength: 60, placeholder: "Name of a typeface of this computer", "aria-label": "Typeface of this computer" },
    value: look.face.startsWith(LOCAL) ? nameOf(look.face) : "",
    onchange: () => pick("face", input.value.trim() ? LOCAL + input.value.trim() : "serif"),
  });
  const links = missing.flatMap(([name, href], i) => [i ? " or " : "", el("a", { href, target: "_blank", rel: "noopener" }, name)]);
  const told = el("p", { class: "small dimmer" }, "Free and easier to read: install ", ...links, ", and it stands above.");
  return el("div", { class: "choice" }, el("label", { class: "field" }, input), missing.length ? told : null);
}

/** A card for each typeface, in its own letters. @param {Look} look @param {string} lang of the book @param {boolean} wide @param {Pick} pick */
function faces(look, lang, wide, pick) {
  declareFaces();
  const { rows, chosen } = facesFor(look.face, wide);
  const local = Object.keys(wide ? {} : READABLE)
    .filter(isInstalled)
    .map((name) => /** @type {const} */ ([LOCAL + name, name, `"${name}"`]));
  const cards = [...rows, ...local].map(([value, label, css]) => {
    const sample = el("span", { class: "sample", lang, "aria-hidden": "true" }, wide ? (lang === "ja" ? "あ永" : "永") : "Agd");
    sample.style.fontFamily = String(css);
    const card = button(null, () => pick("face", value), { kind: "facecard", "aria-pressed": String(value === chosen) });
    card.append(sample, el("span", { class: "small" }, label));
    return card;
  });
  return el("div", { class: "facecards", role: "group", "aria-label": "Typeface" }, ...cards);
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
 * @param {{canBeVertical: boolean, vertical: boolean, language: string, unspaced: boolean, room: number}} now `room`: px that the
 *   text has, beside what else is open
 * @param {Pick} pick
 */
export function lookPanel(look, { canBeVertical, vertical, language, unspaced, room }, pick) {
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
  const flows = vertical
    ? FLOWS.slice(1, 2)
    : FLOWS.filter(([flow]) => flow !== "spread" || flow === look.flow || innerWidth >= LEAST_SPREAD);
  const layout = row("Layout", "flow", flows, vertical ? "pages" : look.flow);
  if (look.flow === "spread" && !vertical && room < LEAST_SPREAD)
    layout.append(el("p", { class: "small dimmer" }, "One page for now: beside Ask or in a narrow window two have no room."));
  const [size, ...scales] = SCALES.map((scale) => slider(scale, look, pick));
  return [
    size,
    row("Theme", "theme", THEMES),
    layout,
    faces(look, language, unspaced, pick),
    localFaces(look, unspaced, pick),
    ...scales,
    row("Justify lines", "justify", on),
    row("Lines under names", "names", on),
    ...(canBeVertical ? [row("Text direction", "vertical", directions, vertical ? "on" : "off")] : []),
  ];
}
