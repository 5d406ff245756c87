"""The two LLM raters for free-form answers: a strict one and a permissive one (paper, section 4.1).

Both are asked for every reference; ``scores.rating`` joins their verdicts. Where only the built-in reader is
there, nothing is rated: a rating by word statistics would be a pretence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from readagent_core import prompts
from readagent_core.cancel import CancelToken
from readagent_core.errors import ReplyError
from readagent_core.evaluation.scores import EXACT, PARTIAL, WRONG, best_rating, rating
from readagent_core.models.base import ChatModel
from readagent_core.models.server.thinking import remove_thinking

TRIES = 2  # a rater that says neither is asked once more
_YES = re.compile(r"\b(yes|partially|partly|no)\b|はい|いいえ|部分", re.IGNORECASE)


def strict_verdict(reply: str) -> str:
    """'exact' or 'wrong' from YES/NO. Raises ReplyError when the reply says neither."""
    return WRONG if permissive_verdict(reply) in (WRONG, PARTIAL) else EXACT


def permissive_verdict(reply: str) -> str:
    """'exact', 'partial' or 'wrong' from 'Yes', 'Yes, partially' or 'No'. Raises ReplyError for neither.

    The first verdict word counts; 'partially' counts within the same line, after yes or alone.
    """
    text = unicodedata.normalize("NFKC", remove_thinking(reply))
    found = _YES.search(text)
    if found is None:
        raise ReplyError("The rater's reply is neither yes nor no.")
    word = found.group().lower()
    if word in ("no", "いいえ"):
        return WRONG
    if word in ("yes", "はい"):
        after = text[found.end() :].splitlines()[0] if text[found.end() :] else ""
        return PARTIAL if re.match(r"\W*(partially|partly|部分)", after, re.IGNORECASE) else EXACT
    return PARTIAL


def rate(
    question: str,
    answer: str,
    references: Sequence[str],
    model: ChatModel,
    *,
    language: str = "en",
    cancel: CancelToken,
) -> str:
    """'exact', 'partial' or 'wrong': both raters over every reference, the best counts.

    Stops asking once an answer is exact. Raises ModelError, or ReplyError where a rater will not say.
    """
    if not answer.strip():
        return WRONG
    ratings: list[str] = []
    for reference in references:
        fields = {"question": question, "answer": answer, "reference": reference}
        strict = _ask("rate_strict", fields, model, language, cancel)
        permissive = WRONG if strict == EXACT else _ask("rate_permissive", fields, model, language, cancel)
        ratings.append(rating(strict, permissive))
        if ratings[-1] == EXACT:
            break
    return best_rating(ratings)


def _ask(task: str, fields: dict[str, str], model: ChatModel, language: str, cancel: CancelToken) -> str:
    verdict = strict_verdict if task == "rate_strict" else permissive_verdict
    prompt = prompts.render(task, language, reply_words=50, **fields)
    again = prompt.with_follow_up("rate.again")
    for attempt in range(TRIES):
        try:
            return verdict(model.complete(prompt if attempt == 0 else again, cancel).text)
        except ReplyError:
            continue
    raise ReplyError("The rater said neither yes nor no, twice.")
