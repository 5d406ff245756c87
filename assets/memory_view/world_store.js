// What is known of the world of each book in this tab: it comes in batches, of which the server sends those that changed.

import { tabState } from "../shared/tab_state.js";
import { World } from "./world.js";

/** @import { SeriesData, StudyData, WorldBatch, WorldData } from "../protocol.js" */

/** @type {WorldData} */
const NOTHING = {
  ...{
    book: "",
    batches: 0,
    by: "nobody",
    model: false,
    made: 0,
    running: false,
    failed: [],
    page: 0,
    lifted: false,
    away: 0,
  },
  corrections: 0,
  order: [],
  previously: [],
  price: "",
};

/** The world of one book. Event: "world", when it is another one. */
export class StoredWorld extends EventTarget {
  data = NOTHING;
  /** @type {WorldBatch[]} */
  batches = [];
  version = 0;
  /** @type {World | null} */
  made = null;

  /** Everything that was let in; made from the batches when it is asked for. */
  get world() {
    this.made ??= new World(this.batches.slice(0, this.data.batches).filter(Boolean), this.data.order);
    return this.made;
  }

  /** @type {StudyData | null} */
  study = null;
  /** @type {SeriesData | null} */
  series = null;

  changed() {
    this.made = null;
    this.version += 1;
    this.dispatchEvent(new Event("world"));
  }
}

/** @type {Map<string, StoredWorld>} */
const worlds = tabState("worlds", () => new Map());

/** @param {string} book @returns {StoredWorld} */
export function worldOf(book) {
  const known = worlds.get(book) ?? new StoredWorld();
  worlds.set(book, known);
  return known;
}

/** @param {WorldData} data */
export function storeWorld(data) {
  const store = worldOf(data.book);
  if (JSON.stringify(store.data) === JSON.stringify(data)) return;
  store.data = data;
  store.batches.length = Math.min(store.batches.length, data.batches); // what is no longer let in is forgotten
  store.changed();
}

/** @param {SeriesData} series */
export function storeSeries(series) {
  const store = worldOf(series.book);
  if (JSON.stringify(store.series) === JSON.stringify(series)) return;
  store.series = series;
  store.dispatchEvent(new Event("world"));
}

/** @param {StudyData} study */
export function storeStudy(study) {
  const store = worldOf(study.book);
  if (JSON.stringify(store.study) === JSON.stringify(study)) return;
  store.study = study;
  store.dispatchEvent(new Event("study"));
}

/** @param {WorldBatch} batch */
export function storeNotes(batch) {
  const store = worldOf(batch.book);
  if (JSON.stringify(store.batches[batch.number]) === JSON.stringify(batch)) return;
  store.batches[batch.number] = batch;
  store.changed();
}
