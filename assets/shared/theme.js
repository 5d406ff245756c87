// The theme is the app's own choice: the attribute data-theme of the root element, "system", "light", "sepia" or "dark".
// Streamlit follows the system's. So the media query it asks and listens to answers with our choice.

import { forget, keptKeys } from "./browser_store.js";
import { STORED_THEME } from "./streamlit.js";

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
/** @type {Record<string, boolean>} */
const DARK = { light: false, sepia: false, dark: true };

/** Call before Streamlit's own scripts run. */
export function followTheme() {
  for (const key of keptKeys()) if (key.startsWith(STORED_THEME)) forget(key);
  const query = /** @type {MediaQueryList} */ (Object.assign(new EventTarget(), { media: system.media }));
  Object.defineProperty(query, "matches", { get: () => DARK[root.dataset.theme ?? ""] ?? system.matches });
  const ask = window.matchMedia.bind(window);
  window.matchMedia = (text) => (text === system.media ? query : ask(text));
  const changed = () => query.dispatchEvent(new Event("change"));
  system.addEventListener("change", changed);
  new MutationObserver(changed).observe(root, { attributeFilter: ["data-theme"] });
}
