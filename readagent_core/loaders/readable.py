"""Judges whether a text can be read, mends letters of another code page, and says which language a text is in.

Frequent words show a language. A text without them is judged by its pairs of letters: those of the words that justext
ships for about a hundred languages are likely, those of a font without a character map or of a poor recognition are
not. Chinese, Japanese and Korean are judged by their national standards, whose first levels have the usual characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from enum import Enum
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise, repeat
from math import log2

from readagent_core.languages import detect_language, share_of_frequent_words, shows_language

_SAMPLE = 2000  # characters
_PASSAGE, _MOST_PASSAGES = 600, 1500  # characters of a passage that are judged; passages of a long text
_LONG_TEXT = 300_000  # characters; of a longer one every third passage is searched for misread words: they fill pages
_FEWEST_LETTERS, _FEWEST_WORDS = 60, 30  # fewer do not show whether they are words
_FEWEST_FREQUENT, _PART = 12, 4  # words among which frequent ones count; letters in a script are this part or more
_LETTERS = 0.55  # share of the characters; tables, formulas and programs have fewer
_FREQUENT, _LANGUAGE = 0.08, 0.1  # share of a language's frequent words: in a readable text; where it is certain
_LIKELY, _UNLIKELY = -4.3, -5.0  # mean binary logarithm of the probability of a letter after the one before
_USUAL, _UNUSUAL = 0.8, 0.5  # share of the characters that are in a first level
_WORDS, _MORE_WORDS = 400, 3000  # of each language in Latin letters, of which there are seventy, and in others
_WORD = re.compile(r"\b(?!(?:[ivxlcdm]+|[IVXLCDM]+)\b)[^\W\d_]{2,}")  # no Roman number, as lists of chapters have
_CODE = re.compile(r"(?=\S*\d)[0-9A-F]{4,}")  # numbers of glyphs, such as 001003ED
# what poor recognition leaves in words: signs, digits, capitals and letters of another script between letters
_MISREAD = re.compile(
    r"[^\W\d_][^\w\s'’ʼ\-–—./@:&·‐\"“”()\[\],;=<>*#+|{}\\$][^\W\d_]|[^\W\d_]{2}\d+[a-zß-ÿ]|[^\W\d_]\d+[a-zß-ÿ]{2}|"
    r"[a-zß-ÿ][A-ZÀ-Þ](?![a-z]{2}|\d)|[\^~¬]|^\||\|$|[A-Za-z][а-яё]|[а-яё][a-z]"
)
_LONG_WORD, _IMPOSSIBLE, _FEWEST_ODD = re.compile(r"[^\W\d_]{5,}"), -6.5, 2  # of a word, as _LIKELY is of a text
_AROUND_WORDS, _PROGRAM = ".,;:!?()[]\"“”‘’'«»*_", dict.fromkeys(map(ord, "{}();=<>_$\\"))
_MANY_MISREAD = ((0.08, 0.15), (0.2, _FREQUENT))  # share of such words, and of the frequent ones that prose has
_MOST_PROGRAM = 0.03  # of the characters are signs of a programming language
# Cyrillic, Greek and Hebrew letters that are taken for Latin ones with accents, of which no language has four in a row
_MISTAKEN, _FEWEST_MISTAKEN = re.compile("[À-ÿ][À-ÿ]{3}"), 8
_CODE_PAGES = [
    {code: bytes([code]).decode(f"cp{page}", "replace") for code in range(0xA0, 0x100)} for page in (1251, 1253, 1255)
]
_OF_TEX = str.maketrans("јѕї", "ё«»")  # what Russian lacks, where TeX's fonts have what it needs
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
Level = tuple[str, int, int]  # an encoding, the first bytes of its usual ideographs
FIRST_LEVELS: tuple[Level, ...] = (
    ("gb2312", 0xB0, 0xD7),
    ("shift_jis", 0x81, 0x98),
    ("big5", 0xA1, 0xC6),
    ("euc_kr", 0xB0, 0xC8),
)


class Verdict(Enum):
    """What a sample shows. UNKNOWN: too short, a table, a program, or a script without data."""

    READABLE = "readable"
    UNKNOWN = "unknown"
    UNREADABLE = "unreadable"


def judge(text: str, likely: str = "", fewest: int = _FEWEST_LETTERS) -> Verdict:
    """Returns whether ``text`` is in a language that people read. ``likely``: the one that is tried first.

    ``fewest``: letters below which nothing is said."""
    text = text[:_SAMPLE]
    if likely and share_of_frequent_words(text, likely) > _FREQUENT and len(text) > _FEWEST_LETTERS:
        return Verdict.READABLE
    tokens = text.split()
    codes = sum(bool(_CODE.fullmatch(token)) for token in tokens)
    if len(tokens) > _FEWEST_WORDS and codes > _USUAL * len(tokens) and any(map(str.isalpha, text)):
        return Verdict.UNREADABLE
    alone = [token for token in tokens if len(token) == 1 and not _IDEOGRAPH.match(token)]
    lone = sum(map(str.isalpha, alone))
    if len(alone) > _USUAL * max(_FEWEST_WORDS, len(tokens)) and 4 * lone > len(alone) > 3 * len(set(alone)):
        return Verdict.UNREADABLE  # strokes of a drawing that were taken for a few letters and digits
    letters = sum(map(str.isalpha, text))
    if letters < fewest or letters < _LETTERS * len("".join(tokens)):
        return Verdict.UNKNOWN
    ideographs = _IDEOGRAPH.findall(text)
    if 3 * len(ideographs) > letters:
        share = max(sum(in_first_level(c, level) for c in ideographs) for level in FIRST_LEVELS) / len(ideographs)
        return _verdict(share, _USUAL, _UNUSUAL)
    if 2 * lone > max(_FEWEST_WORDS, len(tokens)) and len(set(alone)) > _FEWEST_FREQUENT:
        return Verdict.UNREADABLE  # words that fell apart into letters
    if share_of_frequent_words(text, detect_language(text)) > _FREQUENT:
        return Verdict.READABLE
    parts: dict[str, list[str]] = defaultdict(list)  # by script: a dictionary or a program has words of two
    for word in _WORD.findall(without_marks(text)):
        parts[script_of(word[0])].append(word)
    large = [part for part in parts.items() if _PART * sum(map(len, part[1])) > letters]
    verdicts = [_judge_words(*part, fewest) for part in sorted(large, key=lambda part: -sum(map(len, part[1])))]
    return Verdict.READABLE if Verdict.READABLE in verdicts else next(iter(verdicts), Verdict.UNKNOWN)


def _judge_words(script: str, words: Sequence[str], fewest: int) -> Verdict:
    text = " ".join(words)
    few = len(words) * _FEWEST_LETTERS < _FEWEST_WORDS * fewest
    if (not few or len(words) > _FEWEST_FREQUENT) and share_of_frequent_words(text, detect_language(text)) > _FREQUENT:
        return Verdict.READABLE
    pairs, firsts = _known_pairs(script)
    found = [pair for word in words for pair in pairwise(f" {word.lower()} ")]
    if few or sum(firsts[one] > 0 for one, _ in found) < _USUAL * len(found):
        return Verdict.UNKNOWN
    return _verdict(_chance(found, pairs, firsts), _LIKELY, _UNLIKELY)


def mend_letters(text: str) -> str:
    """Returns a text in Cyrillic, Greek or Hebrew whose letters were taken for Latin ones ('Ïðèâåò'); others as is."""
    if not _MISTAKEN.search(text) or judge(text, fewest=_FEWEST_MISTAKEN) is Verdict.READABLE:
        return text
    mended = max(map(text.translate, _CODE_PAGES), key=_likelihood)
    if judge(mended, fewest=_FEWEST_MISTAKEN) is not Verdict.READABLE:
        return text
    return mended.translate(_OF_TEX) if detect_language(mended) == "ru" else mended


def _likelihood(text: str) -> float:
    pairs, firsts = _known_pairs(_main_script(text))
    return _chance([pair for word in _WORD.findall(text.lower()) for pair in pairwise(f" {word} ")], pairs, firsts)


Pair = tuple[str, str]


def _chance(found: Sequence[Pair], pairs: Counter[Pair], firsts: Counter[str]) -> float:
    """Returns the mean binary logarithm of the probability of a letter after the one before."""
    return sum(log2((pairs[pair] + 0.05) / (firsts[pair[0]] + 2)) for pair in found) / max(1, len(found))


def without_marks(text: str) -> str:
    """Returns ``text`` without the vowel signs of Indic scripts and other marks, which would part its words."""
    for sign in () if text.isascii() else set(text):
        if unicodedata.category(sign).startswith("M"):
            text = text.replace(sign, "")
    return text


def _main_script(text: str) -> str:
    return Counter(map(script_of, filter(str.isalpha, text))).most_common(1)[0][0]


def find_doubtful(texts: Sequence[str], language: str, *, judged: bool = False) -> tuple[list[int], list[int]]:
    """Returns the paragraphs where passages begin that are in no language, and those with many misread words.

    ``language``: of most of the text. ``judged``: whether that it is in a language was seen before."""
    whole = sum(map(len, texts))
    room, step, number = max(_PASSAGE, whole // _MOST_PASSAGES), 1 + 2 * (whole > _LONG_TEXT), 0
    unreadable: list[int] = []
    misread: list[int] = []
    first, length = 0, 0
    for index, text in enumerate(texts):
        length += len(text)
        if length >= room or index + 1 == len(texts):
            sample = "\n".join(texts[first : index + 1])[:_PASSAGE]
            if not judged and judge(sample, language.partition("-")[0]) is Verdict.UNREADABLE:
                unreadable.append(first)
            misread += [first] * (number % step == 0 and _is_misread(sample))
            first, length, number = index + 1, 0, number + 1
    return unreadable, misread


def _is_misread(text: str) -> bool:
    """Returns whether a text has many words that nobody writes: misread, or in a font with wrong letters."""
    script = _main_script(text[::7]) if any(map(str.isalpha, text[::7])) else ""
    long = {word for word in set(_LONG_WORD.findall(text)) if not word.isupper() and script_of(word[0]) == script}
    odd = sum(map(_is_impossible, long, repeat(script))) if script != "CJK" else 0
    if odd > max(_FEWEST_ODD, _MANY_MISREAD[0][0] * len(long)):
        return True
    if sum(map(_is_odd, set(text.split()))) <= _FEWEST_ODD:
        return False
    words = [word for word in (token.strip(_AROUND_WORDS) for token in text.split()) if word and not word.isdigit()]
    share = sum(map(_is_odd, set(words))) / max(1, len(words))  # a name may occur often
    if len(words) < _FEWEST_WORDS or share <= _MANY_MISREAD[0][0]:
        return False
    if len(text) - len(text.translate(_PROGRAM)) > _MOST_PROGRAM * len(text):
        return False
    frequent = share_of_frequent_words(text, detect_language(text))
    return any(share > misread and frequent > prose for misread, prose in _MANY_MISREAD)


def choose_language(said: str, text: str) -> str:
    """Returns the language that a file says its text is in, unless the text is in another for certain.

    '' where it says none, and the text is too short or has too few words to show one."""
    found = detect_language(text)
    if not said:
        return found if shows_language(text, found) else ""
    if said.split("-")[0].lower() == found.split("-")[0]:
        return said
    other = share_of_frequent_words(text, found)
    agreeing = share_of_frequent_words(text, said.split("-")[0].lower())
    certain = other > (2 * _LANGUAGE if agreeing < 0 else _LANGUAGE) and other > 2 * agreeing
    return found if certain or other < 0 else said  # one without a list has a script of its own


@lru_cache(maxsize=1 << 16)
def _is_impossible(word: str, script: str) -> bool:
    pairs, firsts = _known_pairs(script)
    return bool(firsts) and _chance(list(pairwise(f" {word.lower()} ")), pairs, firsts) < _IMPOSSIBLE


@lru_cache(maxsize=1 << 16)
def _is_odd(word: str) -> bool:
    return bool(_MISREAD.search(word))


def _verdict(value: float, readable: float, unreadable: float) -> Verdict:
    return Verdict.READABLE if value > readable else Verdict.UNREADABLE if value < unreadable else Verdict.UNKNOWN


def in_first_level(character: str, level: Level) -> bool:
    """Returns whether the code of a character begins with a byte of a first level of its encoding."""
    code = character.encode(level[0], "ignore")
    return bool(code) and level[1] <= code[0] <= level[2]


@cache
def _known_pairs(script: str) -> tuple[Counter[Pair], Counter[str]]:
    """Returns how often a letter follows another in the frequent words of a script, and each letter as the first."""
    words: set[str] = set()
    most = _WORDS if script == "LATIN" else _MORE_WORDS
    for file in (files("justext") / "stoplists").iterdir():
        text = file.read_text("utf-8") if file.name.endswith(".txt") else ""
        if text and script_of(text.rsplit(maxsplit=1)[-1][0]) == script:
            words.update(text.split(maxsplit=most)[:most])
    pairs = Counter(pairwise(without_marks(f" {' '.join(words)} ")))
    firsts: Counter[str] = Counter()
    for (one, _), count in pairs.items():
        firsts[one] += count
    return pairs, firsts


@cache
def script_of(letter: str) -> str:
    """Returns the script of a letter: 'LATIN'."""
    return unicodedata.name(letter, "").split(" ")[0]
