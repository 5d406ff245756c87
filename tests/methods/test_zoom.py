"""Zoom and ReadAgent with search: views of a memory, requests in replies, and what is opened, found and folded."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.parts.ask.book_views import memory_step
from readagent_core.answering import replay
from readagent_core.answering.base import AskSettings, Event, Expanded, LookedUp, Question, Searched
from readagent_core.answering.explore_replies import Request, parse_request
from readagent_core.answering.levels import lay_out
from readagent_core.answering.registry import method
from readagent_core.answering.replay import checked_answer
from readagent_core.answering.resources import Resources
from readagent_core.answering.shown_text import join_passages, passages_of
from readagent_core.answering.view import FoundLine, find_in_texts, find_places
from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph, Section
from readagent_core.errors import UnreachableError
from readagent_core.export.citation_labels import citation_label
from readagent_core.memory import Gist, GistMemory, Page, Passage
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt
from readagent_core.words import count_words
from tests.fakes.model import FakeModel
from tests.methods.books import answer, memory, run


def long_memory(pages: int = 60, *, gist_words: int = 100, chapter: int = 7) -> GistMemory:
    """A book whose gists have 6,000 words, with a chapter every ``chapter`` pages and a key on page 31."""
    texts = [f"Page {n} tells of subject{n}. " + "word " * 50 for n in range(1, pages + 1)]
    if pages > 30:
        texts[30] += "The old brass key hung behind the clock."
    document = Document(
        "A long book",
        tuple(Paragraph(text.strip()) for text in texts),
        tuple(Section(f"Chapter {n}", n) for n in range(0, pages, chapter)),
    )
    return GistMemory(
        document,
        GistingPlan(max_words=200, min_words=1),
        tuple(Page(n, n - 1, n, document.paragraphs[n - 1].words) for n in range(1, pages + 1)),
        tuple(Gist(f"Gist {n} of subject{n}. " + "gist " * (gist_words - 4)) for n in range(1, pages + 1)),
        complete=True,
    )


class Store:
    """An artifact store in memory."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], Any] = {}

    def load(self, kind: str, key: str) -> Any | None:
        return self.values.get((kind, key))

    def save(self, kind: str, key: str, value: Any) -> None:
        self.values[kind, key] = dict(value)


def reader(replies: list[str]) -> FakeModel:
    """Makes gists of parts of the length asked for, and gives ``replies`` to every other prompt, in order."""
    left = list(replies)

    def reply(prompt: Prompt) -> str:
        if prompt.task == "gist":
            return " ".join(["Part", *["told"] * int(prompt.fields["least"])])
        return left.pop(0)

    return FakeModel(reply)


def zoom(
    model: FakeModel,
    about: GistMemory,
    *,
    question: str = "Where hung the key?",
    store: Store | None = None,
    **extra: Any,
) -> list[Event]:
    return list(
        method("zoom").run(
            Question(question), about, model, AskSettings(extra=extra), CancelToken(), Resources(artifacts=store)
        )
    )


@pytest.mark.parametrize(
    ("reply", "request_"),
    [
        ("OPEN [31-33, 7] to see who lit it", Request(("31-33", "7"), (), "see who lit it")),
        ("Open [31–33]", Request(("31-33",))),
        ("**OPEN** [12]: because it tells of the lamp", Request(("12",), (), "it tells of the lamp")),
        ("OPEN pages 3 and 4 to compare", Request(("3", "4"), (), "compare")),
        ("<think>OPEN [1]?</think>\nOPEN [2]", Request(("2",))),
        ('FIND "brass key" to know the page', Request((), ("brass key",), "know the page")),
        ("FIND “brass key”, “clock”", Request((), ("brass key", "clock"))),
        ("FIND brass key", Request((), ("brass key",))),
        ('OPEN [4]\nFIND "clock"', Request(("4",), ("clock",))),
        ("OPEN [3〜5] 理由は手紙を読むため", Request(("3-5",), (), "手紙を読むため")),
        ("FIND 「雪の駅」 理由は場所", Request((), ("雪の駅",), "場所")),
        ("ANSWER: behind the clock [31]", None),
        ("It hung behind the clock [31].", None),
        ("ANSWER: open water lay ahead.\nOPEN [3] was not needed.", None),
        ("OPEN []", None),
        ("1. OPEN [12] to see", Request(("12",), (), "see")),
        ("(3) **ANSWER:** She hid it [12].", None),
        ("", None),
    ],
)
def test_requests_in_replies(reply: str, request_: Request | None) -> None:
    assert parse_request(reply) == request_


