"""The tour for the first visit: five short steps through the bundled novella and its recorded reading.

It can be skipped at every step and does not come back. app.py shows it over any screen.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages.parts.shared import book as current
from pages.parts.shared.cached import get_workspace
from readagent_core.errors import ReadAgentError
from readagent_core.library.records import Book, Exchange
from readagent_core.workspace import Workspace
from readagent_core.workspace.samples import NAMES

STATE = "tour"  # the preference: the step shown next, or "done"
GOING = "tour_going"  # in the session: the step whose screen is about to open
QUESTION = "Why did Tilda tell the truth to Nora and to no one before her?"


@dataclass(frozen=True)
class Step:
    """``screen``: its title; ``at``: the novella's page there; ``replay``: the step of the answer."""

    title: str
    text: str
    screen: str
    at: int | None = None
    replay: int | None = None


STEPS = (
    Step(
        "Where it paused",
        "A language model read this story and chose where to pause, as a reader puts a book down. "
        "Every page ends with ‖ and its reason.",
        "Read",
        at=1,
    ),
    Step(
        "The gist",
        "Beside each page is its gist: the page in about a sixth of the words. The map at the edge is the whole "
        "book, one cell for each page.",
        "Read",
        at=2,
    ),
    Step(
        "Ask",
        "A question goes to the gists alone first. This one is answered already; ask your own below it.",
        "Ask",
        replay=1,
    ),
    Step(
        "It looks up",
        "The gists say where to look, so it goes back to a few pages. They open in place, among the gists.",
        "Ask",
        replay=4,
    ),
    Step(
        "The answer",
        "Each claim says what it rests on: a page, a gist, or nothing. Click one to see the words. That is all.",
        "Ask",
        replay=5,
    ),
)


def show(screen: str) -> None:
    """Draw the tour's card: an invitation in the library, then each step on its screen."""
    try:
        workspace = get_workspace()
        at = workspace.library.preference(STATE, 0)
        book = novella(workspace)
    except ReadAgentError:
        return  # the screen shows the error
    if book is None or not isinstance(at, int) or not 0 <= at <= len(STEPS):
        return
    if at == 0:
        if screen == "Library":
            _card(
                workspace, book, at, "New here?", "Five short steps show how a book is read and asked.", "Take the tour"
            )
    elif STEPS[at - 1].screen != screen:
        if st.session_state.get(GOING) == at:  # another run cancelled the change of screen
            _move(workspace, book, at)
    else:
        st.session_state.pop(GOING, None)  # from here on the person goes where they like
        step = STEPS[at - 1]
        last = at == len(STEPS)
        _card(workspace, book, at, f"{at} of {len(STEPS)}. {step.title}", step.text, "Done" if last else "Next")


def novella(workspace: Workspace) -> Book | None:
    """The novella, while it is in the library."""
    return next((b for b in workspace.library.books() if b.sample and b.source_name == f"{NAMES[0]}.md"), None)


def recorded_answer(workspace: Workspace, book: Book) -> Exchange | None:
    """The recorded answer that the tour shows."""
    exchanges = (e for c in workspace.library.conversations(book.id) for e in workspace.library.exchanges(c.id))
    return next((e for e in exchanges if e.question == QUESTION and e.extra.get("recorded")), None)


def _card(workspace: Workspace, book: Book, at: int, title: str, text: str, go: str) -> None:
    with st.container(key="tour"):
        st.markdown(f"**{title}**")
        st.markdown(text)
        with st.container(horizontal=True):
            if st.button(go, type="primary", key="tour_next"):
                _move(workspace, book, at + 1)
            if at < len(STEPS) and st.button("Skip the tour", type="tertiary", key="tour_skip"):
                workspace.library.set_preference(STATE, "done")
                st.rerun()


def _move(workspace: Workspace, book: Book, to: int) -> None:
    if to > len(STEPS):
        workspace.library.set_preference(STATE, "done")
        st.rerun()
    workspace.library.set_preference(STATE, to)
    st.session_state[GOING] = to
    step = STEPS[to - 1]
    address = {"book": book.id}
    answer = recorded_answer(workspace, book)
    if step.replay is not None and answer is not None:
        address |= {"exchange": answer.id, "step": str(step.replay)}
    current.choose(book.id, page=step.at)
    st.switch_page(f"pages/{step.screen.lower()}.py", query_params=address)
