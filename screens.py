"""The script of every run: page settings, the screens, and what stands in the frame of all of them."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from pages.parts.shared import account, book, shell
from pages.parts.shared.cached import get_workspace
from readagent_core.errors import ReadAgentError, SignInError

st.set_page_config(page_icon=shell.MARK, layout="wide", initial_sidebar_state="auto")
pages = [
    st.Page("pages/library.py", title="Library", default=True),
    st.Page("pages/read.py", title="Read"),
    st.Page("pages/ask.py", title="Ask"),
    st.Page("pages/compare.py", title="Compare"),
    st.Page("pages/evaluate.py", title="Evaluate"),
]
try:
    person, refused = account.signed_in(), None
except SignInError as error:
    person, refused = None, error
if person:
    pages.append(st.Page("pages/shared.py", title="Shared"))
pages.append(st.Page("pages/settings.py", title="Settings"))
pages.append(st.Page("pages/catalogue.py", title="Catalogue", visibility="hidden"))
pages.append(st.Page("pages/act.py", title="Act", visibility="hidden"))  # for saved web pages; Ask leads there
pages.append(st.Page("pages/gists.py", title="Gists", visibility="hidden"))  # the library leads there
if person and person.admin:
    pages.append(st.Page("pages/people.py", title="People"))
screen = st.navigation(pages, position="hidden" if refused else "top")
if refused:
    account.draw_refusal(refused)
    st.stop()
shell.set_title(screen.title)
book.note_screen(screen.title)
with suppress(ReadAgentError):  # the screen shows it
    shell.model_line(get_workspace().model, warn=screen.title != "Settings")
screen.run()
