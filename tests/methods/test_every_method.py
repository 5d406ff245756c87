"""Every method ends with an answer, reports correct figures, can be cancelled and reads Japanese."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import pytest

from readagent_core import methods
from readagent_core.answering import registry
from readagent_core.answering.base import Answered, AskSettings, ModelCall, Question
from readagent_core.answering.event_json import event_from_dict, event_to_dict
from readagent_core.answering.registry import ORDER, Family, all_methods, family_of, method
from readagent_core.answering.resources import Resources
from readagent_core.cancel import CancelToken
from readagent_core.errors import CancelledError, UnreachableError
from readagent_core.memory import GistMemory, compression_rate
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.models.embeddings.embed import BuiltInEmbedder
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel, Reply
from tests.methods.books import answer, memory, run
from tests.recordings import recording

NAMES = sorted(all_methods())


def test_lists_have_read_agent_first_and_methods_of_ones_own_last(tmp_path, monkeypatch) -> None:
    assert tuple(all_methods()) == ORDER
    (tmp_path / "my_own.py").write_text(
        "from dataclasses import replace\n"
        "from readagent_core.methods import bm25\n"
        "METHOD = replace(bm25.METHOD, name='another')\n"
    )
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path)])
    registry._load.cache_clear()
    try:
        assert tuple(all_methods()) == (*ORDER, "another")
    finally:
        registry._load.cache_clear()
        del sys.modules["readagent_core.methods.my_own"], methods.my_own


def test_every_search_is_of_one_family_and_a_method_that_is_gone_has_one() -> None:
    searches = [name for name in ORDER if family_of(name) is Family.SEARCH]
    assert searches == ["bm25", "bm25-dos", "passages-dos", "search-agent", "neural", "neural-dos"]
    assert [name for name in ORDER if family_of(name) is Family.READ_AGENT] == list(ORDER[:4])
    assert family_of("of a package that is gone") is Family.SUMMARIES


KEEPER, SNOW = "the-keeper-of-harrow-light", "yuki-no-eki"
ASKED = {KEEPER: "Why did Ambrose Vane put out Harrow Light?", SNOW: "駅の時計は何分進んでいますか。"}


@pytest.mark.parametrize(("sample", "context_words"), [(KEEPER, 2600), (SNOW, None)], ids=[KEEPER, SNOW])
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_through_every_method(name: str, sample: str, context_words: int | None) -> None:
    """``context_words``: most in one prompt, a quarter of the sample."""
    about = recording(sample).memory
    events = run(name, BuiltInReader(), question=ASKED[sample], about=about, context_words=context_words)
    result = answer(events)
    assert [type(e) for e in events].count(Answered) == 1
    assert result.text
    assert result.method == name
    assert 0 < result.memory_words <= (context_words or about.document.words)
    assert result.compression_rate == pytest.approx(compression_rate(result.memory_words, about.document.words))
    assert set(result.seen) <= set(range(1, len(about.pages) + 1))
    assert set(result.looked_up) <= {n for n, how in result.seen.items() if how == "full"}
    assert result.usage.calls == sum(isinstance(e, ModelCall) for e in events)
    assert result.usage.words_in == sum(e.usage.words_in for e in events if isinstance(e, ModelCall))
    assert all(event_from_dict(event_to_dict(e)) == e for e in events[:-1])
    if sample == SNOW:
        assert any("。" in e.prompt and "質問" in e.prompt for e in events if isinstance(e, ModelCall))


@pytest.mark.parametrize("name", ["read-agent-p", "bm25", "full-text", "memwalker", "zoom"])  # each with its own prompt
def test_a_choice_in_japanese(name: str) -> None:
    about = recording(SNOW).memory
    question = Question(ASKED[SNOW], ("三分", "五分", "十分"))
    result = answer(list(method(name).run(question, about, BuiltInReader(), AskSettings(), CancelToken())))
    assert result.option in (None, 0, 1, 2)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_is_stopped_stops(name: str) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        list(method(name).run(Question("Who?"), memory(), BuiltInReader(), AskSettings(), cancel))


@pytest.mark.parametrize("name", NAMES)
def test_a_lost_connection_is_not_hidden(name: str) -> None:
    with pytest.raises(UnreachableError):
        run(name, FakeModel(lambda _: UnreachableError("gone")))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_past_the_limit_reaches_a_prompt(name: str) -> None:
    limited: GistMemory = memory(6).up_to(3)
    model = FakeModel(lambda p: "Action: -2\nAnswer: [5]" if p.task == "leaf" else "Action: 1\nI want Page [2, 5]")
    events = run(name, model, about=limited, question="word5 word2?")
    result = answer(events)
    assert sorted(e.prompt for e in events if isinstance(e, ModelCall)) == sorted(p.text for p in model.prompts)
    assert set(result.seen) <= {1, 2, 3}
    assert not any(f"word{n} word{n}" in p.text or f"gist{n}" in p.text for p in model.prompts for n in (4, 5, 6))


class MemoryStore:
    """An artifact store in memory."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], Any] = {}

    def load(self, kind: str, key: str) -> Any | None:
        return self.values.get((kind, key))

    def save(self, kind: str, key: str, value: Any) -> None:
        self.values[kind, key] = value


class CountingEmbedder(BuiltInEmbedder):
    asked = 0

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> Any:
        self.asked += len(texts)
        return super().embed(texts, cancel)


@pytest.mark.parametrize(
    ("name", "done", "left", "asking", "embedded"),
    [
        ("memwalker", 3, 1, 2, 0),
        ("recurrence", 1, 2, 1, 0),
        ("semantic-compression", 0, 6, 1, 0),
        ("neural", 0, 0, 1, 1),
    ],
)
def test_what_is_built_for_a_book_is_stored(name: str, done: int, left: int, asking: int, embedded: int) -> None:
    """A build that is interrupted after ``done`` calls makes the rest the next time; later questions only ask."""
    extra = {"segment_tokens": 250, "siblings": 3, "block_words": 12, "chunk_words": 100}
    embedder = CountingEmbedder()
    settings, resources = AskSettings(extra=extra), Resources(embedder, MemoryStore(), connections=1)

    def ask(most: int = 1000) -> int:
        def reply(prompt: Prompt) -> Reply:
            if len(model.prompts) > most:
                return UnreachableError("gone")
            return "Action: 1" if prompt.task == "walk" else "Action: -2\nAnswer: Yes"

        model = FakeModel(reply)
        list(method(name).run(Question("word2?"), memory(6, 90), model, settings, CancelToken(), resources))
        return len(model.prompts)

    with pytest.raises(UnreachableError):
        ask(done)
    assert ask() == left + asking
    before = embedder.asked
    assert ask() == asking
    assert embedder.asked - before == embedded
