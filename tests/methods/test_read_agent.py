"""ReadAgent-P, ReadAgent-S and GistMem: their prompts, the pages they expand, their events."""

import os
from typing import Any

import pytest

from readagent_core.answering.base import AnswerPart, Expanded, LookedUp, ModelCall, NoteCode
from readagent_core.answering.event_json import event_from_dict, event_to_dict
from readagent_core.answering.questions import pages_quoted
from readagent_core.answering.replay import notes
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError, WindowError
from readagent_core.models.base import Completion
from readagent_core.prompts import Prompt
from readagent_core.usage import Usage
from readagent_core.words import count_words
from tests.fakes.model import FakeModel, Reply
from tests.methods.books import answer, memory, run
from tests.methods.test_zoom import long_memory

LOOK = "I want to look up Page [5, 2] to see the names."
FOUND = (1, 2, 3)  # by words; all pages have as many of them


def test_events_keep_the_kinds_that_earlier_versions_stored() -> None:
    stored = {"kind": "Asked", "task": "look_up", "prompt": "Which?", "reply": LOOK, "usage": Usage(calls=1).to_dict()}
    event = ModelCall("look_up", "Which?", LOOK, Usage(calls=1))
    assert event_from_dict(stored) == event
    assert event_to_dict(event) == stored
    events = run("read-agent-p", FakeModel([LOOK, "(B)"]), options=["no", "yes"])
    assert [event_to_dict(e)["kind"] for e in events] == [
        *("Asked", "LookedUp", "Expanded", "AnswerPart", "Asked", "Answered")
    ]
    assert [event_from_dict(event_to_dict(e)) for e in events] == events


GISTS = 6 * (2 + 3)  # words of the memory: six tags of two words, six gists of three
RUNS = [  # method, replies, settings, pages opened, part of a note
    ("gist-mem", ["Anna."], {}, (), ""),
    ("read-agent-p", ["Anna."], {"look_ups": 0}, (), ""),
    ("read-agent-p", ["I want to look up Page [] as the gists tell.", "All of it."], {}, (), ""),
    ("read-agent-p", [EmptyReplyError("no words"), "Anna."], {}, FOUND, "share most words"),
    ("read-agent-p", [RefusedError("declined"), "Anna."], {}, FOUND, "share most words"),
    ("read-agent-p", ["A lovely story!", "Page [2]", "Anna."], {}, (2,), "asked again"),
    ("read-agent-p", ["I want to look up Page [9] to ...", "Page [9, 14]", "Anna."], {}, FOUND, "asked again"),
    ("read-agent-s", ["Page 2", "Page 5", "Anna."], {"look_ups": 2}, (2, 5), ""),
    ("read-agent-s", ["Page 2", "Page 1", "Anna."], {"look_ups": 6, "about": memory(2)}, (2, 1), ""),
    ("read-agent-s", ["Page 2", "Page 2", "Page 2", "Anna."], {"look_ups": 4}, (2,), "taken as STOP"),
    ("read-agent-s", ["Page 2", "Answer: (A) a tea cosy [2]. STOP", "Anna."], {"look_ups": 4}, (2,), ""),
    ("read-agent-s", ["Page 2", "She kept it, as I [2] know.", "Anna."], {"look_ups": 4}, (2,), ""),
    ("read-agent-s", ["Page 2", "I want to look up [2] to check it.", "STOP", "Anna."], {"look_ups": 4}, (2,), ""),
    ("read-agent-s", ["The story tells of a captain.", "Anna."], {}, (), "neither a page nor STOP"),
    ("read-agent-s", ["Page 2", "Anna."], {"look_ups": 4, "context_words": GISTS + 49}, (2,), "no other page fits"),
    ("read-agent-s", ["Page 2", WindowError("too long"), "Anna."], {"look_ups": 4}, (2,), "request 2 is too long"),
]


