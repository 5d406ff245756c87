// Writes on the document's root which of its two themes Streamlit wears; the tokens follow. Streamlit takes up a
// change of the system's setting, or one in its menu, by itself and runs no script for it: what changes then is the
// class of its own root. (No tag may stand here, not even in a comment: st.html would drop the script.)
{
  const app = document.querySelector(".stApp");
  const wear = () => (document.documentElement.dataset.theme = getComputedStyle(app).colorScheme);
  new MutationObserver(wear).observe(app, { attributeFilter: ["class"] });
  wear();
}
