"""How many tokens a text is, about: tokenizers need downloads, so characters are counted by script.

Latin letters 3.9 characters a token (English prose measures 4.2 to 4.7 with common tokenizers), Chinese,
Japanese and Korean 1.2 tokens a character, every other script 0.6. On the careful side, so that a prompt that is
said to fit does fit; what servers report corrects it (``openai_server``).
"""

from __future__ import annotations

import math
import re

from readagent_core.words import CJK, non_ascii

PER_LATIN = 1 / 3.9
PER_CJK = 1.2
PER_OTHER = 0.6
OVERHEAD = 12  # a chat template's own marks
_CJK = re.compile(f"[{CJK}\uac00-\ud7af]")
_OTHER = re.compile(r"[^\x00-\u024f\u2000-\u206f]")


def estimate_tokens(text: str) -> int:
    """Tokens of ``text``, about (see the module's head)."""
    rare = non_ascii(text)
    cjk = len(_CJK.findall(rare))
    other = len(_OTHER.findall(rare)) - cjk
    return math.ceil(cjk * PER_CJK + max(0, other) * PER_OTHER + (len(text) - cjk - max(0, other)) * PER_LATIN)


def tokens_of_words(words: int) -> int:
    """Tokens of so many words, where only the count is known: 1.5 a word."""
    return math.ceil(words * 1.5)
