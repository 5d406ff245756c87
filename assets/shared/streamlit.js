// Everything of Streamlit's page that is not part of its public interface and may change with a release.
// pages/parts/shared/streamlit_private.py has the Python side; tests/app/test_streamlit_private.py checks both.

export const APP = ".stApp";
export const CHAT_INPUT = '[data-testid="stChatInput"]';
export const COMPONENT = ".stBidiComponent";
export const DIALOG = '[role="dialog"]';
export const DIALOG_CLOSE = '[aria-label="Close"]';

const SCREENS = ["", "read", "ask", "compare", "evaluate", "settings"];

/** The element of `st.container(key=…)`. */
export const container = (key) => `.st-key-${key}`;

/** Makes `theme` ("Light", "Dark" or "System") Streamlit's own theme; it is read when a page is loaded. */
export function storeTheme(theme) {
  const base = location.pathname.replace(/[^/]*$/, "");
  for (const screen of SCREENS) localStorage.setItem(`stActiveTheme-${base}${screen}-v2`, JSON.stringify(theme));
}
