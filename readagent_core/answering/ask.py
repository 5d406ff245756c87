"""The one place that puts a question together: which method answers, and with which settings.

Every door calls ``ask``: the app, the command line, ``ra.ask``, the MCP server, Compare, Evaluate and the corpus. It
says what is asked of which books, by which method and within which limits, and what it does with the events.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from readagent_core.answering.base import AskSettings, Event, Question
from readagent_core.answering.registry import Method, all_methods, method
from readagent_core.answering.resources import Resources
from readagent_core.answering.shelf import AskedShelf
from readagent_core.cancel import CancelToken
from readagent_core.errors import MissingError, NotInLibraryError, SettingsError
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel

ONE_BOOK, LONG_BOOK, SEVERAL_BOOKS = "read-agent-p", "recall", "zoom"  # the methods where none is named
LONG_GISTS = 2000  # words: with more gists a book is long, and recall answers as well at a fraction of the words
SEARCH, SEARCH_AND_GISTS, WHOLE = "passages-dos", "recall", "full-text"  # those of a book without all its gists
WHOLE_WORDS = 3000  # a text of so many words is sent whole: a search would send as much
DEFAULTS = AskSettings()


def ask(
    question: Question,
    books: GistMemory | AskedShelf,
    model: ChatModel,
    cancel: CancelToken,
    *,
    method: str = "",
    settings: AskSettings = DEFAULTS,
    resources: Resources | None = None,
) -> Generator[Event, None, None]:
    """Yield the events of a question about one book, or about those of a shelf, the last one Answered.

    ``books``: what may be seen of them. ``method``: '' for the usual one (``choose_method``). ``settings``: what is not
    set is chosen (``choose_settings``). Raises SettingsError, NotInLibraryError, ModelError or CancelledError.
    """
    chosen = choose_method(method, model, books)
    check_question(question)
    check_books(books, chosen)
    if isinstance(books, AskedShelf):
        books.make_searchable(cancel)
    yield from chosen.run(question, books, model, choose_settings(settings, books, model), cancel, resources)


def check_question(question: Question) -> None:
    """Raise SettingsError for an empty question."""
    if not question.text.strip():
        raise MissingError("Write a question first.")


def check_books(books: GistMemory | AskedShelf, method: Method) -> None:
    """Raise NotInLibraryError where no book has anything for ``method`` to answer from."""
    if isinstance(books, AskedShelf):
        if not any(book.pages or book.text_words for book in books.books):
            books.check_gists(then="ask again")
    elif not (books.readable if method.needs_gists and not method.searches else books.pages):
        raise NotInLibraryError("This book has no gists yet. Make them in Read, then ask again.")


def choose_method(name: str, model: ChatModel, books: GistMemory | AskedShelf) -> Method:
    """Return the method ``name``; without a name the one that suits the model, or that answers from several books.

    A book whose gists are not all made is searched. One that suited the model and is not installed any more is passed
    over. Raises what ``named_method`` raises.
    """
    if isinstance(books, AskedShelf):
        return named_method(name or SEVERAL_BOOKS, several=True)
    if not name and None in books.gists:
        return method(method_without_gists(books, model))
    usual = LONG_BOOK if books.gist_words > LONG_GISTS else ONE_BOOK
    suits = model.options.method if model.options.method in all_methods() else usual
    return method(name or suits)


def method_without_gists(memory: GistMemory, model: ChatModel) -> str:
    """Return the name of the usual method for a book of which not every page has a gist."""
    if model.is_language_model and memory.document.words <= WHOLE_WORDS:
        return WHOLE
    return SEARCH_AND_GISTS if memory.readable else SEARCH


def named_method(name: str, *, several: bool) -> Method:
    """Return a method. Raises SettingsError for an unknown one, and for one that cannot answer from several books."""
    chosen = method(name)
    if several and chosen.answer_shelf is None:
        raise SettingsError(f"Several books are asked by {SEVERAL_BOOKS}. Leave the method out, or ask one book.")
    return chosen


def choose_settings(settings: AskSettings, books: GistMemory | AskedShelf, model: ChatModel) -> AskSettings:
    """Return ``settings`` with what suits the text and the model, as a test of it found."""
    of_book = isinstance(books, GistMemory) and books.plan.asks_chapters
    opened = {"opened": "after"} if model.options.opened_after else {}
    return replace(
        settings,
        by_importance=settings.by_importance or of_book,
        reason_first=settings.reason_first or model.options.reason_first,
        plain=settings.plain or model.options.plain_answers,
        extra={**opened, **settings.extra},
    )
