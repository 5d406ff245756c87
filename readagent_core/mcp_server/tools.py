"""What an agent may do with the library: look (``looking``), ask and add. Synchronous; the server runs it in threads.

A book whose spoiler limit is on is seen only as far as that limit lets in, in every tool. Asking saves nothing in the
library but what it computed for later questions. Raises ReadAgentError, whose text says what to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from readagent_core.answering.ask import ask
from readagent_core.answering.base import Answer, Answered, AskSettings, Event, LookedUp, ModelCall, Question, Searched
from readagent_core.answering.library_shelf import LibraryShelf, checked_answer_of_several
from readagent_core.answering.replay import checked_answer
from readagent_core.answering.resources import workspace_resources
from readagent_core.answering.shelf import AskedShelf
from readagent_core.cancel import CancelToken
from readagent_core.errors import ReadAgentError, SettingsError
from readagent_core.gisting import GistingProgress
from readagent_core.gisting.costs import estimate_sentence
from readagent_core.gisting.job import start_gisting, usual_plan
from readagent_core.incoming.links import is_address, open_link, open_pasted_text
from readagent_core.incoming.opening import open_file, read_file
from readagent_core.jobs import Job
from readagent_core.mcp_server import results
from readagent_core.mcp_server.looking import LookingTools
from readagent_core.mcp_server.seen import cut_text, with_gists
from readagent_core.memory import GistMemory
from readagent_core.model_names import short_name
from readagent_core.models.cost.meter import Metered
from readagent_core.words import count_of

_POLL_SECONDS = 0.2
R = TypeVar("R")
M = TypeVar("M", bound=BaseModel)
Report = Callable[[float, float | None, str], None]


class Tools(LookingTools):
    """``report`` is called with what was done, of how much, and a line of words."""

    # --- questions ----------------------------------------------------------------------------------

    def ask(
        self,
        books: Sequence[str],
        question: str,
        *,
        method: str = "",
        look_ups: int = 3,
        options: Sequence[str] = (),
        cancel: CancelToken | None = None,
        report: Report | None = None,
    ) -> results.AnswerInfo:
        """Answer from one book or several. ``method``: by default what suits the model; zoom for several."""
        cancel, ids = cancel or CancelToken(), list(dict.fromkeys(books))
        for book_id in ids:
            self._books.card(book_id)  # raises where there is none
        asked, settings = Question(question.strip(), tuple(options)), AskSettings(look_ups=look_ups, may_decline=True)
        model = Metered(self._workspace.model)

        def answer_from(books: GistMemory | AskedShelf, text: str = "") -> Answer:
            resources = workspace_resources(self._workspace, text)
            events = ask(asked, books, model, cancel, method=method, settings=settings, resources=resources)
            return _last(events, report)

        if len(ids) > 1:
            answer = answer_from(LibraryShelf(self._workspace, ids, model.name))
            checked = checked_answer_of_several(self._workspace, answer.text, answer)
            shown = {book.number: (book.id, book.title) for book in answer.books}
            looked_up = {book.id: list(book.looked_up) for book in answer.books if book.looked_up}
            in_part = {book.id: book.pages_in_part for book in answer.books if book.passages}
        elif ids:
            memory = with_gists(self._books.seen(ids[0])[0], ids[0])
            answer = answer_from(memory, self._library.book(ids[0]).document_id)
            checked = checked_answer(answer.text, answer, memory)
            shown = {0: (ids[0], memory.document.title)}
            looked_up = {ids[0]: list(answer.looked_up)} if answer.looked_up else {}
            in_part = {ids[0]: answer.pages_in_part} if answer.passages else {}
        else:
            raise SettingsError("Name at least one book, by its id from `list_books`.")
        unknown = ("", "")
        return results.AnswerInfo(
            answer=cut_text(answer.text, 0)[0],
            answered_by=short_name(model.name)
            if model.is_language_model
            else "Built-in reader: sentences that share your words",
            method=answer.method,
            option=asked.options[answer.option] if answer.option is not None else None,
            looked_up=looked_up,
            in_part=in_part,
            citations=[
                results.CitationInfo(
                    book=shown.get(c.book, unknown)[0],
                    title=shown.get(c.book, unknown)[1],
                    page=c.page,
                    state=c.state,
                    quotation=c.quotation,
                )
                for c in checked.citations
            ],
            words_seen=answer.memory_words,
            cost=answer.usage.cost,
            notes=list(answer.notes),
        )

    # --- changes ------------------------------------------------------------------------------------

    def add_book(self, source: str, text: str, *, local_files: bool, cancel: CancelToken) -> results.Done:
        """``local_files``: whether ``source`` may be a path on this computer."""
        if bool(source) == bool(text):
            raise SettingsError("Give either `source`, a web address or a path, or `text`.")
        if text:
            book = open_pasted_text(self._workspace, text)
        elif is_address(source):
            book = open_link(self._workspace, source, cancel)
        elif local_files:
            path = Path(os.path.expanduser(source))
            book = open_file(self._workspace, read_file(path), path.name)
        else:
            raise SettingsError(
                "Over HTTP only web addresses and texts are added: put the file on the web, or use stdio."
            )
        return results.Done(
            book=self._books.describe(self._books.card(book.id)), message="Added. `make_gists` makes its gists."
        )

    def start_gists(self, book: str) -> Job:
        """Have the model read the book in the background; one that was stopped resumes."""
        return start_gisting(self._workspace, self._books.card(book).book.id, None)

    def price_of_gists(self, book: str) -> str:
        """What making the gists of a book sends and costs, in a sentence; '' where it costs no money."""
        model, found = self._workspace.model, self._books.card(book).book
        if not model.is_language_model or (model.price is not None and not model.price.cost_of_words(1_000, 1_000)):
            return ""
        plan = usual_plan(self._workspace, found.words)
        return estimate_sentence(self._workspace, self._library.document(found.id), plan)

    def make_gists(self, book: str, *, cancel: CancelToken, report: Report) -> results.Done:
        """Have the model read the book, and wait for it."""
        job = self.start_gists(book)
        with cancel.on_cancel(job.cancel):
            while job.running:
                job.join(_POLL_SECONDS)
                value = job.snapshot.value
                if isinstance(value, GistingProgress):
                    report(value.words_read, value.words_total, gists_made(value))
        if job.snapshot.failure is not None:
            raise job.snapshot.failure
        return self.done_gists(job, book)

    def begun_gists(self, book: str) -> results.Done:
        return results.Done(book=self._books.describe(self._books.card(book)), message="Begun.")

    def done_gists(self, job: Job, book: str) -> results.Done:
        memory = self._library.memory(job.subject)
        return results.Done(
            book=self._books.describe(self._books.card(book)), message=f"Every page has its gist: {memory.made_by}."
        )


def gists_made(value: object) -> str:
    """'12 gists made', of what a job has published; '' where it has nothing yet."""
    return f"{count_of(value.gists, 'gist')} made" if isinstance(value, GistingProgress) else ""


def _last(events: Iterable[Event], report: Report | None) -> Answer:
    """The answer at the end of ``events``; each look-up and call is reported."""
    calls = 0
    for event in events:
        if isinstance(event, Answered):
            return event.answer
        if isinstance(event, ModelCall):
            calls += 1
        if report is not None and (line := _line(event)):
            report(calls, None, line)
    raise ReadAgentError("No answer came. Ask again.")


def _line(event: Event) -> str:
    if isinstance(event, LookedUp):
        named = ", ".join(map(str, event.pages or event.parts))
        return f"looked up {named}" if named else "no page was looked up"
    if isinstance(event, Searched):
        return "searched for words"
    return f"call: {event.task}" if isinstance(event, ModelCall) else ""
