"""Raters: what real models reply, and how verdicts join."""

from __future__ import annotations

import pytest

from readagent_core.cancel import CancelToken
from readagent_core.errors import ReplyError, UnreachableError
from readagent_core.evaluation.answering import parse_verdict, rate
from tests.fakes.model import FakeModel


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("Yes", "exact"),
        ("YES.", "exact"),
        ("**Yes**", "exact"),
        ("Yes, partially", "partial"),
        ('"Yes, partially."', "partial"),
        ("yes — partially", "partial"),
        ("**Yes**, **partially**", "partial"),
        ("Partially", "partial"),
        ("No", "wrong"),
        ("no, it does not; yes would be wrong", "wrong"),
        ("Answer: No.", "wrong"),
        ("<think>Yes? No? partially</think>\nNo", "wrong"),
        ("Ｙｅｓ", "exact"),
        ("Yes\nIt is only partially phrased otherwise.", "exact"),
        ("はい", "exact"),
        ("はい、部分的に", "partial"),
        ("いいえ", "wrong"),
    ],
)
def test_verdicts_of_replies(reply, wanted):
    assert parse_verdict(reply) == wanted


@pytest.mark.parametrize("reply", ["", "Perhaps.", "<think>Yes", "I cannot say", "Nothing", "Yesterday"])
def test_a_reply_that_says_neither(reply):
    with pytest.raises(ReplyError):
        parse_verdict(reply)


def rated(replies, references=("blue",), answer="It was blue."):
    model = FakeModel(replies)
    return rate("What colour?", answer, list(references), model, cancel=CancelToken()), model


@pytest.mark.parametrize(
    ("replies", "references", "answer", "wanted"),
    [
        (["YES"], ["blue"], "It was blue.", "exact"),  # needs no second rater
        (["NO", "Yes, partially"], ["blue"], "It was blue.", "partial"),  # from the permissive rater alone
        (["NO", "No", "NO", "Yes"], ["red", "blue"], "It was blue.", "exact"),  # the best of several counts
        (["NO", "Yes, partially", "NO", "No"], ["red", "blue"], "It was blue.", "partial"),  # and stays the best
        (["NO", "No", "NO", "Yes, partially"], ["red", "blue"], "It was blue.", "partial"),
        (["Hm.", "YES"], ["blue"], "It was blue.", "exact"),  # asked once more
        (["Yes, partially", "No"], ["blue"], "It was blue.", "wrong"),  # a strict yes with a reserve does not count
        ([], ["blue"], "  ", "wrong"),  # no answer is wrong without asking
    ],
)
def test_a_rating(replies, references, answer, wanted):
    found, model = rated(replies, references, answer)
    assert found == wanted
    assert len(model.prompts) == len(replies)
    if len(replies) == 4:
        assert model.tasks() == ["rate_strict", "rate_permissive"] * 2
        assert "red" in model.prompts[0].text
        assert "blue" in model.prompts[2].text


def test_what_is_no_verdict():
    with pytest.raises(ReplyError, match="neither yes nor no, twice"):
        rated(["Hm.", "Hm."])
    with pytest.raises(UnreachableError):
        rated([UnreachableError("gone")])


def test_japanese_prompts():
    model = FakeModel(["YES"])
    assert rate("何色？", "青", ["青"], model, language="ja", cancel=CancelToken()) == "exact"
    assert "正解" in model.prompts[0].text
