// State that several components of this browser tab share. Streamlit loads every component's script as a module of its
// own, each with its own copy of the modules it imports, so a variable of a module is not shared between components.

const NAME = Symbol.for("readagent.tab");

/**
 * The tab's value of this name; `create` makes it at the first call.
 * @template T
 * @param {string} name
 * @param {() => T} create
 * @returns {T}
 */
export function tabState(name, create) {
  const tab = /** @type {{[NAME]?: Map<string, unknown>}} */ (globalThis);
  tab[NAME] ??= new Map();
  const states = tab[NAME];
  if (!states.has(name)) states.set(name, create());
  return /** @type {T} */ (states.get(name));
}
