"""Characters of the fonts Symbol and Wingdings, which Word stores by their codes in the font."""

from __future__ import annotations

_SYMBOL: dict[int, str] = dict(
    zip(
        [*range(0x20, 0x7F), *range(0xA0, 0xFF)],
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\uf8ff〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
        strict=True,
    )
)
_DIGITS = "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿"
_WINGDINGS = {
    0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x36: "⌛", 0x3F: "✍", 0x46: "☞", 0x4A: "☺", 0x4B: "😐", 0x4C: "☹", 0x6C: "●",
    0x6E: "■", 0x6F: "□", 0x70: "□", 0x71: "❑", 0x72: "❒", 0x73: "⬧", 0x74: "⧫", 0x75: "◆", 0x76: "❖", 0x77: "⬥",
    0x9E: "·", 0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "◻", 0xAB: "★", 0xB6: "☆", 0xD8: "➢", 0xDB: "←", 0xDC: "→",
    0xDD: "↑", 0xDE: "↓", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨", 0xFB: "✗",
    0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
} | {0x80 + n: sign for n, sign in enumerate(_DIGITS)}  # fmt: skip
_PRIVATE = range(0xF000, 0xF100)


def from_font(code: int, font: str) -> str:
    """Return the character with this code in ``font``; U+FFFD where it is not known, so that it is counted."""
    code = code - 0xF000 if code in _PRIVATE else code
    font = font.lower()
    if font.startswith("symbol"):
        return _SYMBOL.get(code, "\ufffd")
    if font == "wingdings 2" and 0 <= code - 0x69 < len(_DIGITS):
        return _DIGITS[code - 0x69]
    if font.startswith(("wingdings", "webdings")):
        return _WINGDINGS.get(code, "\ufffd") if font == "wingdings" else "•" if code < 0x100 else chr(code)
    return chr(code) if 0x1F < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def text_in_font(text: str, font: str) -> str:
    """Return the text of a run in ``font`` as ordinary characters."""
    if font.lower() in ("symbol", "wingdings"):
        return "".join(from_font(ord(c), font) if " " < c < "\u0100" or ord(c) in _PRIVATE else c for c in text)
    if any(ord(c) in _PRIVATE for c in text):
        return "".join(from_font(ord(c), font or "symbol") if ord(c) in _PRIVATE else c for c in text)
    return text
