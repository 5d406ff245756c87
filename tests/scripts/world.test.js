// What is known at a place: names in the text, notes up to a paragraph, two that turn out to be one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf, recapOf, skippedSentence, whenSaid } from "../../assets/memory_view/happened.js";
import { aroundName, dividedLines, pagesSaid, toldOnce } from "../../assets/memory_view/name_card.js";
import { NameMatcher } from "../../assets/memory_view/name_matcher.js";
import { chaptersOf, edgeOf, pageBefore, shade, stripCells } from "../../assets/memory_view/presence_strip.js";
import { pickedPlaces, pickedSentences } from "../../assets/memory_view/sentences.js";
import { factOf, joinOf, sentenceOf } from "../../assets/memory_view/told.js";
import { lastWhole, presence, roleOf, World } from "../../assets/memory_view/world.js";
import { storeNotes, storeWorld, worldOf } from "../../assets/memory_view/world_store.js";

const found = (names, text) => new NameMatcher(names).find(text).map(([start, end, name]) => [text.slice(start, end), name]);

test("the longest name is found, as a whole word, with other apostrophes and line ends", () => {
  const names = ["Vane", "Ambrose Vane", "Mr. Crale", "O'Hara", "the stranger"];
  assert.deepEqual(found(names, "Ambrose\nVane saw Vane’s lamp; Vanes did not."), [
    ["Ambrose\nVane", "Ambrose Vane"],
    ["Vane", "Vane"],
  ]);
  assert.deepEqual(found(names, "Mr. Crale, O’Hara; the stranger, the strangers"), [
    ["Mr. Crale", "Mr. Crale"],
    ["O’Hara", "O'Hara"],
    ["the stranger", "the stranger"],
  ]);
  assert.deepEqual(found(["May"], "may, MAY, Mayor"), []);
});

test("names in a script without spaces are found inside of a line, and after letters with marks nothing is cut", () => {
  assert.deepEqual(found(["雪", "雪子"], "その雪子は雪を見た"), [["雪子", "雪子"], ["雪", "雪"]]); // biome-ignore format: one line
  assert.deepEqual(found(["ローズ"], "ローズマリー、ローズが"), [["ローズ", "ローズ"]]);
  assert.deepEqual(found(["민수"], "민수는 갔다"), [["민수", "민수"]]);
  assert.deepEqual(found(["Ана"], "Ана и Анастасия"), [["Ана", "Ана"]]);
  assert.deepEqual(found(["", "x"], ""), []);
});

const name = (of, called, at, kind = "person") => ({ of, kind, name: called, from: at });
const note = (id, of, at, text = id, rest = {}) => ({ of, page: at + 1, kind: "does", text, from: at, at: [at, 0], end: 1, ...rest });
const link = (a, b, at) => ({ a, b, from: at, told: 1 });
const batch = (number, names, notes, links = []) => ({ book: "b", number, names, notes, links });
const story = () =>
  new World([
    batch(
      0,
      [{ ...name("s", "the stranger", 0), pages: [1], nameless: 1 }, name("x", "Lord X", 2)],
      [note("n1", ["s"], 0), note("n2", ["x"], 2, "n2", { kind: "is" })],
    ),
    batch(1, [name("x", "X", 5)], [note("n3", ["s", "x"], 6), note("n4", ["x"], 8)], [link("s", "x", 6)]),
  ]);

test("two are strangers until the paragraph that tells that they are one", () => {
  const world = story();
  const before = world.asOf(5);
  assert.deepEqual([...before.keys()], ["s", "x"]);
  assert.deepEqual(before.get("s").lines.map(({ note: one }) => one.text), ["n1"]); // biome-ignore format: one line
  assert.equal(world.meant("Lord X", 5, 1), "x");
  const after = world.asOf(6);
  assert.deepEqual([...after.keys()], ["s"]);
  const one = after.get("s");
  assert.deepEqual([one.name, one.also, one.first], ["Lord X", ["the stranger", "X"], 0]);
  assert.deepEqual(
    one.lines.map(({ note: { text }, joined }) => [text, joined]),
    [
      ["n1", false],
      ["n2", true],
      ["n3", false],
    ],
  );
  assert.equal(world.meant("Lord X", 6, 1), "s");
  assert.equal(roleOf(one), "n2");
});

