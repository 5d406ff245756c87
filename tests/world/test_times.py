"""The order of time of what a book tells."""

from __future__ import annotations

import pytest

from readagent_core.world.times import in_order_of_time


@pytest.mark.parametrize(
    ("told", "in_order"),
    [
        (["9 June 1850", "2 March 1850", "in 1849"], ["in 1849", "2 March 1850", "9 June 1850"]),
        (["on May 9th, 1850", "on May 2nd, 1850"], ["on May 2nd, 1850", "on May 9th, 1850"]),
        (["1850年6月9日", "1850年3月2日"], ["1850年3月2日", "1850年6月9日"]),
        (["in 1850", "in June", "fifty years ago"], ["fifty years ago", "in 1850", "in June"]),
        (["", "twenty-five years later", ""], ["", "twenty-five years later", ""]),
    ],
)
def test_dates_and_spans_of_time_are_put_in_order(told: list[str], in_order: list[str]) -> None:
    assert [told[i] for i in in_order_of_time(told)] == in_order
