"""A question about a book whose gists are twice as long as the window of 8,000 tokens; no prompt exceeds it."""

from __future__ import annotations

from bench.gisting import book
from readagent_core.answering.base import Answered, AskSettings, LookedUp, Noted, Question
from readagent_core.answering.registry import method
from readagent_core.cancel import CancelToken
from readagent_core.gisting import read
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.plan import GistingPlan
from tests.fakes.model import FakeModel
from tests.gisting.helpers import pick

WINDOW = 8_000


def reply(prompt):
    assert estimate_tokens(prompt.text) <= WINDOW, prompt.task
    if prompt.task == "paginate":
        return f"Break point: <{pick(prompt)}>"
    if prompt.task == "gist":
        words = prompt.fields["page"].split()
        return " ".join(words[: max(1, min(len(words) - 1, int(prompt.fields["most"])))])
    if prompt.task == "look_up_next":
        return "STOP" if "(full text)" in prompt.fields["memory"] else "Page 2"
    if prompt.task.startswith("look_up"):
        return "I want to look up Page [2, 5] to see."
    return "It says so [2]."


def test_a_question_is_answered_within_the_window():
    memory = read(book(60_000), FakeModel(reply, window=WINDOW), GistingPlan.from_preset("book"), connections=8)
    assert estimate_tokens(memory.gist_text) > 1.5 * WINDOW
    for name in ("read-agent-p", "read-agent-s", "gist-mem"):
        model = FakeModel(reply, window=WINDOW)
        events = list(method(name).run(Question("Who lit the lamp?"), memory, model, AskSettings(), CancelToken()))
        assert isinstance(events[-1], Answered)
        assert events[-1].answer.text == "It says so [2]."
        assert any(isinstance(e, Noted) and "too long for one prompt" in e.text for e in events)
        if name != "gist-mem":
            assert any(isinstance(e, LookedUp) and e.pages for e in events)
