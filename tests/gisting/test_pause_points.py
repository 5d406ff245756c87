"""Windows, labels and replies about pause points: only an offered label is accepted."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagent_core.cancel import CancelToken
from readagent_core.errors import CutOffError, ReplyError
from readagent_core.gisting.pause_points import ask_page, following_text, parse_pause_point, pause_prompt
from readagent_core.gisting.pause_windows import Windows
from readagent_core.plan import GistingPlan
from readagent_core.tags import split_passage
from tests.fakes.model import FakeModel
from tests.gisting.helpers import REPLIES, make_document, random_document

OFFERED = {12, 19, 57, 120}


LONG = ("Break point: <" + "9" * 5000 + ">", None, "")


@pytest.mark.parametrize(("reply", "at", "reason"), [*REPLIES["pause point"], LONG])
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


PLAN = GistingPlan(max_words=100, min_words=40)


@pytest.mark.parametrize(
    ("sizes", "start", "end", "ends", "labels"),
    [
        ([30] * 10, 0, 3, "pause", (2, 3)),  # labels are only where a page may end
        ([90, 95, 20, 90, 5], 0, 1, "only", ()),  # one candidate is taken without a call
        ([10, 95, 95, 95], 0, 1, "only", ()),  # a small head before a large paragraph
        ([30] * 6, 2, 5, "pause", (4, 5)),
        ([30] * 6, 3, 6, "end", ()),  # what fits one page is the last page
        ([30] * 10, 2, 5, "section", ()),  # and a section is not crossed when so asked
    ],
)
def test_where_a_page_may_end(sizes, start, end, ends, labels):
    plan = GistingPlan(max_words=100, min_words=40, cross_sections=ends != "section")
    windows = Windows(make_document(sizes, sections=[0, 5] if ends == "section" else []), plan)
    window = windows.window(start)
    assert (window.start, window.end, window.ends, window.labels) == (start, end, ends, labels)


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


@pytest.mark.parametrize(
    ("quoted", "end"),
    [
        ("w2x0 w2x1 w2x2 w2x3", 2),  # the words after the other label
        ("w3x0 w3x1 w3x2 w3x3", 3),  # after this one
        ("w3x4 w3x5 w3x6 w3x7", 3),  # inside a paragraph
        ("w2x0", 3),  # too little to know it by
        ("first words after the label", 3),
    ],
)
def test_the_words_that_a_reply_quotes_say_which_label_it_means(quoted, end):
    windows = Windows(make_document([30] * 10), PLAN)
    model = FakeModel([f'Break point: <3>\nBecause "{quoted}" begin another scene.'])
    page = ask_page(windows, windows.window(0), model, cancel=CancelToken())
    assert (page.end, page.fallback) == (end, False)


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
    plan = GistingPlan.from_preset(preset, max_words=100, min_words=40, preceding=True)
    windows = Windows(random_document(1, language=language, most=40), plan)
    prompt = pause_prompt(windows, windows.window(4), before=0)
    assert "w0x0" in prompt.fields["preceding"]
    assert windows.passage(windows.window(4)) in prompt.text
    assert ("chapter" in prompt.text or "章や節" in prompt.text) == (preset == "book")
    assert "\nBreak point: <N>\n" in prompt.text  # a copied example names no label


def test_the_words_after_the_last_label_are_shown():
    windows = Windows(make_document([30] * 10), PLAN)
    window = windows.window(0)
    prompt = pause_prompt(windows, window)
    assert f"continues: w{window.end}x0 w{window.end}x1 " in prompt.text
    assert f"w{window.end}x29" not in prompt.text
    assert prompt.text.rstrip().endswith("...)\n</text>")
    assert following_text(windows, windows.total) == ""


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
