"""Look-up replies as real models write them, good and bad."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.methods.support.look_up_replies import parse_look_up

REPLIES = [
    ("I want to look up Page [2, 7] to check the name.", (2, 7)),
    ("I want to look up Page [2, 7] to check whether it is 3 or 4 [1].", (2, 7)),
    ("**I want to look up Page [2, 7]** to check the name.", (2, 7)),
    ("I want to look up page [7,2].", (7, 2)),
    ("I want to look up Pages 2 and 7 to compare.", (2, 7)),
    ("I want to look up Page 2, Page 7, and Page 9.", (2, 7, 9)),
    ("I want to look up Page [2] and Page [7].", (2, 7)),
    ("I want to look up Page [2], [7] to see.", (2, 7)),
    ("I want to look up [Page 2, Page 7].", (2, 7)),
    ("I want to look up Page [3-5] to see.", (3, 4, 5)),
    ("I want to look up Pages 3–5.", (3, 4, 5)),
    ("I want to look up pages 3 to 5 to see.", (3, 4, 5)),
    ("I want to look up Page ［２、７］ to see.", (2, 7)),
    ("Page [2, 7] を読み返したい。理由は名前を確かめるためです。", (2, 7)),
    ("２ページと７ページを読み返したい。", (2, 7)),
    ("第2ページを読み返したい。", (2,)),
    ("ページ 2 と 7 を読み返したい。", (2, 7)),
    ("ページ【2、7】を読み返したい。", (2, 7)),
    ("3から5ページを読み返したい。", (3, 4, 5)),
    ("<think>Page 9 seems to matter, or [8].</think>I want to look up Page [2] to see.", (2,)),
    ("<think>Page 9 seems to matter", ()),
    ("I do not need page 9 or page 8.\nI want to look up Page 2 to see.", (2,)),
    ("Page 4 tells of it already, so I want to look up Page 6 to see.", (6,)),
    ("I want to look up Page [2, 2, 7, 2].", (2, 7)),
    ("I want to look up Page [99, 2, 0].", (2,)),
    ("I want to look up:\n- Page 2\n- Page 7", (2, 7)),
    ("1. Page 7: to see who said it.\n2. Page 2: for the date.", (7, 2)),
    ("I want to look up Page [].", ()),
    ("[]", ()),
    ("I want to look up Page [none].", ()),
    ("No page is needed.", ()),
    ("STOP", ()),
    ("", ()),
    ("2, 7", (2, 7)),
    ("7", (7,)),
    ("[7]", (7,)),
    ("(2 and 7)", (2, 7)),
    ("`Page [2, 7]`", (2, 7)),
    ("I'd re-read p. 4.", (4,)),
    ("I want to look up pp. 4-5", (4, 5)),
    ("I want to look up Page: 4", (4,)),
    ("I want to look up Page #4", (4,)),
    ("I want to look up Page <4>", (4,)),
    ("The captain died in 1843 with 12 men.", ()),
    ("I want to look up Page [1-4000] to see everything.", (1,)),
    ("I want to look up Page [123456789012345678901234567890]", ()),
    ("I want to look up Page [-1] to see.", ()),
    ("I want to look up Page -1 to see.", ()),
    ("I want to look up Page −1.", ()),
    ("I want to look up Page [2, -1, 7] to see.", (2, 7)),
    ("I want to look up Pages 2, -1 and -3 to see.", (2,)),
    ("-1", ()),
    ("[-1]", ()),
    ("ページ -1 を読み返したい。", ()),
    ("-1ページを読み返したい。", ()),
    ("I want to look up Pages 2 - 4 to see.", (2, 3, 4)),
    ("Let me look up Page 5 to know why [Anna] left.", (5,)),
]


@pytest.mark.parametrize(("reply", "pages"), REPLIES)
def test_a_reply_of_any_form(reply: str, pages: tuple[int, ...]) -> None:
    assert parse_look_up(reply, range(1, 11), limit=6, exists=10).pages == pages


def test_refused_pages_come_with_the_reason() -> None:
    named = parse_look_up("I want to look up Page [1, 2, 3, 12, 99] to see it all.", range(1, 11), limit=2, exists=12)
    assert named.pages == (1, 2)
    assert named.refused == (
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