@given(st.text(max_size=300))
def test_no_reply_is_too_odd_to_parse(reply: str) -> None:
    parse_request(reply)


def test_a_memory_that_fits_is_shown_by_pages_and_needs_no_gists_of_parts() -> None:
    model = reader(["ANSWER: Anna [2]."])
    events = run("zoom", model, about=memory())
    assert model.tasks() == ["explore"]
    assert answer(events).text == "Anna [2]."
    assert answer(events).seen == dict.fromkeys(range(1, 7), "gist")


def test_opens_a_part_then_a_page_and_answers_with_both_in_place() -> None:
    about = long_memory(gist_words=200)
    label = next(part.label for part in lay_out(about, 1500)[1] if 31 in part)
    model = reader([f"OPEN [{label}] to look nearer", "OPEN [31] to read it", "ANSWER: Behind the clock [31]."])
    events = zoom(model, about, question="Who sang?", words=1500)
    views = [e for e in events if isinstance(e, Expanded)]
    looked = [e for e in events if isinstance(e, LookedUp)]
    assert [(e.pages, e.parts, e.refused) for e in looked] == [((), (label,), ()), ((31,), (), ())]
    assert (31, 31, "gist") in views[1].shown
    assert (31, 31, "full") in views[2].shown
    result = answer(events)
    assert result.looked_up == (31,)
    assert result.seen[31] == "full"
    assert set(result.seen.values()) == {"full", "gist", "part"}
    last = [p for p in model.prompts if p.task == "explore"][-1]
    assert "<Page 31> (full text)" in last.text
    assert "brass key hung behind the clock" in last.text


@pytest.mark.parametrize("words", ["Evening Star", "_Evening Star_", "star ran into her", "雪の駅"])
def test_finds_words_between_signs_of_emphasis(words: str) -> None:
    texts = [(7, "The _Evening Star_ ran *into* her at 雪の駅."), (8, "The _Evening_ paper of Starling.")]
    assert [place.page for place in find_in_texts(texts, words)] == [7]


@pytest.mark.parametrize("words", ["Straße", "in der straße", "İzmir"])
def test_finds_words_whose_letters_have_no_simple_lower_case(words: str) -> None:
    (place,) = find_in_texts([(3, "İİ. Es war still in der Straße nach İzmir.")], words)
    assert place == FoundLine(3, "İİ. Es war still in der Straße nach İzmir.")


def test_finds_words_in_place_and_says_what_stands_nowhere() -> None:
    said = 'It was brass [31]. It hung there [31].\n\nEvidence:\n[31] "key hung behind the clock"'
    model = reader(['FIND "old brass  KEY"', 'FIND "silver key"', f"ANSWER: {said}"])
    about = long_memory()
    events = zoom(model, about, words=1500)
    searched = [e for e in events if isinstance(e, Searched)]
    assert [(e.words, e.pages) for e in searched] == [(("old brass  KEY",), (31,)), (("silver key",), ())]
    first, second, third = (p.text for p in model.prompts if p.task == "explore")
    assert "hung behind the clock" not in first
    assert '(on page 31: "' in second
    assert "hung behind the clock" in second
    assert '"silver key" stands nowhere in the text' in third
    result = answer(events)
    first = about.document.paragraphs[30].text.index("word " * 12 + "The old brass key")
    assert (result.seen[31], result.passages) == ("passage", ((31, 30, 31, first, 0),))
    checked = checked_answer(result.text, result, about)
    assert "from page 31, part" in [citation_label(citation) for citation in checked.citations]
    view = memory_step(about, replay.steps(events)[-1], None, checked, {})
    assert (view["focus"], view["inPart"]) == (31, {31: [[0, 1, first, 0]]})


