"""The documents of an experiment: each read once for each plan, and what that and methods' shared builds cost.

Readings and builds are saved in the library beside the experiments together with the words sent for them. So an
experiment that was killed and resumed, and another one that finds them there, report what they cost in one go.
Knows nothing of questions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from readagent_core import gisting
from readagent_core.answering.joined_books import join_memories
from readagent_core.answering.resources import ArtifactStore
from readagent_core.cancel import CancelToken, key_lock
from readagent_core.errors import ReadAgentError
from readagent_core.evaluation.answering import STOPPERS
from readagent_core.evaluation.datasets import Case, ShelfCase
from readagent_core.evaluation.datasets.mind2web import PageCase
from readagent_core.evaluation.model_calls import CountingModel, ExperimentBudget
from readagent_core.evaluation.results import GistingFigures, PaidCost
from readagent_core.library import Library
from readagent_core.library.records import GistingState
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt
from readagent_core.web_pages.memory import read_page

_WORD_LOG = "words sent"  # the kind under which the library stores it
_PARTS = ("paginate", "gist")  # how the names of a reading's tasks begin


def read_case(case: Case, plan: GistingPlan, **rest: Any) -> tuple[GistMemory | ReadAgentError, PaidCost]:
    """Return what ``read_document`` returns; of a shelf the memories of its documents as one, and their sums.

    ``rest``: arguments of ``read_document``.
    """
    if not isinstance(case, ShelfCase):
        return read_document(case, plan, **rest)
    found = [read_document(book, plan, **rest) for book in case.books]
    rest["library"].add(case.document)  # what methods build of all documents together is stored with it
    cost = PaidCost(
        case.document.id, plan.key, sum(cost.pages for _, cost in found), sum(cost.gists for _, cost in found)
    )
    books = [memory for memory, _ in found if isinstance(memory, GistMemory)]
    failed = next((memory for memory, _ in found if not isinstance(memory, GistMemory)), None)
    return failed or join_memories(books), cost


def read_document(
    case: Case,
    plan: GistingPlan,
    *,
    library: Library,
    model: ChatModel,
    budget: ExperimentBudget,
    connections: int,
    cancel: CancelToken,
    gists: bool = True,
    on_read: Callable[[int, int, int], None] = lambda reading, done, words: None,
) -> tuple[GistMemory | ReadAgentError, PaidCost]:
    """Return the document of ``case`` as read by ``plan``, or why it cannot be read; and what reading it cost.

    A reading in the library is used and, where it is not finished, continued. ``connections``: calls at once for this
    document. ``gists``: whether any method uses them; without, pages are cut by rule and no model is asked.
    ``on_read``: told the gisting, how many of its words are read, and of how many. Raises what stops the whole
    experiment.
    """
    document = case.document
    book = library.add(document)
    if not gists and not isinstance(case, PageCase):
        try:
            return gisting.cut_by_rule(document, plan), PaidCost(document.id, plan.key)
        except ReadAgentError as error:
            return error, PaidCost(document.id, plan.key)
    opened = library.open_gisting(book.id, plan, model.name, model.where).id
    on_read(opened, 0, document.words)
    with key_lock(f"reading {opened} in {library.home}", cancel):
        log = WordLog(library.artifacts(document.id), f"reading {opened}")
        counting = CountingModel(model, budget, on_reply=log.add)
        found: GistMemory | ReadAgentError
        try:
            if isinstance(case, PageCase):
                made = library.artifacts(document.id)
                read = read_page(case.page, counting, store=made, connections=connections, cancel=cancel)
                found = replace(read.memory, document=document, plan=plan)
            else:
                store = library.store(opened)
                found = gisting.read(  # ahead=1: no speculative calls, so that the cost is the method's own
                    document, counting, plan, store=store, connections=connections, cancel=cancel, ahead=1,
                    on_change=lambda now: on_read(opened, now.words_read, now.words_total),
                )  # fmt: skip
            library.set_state(opened, GistingState.DONE)
        except STOPPERS:
            raise
        except ReadAgentError as error:
            found = error
        on_read(opened, document.words, document.words)
        return found, PaidCost(document.id, plan.key, *log.total)


def describe_gisting(memory: GistMemory, plan: GistingPlan, *, gists: bool = True) -> GistingFigures:
    """Return what the report says of a document's reading. ``gists``: whether it has any."""
    return GistingFigures(
        document=memory.document.id,
        title=memory.document.title,
        words=memory.document.words,
        plan=plan.key,
        page_words=tuple(page.words for page in memory.pages),
        gist_words=tuple(gist.words for gist in memory.gists if gist is not None) if gists else (),
        fallbacks=sum(p.fallback for p in memory.pages) + sum(bool(g and g.fallback) for g in memory.gists),
        marked=sum(bool(g and g.marks) for g in memory.gists),
    )


class WordLog:
    """The words one gisting has sent, by prompt: a prompt that is sent again after a kill does not count twice.

    Saved after every reply, before the page or gist made from it, so that every stored page and gist is counted.
    """

    def __init__(self, store: ArtifactStore, key: str) -> None:
        self._store, self._key = store, key
        saved = store.load(_WORD_LOG, key) or {}
        self._words: dict[str, dict[str, int]] = {part: dict(saved.get(part, {})) for part in _PARTS}
        self._lock = threading.Lock()

    def add(self, prompt: Prompt) -> None:
        part = next((part for part in _PARTS if prompt.task.startswith(part)), None)
        if part is not None:
            name = blake2b(prompt.text.encode("utf-8", "replace"), digest_size=8).hexdigest()
            with self._lock:
                self._words[part][name] = prompt.words
                self._store.save(_WORD_LOG, self._key, self._words)

    @property
    def total(self) -> tuple[int, int]:
        """Words sent to choose the pages, and to write the gists."""
        with self._lock:
            pages, gists = (sum(words.values()) for words in self._words.values())
            return pages, gists


class SharedBuilds:
    """What methods build of one document (a tree, a running summary), as the run of one question loads and saves it.

    Each build is stored in the library with the words sent for it so far. ``words``: those of every build that this
    question used, also where another question or another arm built it; and those that fitted a memory to its prompts,
    which is not stored.
    """

    def __init__(self, store: ArtifactStore, model: CountingModel) -> None:
        self._store, self._model = store, model
        self._words: dict[tuple[str, str], int] = {}
        self._stored = 0  # of the words this question's model sent for builds, those stored with one

    @property
    def words(self) -> int:
        return sum(self._words.values()) + self._model.built - self._stored

    def load(self, kind: str, key: str) -> Any | None:
        entry = self._store.load(kind, key)
        if not isinstance(entry, dict) or entry.keys() != {"words", "value"}:
            return None
        self._words[kind, key] = int(entry["words"])
        return entry["value"]

    def save(self, kind: str, key: str, value: Any) -> None:
        sent, self._stored = self._model.built - self._stored, self._model.built
        self._words[kind, key] = self._words.get((kind, key), 0) + sent
        self._store.save(kind, key, {"words": self._words[kind, key], "value": value})
