"""Look-up replies as real models write them, good and bad."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.answering.base import texts_of
from readagent_core.answering.look_up_replies import parse_look_up
from tests.methods.books import REPLIES


@pytest.mark.parametrize(("reply", "pages"), REPLIES["look-up"])
def test_a_reply_of_any_form(reply: str, pages: list[int]) -> None:
    assert parse_look_up(reply, range(1, 11), limit=6, exists=10).pages == tuple(pages)


def test_refused_pages_come_with_the_reason() -> None:
    named = parse_look_up("I want to look up Page [1, 2, 3, 12, 99] to see it all.", range(1, 11), limit=2, exists=12)
    assert named.pages == (1, 2)
    assert texts_of(named.refused) == (
        "page 3: only 2 could be opened",
        "page 12: it is not read yet",
        "page 99: there is no such page",
    )


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("I want to look up Page [2] to check the name of the ship.", "check the name of the ship."),
        ("I want to look up Page [2] because it tells the date.\n\nMore.", "it tells the date."),
        ("Page [2] を読み返したい。理由は名前を確かめるためです。", "名前を確かめるためです。"),
        ("[2]", ""),
        ("I want to look up Page [] because it asks for the theme.", "it asks for the theme."),
        ("Page []: no gist shares a word", "no gist shares a word"),
        ("Page [] 読み返さない。理由は主題を問うからです。", "主題を問うからです。"),
        ("None of the pages is needed.", "None of the pages is needed."),
    ],
)
def test_the_models_own_reason(reply: str, reason: str) -> None:
    assert parse_look_up(reply, range(1, 11), limit=3).reason == reason


@pytest.mark.parametrize("reply", ["STOP", "**STOP**", "STOP. Page 4 tells it.", "I have enough. STOP", "停止"])
def test_stop(reply: str) -> None:
    assert parse_look_up(reply, range(1, 11), limit=1).stop


def test_a_page_named_before_stop_is_a_page() -> None:
    named = parse_look_up("I want to look up Page 4, then I can STOP", range(1, 11), limit=1)
    assert named.pages == (4,)
    assert not named.stop


@settings(max_examples=150, derandomize=True)
@given(st.text(alphabet=st.sampled_from("Page 0123456789[],-–〜toandSTOPページ全<>()*\n１２"), max_size=60))
def test_never_raises_and_only_names_pages_there_are(reply: str) -> None:
    named = parse_look_up(reply, range(1, 9), limit=3)
    assert set(named.pages) <= set(range(1, 9))
    assert len(named.pages) == len(set(named.pages)) <= 3
