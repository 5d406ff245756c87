// The rows of a comparison, which come drawn as elements: [tag, attributes, ...children], a child being an element or a
// text. Called again with new data on the same element; every text goes in as a text node.

function build(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, ...children] = node;
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") element.style.cssText = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.map(build));
  return element;
}

export default function ({ parentElement, data: [data] }) {
  const root = parentElement.querySelector(".root");
  root.open ??= new Set(); // the keys of the details that a person has opened
  root.replaceChildren(...data.map(build));
  for (const details of root.querySelectorAll("details")) {
    const key = details.dataset.key;
    details.open = root.open.has(key);
    details.addEventListener("toggle", () => root.open[details.open ? "add" : "delete"](key));
  }
}
