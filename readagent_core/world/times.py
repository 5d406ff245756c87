"""The order of time of what a book tells, from the words that tell when.

Years and dates are points of time, in figures or words; 'fifty years ago' counts back from the present of the story;
the same words mean the same time, unless each day has it. All else happens in the present of the story, as told.
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
_DAY = re.compile(r"(?<![\d.:])(\d{1,2})(?:st|nd|rd|th)?\b(?!\s*(?:年|月)|[.:]\d)|(\d{1,2})日")
_DAY_ALONE = re.compile(r"(?:^|\bthe )(\d{1,2})(?:st|nd|rd|th)$|^(\d{1,2})日")
_DAY_AFTER = re.compile(r"\b(?:day|morning|evening|night) (after|before)\b")
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
_HAN = {c: i for i, c in enumerate("〇一二三四五六七八九")}
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
_ORDINALS += " fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth"
_ORDINAL = {word: i for i, word in enumerate(_ORDINALS.split(), start=1)} | {"thirtieth": 30}
_ORDINAL_WORD = re.compile(rf"\b(?:(twenty|thirty)[- ])?({'|'.join(_ORDINAL)})\b")
_HAN_NUMBER = re.compile(r"(?:[〇一二三四五六七八九十百]+|元(?=年))(?=[年月日])")
_ERA = re.compile(r"(明治|大正|昭和|平成|令和)(\d+)年")
_BEFORE_ERA = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
_EACH_DAY = "the a an in at on by of to past till that this next same every each one early late later soon then now day"
_EACH_DAY += " morning noon afternoon evening night midnight dawn dusk today tonight yesterday tomorrow half quarter"
_EACH_DAY += " o'clock minutes hour hours am pm monday tuesday wednesday thursday friday saturday sunday"
_EACH_DAY += " 今朝 今日 今夜 昨日 昨夜 翌日 翌朝 朝 昼 夕方 夜 その日 その夜 その後"
_EACH = frozenset(_EACH_DAY.split())


def in_order_of_time(whens: Sequence[str]) -> list[int]:
    """Return the places of ``whens``, which are in the order of telling, in the order of time."""
    told = [_in_figures(when) for when in whens]
    now = next((point for when in told if (point := _point(when, None)) is not None), None)
    if now is None:
        now = next((point for when in told if (point := _point(when, 0.0)) is not None), 0.0)
    keys: list[tuple[float, float]] = []
    same: dict[str | float, tuple[float, float]] = {}
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
        keys.append((now, i) if point is None else same.setdefault(point, (point, i)))
        if not all(word in _EACH or word.isdecimal() or word in _NUMBERS for word in re.findall(r"[\w']+", when)):
            same[when] = keys[-1]
    return sorted(range(len(told)), key=lambda i: (keys[i], i))


def _in_figures(when: str) -> str:
    """Return ``when`` in small letters, 'the twenty-seventh' as 'the 27th' and 昭和六十三年 as 1988年."""
    said = collapse_whitespace(unicodedata.normalize("NFKC", when).casefold())
    said = _ORDINAL_WORD.sub(lambda m: f"{_TENS.get(m.group(1), 0) + _ORDINAL[m.group(2)]}th", said)
    said = _HAN_NUMBER.sub(lambda m: str(1 if m.group() == "元" else _number(m.group())), said)
    return _ERA.sub(lambda m: f"{_BEFORE_ERA[m.group(1)] + int(m.group(2))}年", said)


def _point(when: str, now: float | None) -> float | None:
    """Return a date as a number of years; None for what is none.

    Without a year it is in the year nearest to ``now``, without a month in the month of ``now``.
    """
    year, month = _YEAR.search(when), _MONTH_WORD.search(when)
    alone = None if year or month else _DAY_ALONE.search(when)
    if not year and (now is None or not (month or (alone and now % 1))):
        return None
    value = float(year.group(1)) if year else float(int(now or 0))
    if month:
        value += ((_MONTH.get(month.group(1) or "") or int(month.group(2) or 1)) - 1) / 12
    elif alone:
        value += int((now or 0) % 1 * 12 + 1e-6) / 12
    day = alone or (_DAY.search(_YEAR.sub(" ", _MONTH_WORD.sub(" ", when))) if month else None)
    value += (int(day.group(1) or day.group(2)) - 1) / 372 if day else 0
    if day and (beside := _DAY_AFTER.search(when)):
        value += (1 if beside.group(1) == "after" else -1) / 372
    if month and not year and now and now % 1 and abs(value - now) > 0.5:
        value += 1 if value < now else -1
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
        if len(word) > 1 and all(c in _HAN for c in word):
            return int("".join(str(_HAN[c]) for c in word))
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