test("nothing of a later paragraph is told: not a name, not a note, not a second name", () => {
  const world = story();
  assert.deepEqual([...world.asOf(1).keys()], ["s"]);
  assert.deepEqual(world.asOf(4).get("x").names, ["Lord X"]);
  assert.equal(world.meant("Lord X", 1, 1), null);
  assert.deepEqual(world.namesAt(1), ["the stranger"]);
  for (let paragraph = 0; paragraph < 9; paragraph++)
    for (const known of world.asOf(paragraph).values()) {
      assert.ok(known.lines.every((line) => line.note.from <= paragraph));
      assert.deepEqual(story().one(known.id, paragraph), known);
    }
  assert.equal(story().one("x", 1), undefined);
});

test("a name that two have means whoever was called so last", () => {
  const world = new World([batch(0, [name("a", "Vane", 0), name("b", "Vane", 3), name("a", "Vane", 7)], [])]);
  assert.deepEqual([0, 2, 3, 6, 7].map((at) => world.meant("Vane", at, 1)), ["a", "a", "b", "b", "a"]); // biome-ignore format: one line
});

test("a description in common words is a name on its own pages only, and a part of a name tells nothing new", () => {
  const common = { ...name("k", "the keeper", 0), spelled: ["keeper"], pages: [1, 3] };
  const world = new World([batch(0, [common, name("v", "Vane", 1), name("av", "Ambrose Vane", 2)], [note("n", ["av"], 1)])]);
  assert.deepEqual([1, 2, 3].map((page) => world.meant("keeper", 5, page)), ["k", null, "k"]); // biome-ignore format: one line
  world.links.push({ a: "v", b: "av", from: 2 });
  const one = world.asOf(2).get("v");
  assert.deepEqual([one.name, one.also, one.names], ["Ambrose Vane", ["Vane"], ["Vane", "Ambrose Vane"]]);
  assert.deepEqual(one.lines.map((line) => line.joined), [false]); // biome-ignore format: one line
});

test("a page counts how often it names each, as they are known at the end", () => {
  const mentions = new Map([
    [0, [[0, 3, "the stranger"], [5, 8, "the stranger"]]], // biome-ignore format: one line
    [2, [[0, 3, "Lord X"]]],
    [8, [[0, 3, "Lord X"]]],
    [1, [[0, 1, "X"]]], // before a page tells of X
  ]);
  const pageAt = (paragraph) => paragraph + 1;
  const counts = (at) => [...presence(story(), mentions, pageAt, 9, at)].map(([id, row]) => [id, [...row].join("")]);
  assert.deepEqual(counts(5), [["s", "200000000"], ["x", "011000000"]]); // biome-ignore format: one line
  assert.deepEqual(counts(4), [["s", "200000000"], ["x", "001000000"]]); // biome-ignore format: one line
  assert.deepEqual(counts(8), [["s", "211000101"]]); // page 7 tells of them without the name
});

test("of a long gist a recap has sentences from all of it, of many gists the first sentence of each", () => {
  const long = Array.from({ length: 50 }, (_, i) => `Here the story tells of its day ${i}.`).join(" ");
  const picked = pickedPlaces([long], "en", 120);
  assert.equal(picked.length, 15); // of eight words each
  assert.equal(long.slice(...picked[0][1]), "Here the story tells of its day 0.");
  assert.match(long.slice(...picked.at(-1)[1]), /day 4\d/);
  const many = pickedPlaces([long, "", long, long, long, long], "en", 40);
  assert.deepEqual(many.map(([i]) => i), [0, 2, 3, 4, 5]); // biome-ignore format: one line
});

test("picked sentences that follow each other in the page are told from those that were brought together", () => {
  const page = "It rained. Nobody came. The lamp went out.\nIt was dark. A door fell shut.";
  const found = pickedSentences("It rained. The lamp went out.\nIt was dark. A door fell shut.", "en", page);
  assert.deepEqual(found.map(([, , follows]) => follows), [false, false, true, true]); // biome-ignore format: one line
});

