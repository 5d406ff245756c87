// What this browser keeps from one visit to the next. One that keeps nothing, or has no room, breaks nothing.

/** @template T @param {() => T} act @returns {T | null} */
function allowed(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

/** @param {string} key */
export const kept = (key) => allowed(() => localStorage.getItem(key));

/** @param {string} key @param {string} value */
export const keep = (key, value) => allowed(() => localStorage.setItem(key, value));

/** @param {string} key */
export const forget = (key) => allowed(() => localStorage.removeItem(key));

/** The value that was kept as JSON; null where there is none, or it is damaged. @param {string} key @returns {unknown} */
export const keptJson = (key) => allowed(() => JSON.parse(localStorage.getItem(key) ?? "null"));

export const keptKeys = () => allowed(() => Object.keys(localStorage)) ?? [];
