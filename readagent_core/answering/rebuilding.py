"""Rebuild the prompts of an answer that was stored without them, from the templates and the gists.

A run is done again with the stored replies in place of a model. It counts only where it opens the same pages and ends
with the same answer: then its prompts are those that the templates of now make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial

from readagent_core.answering.base import Answer, AskSettings, Event, LookedUp, ModelCall, Question, Searched
from readagent_core.answering.registry import all_methods
from readagent_core.answering.replay import answer_of, events_of
from readagent_core.answering.resources import Resources, short_cast
from readagent_core.answering.retrieval import answer_from_pages
from readagent_core.answering.run import Run
from readagent_core.cancel import CancelToken
from readagent_core.errors import ReadAgentError, RefusedError
from readagent_core.library import Library
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel, Completion
from readagent_core.models.cost.meter import Metered
from readagent_core.prompts import Prompt

_LOOK_UP = ("look_up", "look_up_ranked", "look_up_next")  # templates whose reply names pages
_ANSWERS = ("answer", "choose")  # how the names of those begin whose reply is an answer
_RETRIEVAL = {"bm25": False, "neural": False, "bm25-dos": True, "neural-dos": True}  # whether in book order


class _Stored(ChatModel):
    """Gives stored replies, one after another: ``look_ups`` to what asks for pages, then ``answer``."""

    name = "stored replies"
    window: int | None = None

    def __init__(self, look_ups: Sequence[str], answer: str) -> None:
        self._look_ups = list(look_ups)
        self._answer = answer

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        if self._look_ups and not prompt.task.startswith(_ANSWERS):
            return Completion(self._look_ups.pop(0))
        if prompt.task in _LOOK_UP:
            raise RefusedError("No such reply is stored.")
        return Completion(self._answer)


def rebuild(
    question: Question,
    memory: GistMemory,
    answer: Answer,
    settings: AskSettings,
    *,
    look_ups: Sequence[str] = (),
    resources: Resources | None = None,
) -> list[Event]:
    """Return the events of the run with its prompts; [] where it cannot be done again as it was.

    ``look_ups``: the replies that named pages, in order; without them they are made of the pages that were opened.
    ``resources``: must not have a store, because nothing that is made here is a model's.
    """
    known = all_methods().get(answer.method)
    if known is None:
        return []
    if not look_ups and answer.looked_up:
        one_by_one = answer.method == "read-agent-s"
        named = [[n] for n in answer.looked_up] if one_by_one else [list(answer.looked_up)]
        look_ups = [*(f"Page {pages}" for pages in named), *(["STOP"] if one_by_one else [])]
    model = _Stored(look_ups, answer.text)
    try:
        if answer.method in _RETRIEVAL:  # an earlier version, or another embedder, may have ranked in another way
            run = Run(answer.method, question, memory, Metered(model), settings, CancelToken())
            found = answer_from_pages(run, answer.looked_up, in_book_order=_RETRIEVAL[answer.method])
        else:
            found = known.run(question, memory, model, settings, CancelToken(), resources)
        events = list(found)
    except ReadAgentError:
        return []
    made = answer_of(events)
    same = made is not None and (made.text, made.looked_up) == (answer.text, answer.looked_up)
    return events if same else []


def rebuild_exchange(library: Library, exchange: Exchange, memory: GistMemory) -> list[Event]:
    """Return the events of an exchange about one book with its prompts rebuilt; [] where that cannot be done."""
    events = events_of(exchange)
    answer = answer_of(events)
    if answer is None or exchange.facts.books:
        return []
    replies = [e.reply for e in events if isinstance(e, LookedUp | Searched) and e.reply]
    look_ups = [reply for i, reply in enumerate(replies) if not i or reply != replies[i - 1]]
    known = {f.name for f in fields(AskSettings)}
    settings = AskSettings(**{name: value for name, value in exchange.settings.items() if name in known})
    seen = memory.up_to(exchange.up_to) if exchange.up_to is not None else memory
    question = Question(exchange.facts.standalone or exchange.question, exchange.options)
    document_id = library.gisting(exchange.gisting_id).document_id
    resources = Resources(cast=partial(short_cast, library, document_id))
    return rebuild(question, seen, answer, settings, look_ups=look_ups, resources=resources)


def has_prompts(events: Sequence[Event]) -> bool:
    """Return whether the prompts were stored."""
    return any(isinstance(event, ModelCall) for event in events)
