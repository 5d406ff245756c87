"""The dialog over the reader with what there is to learn: marked words, questions, who is who; for Anki or as CSV."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.read import start
from pages.parts.read.chapter_questions import chapters_read
from pages.parts.read.how_far import paragraphs_read
from pages.parts.shared import book as current
from pages.parts.shared import shell
from readagent_core.companion.marks import placed_marks
from readagent_core.companion.study import load_study
from readagent_core.errors import ReadAgentError
from readagent_core.export.study import STUDY_FORMATS, StudyCard, export_study, study_cards
from readagent_core.gisting.noting import notes_job_key, start_notes
from readagent_core.library.records import Book, Gisting
from readagent_core.text_files import slug
from readagent_core.words import count_of
from readagent_core.workspace import Workspace
from readagent_core.world.storage import load_world

OPENED = "study_opened"  # the book whose dialog is open, in the session
WORDS, QUESTIONS, PEOPLE = "Words", "Questions", "Who is who"
MAKES = {  # cards of each kind
    WORDS: "A word or two that you highlight or look up in the text is a card.",
    QUESTIONS: "Check yourself, under a chapter that you have read, has a model make questions.",
    PEOPLE: "A model makes notes of the pages; what they say of a name, as far as you have read, is a card.",
}
GISTS, CONNECT, NOTES = "Make gists first", "Connect a model", "Make the notes"
SHOWN = 40  # of a kind; the file has all
_LEFT_OUT = "study_left_out"  # the preference of a book: the fronts of the cards that it does not want


def open_study(book: Book) -> None:
    """Open the dialog."""
    st.session_state[OPENED] = book.id
    st.rerun()


def draw(workspace: Workspace, book: Book, gisting: Gisting | None) -> None:
    """Draw the dialog if it is open for this book; called by the screen itself, so that its parts do not close it."""
    if st.session_state.get(OPENED) == book.id:
        dialog = st.dialog("Study", width="medium", on_dismiss=lambda: st.session_state.pop(OPENED, None))
        dialog(_body)(workspace, book, gisting)


def cards_of(workspace: Workspace, book: Book, gisting: Gisting | None) -> dict[str, list[StudyCard]]:
    """What there is to learn of a book, by kind, as far as it was read."""
    library = workspace.library
    document = library.document(book.id, document_id=gisting.document_id if gisting else None)
    marks = placed_marks(library, book.id, document).placed
    world = load_world(library, gisting.id) if gisting else None
    memory = world.memory if world else None
    words = study_cards(document, marks=marks, looked_up=library.words(book.id), memory=memory)
    if gisting is None or world is None:
        return {WORDS: words, QUESTIONS: [], PEOPLE: []}
    read = paragraphs_read(workspace, book, world, document)
    chapters = chapters_read(world.memory, read)
    made = [load_study(library, gisting.id, pages, workspace.model.name) or () for _, pages, _ in chapters]
    page = sum(one.start < read for one in world.memory.pages)
    return {
        WORDS: words,
        QUESTIONS: study_cards(document, questions=[question for questions in made for question in questions]),
        PEOPLE: study_cards(document, known=world.as_of(page, read - 1)) if page else [],
    }


def _body(workspace: Workspace, book: Book, gisting: Gisting | None) -> None:
    cards = cards_of(workspace, book, gisting)
    left_out: list[str] = workspace.library.preference(f"{_LEFT_OUT} {book.id}", [])
    there = [kind for kind, found in cards.items() if found]
    if not there:
        for kind, line in MAKES.items():
            st.text(f"{kind}. {line}")
        for label in dict.fromkeys(way_to(workspace, gisting, kind) for kind in MAKES):
            _way_button(workspace, book, gisting, label, "none")
        return
    names = {kind: f"{kind} {len(found) or ''}".strip() for kind, found in cards.items()}
    for tab, (kind, found) in zip(st.tabs(list(names.values()), default=names[there[0]]), cards.items(), strict=True):
        with tab:
            if not found:
                st.caption(MAKES[kind])
                _way_button(workspace, book, gisting, way_to(workspace, gisting, kind), slug(kind))
            _list(workspace, book, kind, found, left_out)
    usual = [kind for kind in there if kind != PEOPLE] or there
    chosen = st.pills("To Anki", there, selection_mode="multi", default=usual)
    deck = [card for kind in there if kind in chosen for card in cards[kind] if card.front not in left_out]
    buttons, told = st.container(horizontal=True, vertical_alignment="center"), st.empty()
    with buttons:
        for kind in STUDY_FORMATS if deck else ():
            _save(book, deck, kind, told)
    st.caption(
        "Untick what you do not want to learn. Saved again, only what is new is added; your learning in Anki stays."
    )


def way_to(workspace: Workspace, gisting: Gisting | None, kind: str) -> str:
    """The label of what is to be pressed before there can be cards of this kind; '' where reading on is enough."""
    if kind == WORDS:
        return ""
    if not workspace.model.is_language_model:
        return CONNECT
    if gisting is None:
        return GISTS
    job = workspace.jobs.get(notes_job_key(gisting.id))
    if kind == QUESTIONS or (job and job.running):
        return ""
    world = load_world(workspace.library, gisting.id)
    return NOTES if len(world.notes) < len(world.memory.pages) else ""


def _way_button(workspace: Workspace, book: Book, gisting: Gisting | None, label: str, where: str) -> None:
    if not label or not st.button(label, key=f"study_way_{slug(label)}_{where}"):
        return
    st.session_state.pop(OPENED, None)
    try:
        if label == CONNECT:
            current.open_settings(book.id)
        elif gisting is None:
            start.make_gists(workspace, book)
        else:
            start_notes(workspace, gisting.id)
    except ReadAgentError as error:
        shell.error_box(error)
        return
    st.rerun()


def _save(book: Book, deck: Sequence[StudyCard], kind: str, told: DeltaGenerator) -> None:
    try:
        data = export_study(book.id, book.title, deck, kind)
    except OSError as error:
        st.caption(f"The deck could not be written: {error.strerror or error}.")
        return
    except ReadAgentError as error:
        shell.error_box(error)
        return
    shell.save_button(
        f"Save the deck, {count_of(len(deck), 'card')}" if kind == "apkg" else kind.upper(),
        data,
        f"{slug(book.title)}-cards.{kind}",
        told=told,
        mime=STUDY_FORMATS[kind],
        key=f"study_{kind}",
        type="primary" if kind == "apkg" else "secondary",
    )


def _list(workspace: Workspace, book: Book, kind: str, cards: Sequence[StudyCard], left_out: Sequence[str]) -> None:
    with st.container(height=280 if len(cards) > 4 else "content", border=False):
        for number, card in enumerate(cards[:SHOWN]):
            key = f"study_take_{slug(kind)}_{card.front}"
            with st.container(gap=None, key=f"study_card_{slug(kind)}_{number}"):
                st.checkbox(
                    shell.as_text(card.front),
                    card.front not in left_out,
                    key=key,
                    on_change=_take,
                    args=(workspace, book, card.front, key),
                )
                parts = [*filter(str.strip, card.back.split("\n")), *([f"page {card.page}"] if card.page else [])]
                st.caption(shell.as_text(" · ".join(parts)))
    if len(cards) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(cards)}; the file has all that are not left out.")


def _take(workspace: Workspace, book: Book, front: str, key: str) -> None:
    """Leave a card out of the deck, or put it back. The choice is stored."""
    name = f"{_LEFT_OUT} {book.id}"
    others = [one for one in workspace.library.preference(name, []) if one != front]
    workspace.library.set_preference(name, others if st.session_state[key] else [*others, front])
