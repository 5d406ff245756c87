// Lines of what a page tells, as cards, timelines and recaps show them: the number of the page, what it says in the model's
// words, the book's own words inside them in their typeface.

import { el } from "../shared/dom.js";

/** @import { NoteRecord } from "../protocol.js" */

const QUOTED = /(“[^”]*”|«[^»]*»|「[^」]*」|『[^』]*』|"[^"]*")/;

/** What a note says, its quotations as elements of their own. @param {string} text */
export const withQuotes = (text) =>
  text.split(QUOTED).map((part, i) => (i % 2 ? el("q", { class: "bookwords", dir: "auto" }, part) : part));

/** What a note says as a sentence of its own. @param {string} text */
export const sentenceOf = (text) => begun(ended(text));

/** @param {string} text */
const begun = (text) => text.charAt(0).toLocaleUpperCase() + text.slice(1);

/** @param {string} text */
const ended = (text) => (/[\p{L}\p{N}]$/u.test(text) ? `${text}${/[\u3040-\u30ff\u4e00-\u9fff]$/.test(text) ? "。" : "."}` : text);

// English, but for the capital; none is a verb of another language, as "a" and "as" are in French
const NO_VERB =
  /^(?:an|the|h(?:is|er)|their|its|my|our|your|by|to|from|into?|at|with|without|of|for|after|before|\p{Lu}[^\s’']*)(?![\p{L}’'-])/u;
const THING = /^(?:an|the|his|their|its|\p{Ll}+s of)(?![\p{L}’'-])/u;
const ONE = /^a (?!une?\b|du\b|des\b|l[ae]s?\b|s[ao]n?\b|ses\b)/; // French "a une barque" has its verb
/** @type {Record<string, string>} */
const LEADS = { owns: "has ", knows: "knows: " };
const WAY = /^(?:by|to|from|into|towards?|across|over|through|up|down|back|home|away|north|south|east|west)\b/;

/** What stands between a name and what a note says of it, so that both read as one sentence. @param {Pick<NoteRecord, "kind" | "text">} note */
export const joinOf = ({ kind, text }) => (kind === "moves" && WAY.test(text) ? " goes " : NO_VERB.test(text) ? " – " : " ");

/** What a note says, of which a card names the subject above. @param {Pick<NoteRecord, "kind" | "text">} note */
export const factOf = ({ kind, text }) =>
  sentenceOf(THING.test(text) || (kind === "owns" && ONE.test(text)) ? `${LEADS[kind] ?? ""}${text}` : text);

/**
 * A line that leads to its words.
 * @param {NoteRecord} note
 * @param {(note: NoteRecord) => void} go
 * @param {{kind?: string, name?: string, above?: Node | null, inside?: Node[], last?: boolean}} options `name`: whom it tells of,
 *   before it; `above`, `inside`: what stands over and below what it says
 */
export function toldLine(note, go, { kind = "", name = "", above = null, inside = [], last = false } = {}) {
  const text = name ? [el("b", {}, begun(name)), joinOf(note), ...withQuotes(ended(note.text))] : withQuotes(factOf(note));
  const line = el(
    "button",
    { type: "button", class: "toldline", onclick: () => go(note), title: `Go to the words on page ${note.page}` },
    el("span", { class: "pn num" }, String(note.page)),
    el("span", { class: "tx" }, above, el("span", { dir: "auto" }, ...text)),
  );
  return el("li", { class: `told1 ${kind}${last ? " newest" : ""}` }, line, ...inside);
}
