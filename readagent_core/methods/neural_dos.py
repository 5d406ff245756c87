"""Neural retrieval with DOS: the pages found, in the order of the document (Laitenberger et al., 2025)."""

from __future__ import annotations

from readagent_core.answering.registry import Family, Method
from readagent_core.answering.retrieval import answer_from_pages, rank_by_embedding

METHOD = Method(
    name="neural-dos",
    title="Embeddings, book order",
    about="The pages nearest to the question in meaning, in the order of the book.",
    family=Family.SEARCH,
    answer=lambda run: answer_from_pages(run, rank_by_embedding(run), in_book_order=True),
    compares_embeddings=True,
    options={"fill": bool, "embed": str},
)
