"""Says how likely the characters of a text are: one that was decoded wrongly needs more bits than the right one.

Letters follow one another as in the words of some language that justext ships a list of. Usual ideographs are in the
first level of a national standard. Signs between letters, letters of another script inside a word, and a capital after
a small letter are rare in every language.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby, pairwise
from math import log2

from readagent_core.loaders.readable import Level, in_first_level, script_of, without_marks

_SIGNS = "“”‘’«»–—…„‚¿¡·°²³¹½¼¾ªº§©®£€™•"
_WORD = re.compile(rf"[^\s!-@\[-`{{-~{_SIGNS}]+")  # with the odd signs inside it
_ASCII_SIGN, _SIGN = re.compile(r"[!-/:-@\[-`{-~]"), re.compile(f"([{_SIGNS}])\\1*")
_STUCK = re.compile(r"[^\W\d_][€£§©°¿¡„‚½¼¾•]|[€£§½¼¾²³¹][^\W\d_]|[^\W\d_][«»ªº®™][^\W\d_]")  # signs at letters
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_KANA = re.compile("[\u3001-\u3002\u300c-\u300f\u3040-\u30ff\uff01-\uff1f\uff65-\uff9f]")  # and usual signs
_COMMAS_BELOW = str.maketrans("şţŞŢ", "șțȘȚ")  # as the list of Romanian has them
_LISTED, _FEWEST_LISTED = 800, 200  # words of a language
_UNSEEN = 0.02  # times that a pair of letters was seen which no listed word has
_THAI = re.compile("[เ-ไ]?[ก-ฮ][\u0e31\u0e34-\u0e3a]?[\u0e47-\u0e4e]?[ะาำๆ]?")  # a syllable: the script has no list
_SPACED = re.compile("[\u3400-\u9fff] (?=[\u3400-\u9fff])")  # as in Korean that was taken for Chinese
# bits of a character: in a script without a list, kana, a usual and another ideograph, signs, what is no character
_LETTER, _KANA_BITS, _USUAL, _RARE, _ASCII_BITS, _SIGN_BITS, _ODD, _DAMAGED = 5.0, 6.5, 9.5, 17.0, 4.0, 8.0, 15.0, 20.0
_CAPITAL, _SCRIPT, _SWITCH = 5.0, 12.0, 15.0  # after a small letter; for each script; and for a change in a word
_Listed = tuple[Counter[tuple[str, str]], Counter[str], Mapping[str, float]]


def bits_of(text: str, levels: Sequence[Level]) -> float:
    """Returns how many bits a reader of many languages needs for ``text``, whose ideographs are in ``levels``."""
    text = text.translate(_COMMAS_BELOW)
    bits = _ASCII_BITS * len(_ASCII_SIGN.findall(text)) + _SIGN_BITS * len(_SIGN.findall(text))
    bits += _ODD * len(_STUCK.findall(text)) + _SCRIPT * len(_SPACED.findall(text))
    languages: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for word, times in Counter(_WORD.findall(text)).items():
        parts = [(script, "".join(run)) for script, run in groupby(word, _script)]
        bits += times * _SWITCH * sum(bool(one[0] and other[0]) for one, other in pairwise(parts))
        for script, part in parts:
            if script in _lists():
                for name, each in _word_bits(part, script).items():
                    languages[script][name] += times * each
            elif script == "WIDE":
                languages[script][""] += times * sum(_wide_bits(c, levels) for c in part)
            elif script:
                languages[script][""] += times * (_LETTER * len(part) + _ODD * len(_THAI.sub("", part)))
            else:
                bits += times * (_DAMAGED * part.count("\ufffd") + _ODD * len(set(part) - {"\ufffd"}))
    bits += _SCRIPT * len(languages.keys() - {"LATIN"})
    return bits + sum(min(each.values()) for each in languages.values())


@cache
def _script(character: str) -> str:
    """Returns the script of a letter or of the sign of a vowel: 'LATIN'; '' of another character."""
    if _WIDE.match(character):
        return "WIDE"
    return script_of(character) if unicodedata.category(character)[0] in "LM" else ""


def _wide_bits(character: str, levels: Sequence[Level]) -> float:
    if _KANA.match(character):
        return _KANA_BITS
    return _USUAL if any(in_first_level(character, level) for level in levels) else _RARE


@lru_cache(maxsize=1 << 12)
def _word_bits(word: str, script: str) -> Mapping[str, float]:
    """Returns the bits of a word in each language of its script."""
    capitals = _CAPITAL * sum(one.islower() and other.isupper() for one, other in pairwise(word))
    plain = without_marks(word).lower()
    more = capitals + _LETTER * (len(word) - len(plain))
    pairs = list(zip(f" {plain}", f"{plain} ", strict=True))
    found: dict[str, float] = {}
    for name, (known, firsts, ranks) in _lists()[script].items():
        letters = sum(log2((firsts[pair[0]] + 2) / (known[pair] + _UNSEEN)) for pair in pairs)
        found[name] = more + min(letters, ranks.get(plain, letters))
    return found


@cache
def _lists() -> Mapping[str, Mapping[str, _Listed]]:
    """Returns by script and language how often a letter follows another in its frequent words, and each is the first,
    and the bits of those words."""
    found: dict[str, dict[str, _Listed]] = defaultdict(dict)
    for file in (files("justext") / "stoplists").iterdir():
        words = [without_marks(word).lower() for word in file.read_text("utf-8").split()[:_LISTED]]
        if len(words) >= _FEWEST_LISTED:
            pairs = Counter(pair for word in words for pair in zip(f" {word}", f"{word} ", strict=True))
            firsts: Counter[str] = Counter()
            for (one, _), count in pairs.items():
                firsts[one] += count
            ranks = {word: log2(4 * (rank + 8)) for rank, word in reversed(list(enumerate(words)))}
            found[script_of(words[-1][0])][file.name] = (pairs, firsts, ranks)
    return found
