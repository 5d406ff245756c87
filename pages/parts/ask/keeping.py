"""Keep an answer beside the page that it cites: a mark of kind 'answer' in the book."""

from __future__ import annotations

from readagent_core.library.marks import ANSWER
from readagent_core.library.records import Exchange
from readagent_core.workspace import Workspace
from readagent_core.workspace.marks import make_answer_mark


def stored_answers(workspace: Workspace, book_id: str) -> dict[str, str]:
    """The answers of the book that are stored as marks: the id of the exchange, and that of the mark."""
    marks = workspace.library.marks(book_id)
    return {mark.answer["exchange_id"]: mark.id for mark in marks if mark.kind == ANSWER and mark.answer}


def store_answer(workspace: Workspace, exchange: Exchange) -> None:
    """Put the answer beside the first page that it cites. Raises LibraryError where there is no answer."""
    mark = make_answer_mark(workspace, exchange.id)
    if exchange.id not in stored_answers(workspace, mark.book_id):
        workspace.library.put_mark(mark)


def remove_answer(workspace: Workspace, exchange: Exchange) -> None:
    """Undo ``store_answer``."""
    book_id = workspace.library.conversation(exchange.conversation_id).book_id
    mark_id = stored_answers(workspace, book_id).get(exchange.id)
    if mark_id is not None:
        workspace.library.remove_mark(mark_id)
