"""Add a book › From a catalogue: browse and search the catalogues of others, and add with one press."""

from __future__ import annotations

import streamlit as st

from pages.parts.library import catalogue
from pages.parts.shared import book as current
from pages.parts.shared import polling, shell
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import act_of, call_with_act, component

KEY = "catalogue"
POLL_SECONDS = 0.5


@st.fragment
def board() -> None:
    """The catalogues, and the page of one that is open; runs again by itself while a book is being added."""
    workspace = get_workspace()
    polling.rerun_after(POLL_SECONDS if catalogue.adding(workspace) else None, key=KEY)
    mount = component("catalogue", "catalogue/catalogue.js", style="shared/cover.css catalogue/catalogue.css")
    on_act = call_with_act(lambda act: catalogue.act_on(workspace, act), KEY)
    act = act_of(mount(key=KEY, data=catalogue.data(workspace), on_act_change=on_act))
    if act is not None and act.do == "read":
        current.read_at(act.of)
    elif act is not None and act.do in ("name", "login"):
        st.session_state["catalogue_naming"] = catalogue.browsing().chosen if act.do == "login" else None, act.text
        st.rerun()


def show() -> None:
    shell.set_title("From a catalogue")
    shell.link_back()
    board()
    if naming := st.session_state.pop("catalogue_naming", None):
        catalogue.name_catalogue(get_workspace(), *naming)


shell.draw(show)
