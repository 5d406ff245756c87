// Writes Streamlit's current theme, light or dark, to the document's root, where tokens.css reads it. A change of the
// system's setting or in Streamlit's menu runs no script of the app, but changes the class of Streamlit's root element.
// No HTML tag may appear in this file, not even in a comment: st.html would drop the script.

import { APP } from "./streamlit.js";

const app = document.querySelector(APP);
const copyTheme = () => (document.documentElement.dataset.theme = getComputedStyle(app).colorScheme);
new MutationObserver(copyTheme).observe(app, { attributeFilter: ["class"] });
copyTheme();
