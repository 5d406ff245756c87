// How the text looks: size, measure, lines, typeface, theme, and whether it is scrolled or turned in pages (Aa).

import { button, el } from "../shared/dom.js";

const SIZES = [15, 16.5, 18, 20, 23];
const MEASURES = [
  ["narrow", "Narrow", "48ch"],
  ["middle", "Medium", "60ch"],
  ["wide", "Wide", "74ch"],
];
const LINES = [
  ["tight", "Tight", 1.45],
  ["normal", "Normal", 1.667],
  ["airy", "Loose", 1.95],
];
const FACES = [
  ["serif", "Serif", "var(--serif)"],
  ["source-serif", "Source Serif", '"Source Serif", var(--serif)'],
  ["sans", "Sans", "var(--sans)"],
  ["source-sans", "Source Sans", '"Source Sans", var(--sans)'],
];
const THEMES = [
  ["system", "System"],
  ["light", "Light"],
  ["sepia", "Sepia"],
  ["dark", "Dark"],
];
const FLOWS = [
  ["scroll", "Scroll"],
  ["pages", "Pages"],
  ["spread", "Two pages"],
];

/** Sets the custom properties that the style sheet draws the text with. */
export function applyLook(style, look) {
  const size = SIZES[look.size - 1] ?? 18;
  const of = (rows, value) => (rows.find((row) => row[0] === value) ?? rows[0])[2];
  style.setProperty("--book", `${size / 16}rem`);
  style.setProperty("--book-line", `${Math.round(size * of(LINES, look.lines)) / 16}rem`);
  style.setProperty("--measure", of(MEASURES, look.measure));
  style.setProperty("--face", of(FACES, look.face));
}

function choices(label, options, chosen, pick) {
  const buttons = options.map(([value, text]) => button(text, () => pick(value), { "aria-pressed": String(value === chosen) }));
  return el(
    "div",
    { class: "choice" },
    el("span", { class: "lab" }, label),
    el("div", { class: "seg", role: "group", "aria-label": label }, ...buttons),
  );
}

/** The panel's content. `pick(name, value)` is called with a choice. */
export function lookPanel(look, { canBeVertical, vertical }, pick) {
  const row = (label, name, options, chosen = look[name]) => choices(label, options, chosen, (value) => pick(name, value));
  const on = [
    ["off", "Off"],
    ["on", "On"],
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
    canBeVertical
      ? row(
          "Text direction",
          "vertical",
          [
            ["off", "Horizontal"],
            ["on", "Vertical"],
          ],
          vertical ? "on" : "off",
        )
      : null,
    row("Theme", "theme", THEMES),
  ].filter(Boolean);
}