@pytest.mark.parametrize(("name", "replies", "settings", "looked_up", "note"), RUNS)
def test_which_pages_are_opened_and_what_is_noted(
    name: str, replies: list[Reply], settings: dict[str, Any], looked_up: tuple[int, ...], note: str
) -> None:
    model = FakeModel(replies)
    events = run(name, model, **settings)
    result = answer(events)
    assert len(model.prompts) == len(replies)
    assert result.text == replies[-1]
    assert result.looked_up == looked_up
    assert any(isinstance(e, Expanded) for e in events) == bool(looked_up)
    assert note in " ".join(result.notes)
    assert bool(result.notes) == bool(note)


@pytest.mark.parametrize(("name", "replies"), [("read-agent-p", [LOOK]), ("read-agent-s", ["Page 5", "Page 2"])])
def test_the_page_of_words_quoted_from_the_text_is_opened_first(name: str, replies: list[Reply]) -> None:
    asked = "“word3\n\n*word3*”\nWho says so?"
    events = run(name, FakeModel([*replies, "Anna."]), question=asked)
    assert answer(events).looked_up == (3, 5, 2)
    assert next(event for event in events if isinstance(event, LookedUp)).pages == (3,)
    assert pages_quoted("“of no page”\nWho says so?", memory()) == ()
    assert pages_quoted("“word3 word4”\nWho says so?", memory()) == (3, 4)
    assert pages_quoted("“word3 word4”\nWho says so?", memory(gists=3)) == ()
    assert pages_quoted("“word3”\nWho?", memory(gists=2)) == ()  # its gist is not made yet


def shared(first: Prompt, second: Prompt) -> str:
    return os.path.commonprefix([first.text, second.text])  # noqa: RUF071


def test_pages_may_be_shown_after_all_the_gists_so_that_prompts_begin_alike() -> None:
    model = FakeModel([LOOK, "Anna."])
    result = answer(run("read-agent-p", model, extra={"opened": "after"}))
    look, response = model.prompts
    assert shared(look, response).endswith("<Page 6>\ngist6 of page\n")  # all the gists, none of them replaced
    assert response.text.index("<Page 2> (full text)") < response.text.index("<Page 5> (full text)")
    assert (result.looked_up, result.extra["opened"]) == ((5, 2), "after")
    assert result.memory_words == 6 * 3 + 2 * 40
    steps = FakeModel(["Page 5", "Page 2", "STOP", "Anna."])
    run("read-agent-s", steps, look_ups=4, extra={"opened": "after"})
    for number, end in ((1, "gist6 of page\n"), (2, "word5\n"), (3, "word2\n</text>\n\nA")):
        assert shared(*steps.prompts[number - 1 : number + 1]).endswith(end)
    in_place = answer(run("read-agent-p", FakeModel([LOOK, "Anna."])))
    assert "opened" not in in_place.extra
    assert in_place.memory_words == 4 * 3 + 2 * 40


def test_pages_after_the_gists_count_towards_the_limit() -> None:
    most = GISTS + 2 + 40 + 2 + 37  # one page fits, and a second one in the place of its gist
    for opened, pages in (("in place", (5, 2)), ("after", (5,))):
        events = run("read-agent-p", FakeModel([LOOK, "Anna."]), context_words=most, extra={"opened": opened})
        assert answer(events).looked_up == pages


def test_p_by_importance_adds_pages_while_they_fit() -> None:
    model = FakeModel(["I want to look up Page [4, 1, 6] to see.", "Anna."])
    events = run("read-agent-p", model, by_importance=True, context_words=GISTS + 2 * (2 + 37))
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
    """Makes gists of four words."""
    return "short gist of it" if prompt.task == "gist" else "Anna [2]."


def test_a_memory_too_long_for_the_prompt_is_made_to_fit() -> None:
    about = memory(6, 40, gist="long " * 30)
    model = FakeModel(shrinking)
    result = answer(run("gist-mem", model, about=about, context_words=120))
    assert "gist" in model.tasks()
    assert 0 < result.memory_words <= 120
    assert "too long for one prompt: of its 192 words a view of" in result.notes[0]
    assert set(result.seen.values()) == {"part"}
    assert result.usage.calls == len(model.prompts)


