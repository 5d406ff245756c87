"""Recall: a short view of the gists, then the passages that the question needs.

Ours. ReadAgent opens whole pages; in a long book a page has thousands of words where a sentence is wanted. Here the
question goes with the beginnings of all gists and the passages that share words with it; the model answers, or asks for
words, passages, pages and gists at once (docs/methods.md, 'Recall').
"""

from __future__ import annotations

from readagent_core.answering.recall import recall
from readagent_core.answering.recall_books import recall_from_books
from readagent_core.answering.registry import Method, Reads

METHOD = Method(
    name="recall",
    title="Recall by passage",
    about="Remembers how each gist begins, sees the passages that share words with the question, and asks for more.",
    answer=recall,
    answer_shelf=recall_from_books,
    needs_gists=True,
    searches=True,
    compares_embeddings=True,
    reads=Reads.PASSAGES,
    looks_up=False,
    options={"passages": int, "requests": int, "view": int},
)
