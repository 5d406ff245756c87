// A cover: the book's own picture, or one drawn from its title and the map of its reading. Titles are text nodes.

import { el, svg } from "./dom.js";

/**
 * @typedef {object} Drawing
 * @property {string} paper
 * @property {string} ink
 * @property {string[]} lines of the title
 * @property {string} author
 * @property {string} language
 * @property {[number, number, number][]} cells top, height, opacity
 *
 * @param {Drawing} drawing
 */
function draw({ paper, ink, lines, author, cells, language }) {
  const shape = svg("svg", { class: "cover", viewBox: "0 0 200 268", "aria-hidden": "true" });
  const words = svg("g", { fill: ink, lang: language });
  const size = lines.length < 4 ? 22 : 19;
  lines.forEach((line, i) => words.append(svg("text", { x: 18, y: 40 + (size + 5) * i, "font-size": size }, line)));
  if (author) {
    const place = { x: 18, y: 40 + (size + 5) * lines.length, "font-size": 13, opacity: 0.85 };
    words.append(svg("text", place, author));
  }
  shape.append(
    svg("rect", { width: 200, height: 268, rx: 3, fill: paper }),
    svg("rect", { width: 7, height: 268, fill: "#000", opacity: 0.16 }),
    words,
    ...cells.map(([y, height, opacity]) => svg("rect", { x: 18, y, width: 164, height, fill: ink, opacity })),
  );
  return shape;
}

/** Data: a Drawing, or {picture: a data address}. */
export default function mount({ parentElement, data: [data] }) {
  const picture = data.picture && el("img", { alt: "", src: data.picture, class: "cover" });
  parentElement.querySelector(".root").replaceChildren(picture || draw(data));
}
