"""A model that can do the whole job: the sensible replies, with what word statistics cannot do made good."""

from __future__ import annotations

import re

from readagent_core.connecting.checking.text import QUESTIONS, UNANSWERED
from readagent_core.words import count_words, first_words
from tests.fakes.sensible import sensible, understood


def capable(text: str) -> str:
    """The reply to any prompt of the test of a model."""
    prompt, reply = understood(text), sensible(text)
    if prompt is None:
        return reply
    if UNANSWERED.text in text:
        return "Answer: none. The text does not name her." if "(A)" in text else "The text does not say."
    if prompt.task.startswith("choose"):
        known = next(known for known in QUESTIONS if known.text in text)
        return f"Answer: ({'ABCD'[known.right]}) as the text says."
    if "least" in prompt.fields and prompt.task in ("gist", "tree_segment", "tree_parent", "compress"):
        least, most = (int(re.sub(r"\D", "", prompt.fields[name])) for name in ("least", "most"))
        gist, notes, said = reply.partition("\n\nNotes:\n")
        if count_words(gist) > most:
            return first_words(gist, most) + notes + said
        if count_words(gist) < least:
            return first_words(prompt.fields.get("page") or prompt.fields["text"], (least + most) // 2) + notes + said
    return reply
