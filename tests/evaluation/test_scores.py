"""Measures against cases worked out by hand, scipy, and rouge-score's own published figures."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.evaluation.scores import mcnemar, mean, randomization, share
from readagent_core.overlap import rouge, strip_citations


def test_wilson_agrees_with_scipy():
    from scipy.stats import binomtest

    for hits, total in ((0, 5), (1, 7), (25, 101), (2086, 2086)):
        theirs = binomtest(hits, total).proportion_ci(method="wilson")
        ours = share(hits, total)
        assert (ours.low, ours.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_shares_at_their_ends():
    assert share(0, 0).value == 0.0
    assert (share(0, 0).low, share(0, 0).high) == (0.0, 1.0)
    assert share(0, 4).low == 0.0
    assert share(4, 4).high == 1.0
    with pytest.raises(ValueError, match="5 of 4"):
        share(5, 4)


def test_mean_and_sd():
    assert mean([]) is None
    assert mean([86.5]).sd is None
    found = mean([2, 4, 4, 4, 5, 5, 7, 9])
    assert found.value == 5
    assert found.sd == pytest.approx(2.13809, abs=1e-5)  # n − 1


@pytest.mark.parametrize(
    ("reference", "answer", "figures"),
    [  # the first three from rouge-score's own tests, the last from its README
        ("testing one two", "testing", {"rouge1": 1 / 2}),
        ("testing one two", "testing one", {"rouge2": 2 / 3}),
        ("testing one two", "testing two", {"rougeL": 4 / 5}),
        (
            "The quick brown fox jumps over the lazy dog",
            "The quick brown dog jumps on the log.",
            {"rouge1": 2 * 0.75 * 0.6666666 / (0.75 + 0.6666666), "rougeL": 2 * 0.625 * 0.5555555 / 1.1805555},
        ),
        ("the cat sat", "the cat sat", {"rouge1": 1, "rouge2": 1, "rougeL": 1}),
        ("the cat sat", "a dog ran", {"rouge1": 0, "rouge2": 0, "rougeL": 0}),
        ("the cat sat", "", {"rouge1": 0, "rouge2": 0, "rougeL": 0}),
    ],
)
def test_rouge_figures(reference, answer, figures):
    found = rouge(answer, [reference])
    for name, value in figures.items():
        assert found[name] == pytest.approx(value, abs=1e-6)


def test_rouge_takes_the_best_reference_and_knows_japanese():
    assert rouge("the cat sat", ["a dog ran", "the cat sat"])["rougeL"] == 1
    assert rouge("", []) == {"rouge1": 0.0, "rouge2": 0.0, "rougeL": 0.0}
    assert rouge("手袋は四十七番です。", ["手袋は四十七番です。"])["rouge1"] == 1
    assert 0 < rouge("手袋は四十七番", ["四十七番の手袋"])["rouge1"] < 1


def test_what_an_answer_cites_is_no_part_of_what_is_compared():
    assert (
        strip_citations('A bell rang [1, 2] in the fog [3–4].\n\n**Evidence:**\n[1] "rang"')
        == "A bell rang in the fog."
    )
    assert strip_citations("A bell rang [1.2, 2.7] and [3.1-3.4].") == "A bell rang and."
    assert strip_citations("鐘が鳴った [2]。\n根拠：\n[2] 「鐘」") == "鐘が鳴った。"


def test_mcnemar_by_hand_and_by_scipy():
    from scipy.stats import binomtest

    # 10 discordant pairs, 1 against 9: p = 2 · (1 + 10) / 2^10
    first = [True] * 20 + [True] * 1 + [False] * 9 + [False] * 5
    second = [True] * 20 + [False] * 1 + [True] * 9 + [False] * 5
    found = mcnemar(first, second)
    assert found.p == pytest.approx(22 / 1024) == pytest.approx(binomtest(1, 10).pvalue)
    assert (found.only_first, found.only_second, found.n) == (1, 9, 35)
    assert found.value == pytest.approx(8 / 35)
    assert found.low < found.value < found.high
    assert mcnemar([True, False], [True, False]).p == 1.0
    with pytest.raises(ValueError, match="paired"):
        mcnemar([True], [])


def test_newcombe_interval_from_his_paper():
    # Newcombe 1998 (paired), table II, case a=36 b=12 c=2 d=0 (n=50): method 10 gives 0.0569 to 0.3404
    first = [True] * 36 + [True] * 12 + [False] * 2
    second = [True] * 36 + [False] * 12 + [True] * 2
    found = mcnemar(second, first)
    assert found.value == pytest.approx(0.2)
    assert (found.low, found.high) == (pytest.approx(0.0569, abs=5e-4), pytest.approx(0.3404, abs=5e-4))


def test_randomization_sees_a_difference_and_none():
    base = [i / 50 for i in range(50)]
    better = [value + 0.1 + (0.02 if i % 2 else -0.02) for i, value in enumerate(base)]
    found = randomization(base, better)
    assert found.value == pytest.approx(0.1)
    assert found.low > 0
    assert found.p < 0.001
    same = randomization(base, base)
    assert (same.value, same.p) == (0, 1)
    assert randomization(base, better) == found  # seeded: the same every time


def test_a_few_questions_show_no_difference_in_means():
    assert randomization([0.2] * 5, [0.3] * 5) is None
    seven = randomization([0.2] * 7, [0.21, 0.3, 0.25, 0.4, 0.5, 0.22, 0.3])  # all better, by chance 2 times in 128
    assert seven.p == pytest.approx(2 / 128, abs=0.005)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
@settings(max_examples=60, derandomize=True)
def test_mcnemar_is_fair(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = mcnemar(first, second), mcnemar(second, first)
    assert there.p == pytest.approx(back.p)
    assert 0 <= there.p <= 1
    assert there.value == pytest.approx(-back.value)
    assert -1 <= there.low <= there.value + 1e-9
    assert there.value - 1e-9 <= there.high <= 1


@given(st.integers(0, 300), st.integers(0, 300))
@settings(max_examples=60, derandomize=True)
def test_an_interval_holds_its_share(a, b):
    hits, total = min(a, b), max(a, b)
    found = share(hits, total)
    assert 0 <= found.low <= found.high <= 1
    if total:
        assert found.low - 1e-9 <= found.value <= found.high + 1e-9
