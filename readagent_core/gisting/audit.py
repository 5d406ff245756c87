"""The gist audit: compares a gist with its page, without a model, and marks what a reader should check.

Quotation marks round words that the page does not have are taken off; nothing else of the gist's text is changed. A
mark can be wrong (the model may rightly supply a name), so it states the difference and does not call it an error.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import pairwise

from readagent_core.citations.answer_parsing import unquote
from readagent_core.citations.quotation_search import SearchableText, find_in, normalise_words
from readagent_core.languages import certain_language
from readagent_core.memory import Gist
from readagent_core.words import count_words, first_words, fold, is_right_to_left, is_unspaced, repeated_share

# In the gists of a strong model, of four books, at most .27 of the longer words, by their beginnings, were not in the
# page, and .04 of what they say was said twice; in the useless ones of a model of 1.5B .55 and more, or .17 and more.
_STRANGE, _STEM, _LEAST_WORDS, _REPEATED = 0.5, 5, 9, 0.12
_BROKEN_OFF = re.compile(r"\.\.\.|…")  # no gist of a strong model had more than its page
_SHOWN = 3  # names, numbers or quotations listed in one mark
_SAMPLE = 4000  # characters from which the language is detected
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_POINTS = str.maketrans("", "", ".,:")
_TITLES = ("Dr", "Mr", "Mrs", "Miss", "Ms", "St", "Prof")
_AFTER_TITLE = re.compile(rf"\b(?:{'|'.join(_TITLES)})\.\s+$")
_CAPITALISED = re.compile(r"(?<![^\W_])(?<![’'])[^\W\d_a-z](?:[^\W_]|[’'-])+")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:]['\"”’)]*\s+|[\n“\"‘(«—–]\s*)$")
_WORD = re.compile(r"[^\W_]+")  # a plain text has '_' round words in italics
# what makes a capitalised word common: a day or month, or an adjective ('Turkish', 'a Christian', 'the French ship')
_CALENDAR = frozenset(map(str.lower, (*calendar.day_name, *calendar.month_name)))
_OF_A_PEOPLE = re.compile(r"(?:ish|ese)$")
_ADJECTIVE = re.compile(r"(?:[aei]an|can|man|[nt]ch|lsh|iss|eek|ic)s?$")
_PEOPLE = re.compile(r"(?:ish|ese|lsh|[nt]ch|iss|eek)$")  # French, Welsh, Dutch, Swiss, Greek
_SOFT = re.compile(r"[aeiouyh]")
_OF_A_PLACE = re.compile(r"[aei]ans?$")
_BEFORE_ADJECTIVE = re.compile(
    r"\b(?:an?|the|this|that|these|those|his|her|its|their|my|our|some|any|no|every|each|other|two|three|many)\s+$",
    re.I,
)


def audit_gist(gist: Gist, page_text: str, *, page_words: int) -> Gist:
    """Return ``gist`` with a mark for every difference found, and quotation marks only round words of the page."""
    if gist.whole:
        return gist
    text, unquoted = take_off_quotation_marks(gist.text, page_text)
    gist = replace(gist, text=text)
    marks: list[str] = []
    if gist.words > page_words:
        marks.append(f"longer than its page ({gist.words} words for {page_words})")
    differences = find_differences(text, page_text)
    for what, found in differences.items():
        if what == "language":
            marks.append(f"seems to be in another language than the page ({found[0]}, not {found[1]})")
        else:
            marks.append(f"{what} that its page does not have: {_list(found)}")
    if is_of_another_text(gist.text, page_text) and "language" not in differences:
        marks.append("most of its longer words are not in its page: it may tell of something else")
    if repeated_share(gist.text) > repeated_share(page_text) + _REPEATED:
        marks.append("says the same more than once")
    if len(_BROKEN_OFF.findall(gist.text)) > len(_BROKEN_OFF.findall(page_text)):
        marks.append("breaks off sentences that its page ends")
    if unquoted:
        marks.append(f"not quoted from its page, so without quotation marks: {_list(unquoted)}")
    return replace(gist, marks=tuple(marks))


def is_of_another_text(gist: str, page: str) -> bool:
    """Return whether most of the longer words of ``gist`` do not occur in ``page``, by their beginnings.

    False for a short one, and where this cannot be judged: in text without spaces or from right to left.
    """
    words = {fold(word)[:_STEM] for word in _WORD.findall(gist) if len(word) >= _STEM}
    if len(words) < _LEAST_WORDS or is_unspaced(page) or is_right_to_left(page):
        return False
    missing = words - {fold(word)[:_STEM] for word in _WORD.findall(page)}
    return len(missing) > len(words) * _STRANGE


def find_differences(gist: str, page: str) -> Mapping[str, list[str]]:
    """Return what a gist has and its page has not: 'names', 'numbers', or its 'language' followed by the page's."""
    found: dict[str, list[str]] = {}
    ours, theirs = (certain_language(text[:_SAMPLE]) for text in (page, gist))
    if ours and theirs and ours != theirs:
        found["language"] = [theirs, ours]
    elif ours != "German" and (names := names_not_in(gist, page)):  # German capitalises every noun
        found["names"] = names
    if numbers := numbers_not_in(gist, page):
        found["numbers"] = numbers
    return found


