"""Full text, whole and cut: what is shown, what the prompt says is missing."""

import pytest

from readagent_core.citations import FROM_PAGE, NOT_FOUND, check
from readagent_core.errors import SettingsError, WindowError
from readagent_core.methods.base import AskSettings, Question
from readagent_core.methods.full_text import METHOD
from readagent_core.models.base import Watch
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel
from tests.methods.books import answer, memory, run
from tests.recordings import recording


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


def test_an_answer_from_the_full_text_is_led_back_to_its_pages() -> None:
    about = recording("harrow-council-minutes").memory
    quoted, made_up = " ".join(about.page_text(4).split()[10:18]), "words that stand nowhere in it"
    model = FakeModel([f'Anna.\nEvidence:\n"{quoted}"\n"{made_up}"'])
    told = answer(run("full-text", model, about=about))
    assert 'Then write a line "Evidence:"' in model.prompts[0].text
    full = {n for n, how in told.seen.items() if how == "full"}
    found = check(told.text, about, full=full, shown=told.seen).citations
    assert [(c.page, c.state) for c in found] == [(4, FROM_PAGE), (0, NOT_FOUND)]
    assert found[0].places


def test_the_built_in_reader_quotes_what_it_answers_with() -> None:
    about = recording("harrow-council-minutes").memory
    asked = Question("Which firm will repair the slip, Stell Marine or Brannock Civil?")
    told = answer(list(METHOD.run(asked, about, BuiltInReader(), AskSettings(), Watch())))
    found = check(told.text, about, full=set(told.seen), shown=told.seen)
    assert found.count(FROM_PAGE) >= 1
    assert found.count(NOT_FOUND) == 0


def test_what_is_no_text_of_the_book_is_not_asked_for_quotations() -> None:
    model = FakeModel(["A summary.", "Anna."])
    run("recurrence", model)
    assert "Evidence" not in model.prompts[-1].text
