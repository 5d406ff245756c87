// The layout of the map, the spoiler limit on it, and the state of pages and gists.

import assert from "node:assert/strict";
import { test } from "node:test";
import { layerOf, storePages } from "../../assets/memory_view/book_store.js";
import { wordsMade } from "../../assets/memory_view/foot.js";
import { Layer } from "../../assets/memory_view/layer.js";
import { pauseReason } from "../../assets/memory_view/leaves.js";
import { averageGist, cellOf, mapGroups, mapPlaces, pageAt, shadeOf } from "../../assets/memory_view/map.js";
import { barsOf } from "../../assets/memory_view/memory_rows.js";
import { lastPageAbove, unreadLetIn } from "../../assets/memory_view/spoiler_limit.js";
import { ReadingState } from "../../assets/memory_view/state.js";
import { bookWith, pageOf } from "./books.js";

test("a cell is as high as its page is long, and all of them fill the map", () => {
  const places = mapPlaces([pageOf(1, 0, 1, { words: 100 }), pageOf(2, 1, 2, { words: 300 })], 108);
  assert.deepEqual(places, [
    [4, 24],
    [30, 72],
  ]);
  const many = mapPlaces(
    Array.from({ length: 2000 }, (_, i) => pageOf(i + 1, i, i + 1)),
    400,
  );
  assert.ok(many[1999][0] <= 396);
});

test("a place on the map is the page there, also between two cells and below the last", () => {
  const places = [
    [4, 24],
    [30, 72],
  ];
  assert.deepEqual(
    [0, 28, 29, 60, 500].map((y) => pageAt(places, y)),
    [1, 1, 2, 2, 2],
  );
});

test("neighbours share a cell where cells would be too small, but never across a closed part", () => {
  const pages = Array.from({ length: 9 }, (_, i) => pageOf(i + 1, i, i + 1));
  const groups = (height, closed = []) => mapGroups(pages, height, closed).map(([first, last]) => [first.number, last.number]);
  assert.equal(groups(300).length, 9);
  assert.deepEqual(groups(4.5), [
    [1, 3],
    [4, 6],
    [7, 9],
  ]);
  assert.deepEqual(groups(4.5, [[2, 4, 0]]), [
    [1, 1],
    [5, 7],
    [8, 9],
  ]);
});

test("cells are darker the longer their gist is, and say what they stand for", () => {
  const pages = [pageOf(1, 0, 1, { gist: 10 }), pageOf(2, 1, 2, { gist: 30 }), pageOf(3, 2, 3, { gist: 0 })];
  assert.equal(averageGist(pages), 20);
  assert.deepEqual(
    [15, 17, 20, 30].map((words) => shadeOf({ words, own: false }, 20)),
    ["m1", "m2", "m3", "m4"],
  );
  assert.deepEqual(cellOf(pages.slice(0, 2), 20), { kind: "m3", title: "Pages 1–2, 200 words, gist 20 %" });
  assert.deepEqual(cellOf(pages.slice(1), 20), { kind: "mtodo", title: "Pages 2–3, 200 words, gist to come" });
  const out = pages.slice(1).map(({ number, words }) => ({ number, words, out: true }));
  assert.deepEqual(cellOf(out, 20), { kind: "mtodo", title: "Pages 2–3, 200 words, left out" });
  const own = pageOf(1, 0, 1, { gist: 0 });
  own.gist = { text: "short", words: 1, own: 1 };
  assert.equal(cellOf([own], 20).kind, "m4");
});

test("the limit is dragged to the last page of which more than half is above", () => {
  const places = [
    [4, 24],
    [30, 72],
  ];
  assert.deepEqual(
    [0, 15, 16, 65, 66].map((y) => lastPageAbove(places, y)),
    [0, 0, 1, 1, 2],
  );
});

test("only pages that were neither let in nor read are asked about", () => {
  assert.equal(unreadLetIn(3, { page: 5, read: 0, last: 9 }), null);
  assert.equal(unreadLetIn(5, { page: 2, read: 5, last: 9 }), null);
  assert.deepEqual(unreadLetIn(8, { page: 2, read: 5, last: 9 }), [6, 8]);
});

