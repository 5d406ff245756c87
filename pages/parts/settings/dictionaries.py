"""The dictionaries on this computer: which are there, and the folders they are in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from pages.parts.settings import said
from pages.parts.shared import shell
from readagent_core.companion.freedict import GETTING, LISTING, Offer, start_getting, start_listing
from readagent_core.companion.looking_up import FOLDERS, dictionaries_of, indexing, start_indexing
from readagent_core.dictionaries.files import find_dictionaries
from readagent_core.dictionaries.shelf import FOLDER, Dictionaries, Dictionary
from readagent_core.dictionaries.unpacking import unpack_dictionary
from readagent_core.errors import ReadAgentError
from readagent_core.jobs import JobState
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

_OTHERS = """\
[Wiktionary’s dictionaries](https://github.com/Vuizur/Wiktionary-Dictionaries) explain the words of many languages in
English. Download the file with “stardict” in its name and put it below as it is.
"""
_NONE_YET = "No dictionary is on this computer yet."
_ASK = "Ask who runs this server to put one there: StarDict or dictd files."
_FREEDICT = "freedict.org has free dictionaries between two languages. Nothing about your books is sent."
REFUSED = "dictionary_refused"  # in the session: why the last file was not taken
_NONE_IN = "No dictionary was found in {}: name the folder with its .ifo or .index file."
_AT_ONCE = 0.3  # seconds


def draw(workspace: Workspace) -> None:
    st.subheader("Dictionaries", anchor=False)
    st.caption("In the reader press a word twice: it is looked up on this computer, without a network.")
    if "dictionary_turn" not in st.session_state:  # the screen was just opened
        _forget_failures(workspace)
    job = start_indexing(workspace)
    job.join(_AT_ONCE)  # it has ended where nothing was put there since the last time
    at_work = _at_work(workspace)
    st.fragment(_listed, run_every=1.0 if at_work else None)(workspace, at_work)


def _forget_failures(workspace: Workspace) -> None:
    """Tell no more of what failed: since then the person did something else."""
    st.session_state[REFUSED] = None
    for key in (LISTING, GETTING):
        job = workspace.jobs.get(key)
        if job is not None and job.snapshot.state == JobState.FAILED:
            workspace.jobs.forget(key)


def _at_work(workspace: Workspace) -> bool:
    """Whether dictionaries are being listed, fetched or indexed."""
    jobs = (indexing(workspace), *map(workspace.jobs.get, (LISTING, GETTING)))
    return any(job is not None and job.running for job in jobs)


def _listed(workspace: Workspace, was_at_work: bool) -> None:
    job = indexing(workspace) or start_indexing(workspace)
    shelf = dictionaries_of(workspace)
    found = shelf.all()
    with st.container(key="dictionaries"):
        for one in found:
            _row(workspace, shelf, one)
    if job.running:
        st.caption("Reading the words …")
    elif not found:
        st.markdown(f"{_NONE_YET} {_ASK if workspace.settings.team else ''}")
    if workspace.settings.team:
        return
    if workspace.settings.links:
        _get(workspace)
    st.markdown(_OTHERS)
    _take(workspace)
    folders = list(workspace.library.preference(FOLDERS, []))
    for number, folder in enumerate(folders):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(_said_of(folder, found, reading=job.running))
            if st.button("Leave it out", key=f"dictionary_folder_{number}"):
                _use(workspace, [other for other in folders if other != folder])
    with (
        st.container(key="unpacked_dictionaries"),
        st.expander("Dictionaries that are unpacked already"),
        st.form("dictionary_folder", border=False),
    ):
        own = shell.as_text(str(workspace.home / FOLDER))
        st.caption(f"StarDict and dictd files are found in {own}, and in folders that you name here.")
        field = f"dictionary_folder_after_{len(folders)}"  # an empty one as soon as the folder is used
        named = st.text_input("Folder with dictionaries", placeholder="/home/me/dictionaries", key=field)
        if st.form_submit_button("Use this folder") and named.strip():
            path = Path(named.strip()).expanduser()
            if path.is_file():
                shell.error_box(ReadAgentError(f"{path} is a file. Name the folder that it is in."))
            elif not path.is_dir():
                shell.error_box(ReadAgentError(f"There is no folder {path}. Check its name, then try again."))
            elif not find_dictionaries(path):
                shell.error_box(ReadAgentError(_NONE_IN.format(path)))
            else:
                _use(workspace, [*folders, str(path.resolve())])

    if was_at_work and not _at_work(workspace):
        st.rerun()  # without looking again every second


def _said_of(folder: str, found: Sequence[Dictionary], *, reading: bool) -> str:
    """A line about a folder that was named. ``reading``: its dictionaries may not have been found yet."""
    if not Path(folder).is_dir():
        return f"{folder} is not there: connect its disk, or leave it out."
    if reading or any(one.path.is_relative_to(folder) for one in found):
        return f"Also from {folder}"
    return _NONE_IN.format(folder)


def _row(workspace: Workspace, shelf: Dictionaries, one: Dictionary) -> None:
    """Draw one dictionary, and what removes it where that is ours to do."""
    key = hash(one.path)
    with st.container(horizontal=True, vertical_alignment="center", key=f"dictionary_{key}"):
        words = count_of(one.words, "word").replace(" ", "\u00a0")
        title = shell.as_text(one.title)
        broken = f":red[:material/error:] &nbsp; {title}: {shell.as_text(one.fault)}"
        st.markdown(broken if one.fault else f"{title} &nbsp; :gray[{words}]", width="stretch")
        if shelf.owns(one):
            with st.popover("Remove"):
                st.caption(f"The files of “{title}” are deleted. Words that you looked up in it stay among your words.")
                if st.button("Remove it", type="primary", key=f"remove_dictionary_{key}"):
                    _forget_failures(workspace)
                    said.say(f"Removed “{one.title}”.")
                    shell.guarded(lambda: shelf.remove(one))
        elif not workspace.settings.team:
            st.caption(f"In {shell.as_text(str(one.path.parent))}", width="content")


def _get(workspace: Workspace) -> None:
    """Choose one of the free dictionaries and fetch it."""
    listing, getting = workspace.jobs.get(LISTING), workspace.jobs.get(GETTING)
    for job in (listing, getting):
        if job is not None and job.snapshot.state == JobState.FAILED:
            shell.error_box(job.snapshot.failure)
    running = next((job for job in (listing, getting) if job is not None and job.running), None)
    with st.container(horizontal=True, vertical_alignment="bottom", key="free_dictionaries"):
        if running is not None:
            now = running.snapshot
            came = f"Fetching it: {now.done / 1e6:.1f} of {now.total / 1e6:.1f} MB"
            st.progress(now.done / max(1, now.total), came if running is getting else "Looking which there are")
            st.button("Stop", key="stop_dictionary", on_click=running.cancel)
        elif listing is not None and listing.snapshot.state == JobState.DONE:
            offers: list[Offer] = listing.snapshot.value
            own = workspace.home / FOLDER
            here = {offer: (own / offer.folder).is_dir() for offer in offers}
            offer = st.selectbox(
                "A free one between two languages",
                sorted(offers, key=here.__getitem__),  # those that are here come last
                format_func=lambda one: f"{one.title()}{', here already' * here[one]}",
            )
            label = "Get it again" if here[offer] else "Get it"
            if st.button(label, key="get_dictionary", type="secondary" if here[offer] else "primary"):
                _forget_failures(workspace)
                start_getting(workspace, offer)
                st.rerun()
        elif st.button("Find a free one", key="find_dictionary", type="primary"):
            _forget_failures(workspace)
            start_listing(workspace, (st.context.locale or "en").split("-")[0].lower())
            st.rerun()
    if listing is None or listing.snapshot.state == JobState.FAILED:
        st.caption(_FREEDICT)


def _take(workspace: Workspace) -> None:
    """Take an archive with a dictionary, as it is downloaded, and unpack it."""
    turn = st.session_state.setdefault("dictionary_turn", 0)
    file = st.file_uploader("A dictionary as it was downloaded (ZIP or tar archive)", key=f"dictionary_file_{turn}")
    shell.error_box(st.session_state.get(REFUSED))
    if file is None:
        return
    st.session_state["dictionary_turn"] = turn + 1  # an empty field
    _forget_failures(workspace)
    own = workspace.home / FOLDER
    before = set(own.iterdir()) if own.is_dir() else set()
    try:
        again = unpack_dictionary(file.getvalue(), file.name, own) in before
        said.say(f"{file.name} took the place of the one that was here." if again else f"Added {file.name}.")
    except ReadAgentError as error:
        st.session_state[REFUSED] = error
    start_indexing(workspace)
    st.rerun()


def _use(workspace: Workspace, folders: list[str]) -> None:
    _forget_failures(workspace)
    workspace.library.set_preference(FOLDERS, list(dict.fromkeys(folders)))
    start_indexing(workspace)
    st.rerun()
