"""How many words of text fit into one prompt, and which looked-up pages do.

The limit comes from the settings or from the model's window. A window is counted in tokens and no tokenizer is at
hand, so the tokens of a word are estimated on the high side. What is shown of a memory that is too long:
``fitting_view``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from statistics import median

from readagent_core.answering.base import AskSettings, Event, NotOpened, WhyNotOpened
from readagent_core.answering.response import memory_prompt, memory_text, opens_after
from readagent_core.answering.run import Run
from readagent_core.errors import WindowError
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.words import count_words, is_unspaced

MIN_TOKENS_PER_WORD = 1.35  # in any text
MIN_WORDS = 50  # the limit is never below this, however small the window
SAMPLE = 4000  # characters from which a text's script is estimated
WINDOW_RETRIES = 6  # each time the server shows a smaller window


def max_context_words(
    settings: AskSettings, model: ChatModel, *, sample: str, around: int, reply_words: int = 300
) -> int | None:
    """Return the most words of text for a prompt with ``around`` other words; None where nothing limits it.

    ``sample``: part of the text, for its script. ``reply_words``: words reserved for the reply.
    """
    limits = [] if settings.context_words is None else [max(1, settings.context_words)]
    if settings.prompt_words is not None:
        limits.append(max(1, settings.prompt_words - around))
    if model.window is not None:
        some = sample[:SAMPLE]
        tokens_per_word = max(MIN_TOKENS_PER_WORD, estimate_tokens(some) / max(1, count_words(some)))
        limits.append(max(MIN_WORDS, int(model.window / tokens_per_word) - around - reply_words))
    return min(limits, default=None)


def tokens_to_words(tokens: int, sample: str) -> int:
    """Return about how many words of text like ``sample`` have ``tokens`` tokens (not for limits)."""
    return max(1, int(tokens / (2.2 if is_unspaced(sample[:SAMPLE]) else 1.33)))


def share_of_gists(run: Run, around: int, *, asks: int) -> int | None:
    """Return how many words the gists may have in each of ``asks`` prompts and the answer's.

    None where the words of the question are not limited. Where pages can be looked up, they have at least as many
    words as the gists of one prompt, and one of the usual length has room where that leaves a third for gists.
    """
    left, pages = run.words_left, run.memory.pages
    if left is None:
        return None
    prompts = asks + 1 if run.settings.look_ups else 1
    text = max(1, left - prompts * around)
    if not run.settings.look_ups:
        return text
    beside_page = text - int(median(page.words for page in pages))
    equal = text // (prompts + 1)
    return min(beside_page // prompts, equal) if 3 * beside_page >= text else equal


def ask_within_window(run: Run, attempt: Callable[[], Generator[Event, None, None]]) -> Generator[Event, None, None]:
    """Make the attempt, again each time the server shows a smaller window than expected."""
    for left in range(WINDOW_RETRIES, -1, -1):
        run.model.learn_window(run.cancel)
        window = run.model.window
        try:
            yield from attempt()
        except WindowError:
            now = run.model.window
            if not left or now is None or now == window:
                raise
            yield run.note(f"The prompt was too long for the model's window; asked again within {now:,} tokens.")
        else:
            return


def select_fitting_pages(
    run: Run, memory: GistMemory, named: Iterable[int], limit: int | None, *, opened: Sequence[int] = (), asks: int = 0
) -> tuple[tuple[int, ...], list[NotOpened]]:
    """Return the ``named`` pages that fit in full beside the ``opened`` ones, and those that do not.

    ``asks``: prompts with the ``opened`` pages before the one with them, where the words of the question are limited.
    """
    words = count_words(memory_text(run, memory, opened)) if opened else memory.gist_text_words
    if run.words_left is not None:
        around = memory_prompt(run, "").words
        left = run.words_left - around - asks * (words + around)
        limit = left if limit is None else min(limit, left)
    if limit is None:
        return tuple(named), []
    costs = {n: count_words(memory.entry(n, full=True)) for n in named}
    if not opens_after(run):
        costs = {n: cost - count_words(memory.entry(n, full=False)) for n, cost in costs.items()}
    return take_fitting(costs, limit - words)


def take_fitting(costs: Mapping[int, int], room: int | None) -> tuple[tuple[int, ...], list[NotOpened]]:
    """Return the pages that fit into ``room`` words, each tried in turn, and those that do not.

    ``costs``: words by page. ``room``: None for no limit.
    """
    taken: list[int] = []
    refused: list[NotOpened] = []
    used = 0
    for number, words in costs.items():
        if room is None or used + words <= room:
            taken.append(number)
            used += words
        else:
            refused.append(NotOpened(number, WhyNotOpened.NO_ROOM))
    return tuple(taken), refused
