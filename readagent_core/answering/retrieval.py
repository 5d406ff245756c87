"""The retrieval baselines: rank pages by BM25 or by embeddings, and answer from the k best alone.

The pages are the ones ReadAgent reads, so that methods differ only in how pages are found (ICML paper, §4.2). They
are shown in rank order or in the order of the book; the latter (DOS) is a strong baseline of its own (Laitenberger
et al., 2025).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from readagent_core.answering.base import FOUND_BY_SEARCH, Event, Expanded, LookedUp, NotOpened, texts_of
from readagent_core.answering.passages import PagesOf
from readagent_core.answering.response import ANSWER_WORDS, pages_prompt, respond
from readagent_core.answering.run import Run
from readagent_core.answering.word_budget import max_context_words, take_fitting
from readagent_core.errors import WindowError
from readagent_core.memory import GistMemory
from readagent_core.models.builtin.statistics import Bm25
from readagent_core.words import count_words, terms

if TYPE_CHECKING:
    from readagent_core.models.embeddings.embed import Vectors

KIND = "page embeddings"  # in the artifact store
MAX_CHARACTERS = 10_000
_INDEXING = threading.Lock()


def rank_by_bm25(question: str, memory: GistMemory) -> list[int]:
    """Return page numbers by falling BM25 score. Works in any script; pages without a shared word come last."""
    if not memory.pages:
        return []
    with _INDEXING:  # questions on one book start together; the first one builds the index for all
        index = _bm25_index(PagesOf(memory))
    return sort_by_score(index.scores(terms(question)))


@lru_cache(maxsize=64)
def _bm25_index(pages: PagesOf) -> Bm25:
    """Return the BM25 index of a book's pages; the last 64 are cached."""
    return Bm25([terms(pages.memory.page_text(page.number)) for page in pages.memory.pages])


def rank_by_embedding(run: Run) -> list[int]:
    """Return page numbers by falling dot product of their embedding with the question's.

    Where any page is too long to embed, gists are embedded instead (ICML paper, §4.3.2: 10,000 characters).
    """
    memory = run.memory
    if not memory.pages:
        return []
    texts = [memory.page_text(page.number) for page in memory.pages]
    gists = [gist.text if gist else "" for gist in memory.gists]
    wanted = run.option("embed", "")  # 'pages' or 'gists'; by default decided by length
    long = max(map(len, texts)) > MAX_CHARACTERS
    if wanted == "gists" or (wanted != "pages" and long and all(gists)):
        texts = gists
    vectors = embed_stored(run, texts)
    question = run.embedder.embed([run.question.text], run.cancel)[0]
    return sort_by_score([float(score) for score in vectors @ question])


def embed_stored(run: Run, texts: Sequence[str]) -> Vectors:
    """Return the unit vectors of texts of the run's book, made once and stored beside it. Raises ModelError."""
    memory, embedder = run.memory, run.embedder
    with run.open_artifact(KIND, embedder.name, memory.document.id, texts) as artifact:
        stored = artifact.stored
        if stored is None:
            vectors = embedder.embed(texts, run.cancel)
            # as sparse rows: the built-in vectors are long and mostly zero
            rows = [[(int(i), round(float(row[i]), 6)) for i in np.flatnonzero(row)] for row in vectors]
            artifact.save({"width": vectors.shape[1], "rows": rows})
    if stored is not None:
        vectors = np.zeros((len(texts), int(stored["width"])), dtype=np.float32)
        for row, cells in zip(vectors, stored["rows"], strict=True):
            row[[int(place) for place, _ in cells]] = [value for _, value in cells]
    return vectors


def nearness(run: Run, texts: Sequence[str]) -> list[float]:
    """Return how near each text is to the question by embeddings; empty where no embedding model is connected."""
    from readagent_core.models.embeddings.embed import BuiltInEmbedder  # imports numpy

    if isinstance(run.embedder, BuiltInEmbedder):
        return []
    vectors = embed_stored(run, texts)
    return [float(score) for score in vectors @ run.embedder.embed([run.question.text], run.cancel)[0]]


def sort_by_score(scores: Sequence[float]) -> list[int]:
    """Return page numbers by falling score; of equal scores the earlier page first."""
    return [i + 1 for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i))]


def answer_from_pages(run: Run, ranking: Sequence[int], *, in_book_order: bool = False) -> Iterator[Event]:
    """Answer from the best ``run.settings.look_ups`` pages of ``ranking`` that fit into the prompt."""
    order = "order.book" if in_book_order else "order.rank"
    pages, refused = select_pages(run, ranking, order)
    yield LookedUp(pages, "", FOUND_BY_SEARCH, texts_of(refused))
    if refused:
        yield run.note("Not every page found fits into the prompt: " + "; ".join(texts_of(refused)) + ".")
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


def select_pages(run: Run, ranking: Sequence[int], order: str) -> tuple[tuple[int, ...], list[NotOpened]]:
    """Return the best k pages that fit into one prompt together, and those that do not.

    With the setting ``fill``: as many pages as fit, best first, and no messages. Raises WindowError where
    not even one fits.
    """
    fill = run.option("fill", False)
    best = list(ranking) if fill else list(ranking)[: max(1, run.settings.look_ups)]
    around = pages_prompt(run, "", order=order).words
    limit = max_context_words(run.settings, run.model, sample=run.sample, around=around, reply_words=ANSWER_WORDS)
    costs = {number: count_words(run.memory.entry(number, full=True)) for number in best}
    pages, refused = take_fitting(costs, limit)
    if best and not pages:
        raise WindowError(
            f"Not even one page found fits into one prompt: {limit:,} words fit. "
            "Read the book with shorter pages, or connect a model with a larger window.",
            run.model.window,
        )
    return pages, [] if fill else refused
