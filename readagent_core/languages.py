"""Detects the language of a text from its script and its most frequent words; no network, no model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

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
_FREQUENT_WORDS = {  # of languages in Latin letters
    "en": "the and of to a in that is was he for it with as his on be at by had not are but from or have an they "
    "she her",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus "
    "er sie ich war",
    "fr": "de la le et les des en un du une que est pour qui dans par sur au plus pas ne se il avec ce sont elle",
    "es": "de la que el en y los del se las por un para con no una su al lo como más pero sus le ya este es",
    "it": "di e il la che in un per è del non una si con le dei da al come nel della più gli ma ha era sono i lo",
    "pt": "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele foi",
    "nl": "de en van het een in is dat op te zijn met voor niet aan er om ook als dan maar bij door hij was ik die",
    "sv": "och i att det som en på är av för med den till inte om har de ett men var jag han hon sig",
    "da": "og i at det er en til på som af for med den de ikke der et har han var jeg men sig blev",
    "nb": "og i det er på som en til å for av med at ikke den har de et var jeg han men om seg ble",
    "fi": "ja on ei se että oli hän mutta niin kun kuin ovat joka myös tai minä jos sen olla vain",
    "pl": "i w na z się nie do to że jest o jak a po co tak za od był ale jego go przez tego już",
    "cs": "a se v na je že to s z do o i k ve za jako by ale jsem si po pro jeho tak byl co už",
    "hu": "a az és hogy nem is egy volt ez de meg csak már ha mint el még azt vagy ki mert",
    "ro": "de și în a la cu pe că nu o un din mai pentru ca se care este au sa ce dar fi era lui",
    "tr": "ve bir bu da de için ile çok ne daha gibi o ama kadar var mı en değil olan sonra her",
    "id": "yang dan di itu dengan untuk tidak ini dari dalam akan pada juga ke karena ada mereka saya",
    "vi": "và của là có được trong cho không một với các những này đã người đến khi như",
    "ca": "de la i el que a en les els un per una amb no del es va més com al però si",
    "la": "et in est non ad ut cum quod sed qui si ab ex quae esse enim aut nec etiam per atque",
}
_FREQUENT_CYRILLIC_WORDS = {
    "ru": "и в не на что он с как это по но из у за от так же ее его было бы только был ы э",
    "uk": "і в не на що він з як це та але до за від так його її було був й є ї у із",
    "bg": "и в на не да се от за че е с по но са това като му ще си той беше",
    "sr": "и у је да се на не за са од то као али су што би ја он га",
}
_LATIN_LISTS = {language: frozenset(words.split()) for language, words in _FREQUENT_WORDS.items()}
_CYRILLIC_LISTS = {language: frozenset(words.split()) for language, words in _FREQUENT_CYRILLIC_WORDS.items()}
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
    scores, total = _frequent_words(text, {language: listed})
    return scores[language] / max(1, total)


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
    return "fa" if persian * 30 > len(text) else "ar"


def _frequent_words(text: str, lists: Mapping[str, frozenset[str]]) -> tuple[Counter[str], int]:
    """How many words of ``text`` are in the list of each language, and how many words there are."""
    words = Counter(_WORD.findall(text.lower()))
    return Counter({language: sum(words[word] for word in listed) for language, listed in lists.items()}), words.total()


def _most_likely(text: str, lists: Mapping[str, frozenset[str]], otherwise: str) -> str:
    """The language with most frequent words in ``text``; ``otherwise`` where that is at most a twentieth of them."""
    scores, total = _frequent_words(text, lists)
    best = max(scores, key=lambda language: (scores[language], language == otherwise))
    return best if scores[best] * 20 > total else otherwise
