"""BM25 with DOS: the pages BM25 finds, in the order of the document (Laitenberger et al., 2025)."""

from __future__ import annotations

from readagent_core.answering.registry import Family, Method
from readagent_core.answering.retrieval import answer_from_pages, rank_by_bm25

METHOD = Method(
    name="bm25-dos",
    title="Search (BM25), book order",
    about="The pages that share most words with the question, in the order of the book.",
    family=Family.SEARCH,
    answer=lambda run: answer_from_pages(run, rank_by_bm25(run.question.text, run.memory), in_book_order=True),
    options={"fill": bool},
)
