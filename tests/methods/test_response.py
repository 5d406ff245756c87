"""The option that a reply names, in the forms models use."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.methods.support.response import chosen_option

OPTIONS = ("A brass key", "The lamp", "The keeper's log", "Nobody knows")

REPLIES = [
    ("Answer: (C) because the log says so [7].", 2),
    ("**Answer: (C)**", 2),
    ("answer: (c)", 2),
    ("Answer: C", 2),
    ("Answer (C)", 2),
    ("The answer is (B), not (A).", 1),
    ("The correct answer is: B.", 1),
    ("Answer: [D]", 3),
    ("Answer：（Ｃ）", 2),
    ("答え：(C)", 2),
    ("正解は B です。", 1),
    ("(C) The keeper's log", 2),
    ("C. The keeper's log", 2),
    ("c)", 2),
    ("C", 2),
    ("B, because of the light.", 1),
    ("Option B fits best.", 1),
    ("<think>Answer: (A)? no, Answer: (B)</think>\n\nAnswer: (D)", 3),
    ("Let me think. Answer: (A) would be wrong. Answer: (B)", 1),
    ("It was the lamp.", 1),
    ("The answer is A brass key.", 0),
    ("The answer is a brass key.", 0),
    ("The answer is A because of the brass.", 0),
    ("I think it was the keeper's log, as page 7 tells.", 2),
    ("I cannot tell.", None),
    ("Either (A) or (B).", None),
    ("Answer: (E)", None),
    ("", None),
    ("A man came to the door.", None),
]


@pytest.mark.parametrize(("reply", "option"), REPLIES)
def test_the_option_a_reply_names(reply: str, option: int | None) -> None:
    assert chosen_option(reply, OPTIONS) == option


def test_an_option_within_a_longer_one() -> None:
    assert chosen_option("It was a black cat.", ("cat", "black cat", "dog")) == 1


@settings(max_examples=150, derandomize=True)
@given(st.text(max_size=80), st.lists(st.text(max_size=12), min_size=1, max_size=5))
def test_never_raises_and_stays_within_the_options(reply: str, options: list[str]) -> None:
    option = chosen_option(reply, options)
    assert option is None or 0 <= option < len(options)
