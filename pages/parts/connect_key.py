"""Where the key is kept, in Settings: the choice, and what is told of the system's keyring."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from readagent_core.errors import ReadAgentError
from readagent_core.study import Study, key_places

PLACES = {
    key_places.MEMORY: "Only until the app stops",
    key_places.KEYRING: "In the system's keyring",
    key_places.FILE: "In a file only you can read",
}
ABOUT = {
    key_places.MEMORY: "It stands nowhere on the disk; you enter it again next time.",
    key_places.KEYRING: "Your system locks it away with its other passwords.",
    key_places.FILE: "It stands there as it is, not encrypted.",
}


def choice(study: Study, *, scope: str, same: bool, key_page: str) -> str:
    """The place chosen. ``same``: the address is the one in use, so that the place in use is shown."""
    offered = key_places.places()
    now = study.settings.origin.get("api_key", "") if same else ""
    place = st.radio(
        "Keep the key",
        offered,
        index=offered.index(now) if now in offered else 0,
        format_func=PLACES.__getitem__,
        horizontal=True,
        key=f"{scope}_keep",
    )
    made = f" Keys are made at {key_page}." if key_page else ""
    st.caption(f":material/lock: {ABOUT[place]} The key is never shown again, logged or exported.{made}")
    return place


def notices(study: Study) -> None:
    """A key that the keyring does not give, and one that it does not let go; each with what can be done."""
    if study.settings.key_trouble:
        title = "The keyring does not give the key"
        told(study, title, study.settings.key_trouble, "Ask the keyring again", key_places.ask_again)
    if left := key_places.left(study):
        told(study, "A key was left behind", left, "Remove it now", key_places.remove_left)


def told(study: Study, title: str, line: str, button: str, act: Callable[[Study], None]) -> None:
    """The line with a button for ``act``; where that does not succeed, what came of it stands below."""
    name = act.__name__
    with st.container(border=True, key=f"error_calm_{name}"):
        st.markdown(f":orange[:material/lock:] &nbsp; **{title}**")
        st.text(line)
        if not st.button(button, key=name):
            return
        try:
            with st.spinner("The keyring may ask for its password in another window"):
                act(study)
        except ReadAgentError as error:
            st.caption("It was tried again, with the same answer." if str(error) in line else str(error))
        else:
            st.rerun()