def test_a_found_line_over_paragraphs_is_recorded_from_its_first_character_to_its_last() -> None:
    texts = ("Rain, and the whole night long the wind in the wires. The lamp", "went out", "at two. " + "word " * 60)
    document = Document("Short lines", tuple(map(Paragraph, texts)), (Section("Night", 1),))
    about = GistMemory(document, GistingPlan(), (Page(1, 0, 3, 80),), (Gist("A lamp."),), complete=True)
    (line,) = [place.line for place in find_places(about, "went out")]
    (passage,) = passages_of(about, {1: [line]})
    assert line.startswith("… the whole night long")
    assert "The lamp ## Night went out at two. word" in line
    assert (passage.start, passage.end) == (0, 3)
    assert texts[0][passage.first :].startswith("the whole night")
    assert texts[2][: passage.stop] == "at two. " + " ".join(["word"] * line.count("word"))
    assert join_passages([Passage(1, 0, 1), passage, Passage(1, 2, 3, 30)]) == [Passage(1, 0, 3)]


def test_of_many_places_some_from_all_over_are_shown_and_it_is_said_that_they_are_not_all() -> None:
    model = reader(['FIND "page"', "ANSWER: Everywhere [31]."])
    zoom(model, long_memory(), words=1500)
    second = [p.text for p in model.prompts if p.task == "explore"][1]
    count = len(long_memory().pages)
    assert f'Your requests so far: FIND "page" (8 of {count} places).' in second
    assert f"(on page {count}: " in second
    assert "<Page 31> (gist)" in second or "(gist)" in second
    assert [place.page for place in find_in_texts([(1, "a fatherly man"), (2, "his father's coat")], "father")] == [2]


def test_what_cannot_be_opened_is_said_once_and_costs_a_request() -> None:
    model = reader(["OPEN [99]", "OPEN [3, 3, 4]", "OPEN [5]", "OPEN [6]", "Nothing more [3]."])
    events = zoom(model, memory(), words=1500)
    assert [e.refused for e in events if isinstance(e, LookedUp)] == [
        ("page 99: there is no such page",),
        (),
        (),
        ("page 6: no more pages can be opened in full",),
    ]
    assert model.tasks() == ["explore"] * 4 + ["answer"]
    assert "there is no such page" in model.prompts[1].text
    assert "there is no such page" not in model.prompts[2].text
    assert answer(events).text == "Nothing more [3]."


@pytest.mark.parametrize(("pages", "most"), [(30, 800), (30, 4000), (300, 800), (300, 2000), (700, 800)])
def test_the_first_view_fits_the_words_and_shows_what_the_question_names(pages: int, most: int) -> None:
    about = long_memory(pages)
    model = reader(["ANSWER: There [25]."])
    events = zoom(model, about, question="What of subject25?", words=most)
    view = next(e for e in events if isinstance(e, Expanded))
    assert view.memory_words <= most
    covered = [n for first, last, _ in view.shown for n in range(first, last + 1)]
    assert covered == list(range(1, pages + 1))
    if most > 800:
        assert (25, 25, "gist") in view.shown
    prompt = model.prompts[-1]
    assert count_words(prompt.fields["memory"]) <= most * 1.3  # with tags


@settings(max_examples=40)
@given(st.integers(2, 400), st.integers(20, 400), st.integers(0, 9), st.integers(300, 6000))
def test_levels_cover_every_page_once_whatever_the_sizes(pages: int, words: int, chapter: int, most: int) -> None:
    levels = lay_out(long_memory(pages, gist_words=words, chapter=chapter + 1), most)
    for level in levels:
        assert [n for part in level for n in range(part.first, part.last + 1)] == list(range(1, pages + 1))
    for level, below in zip(levels[1:], levels, strict=False):
        assert len(level) < len(below)
        assert [part for above in level for part in above.parts] == list(below)


def test_parts_end_where_chapters_end() -> None:
    about = long_memory(70, gist_words=200, chapter=5)
    parts = lay_out(about, 1500)[1]
    assert all(part.first % 5 == 1 for part in parts)


def test_a_part_that_ends_at_the_spoiler_limit_has_a_gist_of_its_own() -> None:
    secret = "subject40"
    store, about = Store(), long_memory()
    zoom(reader(["ANSWER: All [1]."]), about, store=store, words=1500)
    model = reader(["OPEN [31]", f'FIND "{secret}"', "OPEN [40]", "ANSWER: No."])
    zoom(model, about.up_to(33), store=store, words=1500)
    assert any(p.task == "gist" for p in model.prompts)  # of the part that the limit cuts
    for prompt in model.prompts:
        shown = prompt.text.partition("A question about the text follows")[0]
        assert all(f"subject{n}." not in shown for n in range(34, 61))
    again = reader(["ANSWER: All [1]."])
    zoom(again, about, store=store, words=1500)
    assert again.tasks() == ["explore"]  # everything was stored


