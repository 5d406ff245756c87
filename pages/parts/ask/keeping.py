"""Keep an answer beside the page that it cites: a mark of kind 'answer' in the book."""

from __future__ import annotations

from collections.abc import Iterable

from readagent_core.companion.kept_answers import make_answer_mark
from readagent_core.library.marks import ANSWER
from readagent_core.library.records import Exchange
from readagent_core.workspace import Workspace


def stored_answers(workspace: Workspace, book_ids: Iterable[str]) -> dict[str, str]:
    """The answers that are stored as marks of these books: the id of the exchange, and that of the mark."""
    marks = [mark for book_id in book_ids for mark in workspace.library.marks(book_id)]
    return {mark.answer["exchange_id"]: mark.id for mark in marks if mark.kind == ANSWER and mark.answer}


def store_answer(workspace: Workspace, exchange: Exchange) -> None:
    """Put the answer beside the first page that it cites. Raises LibraryError where there is no answer."""
    mark = make_answer_mark(workspace, exchange.id)
    if exchange.id not in stored_answers(workspace, [mark.book_id]):
        workspace.library.put_mark(mark)


def remove_answer(workspace: Workspace, exchange: Exchange, book_ids: Iterable[str]) -> None:
    """Undo ``store_answer``. ``book_ids``: the books that were asked."""
    mark_id = stored_answers(workspace, book_ids).get(exchange.id)
    if mark_id is not None:
        workspace.library.remove_mark(mark_id)
