"""Questions for an experiment that the model suggests, each from one page of the book that a person can check.

A suggestion whose quotation is not on its page is not shown. Pages past the spoiler limit are never sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from readagent_core import gisting, prompts
from readagent_core.answering.limits import page_allowed
from readagent_core.citations.quotation_search import SearchableText, find_in
from readagent_core.errors import ReplyError, SettingsError
from readagent_core.evaluation.question_files import problem_of
from readagent_core.gisting.job import default_plan, memory_of
from readagent_core.jobs import Job
from readagent_core.library.own_questions import OwnQuestion
from readagent_core.library.records import Book
from readagent_core.memory import GistMemory, Page
from readagent_core.models.thinking import remove_thinking
from readagent_core.prompts import Prompt
from readagent_core.tags import escape_tags
from readagent_core.workspace import Workspace

COUNT = 5
_REPLY_WORDS = 120
_SHORTEST = 60  # words of a page that a question is asked about
_FIELDS = {
    "question": "question", "質問": "question", "answer": "answer", "答え": "answer", "wrong": "wrong", "誤り": "wrong",
    "quote": "quote", "quotation": "quote", "引用": "quote",
}  # fmt: skip
_LINE = re.compile(rf"^[\s*_#>-]*({'|'.join(_FIELDS)})[\s*_]*\d?[\s*_]*[:：][\s*_]*(.+?)[\s*_]*$", re.IGNORECASE)
_OUTSIDE = '"“”「」『』 '


@dataclass(frozen=True)
class Suggested:
    """A suggested question with its answers, and the words of page ``page`` that it rests on."""

    question: OwnQuestion
    quotation: str
    page: int


@dataclass(frozen=True)
class Suggestions:
    """What a job has found so far. ``unusable``: replies that were not understood or quoted words not on the page."""

    found: tuple[Suggested, ...] = ()
    unusable: int = 0


def job_key(book_id: str) -> str:
    return f"suggest own questions {book_id}"


def start_suggesting(workspace: Workspace, book: Book, *, batch: int = 0) -> Job:
    """Start to ask for a question on each of ``COUNT`` pages; the job publishes ``Suggestions`` and ends with them.

    ``batch``: another number takes other pages. Raises SettingsError without a language model, and where the spoiler
    limit lets no page in.
    """
    model = workspace.model
    if not model.is_language_model:
        raise SettingsError("Suggestions need a language model. Connect one in Settings.")
    whole = workspace.library.document(book.id)
    memory = memory_of(workspace, book) or gisting.cut_by_rule(whole, default_plan(book.words))
    last = page_allowed(memory, whole, workspace.library.position(book.id))
    pages = choose_pages(memory if last is None else memory.up_to(last), batch)
    if not pages:
        raise SettingsError("The spoiler limit keeps every page out. Read further, or turn it off in Ask.")

    def work(job: Job) -> Suggestions:
        found = Suggestions()
        for done, page in enumerate(pages):
            job.publish(done=done, total=len(pages), value=found)
            reply = model.complete(make_prompt(memory, page), job).text
            try:
                found = Suggestions((*found.found, parse_suggestion(reply, memory, page)), found.unusable)
            except ReplyError:
                found = Suggestions(found.found, found.unusable + 1)
        job.publish(done=len(pages), total=len(pages), value=found)
        return found

    return workspace.jobs.start(job_key(book.id), work)


def choose_pages(memory: GistMemory, batch: int) -> list[Page]:
    """Return up to ``COUNT`` pages spread over the book, others for each batch until all were taken."""
    pages = [page for page in memory.pages if page.words >= _SHORTEST] or list(memory.pages)
    step = max(1, len(pages) // COUNT)
    return pages[batch % step :: step][:COUNT]


def make_prompt(memory: GistMemory, page: Page) -> Prompt:
    """Return the prompt that asks for a question about ``page``."""
    values = {"title": escape_tags(memory.document.title), "page": escape_tags(memory.page_text(page.number))}
    return prompts.render("own_question", memory.document.language, reply_words=_REPLY_WORDS, **values)


def parse_suggestion(reply: str, memory: GistMemory, page: Page) -> Suggested:
    """Return the suggestion in a reply. Raises ReplyError where a part is missing or the quotation is not there."""
    parts: dict[str, list[str]] = {"question": [], "answer": [], "wrong": [], "quote": []}
    for line in remove_thinking(reply).splitlines():
        if match := _LINE.match(line):
            parts[_FIELDS[match.group(1).lower()]].append(match.group(2).strip(_OUTSIDE))
    text, answer, quotation = (next(iter(parts[name]), "") for name in ("question", "answer", "quote"))
    question = OwnQuestion(text, answer, tuple(dict.fromkeys(parts["wrong"])), str(page.number))
    if problem_of(question) or not quotation:
        raise ReplyError("The reply has no question with an answer and a quotation.")
    words = SearchableText([(memory.page_text(page.number), 0, False)])
    if not find_in(words, quotation, page=page.number):
        raise ReplyError("The quotation is not on the page.")
    return Suggested(question, quotation, page.number)
