"""With a weak model every method ends within bounded calls, and no wrong quotation is marked as found."""

from __future__ import annotations

import re

import pytest

from readagent_core.answering.base import Answer, Answered, AskSettings, Event, ModelCall, Noted, Question
from readagent_core.answering.explore import REQUESTS
from readagent_core.answering.registry import all_methods, method
from readagent_core.answering.response import OPTION_RETRIES
from readagent_core.cancel import CancelToken
from readagent_core.citations import FROM_PAGE, check
from readagent_core.citations.answer_parsing import quoted_runs
from readagent_core.gisting import read
from readagent_core.methods.memwalker import MAX_STEPS, TRIES
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.models.server.retry import Retrying
from readagent_core.plan import PAGINATIONS, GistingPlan
from tests.fakes.server import FakeServer
from tests.fakes.weak import FAULTS, PLANTED, WeakModel
from tests.methods.books import answer
from tests.recordings import recording

MEMORY = recording("the-keeper-of-harrow-light").memory.up_to(4)
OPTIONS = ("to warn the ship", "for the oil", "out of spite")
SETTINGS = AskSettings(extra={"segment_tokens": 500, "siblings": 3, "chunk_words": 300})
EMPTY_TRIES = 3  # calls for one prompt whose replies are empty
BUILT = 24  # most calls for what is made of the book before it is asked about
MOST = {  # calls for one question
    "read-agent-p": 2 + 1 + OPTION_RETRIES,
    "memwalker": BUILT + MAX_STEPS * TRIES,
    "read-agent-s": SETTINGS.look_ups + 1 + 1 + OPTION_RETRIES,
    "read-agent-search": REQUESTS + 1 + OPTION_RETRIES,
    "zoom": BUILT + REQUESTS + 1 + OPTION_RETRIES,
    "recurrence": BUILT + 1 + OPTION_RETRIES,
    "semantic-compression": BUILT + 1 + OPTION_RETRIES,
}


def run_weakly(name: str, weak: WeakModel, options: tuple[str, ...]) -> tuple[list[Event], int]:
    """The events of a run, and how many requests came to the server."""
    with FakeServer(weak) as server:
        model = OpenAIServer(server.url, "fake-model")
        try:
            retrying = Retrying(model, time_scale=0.01)
            question = Question("Why did Ambrose Vane put out Harrow Light?", options)
            return list(method(name).run(question, MEMORY, retrying, SETTINGS, CancelToken())), len(server.chats)
        finally:
            model.close()


def letters(text: str) -> str:
    return re.sub(r"\W", "", text).casefold()


def wrong_quotations(result: Answer) -> list[str]:
    """The quotations that are marked as found, though their page does not have their words."""
    full = {page for page, how in result.seen.items() if how == "full"}
    found = [c for c in check(result.text, MEMORY, full=full, shown=result.seen).citations if c.state == FROM_PAGE]
    return [
        c.quotation
        for c in found
        if PLANTED in c.quotation
        or not all(letters(part) in letters(MEMORY.page_text(c.page)) for part in c.quotation.split("…"))
    ]


@pytest.mark.parametrize("options", [(), OPTIONS], ids=["free", "choice"])
@pytest.mark.parametrize("name", sorted(all_methods()))
def test_every_method_ends_with_an_answer(name: str, options: tuple[str, ...]) -> None:
    weak = WeakModel(0.3, seed=1)
    events, sent = run_weakly(name, weak, options)
    result = answer(events)
    calls = sum(isinstance(event, ModelCall) for event in events)
    assert result.text
    assert result.option in (None, 0, 1, 2)
    assert result.usage.calls == calls <= MOST.get(name, 2 + OPTION_RETRIES)
    assert sent <= EMPTY_TRIES * (calls + 1)
    assert set(result.looked_up) <= set(MEMORY.readable)
    assert not wrong_quotations(result)
    asked_again = sum("named no option" in event.prompt for event in events if isinstance(event, ModelCall))
    if options and name != "memwalker" and (asked_again or result.option is None):
        assert any("named no option" in note for note in result.notes)
    assert tuple(event.text for event in events if isinstance(event, Noted)) == result.notes
    assert sum(isinstance(event, Answered) for event in events) == 1


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "says nothing"])
@pytest.mark.parametrize("name", ["read-agent-p", "memwalker", "zoom"])
def test_a_model_with_one_fault_in_every_reply(name: str, fault: str) -> None:
    result = answer(run_weakly(name, WeakModel({fault: 1.0}), ())[0])
    assert result.text
    assert not wrong_quotations(result)


@pytest.mark.parametrize("pagination", PAGINATIONS)
def test_a_reading_is_whole(pagination: str) -> None:
    weak = WeakModel(0.9, seed=1)
    plan = GistingPlan.from_preset("article", pagination=pagination)
    document = MEMORY.document
    with FakeServer(weak) as server:
        model = OpenAIServer(server.url, "fake-model")
        made = read(document, Retrying(model, time_scale=0.01), plan)
        model.close()
        sent = len(server.chats)
    assert weak.spoilt
    assert made.complete
    assert [page.start for page in made.pages[1:]] == [page.end for page in made.pages[:-1]]
    for page, gist in zip(made.pages, made.gists, strict=True):
        assert gist
        assert gist.text.strip()
        assert all(letters(words) in letters(made.page_text(page.number)) for words in quoted_runs(gist.text))
    assert sent <= EMPTY_TRIES * (3 + 2) * len(made.pages)
