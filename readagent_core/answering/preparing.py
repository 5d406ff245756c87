"""Has a llama.cpp server read what the questions about a book share when the book is opened, before one is asked.

The first answer then begins at once. Where the model's state can be kept it comes from the disk the next time; other
kinds of models read anew each time.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import NoReturn

from readagent_core.answering.ask import ask
from readagent_core.answering.base import Question
from readagent_core.answering.run import shared_beginning
from readagent_core.cancel import CancelToken
from readagent_core.errors import ModelError, ReadAgentError
from readagent_core.jobs import Job
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel, ModelWrapper
from readagent_core.models.local.engine import IDLE_SECONDS
from readagent_core.models.local.states import LEAST
from readagent_core.models.server.openai_server import PREPARE
from readagent_core.prompts import Prompt
from readagent_core.workspace import Workspace

_MARKS = ("Who?", "And when was it?")  # two questions that begin differently


class _Sent(Exception):
    """The first prompt of a question, in place of a reply."""


class _Catching(ModelWrapper):
    def complete(self, prompt: Prompt, cancel: CancelToken) -> NoReturn:
        raise _Sent(prompt.text)

    def stream(self, prompt: Prompt, cancel: CancelToken) -> NoReturn:
        raise _Sent(prompt.text)


def beginning_of_questions(memory: GistMemory, model: ChatModel, cancel: CancelToken, *, method: str = "") -> str:
    """Return what the first prompts of all questions about ``memory`` begin with; '' for next to nothing."""
    found: list[str] = []
    for question in _MARKS:
        try:
            for _ in ask(Question(question), memory, _Catching(model), cancel, method=method):
                pass
        except _Sent as sent:
            found.append(str(sent))
        except ReadAgentError:
            return ""
    beginning = found[0][: shared_beginning(*found)].rpartition("\n")[0] if len(found) == len(_MARKS) else ""
    return beginning if len(beginning) >= LEAST else ""


def job_key(book_id: str) -> str:
    return f"prepare {book_id}"


def start_preparing(workspace: Workspace, book_id: str, memory: GistMemory, *, method: str = "") -> Job | None:
    """The job that has the model read ``memory``; None for a model that gains nothing by it.

    It goes before the making of gists, as the question would that is being written.
    """
    model = workspace.model
    if not model.shares_text or not memory.readable:
        return None
    key, subject = job_key(book_id), (model.name, memory.plan.key, len(memory.readable), method)
    job = workspace.jobs.get(key)
    if job is not None and job.subject == subject:
        ended = job.snapshot.ended
        if ended is None or time.time() - ended < IDLE_SECONDS:  # then the engine has given its memory back
            return job

    def work(job: Job) -> None:
        beginning = beginning_of_questions(memory, model, job, method=method)
        if beginning:
            with suppress(ModelError):  # the question itself says what is wrong
                model.without_cache().complete(Prompt(PREPARE, beginning, reply_words=1), job)

    return workspace.jobs.start(key, work, subject=subject)
