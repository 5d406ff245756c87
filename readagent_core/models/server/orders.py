"""Which option a model finds likeliest once each has stood at each letter.

Small models name a letter for its place more than for what stands there. So the options are offered in each cyclic
order, the probability of each letter is read from the server, and the mean over the orders decides (the cyclic
permutations of Zheng et al. 2024, arXiv:2309.03882).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from readagent_core.models.base import Completion
from readagent_core.models.server.replies import Reply
from readagent_core.prompts import Prompt

MOST = 6  # options: each more is one more call
# what is asked of llama.cpp's server: the reply ends after its letter, with the tokens that might have stood there
ASKED = {"logprobs": True, "top_logprobs": 40, "stop": [")"]}
TOKENS = 12  # of a reply's form up to its letter
_NEVER = -1e3  # the logarithm of a probability that is none

Alternatives = Sequence[tuple[str, Mapping[str, float]]]  # each token, and the logarithms of what might stand there


def in_each_order(prompt: Prompt) -> list[Prompt]:
    """Return ``prompt`` with its options in each cyclic order, the given one first; [] where it has no lettered ones.

    In order ``k`` the first letter has option ``k``.
    """
    letters = prompt.choices
    if not 1 < len(letters) <= MOST or any(len(letter) != 1 for letter in letters) or prompt.fields.get("asking"):
        return []
    lines = re.compile(r"(?m)^" + "\n".join(rf"\({re.escape(letter)}\) (.*)" for letter in letters) + "$")
    found = list(lines.finditer(prompt.text))
    if not prompt.task.startswith(("choose", "recall", "search")) or not found:
        return []
    at, options = found[-1], found[-1].groups()
    texts = []
    for first in range(len(letters)):
        turned = [*options[first:], *options[:first]]
        block = "\n".join(f"({letter}) {option}" for letter, option in zip(letters, turned, strict=True))
        texts.append(prompt.text[: at.start()] + block + prompt.text[at.end() :])
    return [replace(prompt, text=text) for text in texts]


def likeliest(replies: Sequence[Alternatives], letters: Sequence[str]) -> str:
    """Return the letter of the likeliest option, '' where a reply names none.

    ``replies``: one for each of ``in_each_order``.
    """
    mean = dict.fromkeys(letters, 0.0)
    for first, reply in enumerate(replies):
        at_letter = _letters(reply, letters)
        whole = sum(at_letter.values())
        if not whole:
            return ""
        for place, letter in enumerate(letters):
            option = letters[(first + place) % len(letters)]
            mean[option] += at_letter.get(letter, 0.0) / whole / len(replies)
    return max(letters, key=mean.__getitem__)


def _letters(reply: Alternatives, letters: Sequence[str]) -> dict[str, float]:
    """The probabilities of the letters where the reply names one. A letter may be a token or share one."""
    so_far = ""
    for token, others in reply:
        found: dict[str, float] = {}
        for other, logarithm in others.items():
            named = re.search(r"Answer:\s*\((\w)\)?$", so_far + other)
            if named and named[1] in letters:
                found[named[1]] = found.get(named[1], 0.0) + math.exp(max(_NEVER, min(0.0, logarithm)))
        if found:
            return found
        so_far += token
    return {}


def with_tokens(completion: Completion, others: list[Reply]) -> Completion:
    """``completion`` with the tokens of ``others``, the replies that it took, where the server counts them."""

    def all_of(count: int | None, name: str) -> int | None:
        return None if count is None else count + sum(getattr(reply, name) or 0 for reply in others)

    return replace(
        completion,
        orders=len(others),
        tokens_in=all_of(completion.tokens_in, "tokens_in"),
        tokens_out=all_of(completion.tokens_out, "tokens_out"),
        tokens_reused=all_of(completion.tokens_reused, "tokens_reused") or 0,
    )
