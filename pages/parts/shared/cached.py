"""The workspaces of this process: one, or one for each person on a server for several. Knows nothing of screens.

They live in ``st.cache_resource``, so that running jobs survive reruns and closed tabs. Every screen, callback and
request takes its workspace from here, and hands it on: nothing else knows whose home it is.
"""

from __future__ import annotations

import time

import streamlit as st
from starlette.requests import HTTPConnection

from pages.parts.shared.signed_in import person_of_request, person_of_session
from readagent_core.incoming.samples import add_samples
from readagent_core.settings import load_settings
from readagent_core.team.people import Person
from readagent_core.workspace import Workspace

IDLE_SECONDS = 3600.0
_open: dict[str, Workspace] = {}  # by person
_used: dict[str, float] = {}  # when the workspace of each person was last asked for, of those with an open library


def get_workspace() -> Workspace:
    """The workspace of the session whose script runs. Raises ReadAgentError, where nobody is signed in SignInError."""
    return _workspace_of(person_of_session())


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


@st.cache_resource(show_spinner=False)
def _open_workspace(person_id: str) -> Workspace:
    """The workspace over the settings in force, the samples added on first start."""
    workspace = _open[person_id] = Workspace(load_settings(person=person_id))
    add_samples(workspace)
    return workspace
