"""Which language a text is in, from its script and its commonest words; no network, no model.

For choosing prompts and the sentence splitter. A text that gives no sign either way is called English.
"""

from __future__ import annotations

import re
from collections import Counter

# the script alone tells: counted over letters
_SCRIPTS = {
    "ko": "\uac00-\ud7af\u1100-\u11ff",
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "he": "\u0590-\u05ff",
    "hi": "\u0900-\u097f",
    "bn": "\u0980-\u09ff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "ka": "\u10a0-\u10ff",
    "hy": "\u0530-\u058f",
    "am": "\u1200-\u137f",
    "th": "\u0e00-\u0e7f",
    "lo": "\u0e80-\u0eff",
    "my": "\u1000-\u109f",
    "km": "\u1780-\u17ff",
}
_PATTERNS = {language: re.compile(f"[{span}]") for language, span in _SCRIPTS.items()}
_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
_ARABIC = re.compile("[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_WORD = re.compile(r"[^\W\d_]+")
_STOP_WORDS = {
    "en": "the and of to a in that is was he for it with as his on be at by had not are but from or have an they",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er",
    "fr": "de la le et les des en un du une que est pour qui dans par sur au plus pas ne se il avec ce sont elle",
    "es": "de la que el en y los del se las por un para con no una su al lo como más pero sus le ya este",
    "it": "di e il la che in un per è del non una si con le dei da al come nel della più gli ma ha era",
    "pt": "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele foi",
    "nl": "de en van het een in is dat op te zijn met voor niet aan er om ook als dan maar bij door hij was",
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
_CYRILLIC_WORDS = {
    "ru": "и в не на что он с как это по но из у за от так же ее его было бы только был ы э",
    "uk": "і в не на що він з як це та але до за від так його її було був й є ї у із",
    "bg": "и в на не да се от за че е с по но са това като му ще си той беше",
    "sr": "и у је да се на не за са од то као али су што би ја он га",
}
_LISTS = {language: frozenset(words.split()) for language, words in _STOP_WORDS.items()}
_CYRILLIC_LISTS = {language: frozenset(words.split()) for language, words in _CYRILLIC_WORDS.items()}
_SIMPLIFIED = frozenset("们这个来说时会对为过发后里么东车门见长话书学国")
_TRADITIONAL = frozenset("們這個來說時會對為過發後裡麼東車門見長話書學國")


def detect(text: str) -> str:
    """The language of ``text`` as a BCP 47 tag; 'en' where nothing tells."""
    if text.isascii():
        return _commonest(text, _LISTS, "en")
    characters = Counter(text)  # each character is looked at once, however long the text
    letters = sum(times for c, times in characters.items() if c.isalpha())
    if not letters:
        return "en"
    each = "".join(characters)

    def count(pattern: re.Pattern[str]) -> int:
        return sum(characters[c] for c in pattern.findall(each))

    kana, han = count(_KANA), count(_HAN)
    if (kana + han) * 3 > letters:
        if kana * 20 > han:
            return "ja"
        traditional = sum(characters[c] for c in _TRADITIONAL) > sum(characters[c] for c in _SIMPLIFIED)
        return "zh-Hant" if traditional else "zh"
    for language, pattern in _PATTERNS.items():
        if count(pattern) * 3 > letters:
            return language
    if count(_ARABIC) * 3 > letters:
        return _arabic(text)
    if count(_CYRILLIC) * 3 > letters:
        return _commonest(text, _CYRILLIC_LISTS, "ru")
    return _commonest(text, _LISTS, "en")


def _arabic(text: str) -> str:
    if any(c in text for c in "ٹڈڑےں"):
        return "ur"
    persian = sum(text.count(c) for c in "پچژگکی")
    return "fa" if persian * 30 > len(text) else "ar"


def _commonest(text: str, lists: dict[str, frozenset[str]], otherwise: str) -> str:
    """The language most of whose commonest words stand in ``text``."""
    counts = Counter(_WORD.findall(text.lower()))
    total = sum(counts.values())
    scores = {language: sum(counts[word] for word in words) for language, words in lists.items()}
    best = max(scores, key=lambda language: (scores[language], language == otherwise))
    return best if scores[best] * 20 > total else otherwise
