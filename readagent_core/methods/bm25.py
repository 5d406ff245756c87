"""BM25: answers from the k pages that share most words with the question, best first (ICML paper, §4.2)."""

from __future__ import annotations

from readagent_core.answering.registry import Family, Method
from readagent_core.answering.retrieval import answer_from_pages, rank_by_bm25

METHOD = Method(
    name="bm25",
    title="Search (BM25)",
    about="The pages that share most words with the question, best first.",
    family=Family.SEARCH,
    answer=lambda run: answer_from_pages(run, rank_by_bm25(run.question.text, run.memory)),
    options={"fill": bool},
)
