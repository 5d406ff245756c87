"""One question put to several methods at the same time, as one job, which publishes the comparison as it grows.

It is about one book, or about several: then methods get the books as one text in their order, and zoom gets them as a
shelf. No method sees a page behind a spoiler limit. A method that fails does not stop the others. The last comparison
is saved beside the text, of several books beside that of the first.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from readagent_core.answering import registry as methods
from readagent_core.answering.ask import ONE_BOOK, ask, check_books, check_question
from readagent_core.answering.base import (
    Answer,
    Answered,
    AnswerPart,
    AskSettings,
    Event,
    LookedUp,
    ModelCall,
    Question,
)
from readagent_core.answering.limits import NOTHING_LET_IN
from readagent_core.answering.registry import Method
from readagent_core.answering.resources import ArtifactStore
from readagent_core.citations import parse_unfinished, rename_pages
from readagent_core.citations.checking import mark_pages
from readagent_core.comparing.compared_books import text_to_compare
from readagent_core.comparing.comparison import (
    ComparedAnswer,
    ComparedBook,
    Comparison,
    EntryState,
    name_pages,
    page_of_all,
    place_of,
)
from readagent_core.comparing.judging import Judgement, judge
from readagent_core.errors import CancelledError, MissingError, ReadAgentError, SettingsError
from readagent_core.jobs import Job
from readagent_core.memory import GistMemory
from readagent_core.models.builtin.reader import NAME as BUILT_IN
from readagent_core.overlap import rouge, strip_citations
from readagent_core.workspace import Workspace

METHODS_AT_ONCE = 6
PUBLISH_SECONDS = 0.15
CANCEL_POLL_SECONDS = 0.1
STOP_SECONDS = 0.25  # how long a stopped comparison waits for its methods; what they still do after that is discarded
ARTIFACT = "comparison"
STOPPED = "Stopped. What was done so far is saved."
UNEXPECTED = "Something in ReadAgent itself went wrong. The other methods continue; please ask again."
_PAGE = re.compile(r"\b(page) (\d+)\b", re.IGNORECASE)  # in a note
_DOING = {
    "look_up": "Looked over the gists",
    "look_up_ranked": "Looked over the gists",
    "look_up_next": "Looked over the gists",
    "tree_segment": "Building the tree",
    "tree_parent": "Building the tree",
    "explore": "Exploring the memory",
    "walk": "Walking the tree",
    "leaf": "Reading a part",
    "carry": "Carrying the summary",
    "compress": "Shortening topics",
}


def job_key(*book_ids: str) -> str:
    return f"compare {' '.join(book_ids)}"


def compare(
    workspace: Workspace,
    book_ids: Sequence[str],
    question: Question,
    names: Sequence[str],
    *,
    settings: AskSettings,
    correct: int | None = None,
    references: Sequence[str] = (),
    judged: bool = False,
) -> Job:
    """The job that asks every method of ``names``; it publishes a Comparison. One at a time of the same books.

    ``judged``: a language model compares each answer with the ``references``, one call each. Raises SettingsError
    where the spoiler limit keeps every page out, and what ``text_to_compare`` raises.
    """
    check_question(question)
    if not names:
        raise MissingError("Choose at least one method.")
    chosen = {name: methods.method(name) for name in names}
    text = text_to_compare(workspace, book_ids)
    memory = text.memory
    if not memory.readable and text.books[0].paragraphs is not None:
        raise SettingsError(NOTHING_LET_IN)
    check_books(memory, methods.method(ONE_BOOK))
    model = workspace.model
    begun = Comparison(
        title=memory.document.title,
        language=memory.document.language,
        question=question.text.strip(),
        options=question.options,
        correct=correct,
        words=memory.document.words,
        pages=tuple(page.words for page in memory.pages),
        model=model.name,
        where=model.where,
        asked=time.time(),
        entries=tuple(ComparedAnswer(name) for name in chosen),
        references=tuple(r.strip() for r in references if r.strip()) if not question.options else (),
        books=text.books,
        gists=len(memory.readable) if len(memory.readable) < len(memory.pages) else None,
    )

    def verdict_on(answer: str, job: Job) -> Judgement:
        return judge(begun.question, answer, begun.references, model, language=begun.language, cancel=job)

    def events(method: Method, job: Job) -> Iterator[Event]:
        books = text.shelf if text.shelf and method.answer_shelf else memory
        return ask(question, books, model, job, method=method.name, settings=settings, resources=text.resources)

    def work(job: Job) -> Comparison:
        verdict = verdict_on if judged and begun.references and model.is_language_model else None
        rows = _Rows(job, begun, memory, verdict)
        pool = ThreadPoolExecutor(max_workers=METHODS_AT_ONCE)
        runs = [pool.submit(rows.run, row, partial(events, method, job)) for row, method in enumerate(chosen.values())]
        while wait(runs, CANCEL_POLL_SECONDS).not_done and not job.cancelled:
            pass
        wait(runs, STOP_SECONDS)
        pool.shutdown(wait=False, cancel_futures=True)
        comparison = rows.close()
        _artifacts(workspace, book_ids).save(ARTIFACT, _key(book_ids), asdict(comparison))
        job.check()
        return comparison

    return workspace.jobs.start(job_key(*book_ids), work)


def _key(book_ids: Sequence[str]) -> str:
    """The key of the last comparison in the store of a text."""
    return "last" if len(book_ids) == 1 else f"last {hashlib.sha256(' '.join(book_ids).encode()).hexdigest()[:24]}"


def _artifacts(workspace: Workspace, book_ids: Sequence[str]) -> ArtifactStore:
    return workspace.library.artifacts(workspace.library.book(book_ids[0]).document_id)


def last_comparison(workspace: Workspace, *book_ids: str) -> Comparison | None:
    """The last comparison of these books, or None."""
    saved = _artifacts(workspace, book_ids).load(ARTIFACT, _key(book_ids))
    if saved is None:
        return None
    paragraphs = saved.pop("paragraphs", None)  # of the one book, as earlier versions saved it
    saved.setdefault("books", [vars(ComparedBook(book_ids[0], saved["title"], len(saved["pages"]), paragraphs))])
    return Comparison.from_dict(saved)


class _Rows:
    """The comparison as it grows. Every method's thread changes its own row, until ``close``."""

    def __init__(
        self,
        job: Job,
        comparison: Comparison,
        memory: GistMemory,
        verdict_on: Callable[[str, Job], Judgement] | None = None,
    ) -> None:
        self._comparison = comparison
        self._memory = memory
        self._verdict_on = verdict_on
        self._job = job
        self._lock = threading.Lock()
        self._published = 0.0
        self._closed = False
        job.publish(value=comparison, total=len(comparison.entries))

    def run(self, row: int, events: Callable[[], Iterator[Event]]) -> None:
        """Run one method to its end, and record how it ended."""
        began = time.monotonic()
        end: dict[str, Any]
        try:
            self._job.check()
            self._change(row, state=EntryState.RUNNING)
            for event in events():
                self._add(row, event, seconds=round(time.monotonic() - began, 2))
                self._job.check()
        except ReadAgentError as error:
            ended = EntryState.CANCELLED if isinstance(error, CancelledError) else EntryState.FAILED
            end = {"state": ended, "error": str(error), "remedy": error.remedy}
        except Exception:  # noqa: BLE001  a bug of ours in one method must not take the others with it
            traceback.print_exc()
            end = {"state": EntryState.FAILED, "error": UNEXPECTED}
        else:
            answer = self._comparison.entries[row].answer
            end = {"state": EntryState.CUT_OFF if answer is not None and answer.cut_off else EntryState.DONE}
        seconds = round(time.monotonic() - began, 2)
        self._change(row, **end | self._judge(row), doing="", seconds=seconds)

    def _judge(self, row: int) -> dict[str, Any]:
        """Return the model's verdict on the row's answer as the row's fields; none where nothing is to be judged."""
        answer = self._comparison.entries[row].answer
        if self._verdict_on is None or answer is None:
            return {}
        try:
            found = self._verdict_on(answer.text, self._job)
        except CancelledError:
            return {}
        except ReadAgentError as error:
            return {"reason": f"No verdict: {error}"}
        return {"verdict": found.verdict, "reason": found.reason}

    def close(self) -> Comparison:
        """The comparison as it is in the end: a row whose method was stopped before it ended is cancelled."""
        with self._lock:
            self._closed = True
            stopped = [
                entry if entry.ended else replace(entry, state=EntryState.CANCELLED, doing="", error=STOPPED)
                for entry in self._comparison.entries
            ]
            self._comparison = replace(self._comparison, entries=tuple(stopped))
            self._publish()
            return self._comparison

    def _add(self, row: int, event: Event, *, seconds: float) -> None:
        entry = self._comparison.entries[row]
        if isinstance(event, AnswerPart):
            text = self._name_books(entry, entry.text + event.text)
            self._change(row, text=text, doing="", seconds=seconds, publish=False)
        elif isinstance(event, Answered):
            answer = self._mark(event.answer)
            answer = replace(answer, text=self._name_books(entry, answer.text))
            if self._comparison.several and not answer.books:
                notes = (
                    _PAGE.sub(lambda found: f"{found[1]} {self._name(int(found[2]))}", note) for note in answer.notes
                )
                answer = replace(answer, notes=tuple(notes))
            answer = self._number_through(answer) if answer.books else answer
            known = self._comparison.references
            shared = rouge(strip_citations(answer.text), known) if known else {}
            self._change(row, answer=answer, text=answer.text, rouge=shared, seconds=seconds)
        elif isinstance(event, ModelCall):
            calls = entry.calls + 1
            doing = f"{_DOING[event.task]}: {calls} calls so far" if event.task in _DOING else ""
            self._change(row, calls=calls, doing=doing, seconds=seconds, publish=False)
        elif isinstance(event, LookedUp) and event.pages:
            books = self._comparison.books
            pages = [page_of_all(books, event.book, page) for page in sorted(event.pages)[:8]]
            self._change(row, doing=f"Read again: {name_pages(books, pages)}", seconds=seconds)

    def _mark(self, answer: Answer) -> Answer:
        """``answer`` with the pages of what it quotes, where its method shows no numbers of pages."""
        if answer.books or parse_unfinished(answer.text).marks:
            return answer
        full = {page for page, how in answer.seen.items() if how == "full"}
        copied = self._comparison.model == BUILT_IN
        return replace(answer, text=mark_pages(answer.text, self._memory, full, copied=copied)) if full else answer

    def _name_books(self, entry: ComparedAnswer, text: str) -> str:
        """``text`` of an answer with '[2.7]' for every page mark; one that knows the books writes that itself."""
        if not self._comparison.several or methods.method(entry.method).answer_shelf:
            return text
        return rename_pages(text, self._name)

    def _name(self, page: int) -> str:
        return "{}.{}".format(*place_of(self._comparison.books, page))

    def _number_through(self, answer: Answer) -> Answer:
        """``answer`` about a shelf with the pages it saw numbered as in the comparison."""
        number = partial(page_of_all, self._comparison.books)
        seen = {number(book.number, page): how for book in answer.books for page, how in book.seen.items()}
        looked_up = tuple(number(book.number, page) for book in answer.books for page in book.looked_up)
        return replace(answer, seen=seen, looked_up=looked_up)

    def _change(self, row: int, *, publish: bool = True, **changes: Any) -> None:
        """Change a row, and publish it now or, with ``publish`` False, when PUBLISH_SECONDS have passed."""
        with self._lock:
            if self._closed:
                return
            entries = list(self._comparison.entries)
            entries[row] = replace(entries[row], **changes)
            self._comparison = replace(self._comparison, entries=tuple(entries))
            if publish or time.monotonic() - self._published >= PUBLISH_SECONDS:
                self._publish()

    def _publish(self) -> None:
        self._published = time.monotonic()
        done = sum(entry.ended for entry in self._comparison.entries)
        self._job.publish(value=self._comparison, done=done)
