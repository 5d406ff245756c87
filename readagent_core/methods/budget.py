"""How many words of text fit into one prompt: by the settings, else by the model's window.

A window is counted in tokens and no tokenizer is at hand: what a word costs is taken on the high side, so that
what is said to fit does fit. Knows nothing of prompts' wording.
"""

from __future__ import annotations

from readagent_core.methods.base import AskSettings
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.words import count_words, is_unspaced

LEAST_TOKENS = 1.35  # a word, in any text
LEAST_WORDS = 50  # a window that leaves less than that for the text cannot be worked with
SAMPLE = 4000  # characters by which a text's script is told


def context_words(
    settings: AskSettings, model: ChatModel, *, sample: str, around: int, reply_words: int = 300
) -> int | None:
    """Most words of text for a prompt with ``around`` other words, or None where nothing limits it.

    ``sample``: some of the text, for its script. ``reply_words``: kept free for the reply.
    """
    limits = [] if settings.context_words is None else [max(1, settings.context_words)]
    if model.window is not None:
        some = sample[:SAMPLE]
        a_word = max(LEAST_TOKENS, estimate_tokens(some) / max(1, count_words(some)))
        limits.append(max(LEAST_WORDS, int(model.window / a_word) - around - reply_words))
    return min(limits, default=None)


def words_of_tokens(tokens: int, sample: str) -> int:
    """About how many words of text like ``sample`` are ``tokens`` long: for the papers' lengths, not for limits."""
    return max(1, int(tokens / (2.2 if is_unspaced(sample[:SAMPLE]) else 1.33)))
