"""The person's marks in the reader.

The browser draws the marks and changes them at once (assets/memory_view/marks_store.js). Two invisible components
exchange them with it, in a fragment of their own, so that a mark does not draw the reader again. The types of what is
sent are in ``assets/protocol.d.ts``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts.read.passages import passage_data, spot_of
from pages.parts.shared import polling
from pages.parts.shared.component import component, no_callback
from pages.parts.shared.memory_view import utf16_offset
from readagent_core.answering.costs import price_of_words
from readagent_core.companion.kept_answers import is_of_gist, kept_paragraphs
from readagent_core.companion.looking_up import has_dictionaries
from readagent_core.companion.marks import PlacedMarks, change_mark, make_mark, placed_marks
from readagent_core.companion.passage import PROMPT_WORDS, REPLY_WORDS
from readagent_core.document import Document
from readagent_core.errors import ReadAgentError
from readagent_core.library.marks import HIGHLIGHT, NOTE, Mark, Spot
from readagent_core.library.records import Book
from readagent_core.workspace import Workspace

POLL_SECONDS = 0.4
FRAGMENT = "read_marks"
Changes = Sequence[Mapping[str, Any]]  # each a ``MarkChange`` of protocol.d.ts


def draw(workspace: Workspace, book: Book, document: Document) -> None:
    """Exchange the marks of ``book`` with the browser, placed in ``document``, the text that is shown."""
    st.fragment(_exchange, key=FRAGMENT)(workspace, book, document)


def _exchange(workspace: Workspace, book: Book, document: Document) -> None:
    send = _component()
    key = f"marks_{book.id}"
    seen = take_changes(workspace, book, document, _state(key, "changes"))
    with st.container(key=f"unseen_{key}"):
        data = {"kind": "marks", "book": book.id, "seen": seen, "model": workspace.model.is_language_model,
                "dictionaries": has_dictionaries(workspace)}  # fmt: skip
        data["price"] = price_of_words(workspace.model, PROMPT_WORDS, REPLY_WORDS)
        send(key=key, data=data | marks_data(workspace, book, document), on_changes_change=no_callback,
             on_asked_change=no_callback)  # fmt: skip
        passage = passage_data(workspace, book, document, _state(key, "asked"))
        if passage is not None:
            send(key=f"passage_{book.id}", data={"kind": "passage", "book": book.id, **passage})
    running = passage is not None and passage["state"] == "running"
    polling.rerun_after(POLL_SECONDS if running else None, key="passage")


def _component() -> Callable[..., Any]:
    return component("reader_marks", "memory_view/receive_marks.js", html='<i class="root"></i>')


def _state(key: str, name: str) -> Any:
    return getattr(st.session_state.get(key), name, None)


# --- marks ----------------------------------------------------------------------------------------


def take_changes(workspace: Workspace, book: Book, document: Document, changes: Changes | None) -> int:
    """Make the changes that were not made yet; returns the number of the last one. An error is shown as a toast."""
    seen: int = st.session_state.setdefault(f"marks_seen_{book.id}", 0)
    for change in changes or ():
        if change["at"] <= seen:
            continue
        seen = st.session_state[f"marks_seen_{book.id}"] = int(change["at"])
        try:
            make_change(workspace, book, document, change, removed=st.session_state.setdefault("removed_marks", {}))
        except ReadAgentError as error:
            st.toast(str(error), icon=":material/error:", duration="long")
    return seen


def make_change(
    workspace: Workspace, book: Book, document: Document, change: Mapping[str, Any], *, removed: dict[str, Mark]
) -> None:
    """Make a ``MarkChange`` of protocol.d.ts. ``removed``: the marks that can be restored. Raises ReadAgentError."""
    library, mark = workspace.library, change.get("mark") or {}
    if change["do"] == "make":
        start, end = spot_of(document, mark["start"]), spot_of(document, mark["end"])
        made = make_mark(document, book.id, mark["kind"], start, end, colour=mark["colour"], note=mark["note"])
        library.put_mark(replace(made, id=mark["id"]))
    elif change["do"] == "change":
        change_mark(library, mark["id"], colour=mark.get("colour"), note=mark.get("note"))
        after = library.mark(mark["id"])
        if after is not None and after.kind in (NOTE, HIGHLIGHT):
            library.put_mark(replace(after, kind=NOTE if after.note else HIGHLIGHT))
    elif change["do"] == "remove":
        gone = library.remove_mark(change["id"])
        if gone is not None:
            removed[gone.id] = gone
    elif change["do"] == "restore" and change["id"] in removed:
        library.put_mark(removed.pop(change["id"]))


def marks_data(workspace: Workspace, book: Book, document: Document) -> dict[str, Any]:
    """The marks and the lost ones as ``MarkRecord``; placed again only when a mark or the text has changed."""
    marks = workspace.library.marks(book.id)
    known = st.session_state.get("placed_marks")
    if known is None or known[:2] != (document.id, marks):
        placed = placed_marks(workspace.library, book.id, document)
        known = st.session_state["placed_marks"] = (document.id, marks, _records(placed, document))
    return known[2]


def _records(placed: PlacedMarks, document: Document) -> dict[str, Any]:
    return {
        "marks": [mark_record(mark, document) for mark in placed.placed],
        "lost": [mark_record(mark) for mark in placed.lost],
    }


def mark_record(mark: Mark, document: Document | None = None) -> dict[str, Any]:
    """A ``MarkRecord`` of protocol.d.ts. ``document``: the text that the mark is placed in."""
    return {
        "id": mark.id,
        "kind": mark.kind,
        "colour": mark.colour,
        "start": _place(document, mark.start),
        "end": _place(document, mark.end),
        "note": mark.note,
        "words": mark.exact,
        "section": mark.section,
        "made": mark.created,
        "answer": _answer_record(mark, document) if mark.answer else None,
    }


def _answer_record(mark: Mark, document: Document | None) -> dict[str, Any]:
    """A ``KeptAnswer`` of protocol.d.ts: the answer in paragraphs of pieces, each with the places it rests on."""
    answer: dict[str, Any] = mark.answer or {}
    citations = answer["citations"]

    def cites(numbers: Sequence[int]) -> list[dict[str, Any]]:
        found: dict[int, list[int] | None] = {}  # a page is named once a piece
        gists: set[int] = set()
        for citation in (citations[number] for number in numbers):
            known = citation["paragraph"] is not None
            place = _place(document, Spot(citation["paragraph"], citation["offset"])) if known else None
            if citation["page"]:
                found[citation["page"]] = found.get(citation["page"]) or place
                if is_of_gist(citation, copied=answer["signed_by"] == "builtin"):
                    gists.add(citation["page"])
        return [{"page": page, "start": place, "gist": page in gists} for page, place in found.items()]

    paragraphs = [[{"text": text, "cites": cites(numbers)} for text, numbers in one] for one in kept_paragraphs(answer)]
    signer = {"kind": answer["signed_by"], "line": answer["signature"]}
    return {"question": answer["question"], "signer": signer, "paragraphs": paragraphs}


def _place(document: Document | None, spot: Spot) -> list[int]:
    """A spot as the browser counts, in UTF-16 code units; without a document, as it is."""
    if document is None or spot.paragraph >= len(document.paragraphs):
        return [spot.paragraph, spot.offset]
    return [spot.paragraph, utf16_offset(document.paragraphs[spot.paragraph].text, spot.offset)]
