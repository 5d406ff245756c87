"""Settings: the model, the appearance, and what is stored on this computer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.parts.settings import dictionaries, links, model_tab, originals, other_tabs, phone, said
from pages.parts.settings.model_fields import SAID
from pages.parts.shared import account, shell
from pages.parts.shared.book import draw_way_back
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import component
from pages.parts.shared.signed_in import person_of_session
from readagent_core.connecting import connecting
from readagent_core.workspace import Workspace


def storage(workspace: Workspace) -> None:
    other_tabs.storage_tab(workspace)
    originals.draw(workspace)
    links.draw(workspace)


TABS: dict[str, Callable[[Workspace], None]] = {
    "Model": model_tab.model_tab,
    "Appearance": other_tabs.appearance_tab,
    "Dictionaries": dictionaries.draw,
    "Storage": storage,
}


def screen() -> None:
    shell.header("Settings")
    workspace = get_workspace()
    opened = st.session_state.setdefault("settings_opened", set())  # these stay drawn: what is typed there is not lost
    shown, person = dict(TABS), person_of_session()
    if workspace.settings.team is None:
        shown["On my phone"] = phone.draw
    if person:
        shown["Account"] = partial(account.draw, person)
    draw_way_back()
    with st.container(key="settings"):
        tabs = st.tabs(list(shown), key="settings_tab", on_change="rerun", bind="query-params")
    for tab, (name, draw) in zip(tabs, shown.items(), strict=True):
        if tab.open or name in opened:
            opened.add(name)
            with tab:
                draw(workspace)
    with st.container(key="unseen_settings"):
        test = workspace.jobs.get(connecting.TEST_KEY)
        data = {
            "began": test.snapshot.started if test else 0,
            "said": st.session_state.get(SAID, 0),
            "card": st.session_state.get("model_kind", ""),
        }
        component("settings", "settings.js", html="")(key="settings_eye", data=data)
    said.draw()


shell.draw(screen)
