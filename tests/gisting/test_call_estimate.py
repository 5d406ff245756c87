"""The estimate is close to the calls and words of the reading."""

from __future__ import annotations

import pytest

from readagent_core.gisting import estimate, read
from readagent_core.plan import GistingPlan
from tests.fakes.model import FakeModel
from tests.gisting.helpers import make_document, many_replier, random_document, replier


@pytest.mark.parametrize("pagination", ["pause", "many", "one-pass", "uniform"])
def test_calls_and_words_come_near(pagination):
    document = random_document(1, paragraphs=300, most=100)
    plan = GistingPlan(pagination=pagination)
    said = estimate(document, plan)
    model = FakeModel(replier() if pagination in ("pause", "uniform") else many_replier())
    memory = read(document, model, plan, ahead=1)
    assert said.pages == pytest.approx(len(memory.pages), rel=0.15)
    assert said.calls == pytest.approx(len(model.prompts), rel=0.4)
    assert said.words_in == pytest.approx(memory.usage.words_in, rel=0.3)
    assert said.words_out > 0
    assert estimate(make_document([10]), plan).calls == 0
