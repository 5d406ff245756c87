"""What the characters of a PDF are: glyphs of TeX's fonts, exponents, marks of notes, and fonts that cannot be read.

PDFium gives the number of a glyph in its font where neither a character map nor the name of the glyph says more.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from readagent_core.loaders.maths import raise_text
from readagent_core.loaders.symbols import from_font

UNMAPPED = "\0"  # in place of a character that the font does not map to Unicode
# Glyphs of TeX's fonts by number (the TeXbook, appendix F). The names of many are not in the Adobe Glyph List.
_CAPITALS, _SMALL = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_SYMBOLS = (
    "−·×∗÷⋄±∓⊕⊖⊗⊘⊙○∘•≍≡⊆⊇≤≥⪯⪰∼≈⊂⊃≪≫≺≻←→↑↓↔↗↘≃⇐⇒⇑⇓⇔↖↙∝′∞∈∋△▽\u0338↦∀∃¬∅ℜℑ⊤⊥"
    f"ℵ{_CAPITALS}∪∩⊎∧∨⊢⊣⌊⌋⌈⌉{{}}⟨⟩|∥↕⇕\\≀√∐∇∫⊔⊓⊑⊒§†‡¶♣♢♡♠"
)
_LETTERS = f"ΓΔΘΛΞΠΣΥΦΨΩαβγδϵζηθικλμνξπρστυϕχψωεϑϖϱςφ↼↽⇀⇁\0\0▷◁0123456789.,</>⋆∂{_CAPITALS}♭♮♯⌣⌢ℓ{_SMALL}ıȷ℘\0\0"
_BRACKETS = "()[]⌊⌋⌈⌉{}⟨⟩"
_LARGE = (
    rf"{_BRACKETS}|∥/\(){_BRACKETS}/\{_BRACKETS}/\/\⎛⎞⎡⎤⎣⎦⎢⎥⎧⎫⎩⎭⎨⎬⎪⏐⎝⎠⎜⎟⟨⟩⊔⊔∮∮⊙⊙⊕⊕⊗⊗"
    "∑∏∫⋃⋂⊎⋀⋁∑∏∫⋃⋂⊎⋀⋁∐∐^^^~~~[]⌊⌋⌈⌉{}√√√√√"
)
_LIGATURES = "\ufb00\ufb01\ufb02\ufb03\ufb04"  # ff, fi, fl, ffi, ffl
_ROMAN = f"ΓΔΘΛΞΠΣΥΦΨΩ{_LIGATURES}ıȷ`´ˇ˘¯˚¸ßæœøÆŒØ"
_CORK = f"−{_ROMAN[1:16]}“”„«»–—\0\0ıȷ{_LIGATURES}"  # those of all other languages, where they differ
_FONTS = (
    (re.compile(rb"CMB?SY"), _SYMBOLS),
    (re.compile(rb"CMMI"), _LETTERS),
    (re.compile(rb"CMEX"), _LARGE),
    (re.compile(rb"CM(?:R|BX|TI|SL|SS|CSC|TT)"), _ROMAN),
    (re.compile(rb"^$"), _CORK),  # bitmap fonts have no name: most are roman, and a minus is no roman glyph
)
# on a page that may have such glyphs: control characters, and the signs and Greek letters that PDFium does name
TEX_PAGE = re.compile("[\0-\x08\x0b-\x1f\u0391-\u03c9\u2190-\u22ff]")
# parts of brackets as Adobe numbers them, and Greek letters that its list takes for units
_ADOBE = {0xF8EB + n: part for n, part in enumerate("⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⌠⎞⎟⎠⎤⎥⎦⎫⎬⎭")} | {0x2126: "Ω", 0x2206: "Δ"}
_NEGATED = re.compile("\u0338\\s*(\\S)")
# what has exponents: numbers, variables, units without a vowel, sums in brackets; other text has marks of notes
_POWER = re.compile(r"(?:\d|[}|∂∇∆]|\b(?:[^\W\d_]|[b-df-hj-np-tv-xz]+)|[(\[][^(\[]*[-+−=*/^][^(\[]*[)\]])$", re.I)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d$")
SMALL_NUMBER = re.compile(r"[-−]?\d{1,3}(?:[,–-]\d{1,3}){0,3}(?!\d)|[*†‡]")  # an exponent or the mark of a note
PRIVATE = re.compile("[\ue000-\uf8ff\ufffd]")
_SYMBOLIC = re.compile(rb"(?:^|\+)(symbol(?:mt|std|neu|ps)?|wingdings ?[23]?|webdings)(?:[-,][\w,-]*)?$", re.I)


def tex_character(code: str, font: bytes) -> str:
    """Returns the character of glyph ``code`` in a font of TeX; UNMAPPED where it is unknown."""
    table = next((table for name, table in _FONTS if name.search(font)), "")
    return table[ord(code)] if ord(code) < len(table) else UNMAPPED


@lru_cache(maxsize=256)
def is_symbolic(font: bytes) -> bool:
    """Returns whether a font of this name has symbols in place of letters."""
    return bool(_SYMBOLIC.search(font))


def symbol(character: str, font: bytes) -> str:
    """Returns what a character shows in a font of symbols, whose codes files name as letters; others as they are."""
    named = _SYMBOLIC.search(font)
    code = character.encode("cp1252", "ignore")
    if not named or character.isspace() or not (code or PRIVATE.match(character)):
        return character
    shown = from_font(code[0] if code else ord(character), named[1].decode())
    return character if shown == "\ufffd" and character in "•–—…‘’“”" else shown  # named as what it shows


def join_signs(text: str) -> str:
    """Returns ``text`` with signs of two glyphs as one, and brackets and Greek letters in Unicode."""
    text = text.translate(_ADOBE)
    if "\u0338" in text:
        text = _NEGATED.sub(lambda m: unicodedata.normalize("NFC", m.group(1) + "\u0338"), text)
    return text.replace("○c", "©").replace("↦→", "↦").replace("↦ →", "↦")


def replace_raised(before: str, raised: str, after: str) -> str:
    """Returns a raised number between two texts as superscript characters; '' for the mark of a note."""
    if not SMALL_NUMBER.fullmatch(raised) or after[:1] in ("/", "\u2044"):  # a fraction
        return raised
    before = before.rstrip()
    power = not before or raised[0] in "-−" or _POWER.search(before)
    if raised in "*†‡" or _YEAR.search(before) or not power:  # the mark of a note
        return " " if after[:1].isalnum() else ""
    return raise_text(raised, up=True) or raised
