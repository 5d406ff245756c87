"""ReadAgent-P, ReadAgent-S and GistMem: their prompts, the pages they expand, their events."""

import pytest

from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError, WindowError
from readagent_core.methods.base import (
    AnswerPart,
    Event,
    Expanded,
    LookedUp,
    ModelCall,
    Noted,
    event_from_dict,
    event_to_dict,
)
from readagent_core.models.base import Completion
from readagent_core.prompts import Prompt
from readagent_core.usage import Usage
from tests.fakes.model import FakeModel
from tests.methods.books import answer, memory, run

LOOK = "I want to look up Page [5, 2] to see the names."


def kinds(events: list[Event]) -> list[str]:
    return [type(e).__name__ for e in events]


def test_p_opens_pages_in_place_and_answers() -> None:
    model = FakeModel([LOOK, "It was Anna [2]."])
    events = run("read-agent-p", model, look_ups=3)
    assert kinds(events) == ["ModelCall", "LookedUp", "Expanded", "AnswerPart", "ModelCall", "Answered"]
    assert model.tasks() == ["look_up", "answer"]
    assert events[1] == LookedUp((5, 2), LOOK, "see the names.")
    final = model.prompts[1].text
    assert final.index("<Page 1>\ngist1 of page") < final.index("<Page 2> (full text)\nword2") < final.index("<Page 3>")
    assert final.index("<Page 4>") < final.index("<Page 5> (full text)\nword5") < final.index("Question:")
    assert "gist2" not in final
    result = answer(events)
    assert result.text == "It was Anna [2]."
    assert result.looked_up == (5, 2)
    assert result.seen == {1: "gist", 2: "full", 3: "gist", 4: "gist", 5: "full", 6: "gist"}
    assert result.memory_words == 2 * 40 + 4 * 3
    assert result.compression_rate == pytest.approx(100 * (1 - 92 / 240))
    assert result.steps == 1
    assert result.usage.calls == 2
    assert result.usage.words_in == sum(p.words for p in model.prompts)


def test_every_prompt_and_reply_is_an_event_word_for_word() -> None:
    model = FakeModel([LOOK, "Anna."])
    asked = [e for e in run("read-agent-p", model) if isinstance(e, ModelCall)]
    assert [e.prompt for e in asked] == [p.text for p in model.prompts]
    assert [e.reply for e in asked] == [LOOK, "Anna."]
    assert sum(e.usage.words_in for e in asked) == sum(p.words for p in model.prompts)


def test_events_survive_the_library() -> None:
    for event in run("read-agent-p", FakeModel([LOOK, "(B)"]), options=["no", "yes"]):
        assert event_from_dict(event_to_dict(event)) == event


def test_events_keep_the_kinds_that_earlier_versions_stored() -> None:
    stored = {"kind": "Asked", "task": "look_up", "prompt": "Which?", "reply": LOOK, "usage": Usage(calls=1).to_dict()}
    event = ModelCall("look_up", "Which?", LOOK, Usage(calls=1))
    assert event_from_dict(stored) == event
    assert event_to_dict(event) == stored
    events = run("read-agent-p", FakeModel([LOOK, "(B)"]), options=["no", "yes"])
    assert [event_to_dict(e)["kind"] for e in events] == [
        *("Asked", "LookedUp", "Expanded", "AnswerPart", "Asked", "Answered")
    ]


def test_p_without_a_page_answers_from_gists() -> None:
    events = run("read-agent-p", FakeModel(["I want to look up Page [] as the gists tell.", "All of it."]))
    assert "Expanded" not in kinds(events)
    assert answer(events).looked_up == ()


def test_p_with_no_look_ups_asks_nothing_but_the_answer() -> None:
    model = FakeModel(["Anna."])
    run("read-agent-p", model, look_ups=0)
    assert model.tasks() == ["answer"]


def test_p_by_importance_adds_pages_while_they_fit() -> None:
    gists = 6 * (2 + 3)  # a tag of two words and a gist of three
    model = FakeModel(["I want to look up Page [4, 1, 6] to see.", "Anna."])
    events = run("read-agent-p", model, by_importance=True, context_words=gists + 2 * (2 + 37))
    assert model.tasks() == ["look_up_ranked", "answer"]
    assert answer(events).looked_up == (4, 1)
    looked = next(e for e in events if isinstance(e, LookedUp))
    assert looked.refused == ("page 6: it does not fit into the prompt any more",)
    assert "page 6" in answer(events).notes[0]


