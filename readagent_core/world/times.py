"""The order of time of what a book tells, from the words that tell when.

Years and dates are points of time; 'fifty years ago' counts back from the present of the story; the same words mean the
same time. Everything else happens in the present of the story, in the order of telling.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Sequence

from readagent_core.words import collapse_whitespace

_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)(?!\s*(?:years|days|pounds|words))")
_MONTH = {
    name.lower(): i for names in (calendar.month_name, calendar.month_abbr) for i, name in enumerate(names) if name
}
_MONTH_WORD = re.compile(rf"\b({'|'.join(_MONTH)})\b|(\d{{1,2}})月")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b(?!\s*(?:年|月|:))|(\d{1,2})日")
_UNITS = {"year": 1.0, "month": 1 / 12, "week": 7 / 365, "day": 1 / 365, "hour": 1 / 8760}
_UNITS |= {"年": 1.0, "か月": 1 / 12, "ヶ月": 1 / 12, "週間": 7 / 365, "日": 1 / 365, "時間": 1 / 8760}
_AMOUNT = re.compile(
    r"(?P<number>\d+|[a-z]+(?:-[a-z]+)?|[一二三四五六七八九十百]+)\s*(?:\w+\s)?"
    r"(?P<unit>year|month|week|day|hour|年|か月|ヶ月|週間|日|時間)s?"
    r"\s*(?:ago|earlier|before|previously|(?P<later>later|after|afterwards|後)|前)"
)
_SMALL = "a one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
_SMALL += " eighteen nineteen"
_ROUND = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBERS = {word: max(1, i) for i, word in enumerate(_SMALL.split())} | {"an": 1, "some": 2, "several": 3, "many": 10}
_TENS = {word: 10 * i for i, word in enumerate(_ROUND.split(), start=2)}
_HAN = {c: i for i, c in enumerate("一二三四五六七八九", start=1)}


def in_order_of_time(whens: Sequence[str]) -> list[int]:
    """Return the places of ``whens``, which are in the order of telling, in the order of time."""
    told = [collapse_whitespace(unicodedata.normalize("NFKC", when).casefold()) for when in whens]
    years = [point for when in told if (point := _point(when, None)) is not None]
    now = years[0] if years else 0.0
    keys: list[tuple[float, float]] = []
    same: dict[str, tuple[float, float]] = {}
    for i, when in enumerate(told):
        point = _point(when, now)
        amount = _amount(when) if point is None else None
        if amount is not None:
            point = now + amount
        if point is None and when in same:
            keys.append(same[when])
            continue
        if point is not None and point > now:
            now = point
        keys.append((now if point is None else point, i))
        if when:
            same[when] = keys[-1]
    return sorted(range(len(told)), key=lambda i: (keys[i], i))


def _point(when: str, now: float | None) -> float | None:
    """Return a date as a number of years; None for what is none. Without a year it is in the year of ``now``."""
    year, month = _YEAR.search(when), _MONTH_WORD.search(when)
    if not year and (not month or now is None):
        return None
    value = float(year.group(1)) if year else float(int(now or 0))
    if month:
        rest = _YEAR.sub(" ", _MONTH_WORD.sub(" ", when))
        day = _DAY.search(rest)
        value += ((_MONTH.get(month.group(1) or "") or int(month.group(2) or 1)) - 1) / 12
        value += int(day.group(1) or day.group(2)) / 372 if day else 0
    return value


def _amount(when: str) -> float | None:
    """Return the years from the present that 'fifty years ago' tells; None where it tells none."""
    found = _AMOUNT.search(when)
    number = _number(found.group("number")) if found else None
    if found is None or number is None:
        return None
    return number * _UNITS[found.group("unit")] * (1 if found.group("later") else -1)


def _number(word: str) -> int | None:
    if word.isdecimal():
        return int(word)
    if word[0] in _HAN or word[0] in "十百":
        value = digit = 0
        for c in word:
            if c in "十百":
                value, digit = value + (digit or 1) * (10 if c == "十" else 100), 0
            else:
                digit = _HAN[c]
        return value + digit
    tens, _, ones = word.partition("-")
    if tens in _TENS:
        return _TENS[tens] + _NUMBERS.get(ones, 0)
    return _NUMBERS.get(word)
