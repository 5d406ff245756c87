"""What is added up agrees with sums done by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.report import find_differences
from readagent_core.evaluation.results import PaidCost
from readagent_core.evaluation.score_table import ScoreTable
from tests.evaluation.made import FULL, P3, chosen, free


def table(results):
    tally = ScoreTable()
    for result in results:
        tally.add(result)
    return tally


def test_a_row_by_hand():
    right = [True, True, True, False]
    tally = table(chosen(P3, n, right[n], hard=n >= 2, compression_rate=60.0 + 10 * n) for n in range(4))
    tally.add_cost(PaidCost("doc", "plan", 500, 0))
    tally.add_cost(PaidCost("doc", "plan", 500, 300))  # each says what was sent so far
    row = tally.row(P3)
    assert (row.accuracy.hits, row.accuracy.total) == (3, 4)
    assert row.accuracy.low < 0.75 < row.accuracy.high
    assert (row.hard.hits, row.hard.total) == (1, 2)
    assert (row.compression_rate, row.look_ups, row.words) == (75.0, 2.0, 400)
    assert (row.reading_words, row.text_words) == (800, 1600)
    assert row.of_full_text == pytest.approx(1200 / 1600)
    assert tally.chance() == 25.0
    assert tally.row(FULL) is None


def test_full_text_pays_for_no_reading():
    tally = table([chosen(FULL, 0, True, looked_up=())])
    tally.add_cost(PaidCost("doc", "plan", 500, 300))
    assert tally.row(FULL).reading_words == 0


def test_failures_count_as_wrong_and_the_last_result_counts():
    tally = table([chosen(P3, 0, False, error="ServerFailedError: gone", option=None)])
    assert (tally.failed, tally.row(P3).accuracy.hits) == (1, 0)
    tally.add(chosen(P3, 0, True))
    assert (tally.failed, tally.answers, tally.row(P3).accuracy.hits) == (0, 1, 1)


def test_runs_give_a_spread_but_no_narrower_interval():
    single = table(chosen(P3, item, item < 15) for item in range(20)).row(P3)
    spread = table(chosen(P3, n, n < 13 + run, run=run) for n in range(20) for run in (1, 2, 3)).row(P3)
    assert single.accuracy.sd is None
    assert spread.accuracy.sd == pytest.approx(0.05)  # 70, 75, 80 %
    assert (spread.accuracy.low, spread.accuracy.high) == (single.accuracy.low, single.accuracy.high)


def test_free_form_rows():
    rated = [(0.2, "exact"), (0.4, "partial"), (0.6, "wrong"), (0.8, "exact")]
    row = table(free(P3, item, *figures) for item, figures in enumerate(rated)).row(P3)
    assert row.accuracy is None
    assert row.rouge["rougeL"].value == pytest.approx(50)
    assert row.rouge["rouge2"].value == pytest.approx(25)
    assert (row.rating_1.hits, row.rating_2.hits, row.rating_1.total) == (2, 3, 4)
    failed = free(P3, 1, 0.0, error="ServerFailedError: gone")  # an answer that could not be had counts as wrong
    row = table([free(P3, 0, 0.5, "exact"), failed]).row(P3)
    assert (row.rating_1.hits, row.rating_1.total) == (1, 2)
    assert row.rouge["rougeL"].value == pytest.approx(25)


def test_ratings_and_the_hard_subset_have_a_spread_over_runs_too():
    rated, hard = ScoreTable(), ScoreTable()
    for item in range(10):
        for run, rating in ((1, "exact"), (2, "partial" if item else "wrong")):
            rated.add(free(P3, item, 0.5, rating, run=run))
            hard.add(chosen(P3, item, run == 1, run=run, hard=item < 5))
    row = rated.row(P3)
    assert row.rating_1.sd == pytest.approx(0.707, abs=0.001)  # 100 and 0 %
    assert row.rating_2.sd == pytest.approx(0.0707, abs=0.0001)  # 100 and 90 %
    assert hard.row(P3).hard.sd == pytest.approx(0.707, abs=0.001)


def test_walks_that_strayed():
    walks = [(True, {"stray": True}), (False, {"stray": True}), (True, {"stray": False})]
    row = table(chosen(P3, n, r, extra={**extra, "share_read": 0.25}) for n, (r, extra) in enumerate(walks)).row(P3)
    assert (row.strays.hits, row.strays.total) == (2, 3)
    assert (row.recoveries.hits, row.recoveries.total) == (1, 2)
    assert row.read_share == 0.25


def test_differences_are_paired():
    pairs = [chosen(arm, item, item < right) for item in range(10) for arm, right in ((FULL, 4), (P3, 8))]
    tally = table([*pairs, chosen(P3, 99, True)])  # the last one has no pair
    found = find_differences(tally, FULL, P3)["Accuracy"]
    assert (found.n, found.only_first, found.only_second, found.test) == (10, 0, 4, "McNemar, exact")
    assert found.p == pytest.approx(0.125)
    assert find_differences(tally, FULL, Arm("gist-mem")) == {}


def test_differences_over_runs_are_those_of_the_table():
    tally = ScoreTable()
    for item in range(10):
        for run in (1, 2):
            tally.add(chosen(FULL, item, item < 4, run=run))
            tally.add(chosen(P3, item, item < 4 or run == 1, run=run))
    found = find_differences(tally, FULL, P3)["Accuracy"]
    assert found.value == pytest.approx(tally.row(P3).accuracy.value - tally.row(FULL).accuracy.value)  # 70 - 40 %
    assert (found.n, found.test) == (10, "paired randomization")


def test_free_form_answers_differ_in_rating_and_in_rouge():
    tally = ScoreTable()
    for item in range(8):
        tally.add(free(FULL, item, 0.2, "exact" if item < 2 else "partial"))
        tally.add(free(P3, item, 0.3, "exact" if item < 6 else "wrong"))
    found = find_differences(tally, FULL, P3)
    assert list(found) == ["LLM-Rating-1", "ROUGE-L"]
    assert (found["LLM-Rating-1"].value, found["LLM-Rating-1"].test) == (0.5, "McNemar, exact")
    assert found["ROUGE-L"].value == pytest.approx(0.1)
    tally.add(free(P3, 8, 0.0, error="ServerFailedError: gone"))
    tally.add(free(FULL, 8, 0.2, "exact"))
    assert find_differences(tally, FULL, P3)["LLM-Rating-1"].n == 9


@given(st.permutations(range(8)))
@settings(max_examples=20, derandomize=True)
def test_the_order_of_answers_does_not_matter(order):
    results = [chosen(P3, i, i % 3 == 0, words=i) for i in range(4)] + [chosen(FULL, i, i == 1) for i in range(4)]
    tally, again = table(results), table(results[at] for at in order)
    assert (tally.row(P3), find_differences(tally, FULL, P3)) == (again.row(P3), find_differences(again, FULL, P3))
