"""Signing in and out, on a server for several people."""

from __future__ import annotations

import streamlit as st

from pages.parts.shared import shell
from pages.parts.shared.signed_in import person_of_session
from readagent_core.errors import NotSignedInError, SignInError
from readagent_core.settings import home_folder
from readagent_core.team import audit
from readagent_core.team.people import Person, note_visit
from readagent_core.workspace import Workspace, folder_size

_NOTED = "visit_noted"  # in the session's state: the person whose visit is recorded


def signed_in() -> Person | None:
    """Return whoever is signed in, and record the visit once a session; None on a computer of one person.

    Raises SignInError where nobody is, or the account is not admitted.
    """
    person = person_of_session()
    if person and st.session_state.get(_NOTED) != person.id:
        note_visit(person, home_folder())
        audit.record(home_folder(), person.id, "signed in")
        st.session_state[_NOTED] = person.id
    return person


def draw_refusal(refused: SignInError) -> None:
    """Draw the screen of somebody who is not signed in, or whose account is not admitted."""
    shell.set_title("Sign in")
    with st.container(key="sign_in", horizontal_alignment="center", gap="medium"):
        st.title("ReadAgent", anchor=False, width="content")
        if isinstance(refused, NotSignedInError):
            st.text(str(refused), width="content")
            st.button("Sign in", type="primary", key="sign_in_button", on_click=st.login)
            return
        if not st.session_state.get(_NOTED):
            audit.record(home_folder(), "", "refused")
            st.session_state[_NOTED] = "refused"
        with st.container(border=True, width=520):
            st.text(str(refused))
            st.button("Sign out", key="sign_out", on_click=st.logout)


def draw(person: Person, workspace: Workspace) -> None:
    """Draw the tab of Settings about the person's account."""
    st.subheader("Account", anchor=False)
    st.text(f"{person.name}\n{person.email}" if person.name != person.email else person.email)
    most = workspace.settings.team.megabytes if workspace.settings.team else 0
    st.text(f"{shell.file_size(folder_size(workspace.home))} stored, of at most {most:,} MB")
    st.caption(
        "Your books, notes, questions and keys are in a folder of your own on this server. Nobody else who signs in "
        "can open them; whoever runs the server has its disk."
    )

    def sign_out() -> None:
        audit.record(home_folder(), person.id, "signed out")
        st.logout()

    st.button("Sign out", key="sign_out", on_click=sign_out)
    if person.admin:
        st.page_link("pages/people.py", label="People on this server", icon=":material/group:")
    with st.expander("Your id on this server"):
        st.code(person.id, language=None)
