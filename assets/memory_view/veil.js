// Draws an outline in place of the gist of a page that was not read yet.

import { button, el } from "../shared/dom.js";

/** @import { LayerPage } from "../protocol.js" @import { Send } from "./state.js" */

const WORDS_A_LINE = 6;
const MOST_LINES = 12; // of a veiled gist; more bars would say nothing new
const WIDTHS = [97, 89, 95, 91, 99, 86, 94]; // per cent, of one line after another

/**
 * The outline of a gist, and a button that shows it.
 * @param {LayerPage} page
 * @param {Send} send
 */
export function veilOf({ number, veiled = 0 }, send) {
  const lines = Math.min(MOST_LINES, Math.max(1, Math.ceil(veiled / WORDS_A_LINE)));
  const bars = Array.from({ length: lines }, (_, i) => {
    const bar = el("i");
    bar.style.width = `${i + 1 === lines ? 48 : WIDTHS[i % WIDTHS.length]}%`;
    return bar;
  });
  const show = button("Show", () => send({ do: "unveil", page: number }), {
    kind: "quiet slim",
    icon: "seen",
    "aria-label": `Show the gist of page ${number}, which you have not read`,
  });
  return [
    el("p", { class: "small dim" }, el("span", {}, "Opens when you have read it"), show),
    el("div", { class: "veilbars", "aria-hidden": "true" }, ...bars),
  ];
}
