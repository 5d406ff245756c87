// Looks at what comes: one without an answer is asked for again, after ever longer times.

import assert from "node:assert/strict";
import { test } from "node:test";

const heard = () => {};
Object.assign(globalThis, {
  addEventListener: heard,
  ShadowRoot: class {},
  location: { pathname: "/ask" },
  document: { addEventListener: heard, querySelectorAll: () => [] },
  window: globalThis,
});
const { default: mount } = await import("../../assets/shared/polling.js");

test("a look that takes long is not asked for faster than it can end", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  t.mock.method(performance, "now", () => Date.now() + 60_000);
  const asked = [];
  const parentElement = { getRootNode: () => ({}) };
  const stop = mount({ parentElement, data: [{ seconds: 0.5, turn: 1, screen: "ask" }], setTriggerValue: () => asked.push(Date.now()) });
  for (let second = 0; second < 60; second += 0.5) t.mock.timers.tick(500);
  stop();
  assert.deepEqual(asked, [500, 5_000, 13_500, 30_000]);
});
