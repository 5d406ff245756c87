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


def test_exact_needs_no_second_rater():
    assert rated(["YES"])[0] == "exact"


def test_partial_comes_from_the_permissive_rater_alone():
    found, model = rated(["NO", "Yes, partially"])
    assert found == "partial"
    assert model.tasks() == ["rate_strict", "rate_permissive"]


@pytest.mark.parametrize(
    ("replies", "wanted"),
    [
        (["NO", "Yes"], "exact"),
        (["NO", "No"], "wrong"),
        (["Yes, partially", "No"], "wrong"),  # the strict rater's yes counts only without a reserve
        (["NO", "Yes, partially", "NO", "No"], "partial"),
    ],
)
def test_two_raters_make_one_rating(replies, wanted):
    assert rated(replies, references=("red", "blue")[: len(replies) // 2])[0] == wanted


def test_the_best_of_several_references_counts():
    found, model = rated(["NO", "No", "NO", "Yes"], references=("red", "blue"))
    assert found == "exact"
    assert "red" in model.prompts[0].text
    assert "blue" in model.prompts[2].text


def test_an_unclear_rater_is_asked_once_more_then_left():
    assert rated(["Hm.", "YES"])[0] == "exact"
    with pytest.raises(ReplyError, match="neither yes nor no, twice"):
        rated(["Hm.", "Hm."])


def test_no_answer_is_wrong_without_asking():
    found, model = rated([], answer="  ")
    assert found == "wrong"
    assert model.prompts == []


def test_a_models_failure_is_not_a_verdict():
    with pytest.raises(UnreachableError):
        rated([UnreachableError("gone")])


def test_japanese_prompts():
    model = FakeModel(["YES"])
    assert rate("何色？", "青", ["青"], model, language="ja", cancel=CancelToken()) == "exact"
    assert "正解" in model.prompts[0].text
