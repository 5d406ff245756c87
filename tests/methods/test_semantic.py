"""Semantic compression and neural search: topics, their order, and what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph
from readagent_core.errors import EmptyReplyError, UnreachableError
from readagent_core.methods import method
from readagent_core.methods.base import AskSettings, Question
from readagent_core.methods.semantic_compression import cluster_blocks, split_into_blocks
from readagent_core.methods.support.resources import Resources, with_resources
from readagent_core.models.embeddings.embed import BuiltInEmbedder
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel, Reply
from tests.methods.books import answer, memory, run
from tests.methods.test_memwalker import MemoryStore
from tests.methods.test_retrieval import memory_of

SEA = "The boat left the harbour and the waves broke on the reef. "
BREAD = "The baker kneaded the dough and the oven warmed the bread. "
SMALL = {"block_words": 12, "chunk_words": 60}


class Counting(BuiltInEmbedder):
    """How many texts were embedded."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> Any:
        self.asked += len(texts)
        return super().embed(texts, cancel)


def test_blocks_of_one_topic_are_clustered_wherever_they_are() -> None:
    document = Document("B", (Paragraph(SEA * 4), Paragraph(BREAD * 4), Paragraph(SEA * 4), Paragraph(BREAD * 4)))
    blocks = split_into_blocks(document, 12)
    assert len(blocks) == 16
    topics = cluster_blocks(blocks, BuiltInEmbedder().embed([b.text for b in blocks], CancelToken()), topic_words=100)
    assert topics == [(0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)]


@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.lists(st.sampled_from([SEA, BREAD, "One. Two. Three. ", "雪が降っていた。"]), min_size=1, max_size=24))
def test_blocks_join_to_the_text_and_have_one_topic_each(texts: list[str]) -> None:
    document = Document("B", tuple(Paragraph(t.strip()) for t in texts))
    blocks = split_into_blocks(document, 10)
    assert "".join("".join(b.text for b in blocks).split()) == "".join("".join(texts).split())
    topics = cluster_blocks(blocks, BuiltInEmbedder().embed([b.text for b in blocks], CancelToken()), topic_words=40)
    assert sorted(i for topic in topics for i in topic) == list(range(len(blocks)))
    assert all(len(topic) == 1 or sum(blocks[i].words for i in topic) <= 40 for topic in topics)


def test_a_text_of_equal_blocks_is_split_by_length() -> None:
    blocks = split_into_blocks(Document("B", (Paragraph(SEA * 12),)), 12)
    topics = cluster_blocks(blocks, np.ones((12, 1), dtype=np.float32), topic_words=60)
    assert topics == [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9), (10, 11)]


TWO_TOPICS = memory_of((SEA * 5, BREAD * 5, SEA * 5, BREAD * 5))


def compressed(sea: Reply) -> tuple[FakeModel, Any]:
    """A model that shortens the topic of the sea to ``sea``, and the answer about a text of two topics."""

    def reply(prompt: Prompt) -> Reply:
        if prompt.task == "compress":
            return sea if "boat" in prompt.text else "At the bakery."
        return "Both."

    model = FakeModel(reply)
    return model, answer(
        run("semantic-compression", model, about=TWO_TOPICS, extra={"block_words": 12, "chunk_words": 130})
    )


def test_topics_are_shortened_separately_and_put_in_order() -> None:
    model, result = compressed("At sea.")
    assert model.tasks() == ["compress", "compress", "answer_text"]
    assert "At sea.\n\nAt the bakery." in model.prompts[-1].text
    assert "(shortened topic by topic)" in model.prompts[-1].text
    topics = result.extra["topics"]
    assert [t["words"] for t in topics] == [120, 110]
    assert topics[0]["stretches"] == [[0, 60], [115, 175]]
    assert topics[0]["kept"] == 2
    assert result.compression_rate == pytest.approx(100 * (1 - 5 / 230))


def test_a_topic_without_a_reply_keeps_its_first_words() -> None:
    model, result = compressed(EmptyReplyError("none"))
    assert "1 of 2 topics" in result.notes[0]
    assert "The boat left the harbour" in model.prompts[-1].text


def test_an_interrupted_compression_resumes() -> None:
    store, embedder = MemoryStore(), Counting()
    wanted = with_resources(AskSettings(extra=SMALL), Resources(embedder=embedder, artifacts=store, connections=1))
    run_with = lambda model: list(  # noqa: E731
        method("semantic-compression").run(Question("Who?"), TWO_TOPICS, model, wanted, CancelToken())
    )
    first = FakeModel(lambda p: "Short." if p.task == "compress" else "Both.")
    run_with(first)
    asked = embedder.asked
    again = FakeModel(["Both."])
    run_with(again)
    assert len(again.prompts) == 1
    assert embedder.asked == asked
    with pytest.raises(UnreachableError):
        list(
            method("semantic-compression").run(
                Question("Who?"),
                TWO_TOPICS,
                FakeModel([UnreachableError("gone")]),
                AskSettings(extra=SMALL),
                CancelToken(),
            )
        )


def test_neural_search_stores_the_embeddings() -> None:
    store, embedder = MemoryStore(), Counting()
    wanted = with_resources(AskSettings(look_ups=2), Resources(embedder=embedder, artifacts=store))
    about = memory_of(("A boat in the harbour.", "A baker with bread.", "Snow on the station."))
    for count in (3 + 1, 1):
        before = embedder.asked
        events = list(
            method("neural").run(Question("Who baked the bread?"), about, FakeModel(["He."]), wanted, CancelToken())
        )
        assert answer(events).looked_up[0] == 2
        assert embedder.asked - before == count


def test_pages_too_long_to_embed_are_found_by_their_gists() -> None:
    about = memory(3, 2500)  # over 10,000 characters a page
    result = answer(run("neural", FakeModel(["He."]), question="gist2?", about=about, look_ups=1))
    assert result.looked_up == (2,)
    result = answer(
        run("neural", FakeModel(["He."]), question="word3?", about=about, look_ups=1, extra={"embed": "pages"})
    )
    assert result.looked_up == (3,)


def test_neural_pages_in_book_order_and_in_place() -> None:
    model = FakeModel(["He."])
    result = answer(run("neural-dos", model, question="word5 word2 word5", about=memory(), look_ups=2))
    assert result.looked_up == (5, 2)
    assert model.prompts[0].text.index("<Page 2>") < model.prompts[0].text.index("<Page 5>")
    model = FakeModel(["He."])
    result = answer(run("gist-neural", model, question="word5", about=memory(), look_ups=1))
    assert "<Page 5> (full text)\nword5" in model.prompts[0].text
    assert "<Page 4>\ngist4" in model.prompts[0].text
    assert model.tasks() == ["answer"]
