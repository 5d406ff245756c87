"""How people and models write pages in their languages: 'pages 3 et 5', 'S. 7', '第7页', '7페이지', 'P3, P5'.

Regular expressions only, shared by the readers of citations and of look-up replies. Repetitions are possessive, so that
a long reply is read in linear time. The words are those for 'page' and 'and' in the languages that models drift into,
with their plurals and abbreviations.
"""

from __future__ import annotations

import re

_BEFORE = (  # words for 'page' that stand before the number
    "pages?|pgs?|pp|p|seiten?|s(?=\\.)|p[aá]ginas?|p[aá]gs?|pagin[aei]|pagina['’]s|blz|sid(?:an?|orna|or|er|en)|sivu(?:t|lla)?|"
    "stron[ay]?|str|stránk[ay]|stran[ay]|oldal(?:ak)?|sayfa(?:lar)?|halaman|trang|hal(?=\\.)|σ(?=\\.)|"
    "стр(?:аниц[аыеу]?)?|с(?=\\.)|сторінк[аи]|страниц[аи]|σελ(?:ίδ(?:α|ες))?|"
    "صفح(?:ة|ات|ه)|עמוד(?:ים)?|पृष्ठ|หน้า|ページ|[页頁]|페이지|쪽"
)
_AFTER = "ページ(?:目)?|[页頁]|페이지|쪽|(?:\\.\\s*)?(?:oldal(?:ak)?|sayfa)"  # those that stand after it
PAGE_WORD = rf"(?:(?<!\w)(?:{_BEFORE})(?!\w*[^\W\d_])\.?)"
PAGE_WORD_AFTER = rf"(?:{_AFTER})"
AND = (
    "and|or|then|plus|und|oder|et|ou|y|e|o|en|of|og|och|ja|oraz|i|és|ve|dan|và|и|і|και|و|ו|और|และ|"
    "と|や|和|与|及|및|와|과"
)
TO = "to|through|bis|à|al?|até|hasta|t/m|до|から|至|到"
DASH = "-|‐|‑|‒|–|—|―|−|〜|～|~|\\.{2,3}|…"
RANGE = (
    rf"\d{{1,7}}(?:[^\S\n]*(?:{DASH}|(?:{TO})(?=[^\S\n]|\d))[^\S\n]*(?:{PAGE_WORD}[^\S\n]*)?\d{{1,7}})?"
    r"(?!\d|(?:st|nd|rd|th)\b)(?:[a-c](?!\w))?"  # '7a': a part of the page
)
_SEPARATOR = rf"\s*(?:(?:,|;|、|，|；|・|&|\+|/|>|(?<!\w)(?:{AND})(?!\w)|ו-|และ|と|や|和|与|및)\s*)+"
LIST = rf"(?:第\s*)?{RANGE}(?:{_SEPARATOR}(?:{PAGE_WORD}\s*|第\s*)?{RANGE})*+"

# from 1 on; '-' for words that mean something else as well ('once', 'sei')
_SPELT = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty",
    "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "- deux trois quatre cinq six sept huit neuf dix onze douze",
    "- dos tres cuatro cinco seis siete ocho nueve diez - doce",
    "- due tre quattro cinque - sette otto nove dieci undici dodici",
    "- dois três quatro cinco seis sete oito nove dez onze doze",
)
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {word: at + 1 for words in _SPELT for at, word in enumerate(words.split()) if word != "-"}
_VALUES |= {word: 10 * (at + 2) for at, word in enumerate(_TENS)}
_HAN = {han: at + 1 for at, han in enumerate("一二三四五六七八九")} | {"两": 2, "〇": 0, "零": 0}
_ANY = "|".join(sorted(_VALUES.keys() - {"one", "eins"}, key=len, reverse=True))
_COMPOUND = rf"(?:{'|'.join(_TENS)})[ -](?:{'|'.join(_SPELT[0].split()[:9])})"
_WORD = (  # 'page one' has it at its end, before a mark or another number: 'the page one reads' has not
    rf"(?<!\w)(?:(?:{_COMPOUND}|{_ANY})(?!\w|-\w)|(?:one|eins)(?=\s*(?:\Z|[^\w\s]|(?:and|or|und|oder|to|through|bis)\s)))"
)
_JOIN = rf"(?:{_SEPARATOR}|\s*(?:{DASH}|{TO})\s*)"
_IN_WORDS = re.compile(
    rf"{PAGE_WORD}\s+(?:\d{{1,7}}|{_WORD})(?:{_JOIN}(?:{PAGE_WORD}\s+)?(?:\d{{1,7}}|{_WORD}))*+", re.IGNORECASE
)
_ONE_WORD = re.compile(_WORD, re.IGNORECASE)
_IN_HAN = re.compile(r"第\s*[一二三四五六七八九十两〇零、,，和与及至到~～—第页頁-]{1,40}(?:[页頁]|ページ)")
_ONE_HAN = re.compile("第?[一二三四五六七八九十两〇零]{1,4}")


def in_digits(text: str) -> str:
    """Return ``text`` with page numbers that are written in words in digits, and of the same length: 'pages three and
    five', '第十二页'. Only words beside a word for 'page' are numbers: 'three pages' and '三页' count pages.
    """
    text = _IN_WORDS.sub(lambda run: _ONE_WORD.sub(_digits, run[0]), text)
    return _IN_HAN.sub(lambda run: _ONE_HAN.sub(_han_digits, run[0]), text)


def _digits(word: re.Match[str]) -> str:
    tens, _, ones = word[0].lower().replace(" ", "-").partition("-")
    return str(_VALUES[tens] + _VALUES.get(ones, 0)).ljust(len(word[0]))


def _han_digits(found: re.Match[str]) -> str:
    text = found[0].removeprefix("第")
    tens, ten, ones = text.rpartition("十")
    number = 10 * (_HAN.get(tens, 1) if ten else 0) + _HAN.get(ones, 0)
    digits = str(number) if len(ones) < 2 and len(tens) < 2 else "".join(str(_HAN.get(han, "")) for han in text)
    return digits.ljust(len(found[0])) if len(digits) <= len(found[0]) else found[0]