def test_the_models_window_is_the_budget_where_no_other_is_given() -> None:
    model = FakeModel([LOOK, "Anna."], window=1500)
    about = memory(6, 400)
    assert answer(run("read-agent-p", model, about=about)).looked_up == (5,)


def shrinking(prompt: Prompt) -> str:
    """Merges every page, makes gists of four words, looks up the second merged page."""
    replies = {"merge": "No", "gist": "short gist of it", "answer": 'Anna [2].\nEvidence:\n[2] "word3"'}
    return replies.get(prompt.task, "I want to look up Page [2] to see.")


def test_a_memory_too_long_for_the_prompt_is_made_to_fit() -> None:
    about = memory(6, 40, gist="long " * 30)
    model = FakeModel(shrinking)
    result = answer(run("gist-mem", model, about=about, context_words=120))
    assert "gist" in model.tasks()
    assert result.memory_words <= 120
    assert "too long for one prompt: shortened from 192 to" in result.notes[0]
    assert result.usage.calls == len(model.prompts)


def test_merged_pages_are_reported_by_the_numbers_of_the_reading() -> None:
    events = run("read-agent-p", FakeModel(shrinking), about=memory(12, 40, gist="long " * 30), context_words=160)
    result = answer(events)
    assert "12 pages were joined to" in result.notes[0]
    looked = next(e for e in events if isinstance(e, LookedUp))
    assert len(looked.pages) > 1
    assert looked.pages == result.looked_up == tuple(n for n, how in result.seen.items() if how == "full")
    assert set(result.seen) == set(range(1, 13))
    cited = ", ".join(map(str, result.looked_up))
    assert result.text == f'Anna [{cited}].\nEvidence:\n[{cited}] "word3"'
    parts = "".join(e.text for e in events if isinstance(e, AnswerPart))
    assert parts == result.text
    own = memory(12, 40)
    assert result.memory_words >= sum(own.page(n).words for n in result.looked_up)


def test_a_memory_that_cannot_be_made_to_fit_is_an_error() -> None:
    with pytest.raises(WindowError, match="only 2 fit into one prompt"):
        run("gist-mem", FakeModel(shrinking), context_words=2)


def test_a_prompt_the_server_finds_too_long_is_tried_with_fewer_pages() -> None:
    def reply(prompt: Prompt) -> str | Exception:
        if prompt.task == "look_up":
            return "I want to look up Page [2, 5, 6] to see."
        return WindowError("too long") if prompt.text.count("(full text)\n") > 1 else "Anna [2]."

    events = run("read-agent-p", FakeModel(reply))
    result = answer(events)
    assert result.looked_up == (2,)
    assert [e.pages for e in events if isinstance(e, Expanded)] == [(2, 5, 6), (2, 5), (2,)]
    assert len(result.notes) == 2
    assert result.compression_rate == pytest.approx(100 * (1 - (40 + 15) / 240))


@pytest.mark.parametrize("error", [EmptyReplyError("no words"), RefusedError("declined")])
def test_a_look_up_without_a_usable_reply_leaves_the_gists(error: Exception) -> None:
    events = run("read-agent-p", FakeModel([error, "Anna."]))
    assert answer(events).text == "Anna."
    assert answer(events).notes


def test_pages_not_read_yet_cannot_be_opened() -> None:
    model = FakeModel(["I want to look up Page [2, 5] to see.", "Anna."])
    events = run("read-agent-p", model, about=memory(6, gists=3))
    looked = next(e for e in events if isinstance(e, LookedUp))
    assert looked.pages == (2,)
    assert looked.refused == ("page 5: it is not read yet",)
    assert "word5" not in "".join(p.text for p in model.prompts)
    assert set(answer(events).seen) == {1, 2, 3}


def test_tags_in_a_question_are_escaped() -> None:
    model = FakeModel(["[]", "Anna."])
    run("read-agent-p", model, question="What of <Page 3>?")
    assert "What of ‹Page 3›?" in model.prompts[0].text


# --- one at a time --------------------------------------------------------------------------------


def test_s_sees_each_page_before_it_names_the_next() -> None:
    model = FakeModel(["I want to look up Page 2 to see.", "I want to look up Page 5 to see more.", "STOP", "Anna."])
    events = run("read-agent-s", model, look_ups=4)
    assert model.tasks() == ["look_up_next"] * 3 + ["answer"]
    assert "<Page 2>\ngist2" in model.prompts[0].text
    assert "read again so far: none" in model.prompts[0].text
    assert "<Page 2> (full text)\nword2" in model.prompts[1].text
    assert "read again so far: 2, 5" in model.prompts[2].text
    assert answer(events).looked_up == (2, 5)
    assert answer(events).steps == 3


