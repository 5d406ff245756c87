// The form that asks for the password of a PDF.

import { el } from "../shared/dom.js";

/**
 * `wrong`: what was wrong with the last one; "" at first.
 * @param {string} wrong
 * @param {(password: string) => void} open
 */
export function passwordForm(wrong, open) {
  const input = el("input", { type: "password", autocomplete: "off", "aria-label": "Password of the PDF" });
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    if (input.value) open(input.value);
  };
  const form = el(
    "form",
    { class: "plock", onsubmit: submit },
    el("p", {}, el("strong", {}, "This PDF is locked with a password.")),
    el("p", { class: "small dim" }, "It is needed once. It stays in memory until ReadAgent is closed and is never written to disk."),
    el("label", { class: "field" }, input),
    wrong ? el("p", { class: "small palert", role: "alert" }, wrong) : null,
    el("button", { type: "submit", class: "btn go" }, "Show the pages"),
  );
  return { form, input };
}
