// One page of the reader: its text, its gist, and the pause that ends it.

import { button, el, fill, icon, percent, plural } from "../shared/dom.js";

const SCENE = /^[\s*#•·⁂—–_~.-]{1,15}$/;

function pauseLine(page) {
  if (page.f) return ["Paused here by rule:", "the model named no place it was offered, so the last one was taken"];
  if (page.e === "end") return ["The end", ""];
  if (page.e === "section") return ["Paused here:", page.r || "the section ends"];
  if (page.e === "only") return ["Paused here:", page.r || "it was the only place to pause"];
  if (page.e === "rule") return ["Cut here by rule:", page.r || "pages of even length, no model was asked"];
  return ["Paused here:", page.r || "no reason was given"];
}

function pauseMark(page) {
  const [lead, reason] = pauseLine(page);
  const text = el("p", { dir: "auto" }, el("strong", {}, lead), reason ? ` ${reason}` : "");
  const kind = page.f || page.e === "rule" ? " fb" : page.e === "end" ? " fin" : "";
  return el("div", { class: `pausemark${kind}` }, el("span", { class: "caes" }, icon("pause")), text);
}

// Spans of `hits` ([page, field, paragraph, start, end, current]) that fall on paragraph `index`.
const spansOn = (hits, index) => hits.filter((h) => h[1] === "t" && h[2] === index).map((h) => [h[3], h[4], h[5]]);
const spansOnGist = (hits) => hits.filter((h) => h[1] === "g").map((h) => [h[3], h[4], h[5]]);

/** Marks other hits in a page that is drawn already; its text may be out of date, then it is about to be drawn again. */
export function markHits(node, page, hits, marked) {
  page.t.forEach((text, index) => {
    const piece = node.querySelector(`.text [data-i="${index}"]`);
    if (piece) fill(piece, text, spansOn(hits, index), marked);
  });
  const gist = node.querySelector(".gtext");
  if (gist && page.g) fill(gist, page.g.t, spansOnGist(hits), marked);
}

function pageText(page, hits, marked) {
  const heads = new Map();
  for (const [index, level, title] of page.h ?? []) heads.set(index, [...(heads.get(index) ?? []), [level, title]]);
  const continues = new Set(page.c ?? []);
  const nodes = [];
  page.t.forEach((text, index) => {
    for (const [level, title] of heads.get(index) ?? [])
      nodes.push(el("h3", { class: `sec l${Math.min(level, 3)}`, dir: "auto" }, title));
    const piece = el("span", { "data-i": index });
    fill(piece, text, spansOn(hits, index), marked);
    const before = nodes.at(-1);
    if (continues.has(index) && before?.tagName === "P") before.append(piece);
    else nodes.push(el("p", { dir: "auto", class: SCENE.test(text) ? "scene" : null }, piece));
  });
  return nodes;
}

function places(page) {
  const all = (page.p ?? []).map(([, place]) => place);
  if (!all.length) return "";
  return all.length === 1 || all[0] === all.at(-1) ? all[0] : `${all[0]} – ${all.at(-1)}`;
}

function tag(text, shape, kind = "") {
  return el("span", { class: `tag ${kind}` }, icon(shape), text);
}

function gistTags(page, looked) {
  const gist = page.g ?? {};
  return [
    looked ? tag(`Looked up in ${plural(looked, "answer")}`, "open", "lamp") : null,
    gist.f ? tag("Made by rule from the page's first sentences", "rule") : null,
    gist.e ? tag("Edited by you", "pencil") : null,
    gist.o ? tag("The page is short: its gist is its own text", "open") : null,
    gist.l ? tag(gist.l === 1 ? "Shortened again" : `Shortened again ${gist.l} times`, "rule") : null,
    ...(gist.m ?? []).map((mark) => tag(mark, "flag", "alert")),
  ].filter(Boolean);
}

function gistBody(page, hits, marked) {
  if (!page.g) {
    const lines = [100, 92, 48].map((w) => el("div", { class: "ln thin", style: `width:${w}%` }));
    return [el("div", { "aria-hidden": "true" }, ...lines)];
  }
  const text = el("p", { class: "gtext", dir: "auto" });
  fill(text, page.g.t, spansOnGist(hits), marked);
  return [text];
}

/**
 * The element of one page. `actions`: `mode`, `edit` and `ask`, functions of the page number, and `can`, what is allowed.
 * @param {import("./types.js").Page} page
 */
export function pageElement(page, { hits = [], looked = 0, actions, language, rtl, marked }) {
  const name = el("strong", {}, `Page ${page.n}`);
  const place = places(page);
  const facts = ` · ${plural(page.w, "word")}${place ? ` · ${place}` : ""}`;
  const text = el(
    "div",
    { class: "text", lang: language, dir: rtl ? "rtl" : "ltr" },
    el("p", { class: "small pno", dir: "ltr", lang: "en" }, name, el("span", { class: "dimmer" }, facts)),
    ...pageText(page, hits, marked),
  );
  const length = page.g ? `${plural(page.g.w, "word")} · ${percent(page.g.w, page.w)}` : "to come";
  const head = el(
    "div",
    { class: "ghead small" },
    el("strong", {}, `Gist of page ${page.n}`),
    el("span", { class: "dimmer num" }, length),
  );
  const acts = el(
    "div",
    { class: "gact" },
    button("Text only", () => actions.mode(page.n), { kind: "quiet slim mode" }),
    page.g && actions.can.edit ? button("Edit gist", () => actions.edit(page.n), { kind: "quiet slim" }) : null,
    page.g && actions.can.ask ? button("Ask about it", () => actions.ask(page.n), { kind: "quiet slim" }) : null,
  );
  const tags = gistTags(page, looked);
  const gist = el(
    "aside",
    { class: "gist", "aria-label": `Gist of page ${page.n}` },
    el(
      "div",
      { class: "in" },
      head,
      el("div", { class: "gbody", lang: language, dir: rtl ? "rtl" : "ltr" }, ...gistBody(page, hits, marked)),
      tags.length ? el("div", { class: "tags" }, ...tags) : null,
      acts,
    ),
  );
  const node = el(
    "section",
    { class: "leaf", id: `p${page.n}`, "data-n": page.n, tabindex: "-1", "aria-label": `Page ${page.n}` },
    el("div", { class: "page" }, text, gist),
    pauseMark(page),
  );
  // an estimate of its height, so that pages that were never drawn take their place on the scrollbar
  const lines = page.t.reduce((sum, t) => sum + Math.ceil(t.length / 64) + 0.45, 2);
  node.style.setProperty("--guess", `${Math.round(lines * 30 + 120)}px`);
  return node;
}
