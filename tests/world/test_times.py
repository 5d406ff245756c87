"""The order of time of what a book tells."""

from __future__ import annotations

import json

import pytest

from readagent_core.world.times import in_order_of_time
from tests.recordings import SAMPLES


@pytest.mark.parametrize(
    ("told", "in_order"),
    [
        (["9 June 1850", "2 March 1850", "in 1849"], ["in 1849", "2 March 1850", "9 June 1850"]),
        (["on May 9th, 1850", "on May 2nd, 1850"], ["on May 2nd, 1850", "on May 9th, 1850"]),
        (["1850年6月9日", "1850年3月2日"], ["1850年3月2日", "1850年6月9日"]),
        (["in 1850", "in June", "fifty years ago"], ["fifty years ago", "in 1850", "in June"]),
        (["", "twenty-five years later", ""], ["", "twenty-five years later", ""]),
        (
            [
                "Monday the twenty-seventh of May, 1911",
                "morning after Tuesday the fourteenth of May",
                "the ninth",
            ],
            [
                "the ninth",
                "morning after Tuesday the fourteenth of May",
                "Monday the twenty-seventh of May, 1911",
            ],
        ),
        (["30 December 1911", "the third of January"], ["30 December 1911", "the third of January"]),
        (["in the evening", "1850", "in the evening"], ["in the evening", "1850", "in the evening"]),
        (
            ["平成十一年二月", "昭和六十三年一月二十二日", "一九二〇年"],
            ["一九二〇年", "昭和六十三年一月二十二日", "平成十一年二月"],
        ),
    ],
)
def test_dates_and_spans_of_time_are_put_in_order(told: list[str], in_order: list[str]) -> None:
    assert [told[i] for i in in_order_of_time(told)] == in_order


DAYS = {  # the days that the samples' notes tell, in the order of time
    "the-keeper-of-harrow-light": """
        First of September; by September; the ninth; the ninth of November; 10 Nov.; the tenth of November;
        the eleventh; Sunday the twelfth; 13th November; the thirteenth; Tues. 14th Nov. 1911;
        morning after Tuesday the fourteenth of November; the morning of the fifteenth;
        Monday the twenty-seventh of November, 1911; 28th; the twelfth of December""",
    "harrow-council-minutes": "",
    "yuki-no-eki": "昭和五十一年; 昭和六十三年一月二十二日; 平成十一年二月",
}


@pytest.mark.parametrize("name", DAYS)
def test_the_days_of_a_sample_are_in_order_at_every_limit(name: str) -> None:
    days = [" ".join(day.split()) for day in DAYS[name].split(";")]
    pages = json.loads((SAMPLES / f"{name}.reading.json").read_text(encoding="utf-8"))["pages"]
    told = [(page["number"], line.partition(" | when ")[2]) for page in pages for line in page.get("notes", ())]
    told = [(page, when) for page, when in told if when == "" or when in days]
    for limit in range(1, len(pages) + 1):
        whens = [when for page, when in told if page <= limit]
        in_order = [whens[i] for i in in_order_of_time(whens) if whens[i]]
        assert in_order == sorted(in_order, key=days.index)
