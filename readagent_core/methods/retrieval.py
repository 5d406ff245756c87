"""The response step of the retrieval baselines: the k best pages in full, in rank order or in that of the book.

DOS, the order of the document, is a strong baseline of its own (Laitenberger et al., 2025).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from readagent_core.errors import WindowError
from readagent_core.methods.answering import ANSWER_WORDS, pages_prompt, respond
from readagent_core.methods.base import Event, Expanded, LookedUp
from readagent_core.methods.budget import context_words
from readagent_core.methods.run import Run
from readagent_core.words import count_words


def answer_from_pages(run: Run, ranking: Sequence[int], *, in_book_order: bool = False) -> Iterator[Event]:
    """Look up the best ``run.settings.look_ups`` pages of ``ranking`` that fit, and answer from them alone."""
    order = "order.book" if in_book_order else "order.rank"
    pages, refused = fitting(run, ranking, order)
    yield LookedUp(pages, "", "found by search", tuple(refused))
    if refused:
        yield run.note("Not every page found fits into the prompt: " + "; ".join(refused) + ".")
    while True:
        shown = tuple(sorted(pages)) if in_book_order else pages
        words = sum(run.memory.page(n).words for n in pages)
        yield Expanded(tuple(sorted(pages)), words)
        try:
            text = "\n\n".join(run.memory.entry(n, full=True) for n in shown)
            yield from respond(
                run,
                pages_prompt(run, text, order=order),
                looked_up=pages,
                seen=dict.fromkeys(sorted(pages), "full"),
                memory_words=words,
            )
        except WindowError:
            if len(pages) < 2:
                raise
            yield run.note(f"Page {pages[-1]} was left out: with it the prompt was too long for the model's window.")
            pages = pages[:-1]
        else:
            return


def fitting(run: Run, ranking: Sequence[int], order: str) -> tuple[tuple[int, ...], list[str]]:
    """The best k pages that fit into one prompt together, and, for people, those that do not."""
    best = list(ranking)[: max(1, run.settings.look_ups)]
    around = pages_prompt(run, "", order=order).words
    sample = run.memory.document.text(0, min(20, len(run.memory.document.paragraphs)))
    limit = context_words(run.settings, run.model, sample=sample, around=around, reply_words=ANSWER_WORDS)
    pages: list[int] = []
    refused: list[str] = []
    words = 0
    for number in best:
        more = count_words(run.memory.entry(number, full=True))
        if limit is None or words + more <= limit:
            pages.append(number)
            words += more
        else:
            refused.append(f"page {number}: it does not fit into the prompt any more")
    if best and not pages:
        raise WindowError(
            f"Not even one page found fits into one prompt: {limit:,} words fit. "
            "Read the book with shorter pages, or connect a model with a larger window.",
            run.model.window,
        )
    return tuple(pages), refused
