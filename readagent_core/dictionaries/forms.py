"""The base forms under which a dictionary may have a word: 'went' is under 'go', 'Häuser' under 'Haus'."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import Stemmer

from readagent_core.words import fold, is_unspaced

_LANGUAGES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "nb": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
_KEPT = 2  # letters that a word and its base form begin with
_IRREGULAR: dict[str, dict[str, str]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def key_of(word: str) -> str:
    """Return ``word`` as it stands in an index: letter case, accents and marks round it do not matter."""
    return fold(" ".join(word.split()).strip(" .,;:!?¡¿…\"“”„«»'‘’()[]{}—–-")).replace("’", "'")


def direct_forms(key: str, language: str) -> list[str]:
    """Return the keys to look up as they are: of the word, without the 's of English, and of an irregular form."""
    forms = [key, key.removesuffix("'s").removesuffix("s'")]
    forms += [base for form in forms if (base := _irregular(language).get(form))]
    return list(dict.fromkeys(filter(None, forms)))


def beginnings(key: str) -> Iterator[str]:
    """Yield ever shorter beginnings under which base forms may stand, of words without spaces only."""
    if is_unspaced(key):
        yield from (key[:end] for end in range(len(key) - 1, 0, -1))


def beginning_of_forms(key: str) -> str:
    """Return what all base forms of a word begin with; '' for a word too short."""
    return key[:_KEPT] if len(key) > _KEPT and not is_unspaced(key) else ""


def with_same_stem(key: str, keys: Iterable[str], language: str) -> list[str]:
    """Return those of ``keys`` that have the stem of ``key``, those nearest to it in length first."""
    stem = _stemmer(_LANGUAGES.get(language.split("-")[0].lower(), "english"))
    wanted = stem.stemWord(key)
    return sorted((other for other in keys if stem.stemWord(other) == wanted), key=lambda one: (len(one), one))


@lru_cache
def _stemmer(name: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(name)


def _irregular(language: str) -> dict[str, str]:
    return _IRREGULAR.get(language.split("-")[0].lower(), {})