def test_levels_that_were_interrupted_are_made_on_from_what_was_stored() -> None:
    store, about, calls = Store(), long_memory(120), []

    def dies_after_five(prompt: Prompt) -> str:
        if prompt.task == "gist":
            calls.append(prompt.text)
            if len(calls) > 5:
                raise UnreachableError("gone")
            return " ".join(["Part", *["told"] * int(prompt.fields["least"])])
        return "ANSWER: Yes [1]."

    with pytest.raises(UnreachableError):
        zoom(FakeModel(dies_after_five), about, store=store, words=1500)
    made = {key for value in store.values.values() for key in value}
    assert len(made) == 5
    model = reader(["ANSWER: Yes [1]."])
    zoom(model, about, store=store, words=1500)
    asked = [p.text for p in model.prompts if p.task == "gist"]
    assert not set(asked) & set(calls[:5])
    assert len(asked) + 5 == sum(map(len, lay_out(about, 1500)[1:]))


def test_what_was_not_asked_for_is_folded_when_the_view_grows() -> None:
    about = long_memory(300)
    chance = random.Random(4)
    model = FakeModel(
        lambda p: (
            "Part told."
            if p.task == "gist"
            else f"OPEN [{chance.randint(1, 300)}]"
            if p.task == "explore"
            else "Done [1]."
        )
    )
    events = list(
        method("zoom").run(
            Question("What of subject25?"),
            about,
            model,
            AskSettings(look_ups=9, extra={"words": 1500, "requests": 8}),
            CancelToken(),
        )
    )
    for view in (e for e in events if isinstance(e, Expanded)):
        full = sum(about.page(n).words for n in view.pages)
        opened = 100 * 8 * len(view.pages)  # the gists beside an opened page stay
        assert view.memory_words - full <= 1500 + opened
        assert set(view.pages) == {a for a, _, how in view.shown if how == "full"}


def test_a_book_in_a_regional_language_has_levels_too() -> None:
    about = long_memory()
    american = replace(about, document=replace(about.document, language="en-US"))
    assert answer(zoom(reader(["ANSWER: So [1]."]), american, words=1500)).text == "So [1]."


def test_what_was_folded_is_told_and_opens_again_when_it_is_named() -> None:
    about = long_memory(120)
    parts = lay_out(about, 1500)[1]
    asked_about = next(part for part in parts if 25 in part)
    others = [part.label for part in parts if part is not asked_about][:2]
    model = reader([f"OPEN [{', '.join(others)}]", f"OPEN [{asked_about.label}]", "ANSWER: There [25]."])
    events = zoom(model, about, question="What of subject25?", words=1500)
    first, second, third = (p.text for p in model.prompts if p.task == "explore")
    assert "<Page 25>" in first
    assert "<Page 25>" not in second
    assert f"folded again into one gist: {asked_about.label}." in second
    assert [e.refused for e in events if isinstance(e, LookedUp)] == [(), ()]
    assert "<Page 25>" in third
    assert f"Your requests so far: OPEN [{', '.join(others)}]; OPEN [{asked_about.label}]." in third


def test_a_part_of_one_page_is_called_a_page_and_opens_in_full() -> None:
    about = long_memory(40, gist_words=660, chapter=3)
    assert any(part.first == part.last for part in lay_out(about, 1500)[1])
    model = reader(["OPEN [9] to read it", "ANSWER: So [9]."])
    events = zoom(model, about, question="Who sang?", words=1500)
    texts = [p.text for p in model.prompts if p.task == "explore"]
    assert not any(re.search(r"<Pages (\d+)-\1>", text) for text in texts)
    assert answer(events).looked_up == (9,)
    assert "<Page 9> (full text)\nPage 9 tells of subject9." in texts[-1]
    view = next(e for e in events if isinstance(e, Expanded))
    assert not any(first == last and how == "part" for first, last, how in view.shown)


def test_the_search_method_shows_every_gist_that_fits() -> None:
    model = reader(['FIND "brass key"', "OPEN [31]", "ANSWER: Behind the clock [31]."])
    events = run("read-agent-search", model, question="Where is the key?", about=long_memory())
    assert "gist" not in model.tasks()
    assert answer(events).looked_up == (31,)
    assert answer(events).seen[60] == "gist"
