"""Questions that ask for a part of the text by no word that would be found there: its beginning, its end, all of it."""

from __future__ import annotations

import re
from enum import StrEnum

from readagent_core.models.builtin.statistics import asked_terms


class Part(StrEnum):
    """What part of the text a question asks for by no word that would be found there."""

    WHOLE = "whole"
    BEGINNING = "beginning"
    END = "end"


_BOOK = r"(?:it|(?:the|this) (?:whole )?(?:book|story|novel|text|tale|play|narrative))"
_ENDS = rf"(?: (?:in|of) {_BOOK})?\W*$"
_PARTS = {
    Part.WHOLE: re.compile(
        r"^\W*what (?:has )?happened so far\W*$|何について|ここまでに何が|あらすじ|\bsummar(?:y|ise|ize)\b",
        re.IGNORECASE,
    ),
    Part.END: re.compile(
        rf"^\W*(?:how (?:does|did|will) {_BOOK} (?:all |finally )?(?:end|finish|close|conclude|come to an end|turn out)"
        r"|what happens (?:at|in|towards) the (?:very )?end|what happens last"
        r"|what(?:'s|’s| is| are| was| were) the (?:end|ending|conclusion|(?:very )?last (?:sentences?|words?|lines?)))"
        rf"{_ENDS}|結末|どう終わ|最後はどう",
        re.IGNORECASE,
    ),
    Part.BEGINNING: re.compile(
        rf"^\W*(?:how (?:does|did) {_BOOK} (?:all )?(?:begin|start|open|commence)"
        r"|what happens (?:at|in) the (?:very )?(?:beginning|start|opening)|what happens first"
        r"|what(?:'s|’s| is| are| was| were) the (?:beginning|start|opening|(?:very )?first "
        r"(?:sentences?|words?|lines?)))"
        rf"{_ENDS}|冒頭|どう始ま|最初はどう",
        re.IGNORECASE,
    ),
}


def part_asked(question: str) -> Part | None:
    """The part of the text that a question asks for; None for one that asks for something in it."""
    named = next((part for part, pattern in _PARTS.items() if pattern.search(question)), None)
    return named or (None if asked_terms(question) else Part.WHOLE)
