"""Neural retrieval: answers from the k pages whose embeddings are nearest to the question's (ICML paper, §4.2)."""

from __future__ import annotations

from readagent_core.answering.registry import Family, Method
from readagent_core.answering.retrieval import answer_from_pages, rank_by_embedding

METHOD = Method(
    name="neural",
    title="Search (embeddings)",
    about="The pages nearest to the question in meaning, best first.",
    family=Family.SEARCH,
    answer=lambda run: answer_from_pages(run, rank_by_embedding(run)),
    compares_embeddings=True,
    options={"fill": bool, "embed": str},
)
