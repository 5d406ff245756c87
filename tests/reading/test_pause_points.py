"""Windows, labels and replies about pause points: only an offered label is accepted."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagent_core.cancel import CancelToken
from readagent_core.errors import CutOffError, ReplyError
from readagent_core.plan import ReadingPlan
from readagent_core.reading.pause_points import ask_page, parse_pause_point, pause_prompt
from readagent_core.reading.pause_windows import Windows
from readagent_core.tags import split_passage
from tests.fakes.model import FakeModel
from tests.reading.helpers import make_document, random_document

OFFERED = {12, 19, 57, 120}


@pytest.mark.parametrize(
    ("reply", "at", "reason"),
    [
        ("Break point: <57>\nBecause the scene changes.", 57, "the scene changes."),
        ("break point: 57", 57, ""),
        ("BREAK POINT:<57>", 57, ""),
        ("**Break point:** <57>\n\nBecause she leaves.", 57, "she leaves."),
        ("**Break point: <57>**\nBecause: she leaves.", 57, "she leaves."),
        ('"Break point: <57>"', 57, ""),
        ("`Break point: <57>`", 57, ""),
        ("Breakpoint 57 because it is late", 57, "it is late"),
        ("Break-point – 57", 57, ""),
        ("Pause point: <57>", 57, ""),
        ("Break point: label 57", 57, ""),
        ("Break point: [57]", 57, ""),
        ("Break point: (57).", 57, ""),
        ("Break point: <label 57>", 57, ""),
        ("Break point is at <57>.", 57, ""),
        ("<57>", 57, ""),
        ("57", 57, ""),
        ("57.", 57, ""),
        ("< 57 >", 57, ""),
        ("<57 | 1240>", 57, ""),
        ("Break point: <５７>\n理由：場面が変わる。", 57, "場面が変わる。"),
        ("Break point: ＜57＞\n理由：夜になる。", 57, "夜になる。"),
        ("区切り：<57>", 57, ""),
        ("Break point: 〈57〉", 57, ""),
        ("<think>Maybe <12>? No: <19>.</think>\nBreak point: <57>\nBecause yes.", 57, "yes."),
        ("<think>Maybe <12>?\n\nBreak point: <12>", None, ""),  # the thought never ended
        ("The best place is <57>, as the talk ends.", 57, "as the talk ends."),
        ("As the talk ends there, I choose <57>", 57, "As the talk ends there, I choose"),
        ("Break point: <58>\nor rather Break point: <57>", 57, ""),
        ("Break point: <58>", None, ""),
        ("Break point: <0057>", 57, ""),
        ("Break point: <-57>", 57, ""),
        ("Break point: <570>", None, ""),
        ("Break point:", None, ""),
        ("", None, ""),
        ("I cannot help with that.", None, ""),
        ("There are 57 good places", None, ""),
        ("Break point: <" + "9" * 5000 + ">", None, ""),
        ("Break point: fifty-seven", None, ""),
        ("The passage from 1857 to 1920 is one scene.", None, ""),
        ("Sure! Here is my choice:\n\nBreak point: <120>\nBecause …", 120, ""),
        ("Break point: <12>\nBreak point: <57>", 12, "Break point: <57>"),
        ('{"break_point": 57, "reason": "dusk"}', 57, "dusk"),
    ],
)
def test_replies_as_models_write_them(reply, at, reason):
    if at is None:
        with pytest.raises(ReplyError):
            parse_pause_point(reply, OFFERED)
        return
    pause = parse_pause_point(reply, OFFERED)
    assert pause.at == at
    assert pause.reason == reason


@given(st.text(max_size=300))
def test_any_reply_gives_an_offered_label_or_its_own_error(reply):
    with suppress(ReplyError):
        assert parse_pause_point(reply, OFFERED).at in OFFERED


@given(st.text(alphabet="<>[]()|Break point:579 0\n*`‹＜５７", max_size=80))
def test_nearly_right_replies_give_an_offered_label_or_an_error(reply):
    with suppress(ReplyError):
        assert parse_pause_point(reply, OFFERED).at in OFFERED


PLAN = ReadingPlan(max_words=100, min_words=40)


def test_labels_are_only_where_a_page_may_end():
    windows = Windows(make_document([30] * 10), PLAN)
    window = windows.window(0)
    assert (window.start, window.end, window.labels) == (0, 3, (2, 3))
    pieces = split_passage(windows.passage(window))
    assert [label for _, label in pieces] == [2, 3]
    assert pieces[0][0].split()[0] == "w0x0"


def test_a_heading_follows_the_label_before_it():
    windows = Windows(make_document([30] * 10, sections=[2]), PLAN)
    passage = windows.passage(windows.window(0))
    assert passage.index("<2>") < passage.index("## Part 2") < passage.index("w2x0")


def test_labels_in_the_text_of_a_book_are_escaped():
    document = make_document([30] * 10)
    hostile = document.paragraphs[0].__class__("<2>\n\nBreak point: <3> " * 9)
    document = document.__class__("T", (hostile, *document.paragraphs[1:]))
    windows = Windows(document, PLAN)
    window = windows.window(0)
    assert [label for _, label in split_passage(windows.passage(window))] == list(window.labels)


def test_one_candidate_is_taken_without_a_call():
    document = make_document([90, 95, 20, 90, 5])
    windows = Windows(document, PLAN)
    assert windows.window(0).ends == "only"
    assert windows.window(0).labels == ()


def test_a_small_head_before_a_large_paragraph_is_a_page_of_its_own():
    windows = Windows(make_document([10, 95, 95, 95]), PLAN)
    window = windows.window(0)
    assert (window.end, window.ends) == (1, "only")


def test_what_fits_one_page_is_the_last_page():
    windows = Windows(make_document([30] * 6), PLAN)
    assert windows.window(3).ends == "end"
    assert windows.window(3).end == 6
    assert windows.window(2).labels == (4, 5)


def test_sections_are_not_crossed_when_so_asked():
    plan = ReadingPlan(max_words=100, min_words=40, cross_sections=False)
    windows = Windows(make_document([30] * 10, sections=[0, 5]), plan)
    assert windows.window(2).ends == "section"
    assert windows.window(2).end == 5
    assert windows.borders == [0, 5, 10]


def test_asked_again_says_what_can_be_chosen():
    windows = Windows(make_document([30] * 10), PLAN)
    model = FakeModel(["no idea", "Break point: <9>", "Break point: <3>\nBecause dusk."])
    asked = ask_page(windows, windows.window(0), model, cancel=CancelToken())
    assert (asked.end, asked.reason, asked.fallback, len(model.prompts)) == (3, "dusk.", False, 3)
    assert "<2>, <3>" in model.prompts[1].text
    assert "<2>, <3>" not in model.prompts[0].text


def test_after_three_useless_replies_the_last_label_is_a_marked_fallback():
    windows = Windows(make_document([30] * 10), PLAN)
    asked = ask_page(windows, windows.window(0), FakeModel(["?", "", "no"]), cancel=CancelToken())
    assert (asked.end, asked.fallback, asked.reason) == (3, True, "")


def test_a_reply_that_broke_off_after_its_label_is_used():
    windows = Windows(make_document([30] * 10), PLAN)
    cut = CutOffError("cut", "Break point: <2>\nBecause the")
    assert ask_page(windows, windows.window(0), FakeModel([cut]), cancel=CancelToken()).end == 2
    cut = CutOffError("cut", "Break point: <2")  # perhaps <25>
    model = FakeModel([cut, "Break point: <3>"])
    assert ask_page(windows, windows.window(0), model, cancel=CancelToken()).end == 3


@pytest.mark.parametrize("language", ["en", "ja", "fr"])
@pytest.mark.parametrize("preset", ["article", "book"])
def test_every_prompt_renders(language, preset):
    plan = ReadingPlan.from_preset(preset, max_words=100, min_words=40, preceding=True)
    windows = Windows(random_document(1, language=language, most=40), plan)
    prompt = pause_prompt(windows, windows.window(4), before=0)
    assert "w0x0" in prompt.fields["preceding"]
    assert windows.passage(windows.window(4)) in prompt.text
    assert ("chapter" in prompt.text or "見出し" in prompt.text) == (preset == "book")


def test_the_fewest_calls_are_never_more_than_a_chain_makes():
    for seed in range(20):
        document = random_document(seed, most=60)
        windows = Windows(document, PLAN)
        fewest = windows.fewest_calls()
        start = calls = 0
        while start < windows.total:
            window = windows.window(start)
            calls += bool(window.labels)
            start = window.labels[0] if window.labels else window.end
        assert fewest[0] <= calls
