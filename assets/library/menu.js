// A menu that opens beside a button, closes by Esc or a press elsewhere, and gives the focus back.

import { all, el, entry, first, focused, treeOf } from "../shared/dom.js";

/**
 * @typedef {object} Item
 * @property {string} [label] none for a field
 * @property {() => void} [act]
 * @property {boolean} [checked] for a choice: whether it is the current one
 * @property {string} [ask] instead of `act`: a field with this placeholder, whose text `enter` takes
 * @property {string} [text] the field's first text
 * @property {(text: string) => void} [enter]
 *
 * @param {HTMLElement} opener the button that opened it
 * @param {(Item | null)[]} items null for a line between groups
 * @param {string} label its accessible name
 */
export function openMenu(opener, items, label) {
  const root = first(treeOf(opener), ".root") ?? document.body;
  const close = () => menu.hidePopover();
  /** @param {Item | null} item @returns {HTMLElement} */
  const row = (item) => {
    if (!item) return el("hr", {});
    if (item.ask) return field(item, close);
    const choice = item.checked !== undefined;
    return el(
      "button",
      {
        type: "button",
        role: choice ? "menuitemradio" : "menuitem",
        tabindex: -1,
        "aria-checked": choice ? String(item.checked) : null,
        onclick: () => {
          close();
          item.act?.();
        },
      },
      item.label,
    );
  };
  /** @type {HTMLElement} */
  const menu = el(
    "div",
    { class: "menu", role: "menu", popover: "auto", "aria-label": label, onkeydown: (event) => moved(event, menu) },
    ...items.map(row),
  );
  menu.addEventListener("toggle", (event) => {
    if (event.newState === "open") return;
    opener.setAttribute("aria-expanded", "false");
    const inside = menu.contains(focused(root)) || !focused(root);
    menu.remove();
    if (inside && opener.isConnected) opener.focus();
  });
  root.append(menu);
  menu.showPopover();
  opener.setAttribute("aria-expanded", "true");
  place(menu, opener.getBoundingClientRect());
  first(menu, "button, input")?.focus();
}

/** @param {HTMLElement} menu @param {DOMRect} at */
function place(menu, at) {
  const { width, height } = menu.getBoundingClientRect();
  const below = at.bottom + 4 + height <= innerHeight || at.top < height;
  const left = at.left + at.right > innerWidth ? at.right - width : at.left; // towards the middle of the window
  menu.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(below ? at.bottom + 4 : at.top - height - 4, innerHeight - height - 8))}px`;
}

/** @param {Item} item @param {() => void} close */
function field({ ask, text = "", enter }, close) {
  const input = el("input", { type: "text", placeholder: ask, "aria-label": ask, value: text, maxlength: 60 });
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    if (!input.value.trim()) return;
    close();
    enter?.(input.value.trim());
  };
  return el("form", { class: "ask", onsubmit: submit }, input, el("button", { type: "submit", class: "btn slim" }, "OK"));
}

/** @param {KeyboardEvent} event @param {HTMLElement} menu */
function moved(event, menu) {
  event.stopPropagation();
  const entries = all(menu, "button[role], input");
  const at = entries.indexOf(focused(menu) ?? menu);
  const to = entry({ ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }, event.key);
  if (event.key === "Escape") menu.hidePopover();
  if (to === undefined || (event.target instanceof HTMLInputElement && ["Home", "End"].includes(event.key))) return;
  event.preventDefault();
  entries.at(to % entries.length)?.focus();
}
