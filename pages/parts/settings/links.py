"""The switch that turns links off: then nothing is fetched from the web, by the app or the command line."""

from __future__ import annotations

import streamlit as st

from pages.parts.shared import shell
from readagent_core.connecting import connecting
from readagent_core.errors import ReadAgentError
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace

PLACES = {"environment": "the environment", "secrets": "secrets.toml"}


def draw(workspace: Workspace) -> None:
    st.subheader("Links", anchor=False)
    place = PLACES.get(load_settings(person=workspace.settings.person).origin.get("links", ""), "")
    on = st.toggle("Open web pages by their address", workspace.settings.links, disabled=bool(place), key="links_on")
    who = "This server" if workspace.settings.team else "This computer"
    st.caption(
        f"{who} fetches an address that you paste, once, without cookies or passwords, and only from public servers: "
        "never from this computer or your local network."
    )
    if place:
        st.caption(f"READAGENT_LINKS in {place} decides. Change it there and restart ReadAgent.")
    elif on != workspace.settings.links:
        try:
            connecting.change_settings(workspace, {"links": "on" if on else "off"})
        except ReadAgentError as error:
            shell.error_box(error)
        else:
            st.rerun()
