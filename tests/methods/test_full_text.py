"""Full text: which part is shown, and what the prompt says is missing."""

import pytest

from readagent_core.answering.base import AskSettings, Question
from readagent_core.cancel import CancelToken
from readagent_core.citations import FROM_PAGE, NOT_FOUND, check
from readagent_core.errors import SettingsError, WindowError
from readagent_core.methods.full_text import METHOD
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel
from tests.methods.books import answer, memory, run
from tests.recordings import recording


@pytest.mark.parametrize(
    ("keep", "says", "seen"),
    [
        ("left", "only its first 60 of 240 words", {1, 2}),
        ("right", "only its last 60 of 240 words", {5, 6}),
        ("ends", "the first and last 30 of its 240 words", {1, 6}),
    ],
)
def test_the_prompt_says_what_was_cut(keep: str, says: str, seen: set[int]) -> None:
    model = FakeModel(["Anna."])
    result = answer(run("full-text", model, context_words=60, keep=keep))
    text = model.prompts[0].text
    assert says in text
    assert {n for n in range(1, 7) if f"word{n} " in text} == seen == set(result.seen)
    assert result.notes
    assert result.compression_rate == pytest.approx(75, abs=1)


def test_a_window_that_only_the_server_knows() -> None:
    def reply(prompt: Prompt) -> str | Exception:
        return WindowError("too long") if prompt.words > 250 else "Anna."

    result = answer(run("full-text", FakeModel(reply), about=memory(10, 100)))
    assert result.seen == {1: "full", 2: "full"} or set(result.seen) == {1}
    assert "too long" in result.notes[0]


def test_a_window_that_holds_nothing_ends() -> None:
    with pytest.raises(WindowError):
        run("full-text", FakeModel(lambda _: WindowError("too long")))


def test_the_models_window_cuts_too() -> None:
    model = FakeModel(["Anna."], window=2000)
    result = answer(run("full-text", model, about=memory(10, 400)))
    assert 0 < result.memory_words < 1000
    assert result.notes


def test_an_unknown_part_to_keep_is_refused() -> None:
    with pytest.raises(SettingsError, match="left"):
        run("full-text", FakeModel([]), keep="middle")


def test_japanese_is_cut_by_its_own_words() -> None:
    model = FakeModel(["はい。"])
    result = answer(run("full-text", model, about=memory(6, 40, language="ja"), context_words=60))
    assert "はじめの60語だけです" in model.prompts[0].text
    assert result.memory_words <= 60


def test_quotations_of_the_full_text_are_found_on_their_pages() -> None:
    about = recording("harrow-council-minutes").memory
    quoted, made_up = " ".join(about.page_text(4).split()[10:18]), "words that are nowhere in it"
    model = FakeModel([f'Anna.\nEvidence:\n"{quoted}"\n"{made_up}"'])
    result = answer(run("full-text", model, about=about))
    assert 'Then write a line "Evidence:"' in model.prompts[0].text
    full = {n for n, how in result.seen.items() if how == "full"}
    found = check(result.text, about, full=full, shown=result.seen).citations
    assert [(c.page, c.state) for c in found] == [(4, FROM_PAGE), (0, NOT_FOUND)]
    assert found[0].places


def test_the_built_in_reader_quotes_what_it_answers_with() -> None:
    about = recording("harrow-council-minutes").memory
    asked = Question("Which firm will repair the slip, Stell Marine or Brannock Civil?")
    result = answer(list(METHOD.run(asked, about, BuiltInReader(), AskSettings(), CancelToken())))
    found = check(result.text, about, full=set(result.seen), shown=result.seen)
    assert found.count(FROM_PAGE) >= 1
    assert found.count(NOT_FOUND) == 0
