"""The option that a reply names, in the forms models use."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.methods.support.response import chosen_option
from tests.methods.books import REPLIES

OPTIONS = ("A brass key", "The lamp", "The keeper's log", "Nobody knows")


@pytest.mark.parametrize(("reply", "option"), REPLIES["option"])
def test_the_option_a_reply_names(reply: str, option: int | None) -> None:
    assert chosen_option(reply, OPTIONS) == option


def test_an_option_within_a_longer_one() -> None:
    assert chosen_option("It was a black cat.", ("cat", "black cat", "dog")) == 1


@settings(max_examples=150, derandomize=True)
@given(st.text(max_size=80), st.lists(st.text(max_size=12), min_size=1, max_size=5))
def test_never_raises_and_stays_within_the_options(reply: str, options: list[str]) -> None:
    option = chosen_option(reply, options)
    assert option is None or 0 <= option < len(options)
