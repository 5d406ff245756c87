"""The workspaces of this process: one, or one for each person on a server for several. Knows nothing of screens.

Running jobs survive reruns and closed tabs, because the workspaces stay as long as the process. They are not in
``st.cache_resource``: whoever is connected may empty that for everybody by one message. Every screen, callback and
request takes its workspace from here, and hands it on: nothing else knows whose home it is.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from types import ModuleType

from starlette.requests import HTTPConnection

from pages.parts.shared.signed_in import person_of_request, person_of_session
from readagent_core.cancel import CancelToken, key_lock
from readagent_core.errors import ReadAgentError
from readagent_core.export.notes_folder import keep_up_to_date
from readagent_core.gisting.queue import start_queue
from readagent_core.incoming.samples import add_samples
from readagent_core.library.restoring import restore_now
from readagent_core.library.schema import FILE
from readagent_core.settings import home_folder, load_settings, load_team
from readagent_core.team.people import Person
from readagent_core.workspace import Workspace

IDLE_SECONDS = 3600.0
# Streamlit's file watcher unloads every module that has a file, also this one; so a module without a file has them
_KEEPER = vars(sys.modules.setdefault("readagent_workspaces", ModuleType("readagent_workspaces")))
_open: dict[str, Workspace] = _KEEPER.setdefault("by_person", {})
_used: dict[str, float] = _KEEPER.setdefault("used", {})  # when each was last asked for, of those with an open library
_news: list[str] = _KEEPER.setdefault("news", [])


def get_workspace() -> Workspace:
    """The workspace of the session whose script runs. Raises ReadAgentError, where nobody is signed in SignInError."""
    return _workspace_of(person_of_session())


def restore_chosen() -> None:
    """Put the backup that was chosen in Settings in the place of the library, before anything opens that."""
    if load_team() is None:
        try:
            if restore_now(home_folder()):
                _news.append("The backup was restored. Your library of before is kept: Settings, Storage.")
        except ReadAgentError as error:
            _news.append(f"The backup was not restored. {error}")


def news_of_start() -> str:
    """What the start did about a backup, for whoever sees the app first; said once."""
    return _news.pop() if _news else ""


def go_on_with_queue() -> None:
    """Go on with the books that wait for their gists, after a restart, also where no browser is open.

    On a server for several people that happens when each of them comes back.
    """
    settings = load_settings()
    if settings.team is None and (settings.home / FILE).is_file():
        with suppress(ReadAgentError):  # the first screen shows it
            _open_workspace("")


def workspace_of_request(request: HTTPConnection) -> Workspace:
    """The workspace of whoever sent the request. Raises ReadAgentError, where nobody is signed in SignInError."""
    return _workspace_of(person_of_request(request))


def open_workspaces() -> dict[str, Workspace]:
    """The workspaces that were opened since this process started, by their person's id."""
    return dict(_open)


def _workspace_of(person: Person | None) -> Workspace:
    """Return the workspace of this person, and close the libraries of those who have been idle for long."""
    person_id, now = person.id if person else "", time.monotonic()
    workspace = _open_workspace(person_id)
    _used[person_id] = now
    for other, used in list(_used.items()):
        if now - used > IDLE_SECONDS and not _open[other].jobs.running():
            _open[other].library.close()  # its next use opens it again
            _used.pop(other, None)
    return workspace


def _open_workspace(person_id: str) -> Workspace:
    """The workspace over the settings in force, the samples added on first start."""
    if person_id not in _open:
        with key_lock(f"workspace of {person_id}", CancelToken()):
            if person_id not in _open:
                workspace = Workspace(load_settings(person=person_id))
                add_samples(workspace)
                _open[person_id] = workspace
                start_queue(workspace)
                keep_up_to_date(workspace)
    return _open[person_id]
