// What the list of hits shows: the words around them, by chapter, and words near a query that is not in the text.

import { folded, placesOf } from "./search_text.js";

/** @import { Hit } from "./search.js" */
/**
 * @typedef {{hits: Hit[], from: number, to: number}} Excerpt hits that stand near each other, and the characters shown around them
 * @typedef {{word: string, count: number}} Near
 */

const BEFORE = 45; // characters around hits
const AFTER = 55;
const TOGETHER = 60; // characters between two hits that share an excerpt
const MOST_NEAR = 3;
const COMMON = 0.01; // of the words; one that is more of them is not what is looked for
const FEW = 5; // words, of which none is common
const WORDS = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}\p{M}]+)*/gu;

/**
 * The hits of one text in their order, those near each other together.
 * @param {string} text
 * @param {Hit[]} hits
 */
export function excerpts(text, hits) {
  /** @type {Excerpt[]} */
  const found = [];
  for (const hit of hits) {
    const before = found.at(-1);
    if (before && hit[2] - (before.hits.at(-1)?.[3] ?? 0) < TOGETHER) before.hits.push(hit);
    else found.push({ hits: [hit], from: 0, to: 0 });
  }
  for (const one of found) {
    const [start, end] = [one.hits[0][2], one.hits[one.hits.length - 1][3]];
    one.from = edge(text, start - BEFORE, start, 1);
    one.to = edge(text, end + AFTER, end, -1);
  }
  return found;
}

/** The nearest end of a word to `at`, on the way to the hit at `hit`; `at` itself where no word ends on the way. @param {string} text @param {number} at @param {number} hit @param {1 | -1} step */
export function edge(text, at, hit, step) {
  const wanted = Math.min(Math.max(at, 0), text.length);
  if (wanted === 0 || wanted === text.length) return wanted;
  for (let i = wanted; i !== hit; i += step) if (/\s/.test(text[step > 0 ? i - 1 : i])) return i;
  return wanted;
}

/**
 * The sections whose titles have a query, each with where it begins and the query's places in the title.
 * @param {import("../protocol.js").BookOutline["sections"]} sections
 * @param {import("./search_text.js").Pattern[]} patterns
 */
export function titled(sections, patterns) {
  return sections
    .map(([title, , start]) => ({ title, start, places: patterns.length ? placesOf(folded(title), patterns) : [] }))
    .filter(({ places }) => places.length);
}

/**
 * The words of a text that are nearest to those of a query: itself where it is there, else with the fewest letters changed.
 * @param {Iterable<string>} texts
 * @param {string} query
 * @returns {Near[]}
 */
export function nearWords(texts, query) {
  const wanted = (folded(query)[0].match(WORDS) ?? []).filter((word) => word.length > 2);
  /** @type {Map<string, Near>} */
  const words = new Map();
  let total = 0;
  for (const text of wanted.length ? texts : []) {
    for (const [word] of text.matchAll(WORDS)) {
      const key = folded(word)[0];
      total++;
      const known = words.get(key);
      if (known) known.count++;
      else if (wanted.some((one) => Math.abs(one.length - key.length) <= 2)) words.set(key, { word, count: 1 });
    }
  }
  const near = [...words].map(([key, { word, count }]) => ({ word, count, away: Math.min(...wanted.map((one) => distance(one, key))) }));
  // a word such as 'the', typed with others, is not what is looked for
  const isCommon = (/** @type {number} */ count) => wanted.length > 1 && count > Math.max(FEW, COMMON * total);
  return near
    .filter(({ word, count, away }) => away <= Math.min(2, Math.floor(word.length / 3)) && (away || !isCommon(count)))
    .sort((a, b) => a.away - b.away || b.count - a.count)
    .slice(0, MOST_NEAR)
    .map(({ word, count }) => ({ word, count }));
}

/** How many letters are added, left out or changed (Levenshtein). @param {string} a @param {string} b */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) next.push(Math.min(row[j] + (letter === b[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1));
    row = next;
  }
  return row[b.length];
}
