// What a query finds in a text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { arranged, authorKey, keyOf, tagsOf, titleKey } from "../../assets/library/arrange.js";
import { Search } from "../../assets/memory_view/search.js";
import { folded, patternsOf, placesOf } from "../../assets/memory_view/search_text.js";
import { storeText, textOf } from "../../assets/memory_view/text_store.js";

const found = (text, query) => {
  const meant = patternsOf(query).map((patterns) => placesOf(folded(text), patterns));
  return (meant.find((places) => places.length) ?? []).map(([start, end]) => text.slice(start, end));
};

test("every word must occur; the last letters may be missing", () => {
  assert.deepEqual(found("The lamps were lit by the lamplighter", "lamp"), ["lamp", "lamp"]);
  assert.deepEqual(found("The lamps were lit", "lamp lit"), ["lamp", "lit"]);
  assert.deepEqual(found("The lamps were lit", "lamp dark"), []);
  assert.deepEqual(found("The overlamp", "lamp"), []); // not inside a word
  assert.deepEqual(found("كتابي", "کتابی"), ["كتابي"]); // as Persian keyboards have these letters
});

test("words of the query that stand beside each other in its order are one hit", () => {
  assert.deepEqual(found("the page with sealing wax.", "sealing wax"), ["sealing wax"]);
  assert.deepEqual(found("a seal of sealing-wax and wax", "seal wax"), ["seal", "sealing-wax", "wax"]);
  assert.deepEqual(found("Wax. Sealing. Wax sealing", "sealing wax"), ["Wax", "Sealing", "Wax", "sealing"]);
});

test("words are found as they were typed; where they stand nowhere so, paragraphs with all of them", () => {
  const scope = "as typed";
  const filler = Array.from({ length: 30 }, (_, i) => `There the man lay, ${i}.`);
  const text = [
    ...filler,
    "There was the light. The lights went out of the boat.",
    "The lighthouse, a light thing, the sea.",
    "No boat, no lamp.",
  ];
  storeText({ scope, from: 0, text, heads: [], places: [], joined: [], notes: [], spans: [] });
  const state = { book: textOf(scope), pages: [], here: { paragraph: 0, page: 0 }, data: { limit: null }, furthest: 0 };
  const search = new Search({ state, units: { mark() {} }, layer: { redrawGist() {} }, jump: { to() {} }, found() {} });
  search.step = () => {};
  const hits = (query) => {
    search.ask(query);
    return search.hits.map(([, paragraph, start, end]) => [paragraph - 30, text[paragraph].slice(start, end)]);
  };
  assert.deepEqual(hits("the light"), [
    [0, "the light"],
    [0, "The light"],
    [1, "The light"],
  ]);
  assert.deepEqual(hits('"the light"'), [[0, "the light"]]);
  assert.deepEqual(hits("out of the boat"), [[0, "out of the boat"]]);
  assert.deepEqual(hits("boat the light"), [
    [0, "light"],
    [0, "light"],
    [0, "boat"],
  ]); // never 'the' by itself
  assert.deepEqual(hits("the boat lamp"), []); // a whole word, too: not in 'there'
  assert.deepEqual(hits("boat lamp"), [
    [2, "boat"],
    [2, "lamp"],
  ]);
});

test("words in quotation marks are one phrase, whatever stands between them", () => {
  assert.deepEqual(found("north by west, north-by west", '"north by"'), ["north by", "north-by"]);
  assert.deepEqual(found("by the north", "“north by”"), []);
});

test("accents and case do not matter, and places are those of the text itself", () => {
  assert.deepEqual(found("Die Größe; café, CAFÉ", "cafe"), ["café", "CAFÉ"]);
  assert.deepEqual(found("ﬁnd the ﬁrst", "first"), ["ﬁrst"]);
  assert.deepEqual(found("İstanbul at dawn", "dawn"), ["dawn"]);
});

test("scripts without spaces are found inside a run of letters", () => {
  assert.deepEqual(found("雪の駅で待つ", "駅"), ["駅"]);
});

test("a reading beside characters (ruby) is found, and the characters are marked", () => {
  const scope = "ruby";
  const spans = [
    [
      0,
      [
        [0, 2, "ruby", "わがはい", null],
        [2, 3, "note", "1", 0],
      ],
    ],
  ];
  storeText({ scope, from: 0, text: ["吾輩は猫", "わがはい"], heads: [], places: [], joined: [], notes: [], spans });
  const state = { book: textOf(scope), pages: [], here: { paragraph: 0, page: 0 }, data: { limit: null }, furthest: 0 };
  const needs = { state, units: { mark() {} }, layer: { redrawGist() {} }, jump: { to() {} }, found() {} };
  const search = new Search(needs);
  search.step = () => {};
  search.ask("わがはい");
  assert.deepEqual(search.hits, [
    ["t", 0, 0, 2],
    ["t", 1, 0, 4],
  ]);
  search.ask("吾輩");
  assert.deepEqual(search.hits, [["t", 0, 0, 2]]);
});

