"""Full text, whole and cut: what is shown, what the prompt says is missing."""

import pytest

from readagent_core.errors import SettingsError, WindowError
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel
from tests.methods.books import answer, memory, run


def test_the_whole_text_where_it_fits() -> None:
    model = FakeModel(["Anna."])
    told = answer(run("full-text", model))
    assert model.tasks() == ["answer_text"]
    assert all(f"word{n} " in model.prompts[0].text for n in range(1, 7))
    assert 'Below is a text, "The Book".' in model.prompts[0].text
    assert told.compression_rate == 0
    assert told.seen == dict.fromkeys(range(1, 7), "full")


@pytest.mark.parametrize(
    ("keep", "says", "seen"),
    [
        ("left", "only its first 60 of 240 words", {1, 2}),
        ("right", "only its last 60 of 240 words", {5, 6}),
        ("ends", "the first and last 30 of its 240 words", {1, 6}),
    ],
)
def test_what_is_cut_is_said(keep: str, says: str, seen: set[int]) -> None:
    model = FakeModel(["Anna."])
    told = answer(run("full-text", model, context_words=60, keep=keep))
    text = model.prompts[0].text
    assert says in text
    assert {n for n in range(1, 7) if f"word{n} " in text} == seen == set(told.seen)
    assert told.notes
    assert told.compression_rate == pytest.approx(75, abs=1)


def test_a_window_told_by_the_server_only() -> None:
    def reply(prompt: Prompt) -> str | Exception:
        return WindowError("too long") if prompt.words > 250 else "Anna."

    told = answer(run("full-text", FakeModel(reply), about=memory(10, 100)))
    assert told.seen == {1: "full", 2: "full"} or set(told.seen) == {1}
    assert "too long" in told.notes[0]


def test_a_window_that_holds_nothing_ends() -> None:
    with pytest.raises(WindowError):
        run("full-text", FakeModel(lambda _: WindowError("too long")))


def test_the_models_window_cuts_too() -> None:
    model = FakeModel(["Anna."], window=2000)
    told = answer(run("full-text", model, about=memory(10, 400)))
    assert 0 < told.memory_words < 1000
    assert told.notes


def test_a_way_to_keep_that_there_is_not() -> None:
    with pytest.raises(SettingsError, match="left"):
        run("full-text", FakeModel([]), keep="middle")


def test_japanese_is_cut_by_its_own_words() -> None:
    model = FakeModel(["はい。"])
    told = answer(run("full-text", model, about=memory(6, 40, language="ja"), context_words=60))
    assert "はじめの60語だけです" in model.prompts[0].text
    assert told.memory_words <= 60