def take_off_quotation_marks(gist: str, page: str) -> tuple[str, list[str]]:
    """Return a gist without the quotation marks round words that its page does not have, and those words."""
    words = SearchableText([(page, 0, False)])
    text = words.text if is_unspaced(page) else f" {words.text.strip()} "
    removed: list[str] = []

    def is_on_page(quoted: str) -> bool:
        wanted = normalise_words(quoted)
        found = (wanted if is_unspaced(page) else f" {wanted} ") in text or bool(find_in(words, quoted, page=0))
        if not found:
            removed.append(first_words(quoted.strip(), 8))
        return found

    return unquote(gist, is_on_page), removed


def _list(found: list[str]) -> str:
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"{', '.join(found[:_SHOWN])}{more}"


def names_not_in(gist: str, page: str) -> list[str]:
    """Return the words, in order, that are capitalised inside a sentence of the gist and do not occur in the page.

    Days, months and adjectives such as 'Turkish' are no names.
    """
    # a stammered 'I-vy' is Ivy; 'the doctor' may be Dr
    known = {fold(word) for word in {*_WORD.findall(page), *_WORD.findall(page.replace("-", "")), *_TITLES}}
    capitalised = {*_CAPITALISED.findall(page)} - {*_TITLES}
    peoples = {_bones(word) for word in capitalised if word[0].isupper() and _PEOPLE.search(word)}
    found: list[str] = []
    for name in _CAPITALISED.finditer(gist):
        if not name.group()[0].isupper():
            continue
        before = gist[: name.start()]
        if not before or (_SENTENCE_START.search(before[-4:]) and not _AFTER_TITLE.search(before[-8:])):
            continue
        if _is_common(name.group().lower(), before, known) or _bones(name.group()) in peoples:
            continue
        parts = [fold(part) for part in _WORD.findall(name.group()) if len(part) > 1]
        if parts and not any(_near(part, known) for part in parts) and name.group() not in found:
            found.append(name.group())
    return found


def _bones(word: str) -> str:
    """Return the first three consonants of a word, which a country and its people share: Spain and Spanish."""
    return _SOFT.sub("", fold(word)).replace("c", "k")[:3]


def _is_common(word: str, before: str, known: Collection[str]) -> bool:
    """Return whether a capitalised ``word`` is no name, or an adjective of a name of the page ('Venusian' of Venus).

    ``before``: the text before it. ``known``: the words of the page.
    """
    if word.removesuffix("s") in _CALENDAR or _OF_A_PEOPLE.search(word):
        return True
    if _ADJECTIVE.search(word) and _BEFORE_ADJECTIVE.search(before[-12:]):
        return True
    root = _OF_A_PLACE.sub("", word)
    return root != word and len(root) > 3 and any(known_word.startswith(root) for known_word in known)


def _near(part: str, known: set[str]) -> bool:
    """Return whether the page has the word, also with an ending of one or two letters more or fewer."""
    if part in known:
        return True
    return len(part) > 3 and any(
        k.startswith(part) or (part.startswith(k) and len(k) > 3) for k in known if abs(len(k) - len(part)) <= 2
    )


