// A cover: the book's own picture, or one drawn from its title and the map of its reading. Titles are text nodes.

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, text = null) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== null) node.textContent = text;
  return node;
}

function drawn({ paper, ink, lines, author, cells, language }) {
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

export default function ({ parentElement, data: [data] }) {
  const root = parentElement.querySelector(".root");
  if (!data.picture) return void root.replaceChildren(drawn(data));
  const picture = Object.assign(document.createElement("img"), { alt: "", src: data.picture, className: "cover" });
  root.replaceChildren(picture);
}