test("a place in the text belongs to the page made of it, and to none where none is made", () => {
  const state = new ReadingState();
  state.pages = [pageOf(1, 0, 2), pageOf(2, 2, 4, { endAt: 50 }), pageOf(3, 4, 6, { startAt: 50 })];
  assert.deepEqual(
    [0, 1, 2, 5, 6].map((paragraph) => state.pageAt(paragraph)),
    [1, 1, 2, 3, null],
  );
  assert.deepEqual([state.pageAt(4, 20), state.pageAt(4, 60), state.pageAt(4, 47)], [2, 3, 3]); // a few characters before count
});

test("pages that arrive again are reported only where they changed", () => {
  const heard = [];
  const page = pageOf(1, 0, 1);
  layerOf("twice").addEventListener("pages", ({ detail }) => heard.push(detail));
  storePages({ scope: "twice", from: 1, pages: [page, pageOf(2, 1, 2)] });
  storePages({ scope: "twice", from: 1, pages: [page, pageOf(2, 1, 2, { gist: 9 })] });
  storePages({ scope: "twice", from: 1, pages: [page] });
  assert.deepEqual(heard, [[1, 2], [2]]);
});

test("a pause says who set it and why", () => {
  assert.deepEqual(pauseReason({ ends: "pause", reason: "A new day." }), ["Paused here:", "A new day."]);
  assert.match(pauseReason({ ends: "pause", rule: 1 }).join(" "), /by rule.*named no place/);
  assert.match(pauseReason({ ends: "rule" }).join(" "), /no model was asked/);
  assert.deepEqual(pauseReason({ ends: "end" }), ["The end", ""]);
});

test("pages that come before their count are drawn with it, and those beyond it are forgotten", async (context) => {
  globalThis.requestAnimationFrame = setImmediate;
  context.after(() => delete globalThis.requestAnimationFrame);
  const state = new ReadingState();
  state.book = bookWith(["a", "b", "c"]);
  const layer = new Layer({ state, frame: { isShown: true }, units: { nodes: [] }, leaves: {}, changed() {} });
  const count = (n) => {
    state.data = { ...state.data, count: n };
    layer.take();
    return state.pages.map((page) => page.number);
  };
  layer.change("l1");
  storePages({ scope: "l1", from: 1, pages: [1, 2, 3].map((n) => pageOf(n, n - 1, n)) });
  await new Promise(setImmediate);
  assert.equal(state.pages.length, 0);
  assert.deepEqual(
    [count(3), count(2), count(3)],
    [
      [1, 2, 3],
      [1, 2],
      [1, 2],
    ],
  ); // 3 was given up: it is made again
  layer.close();
});

test("the gist of a page of several chapters stands beside the one that is read, as long as enough of it is left", () => {
  const state = new ReadingState();
  const units = [[0, 9], [2, 900]]; // biome-ignore format: one line
  state.book = bookWith(["x".repeat(700), "x".repeat(200), "x".repeat(9000)], { units });
  state.pages = [pageOf(1, 0, 3)];
  const frame = { isNarrow: false };
  const layer = new Layer({ state, frame, units: { nodes: ["a", "b", "c"], rows: [1, 2, 1] }, leaves: {}, changed() {} });
  const at = (paragraph) => {
    state.here = { ...state.here, paragraph, page: 1 };
    return layer.spot(state.pages[0]).after;
  };
  assert.deepEqual([at(0), at(1), at(2)], ["b", "c", "c"]); // before any scrolling, too
  state.view = "gists";
  assert.equal(at(0), "c"); // a row of its own, in the longest part
});

test("gists that are made count as made before their pages are read", () => {
  const pages = [pageOf(1, 0, 1), pageOf(2, 1, 2, { gist: 0, veiled: 20 }), pageOf(3, 2, 3, { gist: 0 })];
  assert.deepEqual([wordsMade(pages, 0, 3), wordsMade(pages, 1, 3), wordsMade(pages, 2, 3)], [200, 100, 0]);
});

test("parts of a page stand where their paragraphs do, as long as they are", () => {
  assert.deepEqual(
    barsOf(
      [
        [1, 2],
        [3, 4],
      ],
      [100, 50, 25, 25],
    ),
    [
      [0.5, 0.25],
      [0.875, 0.125],
    ],
  );
  assert.deepEqual(barsOf([[0, 9]], []), [[0, 0]]);
});
