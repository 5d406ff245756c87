"""Detects the language of a text from its script and its most frequent words; no network, no model."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_KANA = "\u3041-\u30ff"
_LATIN = "Latin"
_SCRIPTS = {  # in the order in which they are looked for
    "East Asian": _KANA + _HAN,
    "Korean": "\uac00-\ud7af\u1100-\u11ff",
    "Greek": "\u0370-\u03ff\u1f00-\u1fff",
    "Hebrew": "\u0590-\u05ff",
    "Devanagari": "\u0900-\u097f",
    "Bengali": "\u0980-\u09ff",
    "Tamil": "\u0b80-\u0bff",
    "Telugu": "\u0c00-\u0c7f",
    "Georgian": "\u10a0-\u10ff",
    "Armenian": "\u0530-\u058f",
    "Ethiopic": "\u1200-\u137f",
    "Thai": "\u0e00-\u0e7f",
    "Lao": "\u0e80-\u0eff",
    "Burmese": "\u1000-\u109f",
    "Khmer": "\u1780-\u17ff",
    "Arabic": "\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc",
    "Cyrillic": "\u0400-\u04ff",
}
_LANGUAGES = {  # of the scripts that one language or one language above all is written in
    "Korean": "ko", "Greek": "el", "Hebrew": "he", "Devanagari": "hi", "Bengali": "bn", "Tamil": "ta", "Telugu": "te",
    "Georgian": "ka", "Armenian": "hy", "Ethiopic": "am", "Thai": "th", "Lao": "lo", "Burmese": "my", "Khmer": "km",
}  # fmt: skip
_NAMES = {  # the languages that ``certain_language`` names
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "nl": "Dutch"
}  # fmt: skip
_PATTERNS = {script: re.compile(f"[{letters}]") for script, letters in _SCRIPTS.items()}
_KANA_LETTER, _HAN_LETTER = re.compile(f"[{_KANA}]"), re.compile(f"[{_HAN}]")
_WORD = re.compile(r"[^\W\d_]+")
_ARABIC_ARTICLE = re.compile(r"\b[وفبك]?ال")
_ADDRESS = re.compile(r"\S*(?:://|www\.|@)\S*")  # its words are of no language
_FREQUENT_WORDS = {  # by script and language
    script: {language: frozenset(words.split()) for language, words in lists.items()}
    for script, lists in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")).items()
}
_LATIN_LISTS, _CYRILLIC_LISTS = _FREQUENT_WORDS[_LATIN], _FREQUENT_WORDS["Cyrillic"]
_SIMPLIFIED = re.compile("[们这个来说时会对为过发后里么东车门见长话书学国]")
_TRADITIONAL = re.compile("[們這個來說時會對為過發後裡麼東車門見長話書學國]")


def detect_language(text: str) -> str:
    """The language of ``text`` as a BCP 47 tag; 'en' where there is no evidence for another."""
    characters = Counter(text)
    script = _script_of(characters)
    if script == "East Asian":
        if _count(_KANA_LETTER, characters) * 20 > _count(_HAN_LETTER, characters):
            return "ja"
        return "zh-Hant" if _count(_TRADITIONAL, characters) > _count(_SIMPLIFIED, characters) else "zh"
    if script == "Arabic":
        return _language_in_arabic_script(text)
    if script == "Cyrillic":
        return _most_likely(text, _CYRILLIC_LISTS, "ru")
    return _LANGUAGES.get(script) or _most_likely(text, _LATIN_LISTS, "en")


def shows_language(text: str, language: str) -> bool:
    """Whether ``text`` has enough words for ``language``, which was detected in it, not to be a coincidence.

    Four different ones of at least two letters, or two that occur more often than those of any other language. Scripts
    that one language above all is written in show it by themselves."""
    lists = next((lists for lists in (_LATIN_LISTS, _CYRILLIC_LISTS) if language in lists), None)
    if lists is None:
        return True
    words = Counter(word for word in _words(text) if len(word) > 1)
    found = {name: words.keys() & listed for name, listed in lists.items()}
    times = {name: sum(words[word] for word in shared) for name, shared in found.items()}
    others = max(count for name, count in times.items() if name != language)
    enough = len(found[language]) > 3 or (len(found[language]) > 1 and times[language] > others)
    return enough and times[language] * 20 > words.total()


def certain_language(text: str) -> str:
    """The name of the language of ``text`` if it is in Latin letters, else of its script; '' if that is not certain."""
    script = _script_of(Counter(text))
    if script != _LATIN:
        return script
    scores, total = _frequent_words(text, {language: _LATIN_LISTS[language] for language in _NAMES})
    (best, first), (_, second) = scores.most_common(2)
    certain = total >= 12 and first >= 0.15 * total and first >= 1.5 * second
    return _NAMES[best] if certain else ""


def share_of_frequent_words(text: str, language: str) -> float:
    """The share of the words of ``text`` that are frequent in ``language``; -1.0 without a list of these."""
    listed = _LATIN_LISTS.get(language) or _CYRILLIC_LISTS.get(language)
    if listed is None:
        return -1.0
    words = _words(text)
    return sum(map(listed.__contains__, words)) / max(1, len(words))


def _script_of(characters: Counter[str]) -> str:
    """The script of more than a third of the letters; else 'Latin', or '' where there are no letters."""
    letters = sum(times for character, times in characters.items() if character.isalpha())
    if not letters:
        return ""
    return next((name for name, pattern in _PATTERNS.items() if _count(pattern, characters) * 3 > letters), _LATIN)


def _count(pattern: re.Pattern[str], characters: Counter[str]) -> int:
    return sum(characters[character] for character in pattern.findall("".join(characters)))


def _language_in_arabic_script(text: str) -> str:
    if any(c in text for c in "ٹڈڑےں"):
        return "ur"
    persian = sum(text.count(c) for c in "پچژگکی")
    articles = len(_ARABIC_ARTICLE.findall(text))  # fonts may show the letters of Persian in Arabic text as well
    return "fa" if persian * 30 > len(text) and articles * 10 < text.count(" ") else "ar"


def _words(text: str) -> list[str]:
    """The words of ``text`` in small letters, without addresses."""
    text = text.lower()
    return _WORD.findall(_ADDRESS.sub("", text) if any(sign in text for sign in ("://", "www.", "@")) else text)


def _frequent_words(text: str, lists: Mapping[str, frozenset[str]]) -> tuple[Counter[str], int]:
    """How many words of ``text`` are in the list of each language, and how many words there are."""
    words = Counter(_words(text))
    return Counter({language: sum(words[word] for word in listed) for language, listed in lists.items()}), words.total()


def _most_likely(text: str, lists: Mapping[str, frozenset[str]], otherwise: str) -> str:
    """The language with most frequent words in ``text``; ``otherwise`` where that is at most a twentieth of them."""
    scores, total = _frequent_words(text, lists)
    best = max(scores, key=lambda language: (scores[language], language == otherwise))
    return best if scores[best] * 20 > total else otherwise