@pytest.mark.parametrize("name", ["read-agent-p", "read-agent-s"])
def test_a_memory_too_long_for_one_prompt_is_shown_by_ranges_with_pages_in_place(name: str) -> None:
    def reply(prompt: Prompt) -> str:
        if prompt.task == "gist":
            return "told " * int(prompt.fields["least"])
        if prompt.task == "look_up_next":
            return "STOP" if "(full text)" in prompt.fields["memory"] else "Page 31"
        return "I want to look up Page [31] to read it." if prompt.task == "look_up" else "Behind the clock [31]."

    model = FakeModel(reply)
    about = long_memory(120)  # 12,000 words of gists
    events = run(name, model, about=about, question="Who sang of it?", context_words=2500)
    result = answer(events)
    assert "a view of" in result.notes[0]
    assert result.looked_up == (31,)
    assert set(result.seen) == set(range(1, 121))
    assert (result.seen[31], result.seen[32]) == ("full", "part")
    assert result.memory_words <= 2500
    first, *_, then = [e for e in events if isinstance(e, Expanded)]
    assert first.shown == tuple(e for e in then.shown if e[2] != "full")  # what every step draws is what was sent
    around = next(e for e in then.shown if e[0] <= 31 <= e[1])
    assert around[2] == "part"
    assert (then.pages, then.shown[then.shown.index(around) + 1]) == ((31,), (31, 31, "full"))
    last = model.prompts[-1].text
    assert last.index("<Pages 29-") < last.index("<Page 31> (full text)\nPage 31 tells of subject31.")
    assert count_words(model.prompts[-1].fields["memory"]) <= 2500


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


def test_s_corrects_the_model_once() -> None:
    model = FakeModel(["Page 2", "Page 99", "Page 5", "STOP", "Anna."])
    events = run("read-agent-s", model, look_ups=4)
    assert "no such page" in model.prompts[2].text
    assert "no such page" not in model.prompts[3].text
    assert answer(events).looked_up == (2, 5)


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (Completion("It was An", finish="length"), "no room for more"),
        (Completion("It was An", finish="repeats"), "began to repeat itself"),
        (CutOffError("The connection broke off.", "It was An"), "The connection broke off."),
    ],
    ids=["length", "repeats", "broke"],
)
def test_an_answer_that_broke_off_keeps_its_text_and_says_why(broken: Completion | CutOffError, why: str) -> None:
    events = run("gist-mem", FakeModel([broken]))
    result = answer(events)
    assert result.cut_off
    assert result.text == "It was An"
    assert [why in note for note in notes(events, NoteCode.BROKE_OFF)] == [True]


def test_the_answer_streams() -> None:
    events = run("gist-mem", FakeModel(["One.\nTwo.\n"]))
    assert [e.text for e in events if isinstance(e, AnswerPart)] == ["One.\n", "Two.\n"]


@pytest.mark.parametrize(("last", "option"), [("Answer: (B)", 1), ("It is hard to say.", None)])
def test_an_option_not_named_is_asked_for_again(last: str, option: int | None) -> None:
    model = FakeModel(["It is hard to say.", "Well.", last])
    result = answer(run("gist-mem", model, options=["no", "yes"]))
    assert "\n\nYour last reply was:\n\nWell.\n\nIt named no option." in model.prompts[2].text
    assert model.prompts[2].text.endswith('Reply with "Answer: (X)", where X is one of: A, B.')
    assert result.option == option
    assert result.notes
    assert option or result.text == "It is hard to say."


def test_the_look_up_of_a_choice_sees_its_options() -> None:
    model = FakeModel(["[]", "Answer: (A)"])
    run("read-agent-p", model, options=["the brass key", "the lamp"])
    assert "(A) the brass key\n(B) the lamp" in model.prompts[0].text
    assert model.tasks() == ["look_up", "choose"]
