"""Backups in Settings: the library as a file, a backup brought back at the next start, and what was there before it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path

import streamlit as st

from pages.parts.shared import shell
from readagent_core.errors import ReadAgentError
from readagent_core.library import restoring
from readagent_core.library.backup import Backup, back_up, inspect_backup, unpack
from readagent_core.restart import can_restart, restart
from readagent_core.words import count_of
from readagent_core.workspace import Workspace, folder_size

LARGEST = 2000  # megabytes: a file that the browser sends is held in memory
_NAMED = 6  # titles in a sentence
_ENDS = "End ReadAgent where it was started, or close its window, and start it again."
_LEAD_BACK = """(() => {
  let gone = false;
  const look = () => fetch("_stcore/health", {cache: "no-store"}).then(
    ({ok}) => (ok && gone ? location.assign("./") : setTimeout(look, 200)),
    () => { gone = true; setTimeout(look, 200); });
  look();
})()"""  # opens the library once the app has gone and is here again
_RESTARTS = "ReadAgent closes for it and opens again by itself, in a few seconds: leave this page open."


def backup_file(home: Path) -> bytes:
    """Make a backup of the home folder and return its ZIP file. Raises LibraryError."""
    with tempfile.TemporaryDirectory(prefix="readagent-backup-") as folder:
        return back_up(home, Path(folder) / "backup.zip").path.read_bytes()


def draw(workspace: Workspace) -> None:
    home, team = workspace.home, workspace.settings.team
    coming = None if team else restoring.comes_next(home)
    buttons, told = st.container(horizontal=True), st.empty()
    with buttons:
        shell.save_button(
            "Download a backup",
            partial(backup_file, home),
            f"readagent-{time.strftime('%Y-%m-%d')}.zip",
            mime="application/zip",
            told=told,
            icon=":material/download:",
            key="backup",
        )
        if not team and st.button("Restore a backup…", icon=":material/upload:", key="restore", disabled=bool(coming)):
            _restore(workspace)
    st.caption(
        "One ZIP file with books, notes, gists, answers and original files, without keys. "
        + (
            "Whoever runs this server can bring it back."
            if team
            else "Restoring one replaces what is here now; that is kept aside, and can be brought back."
        )
    )
    if coming:
        _comes_next(home, coming)
    if not team:
        for folder, when in restoring.kept_libraries(home).items():
            if folder != coming:
                _kept(home, folder, when)


def tell_of_restore(workspace: Workspace) -> None:
    """Say on another screen that a backup is restored at the next start; nothing where none is."""
    if not workspace.settings.team and restoring.comes_next(workspace.home):
        with st.container(border=True, horizontal=True, vertical_alignment="center", key="restore_waits"):
            st.text(
                "Another library takes the place of this one when ReadAgent starts next. What you add or note until "
                "then is kept aside with this one.",
                width="stretch",
            )
            if st.button("See or stop it", key="see_restore"):
                st.session_state["settings_tab"] = "Storage"
                st.switch_page("pages/settings.py")


def _restart() -> None:
    st.text("ReadAgent closes and opens again. Your library is here in a few seconds.")
    st.html(f"<script>{_LEAD_BACK}</script>", unsafe_allow_javascript=True)
    restart()
    st.stop()


def _day(when: datetime) -> str:
    return f"{when.day} {when:%B %Y, %H:%M}"


def _what(stored: restoring.Stored) -> str:
    return f"{count_of(len(stored.books), 'book')} and {count_of(stored.notes, 'note')}"


def _titles(books: Mapping[str, str]) -> str:
    titles = list(books.values())
    more = f" and {len(titles) - _NAMED} more" if len(titles) > _NAMED else ""
    return f"{'; '.join(titles[:_NAMED])}{more}"


def _comes_next(home: Path, folder: Path) -> None:
    """What happens at the next start, and the button that calls it off."""
    with st.container(border=True, key="comes_next"):
        st.markdown(":material/schedule: &nbsp; **Restored at the next start**")
        st.text(
            f"{_what(restoring.stored_in(folder))} then take the place of what is here; that is kept, and can be "
            f"brought back. "
            f"{_RESTARTS if can_restart() else _ENDS} Until then you can read on; what you note until then is kept "
            "aside as well."
        )
        with st.container(horizontal=True):
            if can_restart() and st.button("Restart and restore now", type="primary", key="restart"):
                _restart()
            if st.button("Do not restore it", key="leave_in_place"):
                shell.guarded(lambda: restoring.leave_in_place(home))


def _kept(home: Path, folder: Path, when: datetime) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"kept_{folder.name}"):
        try:
            what = _what(restoring.stored_in(folder))
        except ReadAgentError as error:
            what = str(error)
        size = shell.file_size(folder_size(folder))
        st.text(f"Your library as it was until {_day(when)}\n{what}, {size}", width="stretch")
        if st.button("Bring it back", key=f"bring_{folder.name}"):
            shell.guarded(lambda: restoring.restore_at_start(home, folder))
        with st.popover("Delete"):
            st.caption("These books and notes are deleted for good. The library of now stays as it is.")
            if st.button("Delete them", type="primary", key=f"delete_{folder.name}"):
                shutil.rmtree(folder, ignore_errors=True)
                st.rerun()


def _restore(workspace: Workspace) -> None:
    st.session_state.pop("unpacked", None)
    st.dialog("Restore a backup", width="medium", on_dismiss=partial(_forget, workspace.home))(_choose)(workspace)


def _forget(home: Path) -> None:
    """Delete what was unpacked of a backup that is not wanted after all."""
    st.session_state.pop("unpacked", None)
    restoring.leave_in_place(home)


def _choose(workspace: Workspace) -> None:
    """Take the file, say what it has and would change, and ask."""
    home = workspace.home
    file = st.file_uploader(
        "The backup, a ZIP file",
        max_upload_size=LARGEST,
        key="backup_to_restore",
        help="For a file of more than 2 GB, end ReadAgent and run `readagent restore --replace` with its name.",
    )
    if file is None:
        st.caption(
            "It takes the place of what is here now, which is kept aside. You are told what it holds before anything "
            "is changed. Nothing leaves this computer."
        )
        return
    if st.session_state.get("unpacked", ("",))[0] != file.file_id:
        _forget(home)
        try:
            with st.spinner("Reading the backup…"), tempfile.TemporaryDirectory(prefix="readagent-restore-") as folder:
                path = Path(folder) / (Path(file.name).name or "backup.zip")
                with path.open("wb") as target:
                    shutil.copyfileobj(file, target)
                st.session_state["unpacked"] = (file.file_id, inspect_backup(path), unpack(path, home))
        except ReadAgentError as error:
            shell.error_box(error)
            return
    _, backup, fresh = st.session_state["unpacked"]
    try:
        _compare(workspace, backup, fresh)
    except ReadAgentError as error:
        shell.error_box(error)


def _compare(workspace: Workspace, backup: Backup, fresh: Path) -> None:
    home, now_possible = workspace.home, can_restart()
    then, now = restoring.stored_in(fresh), restoring.stored_in(home)
    st.text(f"Backup of {_day(datetime.fromtimestamp(backup.made))}: {_what(then)}\nIn the library now: {_what(now)}")
    if gone := {key: title for key, title in now.books.items() if key not in then.books}:
        st.text(f"Not in the backup, so not in the library afterwards: {_titles(gone)}")
    if back := {key: title for key, title in then.books.items() if key not in now.books}:
        st.text(f"Here again afterwards: {_titles(back)}")
    st.text(
        "The backup replaces the library of now; nothing is merged. What is here now, with its settings, is kept "
        "aside on this computer, and can be brought back here. A model’s key is in no backup: you would enter it again."
    )
    st.caption(_RESTARTS if now_possible else f"It is done when ReadAgent starts next. {_ENDS}")
    if now_possible and workspace.jobs.running():
        st.caption("What is being made now, gists or an answer, stops; gists can be made further afterwards.")
    with st.container(horizontal=True):
        label = "Restore it now" if now_possible else "Restore at the next start"
        if st.button(label, type="primary", key="restore_at_start"):
            restoring.restore_at_start(home, fresh)
            st.session_state.pop("unpacked")
            if now_possible:
                _restart()
            st.rerun()
        if st.button("Leave everything as it is", key="restore_nothing"):
            _forget(home)
            st.rerun()