test("a name and what a note says of it read as one sentence", () => {
  const said = (text, kind = "does") => `Vane${joinOf({ kind, text })}${text}`;
  assert.equal(said("was asked to house the box"), "Vane was asked to house the box");
  assert.equal(said("asks about Tilda"), "Vane asks about Tilda");
  assert.equal(said("Tilda says he bade her stay"), "Vane – Tilda says he bade her stay");
  assert.equal(said("the Board's view: took the money"), "Vane – the Board's view: took the money");
  assert.equal(said("by open boat to Harrow", "moves"), "Vane goes by open boat to Harrow");
  assert.equal(said("は去った"), "Vane は去った");
  assert.equal(said("a dit la vérité"), "Vane a dit la vérité");
  assert.equal(factOf({ kind: "owns", text: "carbons of every letter" }), "Has carbons of every letter.");
  assert.equal(factOf({ kind: "owns", text: "keeps three keys" }), "Keeps three keys.");
  assert.equal(factOf({ kind: "owns", text: "a boat" }), "Has a boat.");
  assert.equal(factOf({ kind: "owns", text: "a une barque" }), "A une barque.");
  assert.equal(factOf({ kind: "knows", text: "the rope is a ship's" }), "Knows: the rope is a ship's.");
});

test("a batch that did not change is not taken again, and what is no longer let in is forgotten", () => {
  const store = worldOf("b");
  let changes = 0;
  store.addEventListener("world", () => changes++);
  const data = (batches) => ({ ...store.data, book: "b", batches });
  storeNotes(batch(0, [name("a", "A", 0)], []));
  storeNotes(batch(1, [name("b", "B", 9)], []));
  storeWorld(data(2));
  assert.equal(store.world.entities.size, 2);
  const before = changes;
  storeNotes(batch(1, [name("b", "B", 9)], []));
  storeWorld(data(2));
  assert.equal(changes, before);
  storeWorld(data(1));
  assert.deepEqual([...store.world.entities.keys()], ["a"]);
  assert.equal(store.batches.length, 1);
});

test("a strip is as long as its words, joins what is too narrow, and its edges are found again", () => {
  const pages = Array.from({ length: 400 }, (_, i) => ({ words: 100 + (i % 3) * 50, start: i * 2 }));
  const cells = stripCells(pages, [0, 200, 400, 600], 420);
  assert.ok(cells.every((cell, i) => !i || cell.x >= cells[i - 1].x + cells[i - 1].wide - 1e-6));
  assert.deepEqual([cells[0].first, cells.at(-1).last], [1, 400]);
  assert.ok(Math.abs(edgeOf(cells, 400) - 420) < 1);
  for (const page of [1, 57, 200, 399, 400]) assert.equal(pageBefore(cells, edgeOf(cells, page), 400), page);
  assert.equal(pageBefore(cells, -5, 400), 0);
  assert.deepEqual(chaptersOf(pages, []).slice(0, 2), [0, 0]);
  assert.deepEqual([1, 2, 6].map(shade), ["m2", "m3", "m4"]);
});

test("what happened in the order of time is what was told up to there, in another order", () => {
  const notes = [note("late", ["a"], 0), note("told later", ["a"], 3), note("is", ["a"], 3, "is", { kind: "is" })];
  const world = new World([batch(0, [name("a", "A", 0)], notes)], [1, 0]);
  const texts = (at, order) => eventsOf(world, at, order).map((one) => one.text);
  assert.deepEqual(texts(3, "time"), ["told later", "late"]);
  assert.deepEqual(texts(3, "told"), ["late", "told later"]);
  assert.deepEqual(texts(2, "time"), ["late"]);
});

test("after a jump, Where was I? says which pages it leaves out", () => {
  assert.deepEqual(
    [1, 2, 3, 9, null].map((here) => skippedSentence(1, here)),
    ["", "", "Page 2 is not read yet, and not told of here.", "Pages 2 to 8 are not read yet, and not told of here.", ""],
  );
});

test("a recap takes the weightiest of each part and all of the last pages", () => {
  const events = Array.from({ length: 24 }, (_, i) => note(`e${i}`, ["a"], i));
  const options = { chapterOf: () => 0, weight: (one) => Number(one.text.slice(1)) % 4, page: 24 };
  const { soFar, before } = recapOf(events, options);
  assert.deepEqual(before.map((one) => one.text), ["e22", "e23"]); // biome-ignore format: one line
  assert.equal(soFar.length, 10);
  assert.ok(soFar.some((one) => one.text === "e3") && soFar.some((one) => one.text === "e19"));
  assert.ok(!soFar.some((one) => options.weight(one) < 2)); // none of those who are named in passing
  assert.deepEqual(recapOf([], options), { soFar: [], before: [] });
  const rowed = events.map((one, i) => (i % 4 === 2 ? { ...one, of: ["b"] } : one)); // not of the hero alone
  assert.equal(recapOf(rowed, options).soFar.filter((one) => one.of[0] === "b").length, 5);
});

