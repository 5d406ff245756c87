// One drawing, given as the text of an SVG that report_html made (every text in it is escaped there), and the names of
// its numbered points. Parsed as XML and stripped of anything but shapes, so that nothing in it can run.
const ALLOWED = new Set(["svg", "g", "line", "rect", "circle", "text", "title"]);

export default function ({ parentElement, data: [data] }) {
  const root = parentElement.querySelector(".root");
  const drawing = new DOMParser().parseFromString(data.svg, "image/svg+xml").documentElement;
  for (const node of [...drawing.querySelectorAll("*")]) if (!ALLOWED.has(node.localName)) node.remove();
  const list = document.createElement("ol");
  for (const point of data.points) {
    const item = document.createElement("li");
    item.textContent = point.label;
    item.classList.toggle("theirs", point.theirs);
    list.append(item);
  }
  root.replaceChildren(document.importNode(drawing, true), ...(data.points.length ? [list] : []));
}
