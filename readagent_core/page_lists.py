"""How people and models write pages in their languages: 'pages 3 et 5', 'S. 7', '第7页', '7페이지', 'P3, P5'.

Regular expressions only, shared by the readers of citations and of look-up replies. Repetitions are possessive, so that
a long reply is read in linear time. The words are those for 'page' and 'and' in the languages that models drift into,
with their plurals and abbreviations.
"""

from __future__ import annotations

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
    r"(?!\d|(?:st|nd|rd|th)\b)"
)
_SEPARATOR = rf"\s*(?:(?:,|;|、|，|；|・|&|\+|/|>|(?<!\w)(?:{AND})(?!\w)|ו-|และ|と|や|和|与|및)\s*)+"
LIST = rf"(?:第\s*)?{RANGE}(?:{_SEPARATOR}(?:{PAGE_WORD}\s*|第\s*)?{RANGE})*+"