test("a card keeps every line where a revelation is itself told before a later one", () => {
  const line = (/** @type {string} */ text, joined, kind = "does") => ({ note: note(text, ["a"], 1, text, { kind }), joined });
  const lines = [line("came", true), line("is Tom", true, "same"), line("stayed", false)];
  const { revealed, carried, shown } = dividedLines(lines);
  assert.deepEqual([revealed, carried, shown], [lines[1], [lines[0]], [lines[1], lines[2]]]);
});

test("a card tells a thing once, and joins no name to a form of itself", () => {
  const line = (text, kind = "does", other = "") => ({ note: { ...note(text, ["a"], 1, text, { kind }), text, other }, joined: false });
  const lines = [line("Put out the light to stop the ship."), line("is signer", "same", "A. Vane"), line("is he", "same", "the stranger")];
  lines.push(line("is back", "same", "Ambrose Vane"), line("put out the light to stop a ship"), line("Put out the light."));
  assert.deepEqual(toldOnce(lines, "Ambrose Vane"), [lines[0], lines[2], lines[3], lines[5]]);
});

test("pages and sentences are said as people say them", () => {
  assert.equal(pagesSaid([3]), "page 3");
  assert.equal(pagesSaid([1, 3, 4, 6, 7, 8]), "pages 1, 3, 4, 6 to 8");
  assert.equal(sentenceOf("rows the mail"), "Rows the mail.");
  assert.equal(sentenceOf("said “no.”"), "Said “no.”");
  assert.equal(sentenceOf("町を出る"), "町を出る。");
});

test("a person without a name is of the cast when a second page tells of them, or when they are found to be somebody", () => {
  const stranger = { ...name("s", "the stranger", 0), pages: [1, 4], nameless: 1 };
  const told = [note("n1", ["s"], 0), note("n2", ["x"], 1), note("n3", ["s"], 3)];
  const later = new World([batch(0, [stranger, name("x", "Lord X", 1)], told)]);
  assert.deepEqual([later.asOf(2).get("s").once, later.asOf(2).get("x").once], [true, false]);
  assert.equal(later.asOf(3).get("s").once, false);
  assert.equal(story().asOf(5).get("s").once, true);
  assert.equal(story().asOf(6).get("s").once, false); // he is Lord X
});

test("in the order of time no event stands under the day of another", () => {
  const events = [{ time: "1850" }, { time: "1850" }, {}, {}, { time: "1851" }];
  assert.deepEqual(
    events.map((_, i) => whenSaid(/** @type {any} */ (events), i)),
    ["1850", "", "Time not told", "", "1851"],
  );
});

test("a name is shown in its sentence, of a long one in the words near it", () => {
  const text = "It rained. So lawyer\nRoyall came in. He sat.";
  const start = text.indexOf("lawyer");
  assert.deepEqual(aroundName(text, { start, end: start + 13 }, "en"), ["So ", "lawyer Royall", " came in."]);
  const long = `${"far away ".repeat(40)}Ann${" and near by".repeat(40)}.`;
  const [before, name, after] = aroundName(long, { start: 360, end: 363 }, "en");
  assert.match(before, /^… (away |far )/);
  assert.equal(name, "Ann");
  assert.match(after, /(by|near|and) …$/);
  assert.ok(before.length < 115 && after.length < 115);
  assert.deepEqual(aroundName("雨。その雪子は来た。", { start: 4, end: 6 }, "ja"), ["その", "雪子", "は来た。"]);
});

test("a page that is begun is not read: not in its middle, nor where it ends inside of a paragraph", () => {
  const pages = [{ end: 3 }, { end: 6, endAt: 40 }, { end: 9 }];
  const ends = [0, 2, 3, 5, 6, 7, 8, 9, 20].map((read) => lastWhole(pages, read)?.end);
  assert.deepEqual(ends, [undefined, undefined, 3, 3, 3, 6, 6, 9, 9]);
});
