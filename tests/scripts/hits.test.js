// The list of hits: the words around them, near words, and what is kept back of pages that were not read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { excerpts, nearWords, titled } from "../../assets/memory_view/hits.js";
import { Search } from "../../assets/memory_view/search.js";
import { hitsSaid } from "../../assets/memory_view/search_field.js";
import { folded, patternsOf, placesOf } from "../../assets/memory_view/search_text.js";
import { bookWith } from "./books.js";

const shown = (text, query) => {
  const hits = placesOf(folded(text), patternsOf(query)[0]).map(([start, end]) => ["t", 0, start, end]);
  return excerpts(text, hits).map(({ hits, from, to }) => [hits.length, text.slice(from, to)]);
};

test("hits near each other share an excerpt, cut between words", () => {
  const near =
    "It was brought to the lighthouse for safety in an iron-bound box. The box was found standing open in the oil store at dawn.";
  assert.deepEqual(shown(near, "box"), [
    [2, "the lighthouse for safety in an iron-bound box. The box was found standing open in the oil store at dawn."],
  ]);
  const far = `A box here. ${"Nothing came of it then. ".repeat(5)}A box there.`;
  assert.deepEqual(
    shown(far, "box").map(([count]) => count),
    [1, 1],
  );
  assert.deepEqual(shown(`${"雪".repeat(90)}駅${"雪".repeat(90)}`, "駅"), [[1, `${"雪".repeat(45)}駅${"雪".repeat(55)}`]]); // no spaces to cut at
});

test("titles of chapters are found too", () => {
  const sections = [
    ["I. THE BURIAL OF THE DEAD", 1, 2, 900],
    ["V. WHAT THE THUNDER SAID", 1, 70, 1200],
  ];
  assert.deepEqual(titled(sections, patternsOf("thunder")[0]), [{ title: "V. WHAT THE THUNDER SAID", start: 70, places: [[12, 19]] }]);
  assert.deepEqual(titled(sections, []), []);
});

test("near words have few letters changed, and are counted", () => {
  const texts = ["The lantern was lit. A Lantern, two lanterns.", "No land in sight."];
  assert.deepEqual(nearWords(texts, "lanterne"), [
    { word: "lantern", count: 2 },
    { word: "lanterns", count: 1 },
  ]);
  assert.deepEqual(nearWords(texts, "zebra"), []);
  assert.deepEqual(nearWords(texts, "lantern zebra")[0], { word: "lantern", count: 2 }); // a word that is there alone
  assert.deepEqual(nearWords(texts, "of"), []);
  const river = "The boat, the bank, the reeds, the weir, the lock, the mill.";
  assert.deepEqual(nearWords([river], "the weirs"), [{ word: "weir", count: 1 }]); // no word of every sentence
});

test("hits on pages that were not read are counted, not listed, until they are asked for", () => {
  const state = {
    book: bookWith(["a box", "the box", "no", "a box, a box"]),
    pages: [],
    here: { paragraph: 0, page: null },
    data: { limit: 0 },
    furthest: 1,
    view: "text",
    get folded() {
      return this.view === "gists";
    },
  };
  const search = new Search({
    state,
    units: { mark() {}, nodes: [] },
    layer: { redrawGist() {} },
    jump: () => false,
    unfold() {},
    found() {},
  });
  const paragraphs = () => search.hits.map(([, paragraph]) => paragraph);
  search.ask("box");
  assert.deepEqual([paragraphs(), search.ahead], [[0], 3]);
  assert.equal(hitsSaid(search), "1 of 1");
  state.view = "gists";
  search.follow(1, 1); // under a gist
  search.again();
  assert.deepEqual([paragraphs(), search.ahead], [[0], 3]);
  state.view = "text";
  search.follow(1, 1); // on the screen
  search.again();
  assert.deepEqual([paragraphs(), search.ahead], [[0, 1], 2]);
  search.follow(2, 2); // what one was looking at stays
  search.again();
  assert.deepEqual([paragraphs(), search.ahead], [[0, 1], 2]);
  search.follow(1, 1);
  search.showAhead();
  assert.deepEqual([paragraphs(), search.ahead], [[0, 1, 3, 3], 0]);
  search.ask("");
  search.ask("box");
  assert.deepEqual([paragraphs(), search.ahead], [[0, 1], 2]); // remembered for one search
  search.seen.clear();
  state.furthest = 0;
  search.again();
  assert.equal(hitsSaid(search), "4 unread"); // never 'no hits'
  search.ask("boat");
  assert.equal(hitsSaid(search), "no hits");
});

test("one goes from hit to hit in the text, and in the gists once these are chosen or one of them is", () => {
  const pages = [0, 1].map((at) => ({ number: at + 1, start: at, end: at + 1, gist: { text: "A box." } }));
  const state = { book: bookWith(["a box", "the box"]), pages, here: { paragraph: 0, page: 1 }, data: { limit: null }, view: "both" };
  const search = new Search({
    state,
    units: { mark() {}, nodes: [] },
    layer: { drawn: new Map(), redrawGist() {}, openGist() {} },
    jump: () => false,
    unfold() {},
    found() {},
  });
  const stepped = () => {
    search.step(1);
    return `${search.shown[0]} ${hitsSaid(search)}`;
  };
  const walk = () => [stepped(), stepped(), stepped()];
  search.ask("box");
  assert.deepEqual(walk(), ["t 2 of 2", "t 1 of 2", "t 2 of 2"]);
  search.goTo(search.hits.find(([field]) => field === "g")); // a row of the list
  assert.equal(hitsSaid(search), "1 of 2");
  assert.deepEqual(walk(), ["g 2 of 2", "g 1 of 2", "g 2 of 2"]);
  search.walk("t");
  assert.equal(hitsSaid(search), "2 hits");
  assert.deepEqual(walk(), ["t 1 of 2", "t 2 of 2", "t 1 of 2"]);
  search.walk("t");
  assert.equal(hitsSaid(search), "1 of 2");
  search.step(-1);
  assert.equal(hitsSaid(search), "2 of 2");
  const { text } = state.book;
  state.book.text = [];
  search.ask("");
  search.ask("box"); // of the gists, as no text has come yet
  assert.deepEqual([search.shown[0], hitsSaid(search)], ["g", "1 of 2"]);
  state.book.text = text;
  search.again();
  assert.deepEqual([search.shown[0], hitsSaid(search)], ["t", "1 of 2"]);
});

test("one goes back from the hits of several searches to where one was reading", () => {
  const state = { book: bookWith(["here", "a box", "a boat", "a box"]), pages: [], data: { limit: null }, furthest: 0, view: "text" };
  state.here = { paragraph: 0, page: null };
  const backs = [];
  const jump = ({ paragraph }, { back }) => {
    if (back) backs.push(state.here.paragraph);
    state.here = { paragraph, page: null };
    return true;
  };
  const units = { mark() {}, nodes: [] };
  const search = new Search({ state, units, layer: { redrawGist() {} }, jump, unfold() {}, found() {} });
  for (const query of ["box", "", "boat", "box"]) search.ask(query);
  assert.deepEqual([backs, state.here.paragraph], [[0], 1]);
  state.here = { paragraph: 3, page: null }; // read on
  search.ask("boat");
  assert.deepEqual(backs, [0, 3]);
});
