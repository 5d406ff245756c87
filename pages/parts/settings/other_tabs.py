"""The other tabs of Settings: what a page looks like, what is stored on this computer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.parts.settings import backups, said
from pages.parts.shared import gisting_status, shell
from pages.parts.shared.gisting_status import LOCAL_FACE
from pages.parts.shared.typefaces import PACKAGES
from readagent_core.models.cache.store import DAYS, MEGABYTES, CacheState
from readagent_core.models.connection import open_cache, open_spending_log
from readagent_core.models.cost.prices import money
from readagent_core.workspace import Workspace

PREVIEW = (  # how the bundled story begins
    "I came to Harrow to count things. That is what I was paid for, and at two pounds a week I did not expect to be "
    "paid for anything else.",
    "The Board of Coast Lights keeps thirty-one lighthouses, four lightships and one clerk of accounts, whose name is "
    "Nora Pell; and on Monday the twenty-seventh of November, 1911, Nora Pell was sitting in the stern of an open boat "
    "with her hat tied under her chin and a leather satchel held on her knees like a baby.",
)
THEMES = {"system": "System", "light": "Light", "sepia": "Sepia", "dark": "Dark"}
FACES = {
    "serif": "Serif",
    "source-serif": "Source Serif",
    "caladea": "Caladea",
    "sans": "Sans",
    "source-sans": "Source Sans",
    "lato": "Lato",
}


def appearance_tab(workspace: Workspace) -> None:
    look = gisting_status.look_of(workspace.library.preference("look", {}))
    st.subheader("Theme and type", anchor=False)
    measures, choices = st.columns(2, gap="large")
    chosen = {
        "size": measures.select_slider("Text size", range(12, 37), look["size"], key="look_size"),
        "measure": measures.select_slider("Line length", range(40, 91), look["measure"], key="look_measure"),
        "face": choices.segmented_control(
            "Typeface",
            list(FACES),
            default=look["face"] if look["face"] in FACES else None,
            format_func=FACES.__getitem__,
            key="look_face",
            required=True,
        ),
        "theme": choices.segmented_control(
            "Theme",
            list(THEMES),
            default=look["theme"],
            format_func=THEMES.__getitem__,
            key="look_theme",
            required=True,
        ),
    }
    st.caption(
        "The theme applies to the whole app, the rest to books, where a line is never wider than the window. While "
        "reading, “Aa” has more choices."
    )
    shell.apply_theme(str(chosen["theme"]))
    wanted = look | {
        name: value for name, value in chosen.items() if value
    }  # no face here is one of the computer's own
    st.html(_preview(wanted))
    if wanted != look:
        workspace.library.set_preference("look", wanted)
        st.rerun()


def _preview(look: Mapping[str, Any]) -> str:
    """A few lines of a book in the look that is chosen."""
    face = str(look["face"])
    name = FACES.get(face) or re.sub(r"[^\w .-]", "", face.removeprefix(LOCAL_FACE))
    family = f"var(--{face})" if face in ("serif", "sans") else f'"{name}", var(--serif)'
    sent = f'<style>@font-face {{ font-family: "{name}"; src: url("typeface/{name}-Regular.ttf"); }}</style>'
    style = f"font: 400 {look['size']}px/{look['lines'] / 100} {family}; max-width: {look['measure']}ch"
    return (
        f'{sent if name in PACKAGES else ""}<div class="preview" role="img" aria-label="A page in this look">'
        f"<div style='{style}'><p>{'</p><p>'.join(PREVIEW)}</p></div></div>"
    )


def cache_line(state: CacheState) -> str:
    """What the cache of replies has, in a sentence."""
    if not state.replies:
        return "No replies are stored yet."
    many = "1 reply" if state.replies == 1 else f"{state.replies:,} replies"
    return f"{many}, {shell.file_size(state.bytes)} of at most {shell.file_size(state.limit)}."


def storage_tab(workspace: Workspace) -> None:
    cache = open_cache(workspace.settings)
    saved = workspace.settings.saved
    st.subheader("On this server" if workspace.settings.team else "On this computer", anchor=False)
    where = "" if workspace.settings.team else f"Everything is stored in {workspace.home}\n"
    st.text(f"{where}Library: {shell.file_size(workspace.library.storage())}")
    backups.draw(workspace)
    st.subheader("Saved replies", anchor=False)
    st.caption("The same request to the same model is never sent twice. Keys and prompts are not stored here.")
    st.text(cache_line(cache.state()))
    for notice in cache.notices:
        st.caption(f":orange[:material/warning:] {notice}")
    fields = st.grid(3)
    megabytes = fields.number_input(
        "Largest size, 16 to 100,000 MB",
        16,
        100_000,
        shell.clamp(saved.cache_megabytes or MEGABYTES, 16, 100_000),
        step=64,
    )
    days = fields.number_input(
        "Delete after days, 1 to 3,650", 1, 3650, shell.clamp(int(saved.cache_days) or int(DAYS), 1, 3650), step=30
    )
    with st.container(horizontal=True):
        if st.button("Save these limits", key="save_numbers_cache"):
            changes = {"cache_megabytes": int(megabytes), "cache_days": int(days)}
            shell.guarded(lambda: said.save(workspace, changes))
        with st.popover("Delete all replies"):
            st.caption("Books, gists and answers stay. A request that is made again is paid for again.")
            if st.button("Delete them", type="primary", key="clear_cache"):
                gone = cache.clear()
                said.say(f"{gone:,} replies deleted." if gone != 1 else "1 reply deleted.")
                st.rerun()
    st.subheader("Spent this month", anchor=False)
    spent = open_spending_log(workspace.settings.spending_folder).by_model()
    if not spent:
        st.caption("Nothing.")
    for name, dollars in sorted(spent.items(), key=lambda row: -row[1]):
        st.text(f"{money(dollars)}  {name}")