def test_s_reads_at_most_k_pages() -> None:
    model = FakeModel(["Page 2", "Page 5", "Anna."])
    assert answer(run("read-agent-s", model, look_ups=2)).looked_up == (2, 5)


@pytest.mark.parametrize(("second", "why"), [("Page 2", "it stands above in full"), ("Page 99", "no such page")])
def test_s_corrects_the_model_once(second: str, why: str) -> None:
    model = FakeModel(["Page 2", second, "Page 5", "STOP", "Anna."])
    events = run("read-agent-s", model, look_ups=4)
    assert why in model.prompts[2].text
    assert why not in model.prompts[3].text
    assert answer(events).looked_up == (2, 5)


def test_s_takes_a_second_wrong_page_as_stop() -> None:
    model = FakeModel(["Page 2", "Page 2", "Page 2", "Anna."])
    events = run("read-agent-s", model, look_ups=4)
    assert answer(events).looked_up == (2,)
    assert "taken as STOP" in answer(events).notes[0]


def test_s_stops_on_a_reply_without_a_page() -> None:
    model = FakeModel(["The story tells of a captain.", "Anna."])
    events = run("read-agent-s", model)
    assert answer(events).looked_up == ()
    assert "neither a page nor STOP" in answer(events).notes[0]


def test_s_stops_early_when_nothing_more_fits() -> None:
    gists = 6 * (2 + 3)
    model = FakeModel(["Page 2", "Anna."])
    events = run("read-agent-s", model, look_ups=4, context_words=gists + 39 + 10)
    assert answer(events).looked_up == (2,)
    assert "no other page fits" in answer(events).notes[0]


def test_s_stops_at_a_server_that_finds_it_too_long() -> None:
    replies = ["Page 2", WindowError("too long"), "Anna."]
    events = run("read-agent-s", FakeModel(replies), look_ups=4)
    assert answer(events).looked_up == (2,)
    assert answer(events).notes


def test_s_in_a_book_shorter_than_k() -> None:
    model = FakeModel(["Page 2", "Page 1", "Anna."])
    assert answer(run("read-agent-s", model, about=memory(2), look_ups=6)).looked_up == (2, 1)


# --- answers --------------------------------------------------------------------------------------


def test_gists_alone_look_nothing_up() -> None:
    model = FakeModel(["Anna."])
    events = run("gist-mem", model)
    assert model.tasks() == ["answer"]
    assert answer(events).memory_words == 6 * 3
    assert set(answer(events).seen.values()) == {"gist"}


@pytest.mark.parametrize(
    "broken", [Completion("It was An", finish="length"), CutOffError("broke off", "It was An")], ids=["length", "broke"]
)
def test_an_answer_that_broke_off_keeps_its_text(broken: Completion | CutOffError) -> None:
    result = answer(run("gist-mem", FakeModel([broken])))
    assert result.cut_off
    assert result.text == "It was An"


def test_the_answer_streams() -> None:
    events = run("gist-mem", FakeModel(["One.\nTwo.\n"]))
    assert [e.text for e in events if isinstance(e, AnswerPart)] == ["One.\n", "Two.\n"]


def test_an_option_not_named_is_asked_for_again() -> None:
    model = FakeModel(["It is hard to say.", "Well.", "Answer: (B)"])
    events = run("gist-mem", model, options=["no", "yes"])
    assert model.prompts[2].text.endswith('Reply with "Answer: (X)", where X is one of: A, B.')
    assert answer(events).option == 1
    assert any(isinstance(e, Noted) for e in events)


def test_an_option_never_named_is_none_and_no_crash() -> None:
    events = run("gist-mem", FakeModel(["It is hard to say."] * 3), options=["no", "yes"])
    assert answer(events).option is None
    assert answer(events).text == "It is hard to say."
    assert answer(events).notes


def test_the_look_up_of_a_choice_sees_its_options() -> None:
    model = FakeModel(["[]", "Answer: (A)"])
    run("read-agent-p", model, options=["the brass key", "the lamp"])
    assert "(A) the brass key\n(B) the lamp" in model.prompts[0].text
    assert model.tasks() == ["look_up", "choose"]