def numbers_not_in(gist: str, page: str) -> list[str]:
    """Return the numbers of two digits or more that the page has neither in digits nor in Roman numerals or words."""
    wanted = {n: _digits(n) for n in _NUMBER.findall(unicodedata.normalize("NFKC", gist))}
    wanted = {number: digits for number, digits in wanted.items() if len(digits) > 1}
    if not wanted:
        return []
    have = {_digits(n) for n in _NUMBER.findall(unicodedata.normalize("NFKC", page))}
    if not have and count_words(page) and any(c in page for c in "〇一二三四五六七八九十百千"):
        return []  # numbers written in Japanese or Chinese are not parsed
    wanted = {number: digits for number, digits in wanted.items() if digits not in have}
    if not wanted:
        return []
    have |= _spelled_numbers(page)
    have |= {str(_roman_value(numeral)) for numeral in re.findall(r"\b[IVXLC]+\b", page)}
    have |= {part for n in _NUMBER.findall(page) for part in n.replace(":", ".").split(".")}
    return [number for number, digits in wanted.items() if digits not in have and not _given_in_parts(number, have)]


def _roman_value(numeral: str) -> int:
    """Return the number that letters of I, V, X, L and C mean; 'XV' is a chapter that a gist may call 15."""
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[letter] for letter in numeral]
    return sum(-a if a < b else a for a, b in pairwise([*values, 0]))


def _given_in_parts(number: str, have: set[str]) -> bool:
    """Return whether the page has both parts of a time or a sum: 'three minutes to three', 'nine pounds fifty'."""
    parts = re.split("[.:]", number.replace(",", ""))
    if len(parts) != 2:
        return False
    whole, rest = (part.lstrip("0") or "0" for part in parts)
    if whole in have and (rest in have or rest == "0" or (rest == "5" and "half" in have)):
        return True
    if len(parts[1]) != 2 or int(rest) >= 60 or int(whole) > 24:
        return False
    before = {str(60 - int(rest)), {30: "half", 15: "quarter", 45: "quarter"}.get(int(rest), "")}
    hours = {whole, str(int(whole) + 1), str(int(whole) % 12 + 1), "noon" if whole in ("11", "12") else whole}
    return bool(before & have) and bool(hours & have)


def _digits(number: str) -> str:
    return number.translate(_POINTS).lstrip("0") or "0"


_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: n for n, word in enumerate(_UNITS.split())}
_SETS = {"dozen": 12, "score": 20}
_VALUES |= {word: 20 + 10 * n for n, word in enumerate(_TENS.split())} | _SETS
_UNIT_FIRST = re.compile(rf"\b({'|'.join(_UNITS.split()[1:10])})[ -]and[ -]({'|'.join(_TENS.split())})\b")


_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12, "half": 30, "quarter": 15
}  # fmt: skip


def _value(word: str) -> int | None:
    """Return the number that an English word means ('twelve', 'twelfth', 'twentieth', 'fifties'); None for others."""
    for form in (word, word.removesuffix("s"), word.removesuffix("th"), re.sub("ie(?:th|s)$", "y", word)):
        if form in _VALUES:
            return _VALUES[form]
    return _ORDINALS.get(word)


def _spelled_numbers(page: str) -> set[str]:
    """Return the numbers spelled out in English, up to the millions, in digits, and the parts of longer ones."""
    found = {word for word in ("half", "quarter", "noon") if word in page.lower()}
    total = part = 0
    inside = False
    page = _UNIT_FIRST.sub(r"\2 \1", page.lower())
    words = [*re.findall(r"[a-z]+", page), ""]
    values = {word: _value(word) for word in set(words)}
    for word in words:
        value = values[word]
        if word in _SETS and inside and part:  # 'six score', 'two dozen'
            part *= _SETS[word]
        elif value is not None:
            if inside and part % 10 and value < 100:  # 'two fifty-seven', 'nineteen forty': another number begins
                total, part = 0, 0
            part += value
            inside = True
            found.add(str(value))
        elif word in ("hundred", "hundreds"):
            part = max(part, 1) * 100
            inside = True
        elif word.removesuffix("s") in ("thousand", "million"):
            many = 1000 if word.startswith("t") else 1_000_000
            total, part = total + max(part, 1) * many, 0
            found.add(str(total // many))  # '35,000' may be '35 thousand'
            inside = True
        elif not (inside and word in ("and", "a")):
            total, part, inside = 0, 0, False
        if inside:
            found.add(str(total + part))
    return found