test("hits that lie over one another are one, and a query without letters finds nothing", () => {
  assert.deepEqual(found("lamplight", "lamp lamplight"), ["lamplight"]);
  assert.deepEqual(patternsOf("… !"), []);
});

const book = (id, title, rest = {}) => {
  const made = { id, title, words: 10, added: 1, ...rest };
  return { ...made, text: "", key: keyOf(made) };
};
const view = { query: "", sort: "title", shelf: null, tag: null, reading: null, gists: null, top: 0 };
const names = (books, change) => arranged(books, { ...view, ...change }, (one) => one.gists).map((one) => one.id);

test("the library is filtered by words, shelf, tag and gists, and sorted", () => {
  const books = [
    book("b", "Ålesund", { author: "Émile", tags: ["sea"], gists: { state: "paused" }, words: 5, added: 3 }),
    book("a", "The 10 lamps", { shelves: ["Now"], opened: 9 }),
    book("c", "The 9 lamps", { gists: { state: "ready" }, added: 2 }),
  ];
  assert.deepEqual(names(books, {}), ["c", "a", "b"]); // numbers count as numbers, articles do not
  assert.deepEqual(names(books, { sort: "opened" }), ["a", "b", "c"]);
  assert.deepEqual(names(books, { sort: "words" }), ["a", "c", "b"]);
  assert.deepEqual(names(books, { query: "LAMPS the" }), ["c", "a"]);
  assert.deepEqual(names(books, { query: "emile" }), ["b"]);
  assert.deepEqual(names(books, { shelf: "Now" }), ["a"]);
  assert.deepEqual(names(books, { tag: "sea" }), ["b"]);
  assert.deepEqual(names(books, { gists: "stopped" }), ["b"]);
  assert.deepEqual(names(books, { gists: "none" }), ["a"]);
  const places = [{ finished: true }, { read: 2 }, {}].map((change, i) => Object.assign(books[i], change));
  for (const [i, reading] of ["read", "begun", "none"].entries()) assert.deepEqual(names(places, { reading }), [places[i].id]);
  assert.deepEqual(names(books, { sort: "of another version" }), ["a", "b", "c"]);
  assert.deepEqual(tagsOf(books), ["sea"]);
});

test("authors are sorted by family name, titles without their article", () => {
  for (const [name, key] of [
    ["Anton Chekhov", "Chekhov, Anton"],
    ["Arthur Conan Doyle", "Doyle, Arthur Conan"],
    ["Ursula K. Le Guin", "Le Guin, Ursula K."],
    ["Guy de Maupassant", "Maupassant, Guy de"],
    ["Ludwig van Beethoven", "Beethoven, Ludwig van"],
    ["Mark Van Doren", "Van Doren, Mark"],
    ["Kurt Vonnegut, Jr.", "Vonnegut, Kurt"],
    ["Wharton, Edith", "Wharton, Edith"],
    ["Karl Marx, Friedrich Engels", "Marx, Karl"],
    ["Ann Lee and Bo Li", "Lee, Ann"],
    ["夏目 漱石", "夏目 漱石"],
    ["The ReadAgent project", "ReadAgent project"],
    ["Homer (Pope)", "Homer, "],
    ["", ", "],
  ])
    assert.equal(authorKey(name), key);
  for (const [title, lang, key] of [
    ["The Firm", "en", "Firm"],
    ["A", "en", "A"],
    ["“The Lamp”", undefined, "Lamp”"],
    ["Anna", "en", "Anna"],
    ["Die Hard", "en", "Die Hard"],
    ["Die Verwandlung", "de-AT", "Verwandlung"],
    ["L’Étranger", "fr", "Étranger"],
    ["Los Alamos", "es", "Alamos"],
    ["The", "fi", "The"],
  ])
    assert.equal(titleKey({ title, lang }), key);
  const books = [book("c", "The Zoo", { author: "Ann Lee" }), book("a", "An Owl", { author: "Bo Li" }), book("b", "Pike")];
  assert.deepEqual(names(books, {}), ["a", "b", "c"]);
  assert.deepEqual(names(books, { sort: "author" }), ["c", "a", "b"]);
});

test("the books of a series stand together in their order, before those of none", () => {
  const of = (number) => ({ author: "Émile", series: ["Fog", number] });
  const books = [book("c", "A", of(10)), book("d", "B", { author: "Émile" }), book("b", "C", of(2)), book("e", "D"), book("a", "E", of(1))];
  for (const sort of ["series", "author"]) assert.deepEqual(names(books, { sort }), ["a", "b", "c", "d", "e"]);
  assert.deepEqual(names(books, { query: "fog", sort: "title" }), ["c", "b", "a"]);
});
