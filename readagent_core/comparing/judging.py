"""A model's verdict on an answer beside the known answer to its question, for one question at a time.

Evaluate has the raters of the papers; this verdict comes with a reason, for a person who compares a few answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from readagent_core import prompts
from readagent_core.answering.look_up_replies import to_plain_text
from readagent_core.cancel import CancelToken
from readagent_core.errors import ReplyError
from readagent_core.models.base import ChatModel
from readagent_core.overlap import strip_citations
from readagent_core.words import collapse_whitespace

SAME, PARTLY, DIFFERENT = "same", "partly", "different"
LONGEST_REASON = 300  # characters
_LINE = re.compile(r"^\W*(?:verdict|判定)\W*[:：](.*)$", re.IGNORECASE | re.MULTILINE)
_WORDS = (
    (PARTLY, re.compile(r"\b(?:partly|partially)\b|一部", re.IGNORECASE)),
    (DIFFERENT, re.compile(r"\bdifferent\b|\bnot\b|違う|異なる", re.IGNORECASE)),
    (SAME, re.compile(r"\bsame\b|(?<!一部)同じ", re.IGNORECASE)),
)
_REASON = re.compile(r"^\W*(?:because\b|理由)\W*(.+)$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Judgement:
    """``verdict``: SAME, PARTLY or DIFFERENT. ``reason``: the model's, '' where it gave none."""

    verdict: str
    reason: str


def judge(
    question: str, answer: str, references: Sequence[str], model: ChatModel, *, language: str, cancel: CancelToken
) -> Judgement:
    """Return the model's verdict on ``answer``. Raises ModelError, or ReplyError for a reply without a verdict."""
    known = "\n".join(references)
    fields = {"question": question, "answer": strip_citations(answer), "reference": known}
    return parse_judgement(model.complete(prompts.render("judge", language, reply_words=60, **fields), cancel).text)


def parse_judgement(reply: str) -> Judgement:
    """Return the verdict and the reason in a reply. Raises ReplyError for no verdict, or for more than one."""
    text = to_plain_text(reply).strip()
    line = _LINE.search(text)
    said = line[1] if line else text.partition("\n")[0]
    found = [verdict for verdict, words in _WORDS if words.search(said)]
    if len(found) != 1:
        raise ReplyError("The model's reply has no verdict.")
    reason = _REASON.search(text)
    because = collapse_whitespace(reason[1])[:LONGEST_REASON] if reason else ""
    return Judgement(found[0], because[:1].upper() + because[1:])
