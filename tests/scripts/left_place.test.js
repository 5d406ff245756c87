import assert from "node:assert/strict";
import { test } from "node:test";
import { isAddressOf, LeftPlace, laterThan } from "../../assets/memory_view/left_place.js";

const GOTO = { paragraph: 4, at: 10, before: null, screen: "", id: "1" };
const SPOT = { paragraph: 9, at: 0, page: 3 };

/** A browser's store. @returns {Storage} */
function store() {
  const kept = new Map();
  const has = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
  return Object.assign(/** @type {Storage} */ ({}), has);
}

test("a place that the server has not heard of is taken by the next window", () => {
  globalThis.localStorage = store();
  const left = new LeftPlace();
  left.begin("b", GOTO);
  left.told(SPOT);
  left.keep(SPOT);
  const next = new LeftPlace();
  next.begin("b", GOTO);
  assert.deepEqual(next.take(GOTO), SPOT);
  assert.deepEqual(next.take({ ...GOTO, paragraph: 1, before: [4, 10] }), SPOT); // something is looked up
  assert.equal(next.take({ ...GOTO, paragraph: 20 }), null); // read on elsewhere
  next.begin("another", GOTO);
  assert.equal(next.take(GOTO), null);
});

test("a place that is stored is not kept by the browser", () => {
  globalThis.localStorage = store();
  const left = new LeftPlace();
  left.begin("b", GOTO);
  left.told(SPOT);
  left.keep(SPOT);
  left.stored([SPOT.paragraph, SPOT.at]);
  left.keep(SPOT);
  const next = new LeftPlace();
  next.begin("b", GOTO); // the book was set back to where it was
  assert.equal(next.take(GOTO), null);
});

test("a browser that keeps nothing, or something damaged, leads nowhere and breaks nothing", () => {
  const left = new LeftPlace();
  left.begin("b", GOTO);
  left.told(SPOT);
  for (const damaged of ["{", "4", '{"book":"b"}', '{"book":"b","spot":{"paragraph":"9"},"had":[]}']) {
    globalThis.localStorage = store();
    localStorage.setItem("readagent place", damaged);
    assert.equal(left.take(GOTO), null);
    assert.equal(localStorage.getItem("readagent place"), null);
  }
  const refuse = () => {
    throw new Error("QuotaExceededError");
  };
  globalThis.localStorage = Object.assign(store(), { getItem: refuse, setItem: refuse, removeItem: refuse });
  left.keep(SPOT);
  assert.equal(left.take(GOTO), null);
  Object.defineProperty(globalThis, "localStorage", { get: refuse, configurable: true }); // blocked
  left.keep(SPOT);
  assert.equal(left.take(GOTO), null);
});

test("the address may name the place that was left", () => {
  assert.ok(isAddressOf(SPOT, "?book=b&page=3"));
  assert.ok(isAddressOf({ ...SPOT, page: null }, "?book=b&paragraph=9"));
  assert.ok(!isAddressOf(SPOT, "?book=b&page=4"));
  assert.equal(laterThan(null, "b", GOTO), null);
});
