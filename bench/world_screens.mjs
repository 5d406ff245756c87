// How long the book's world takes in the browser's scripts, without drawing: lines under names at a page turn, a card, the
// panel. `node bench/world_screens.mjs [pages] [names]`; 1,000 pages and 300 names unless said otherwise.

import { ReadingState } from "../assets/memory_view/state.js";
import { World, presence } from "../assets/memory_view/world.js";

globalThis.requestAnimationFrame = (run) => run();
const { Names } = await import("../assets/memory_view/names.js");

const [pages = 1000, people = 300] = process.argv.slice(2).map(Number);
const [PARAGRAPHS, WORDS] = [8, 60]; // a page
const COMMON = "the tide went on turning as it always had and nobody on the quay said more than was needed of it".split(" ");
let seed = 7;
const random = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
const syllables = "an bel cor dun el fen gar hal im jor kel lun mar nor os pel quin ros sel tor".split(" ");
const large = (word) => word[0].toUpperCase() + word.slice(1);
const nameOf = (i) => `${large(syllables[i % 20] + syllables[Math.floor(i / 20) % 20])} ${large(`${syllables[(i * 7) % 20]}${syllables[(i * 3) % 20]}${i}`)}`;
const names = Array.from({ length: people }, (_, i) => nameOf(i));

const text = Array.from({ length: pages * PARAGRAPHS }, () => {
  const words = Array.from({ length: WORDS }, () => COMMON[random(COMMON.length)]);
  for (let n = 0; n < 4; n++) {
    const name = names[Math.min(random(people), random(people))];
    words[random(WORDS)] = random(2) ? name : name.split(" ")[1];
  }
  return words.join(" ");
});
const batch = { book: "b", number: 0, names: [], notes: [], links: [] };
for (const [i, name] of names.entries()) {
  batch.names.push({ of: `n${i}`, kind: "person", name, from: 0 }, { of: `s${i}`, kind: "person", name: name.split(" ")[1], from: 3 });
  batch.links.push({ a: `n${i}`, b: `s${i}`, from: 3 });
}
for (let page = 1; page <= pages; page++)
  for (let n = 0; n < 8; n++) {
    const at = (page - 1) * PARAGRAPHS + n;
    batch.notes.push({ of: [`n${random(people)}`], page, kind: "does", text: "does what was noted of it", from: at, at: [at, 0], end: 5 });
  }

const state = new ReadingState();
state.book.text = text;
state.pages = Array.from({ length: pages }, (_, i) => ({ number: i + 1, start: i * PARAGRAPHS, end: (i + 1) * PARAGRAPHS, words: 480 }));
const scroller = { addEventListener() {} };
const frame = { scroller, selection: () => null, isShown: true };
const reader = new Names({ state, frame, units: { nodes: [] }, pressed() {}, changed() {} });
reader.store.batches = [batch];
reader.store.data = { ...reader.store.data, batches: 1 };
reader.store.changed();

const times = (count, run) => {
  const took = Array.from({ length: count }, (_, i) => {
    const begun = performance.now();
    run(i);
    return performance.now() - begun;
  }).sort((a, b) => a - b);
  return `median ${took[Math.floor(count / 2)].toFixed(2)} ms, longest ${took[count - 1].toFixed(2)} ms`;
};
const begun = performance.now();
reader.refresh();
const known = performance.now() - begun;
const whole = performance.now();
for (let at = 0; at < text.length; at++) reader.mentionsIn(at); // done a little at a time while nothing else is
console.log(`names found in all paragraphs: ${(performance.now() - whole).toFixed(0)} ms`);
console.log(`${pages} pages, ${people} people, ${batch.notes.length} notes, ${text.join(" ").length.toLocaleString("en")} characters`);
console.log(`the world from its notes, and the names to look for: ${known.toFixed(1)} ms, once`);
reader.linesIn(8, 15); // drawn when the notes arrive
console.log(`lines at a page turn: ${times(50, (i) => reader.linesIn(i * 16, i * 16 + 15))}`);
const last = pages * PARAGRAPHS - 1;
console.log(
  `a card: ${times(40, (i) => {
    const known = reader.world.one(`n${i}`, last - (i % 20));
    reader.placesOf(known, last - (i % 20));
  })}`,
);
console.log(
  `the panel: ${times(10, (i) => {
    const mentions = new Map(text.map((_, at) => [at, reader.mentionsIn(at)]));
    reader.world.asOf(last - i);
    presence(reader.world, mentions, (at) => Math.floor(at / PARAGRAPHS) + 1, pages, last - i);
  })}`,
);
console.log(`(a world made anew: ${times(5, () => new World([batch]))})`);
