"""Semantic compression, neural search and the running summary: topics, their order, what has no usable reply."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph
from readagent_core.errors import EmptyReplyError
from readagent_core.methods.semantic_compression import cluster_blocks, split_into_blocks
from readagent_core.models.embeddings.embed import BuiltInEmbedder
from readagent_core.prompts import Prompt
from tests.answering.test_retrieval import memory_of
from tests.fakes.model import FakeModel, Reply
from tests.methods.books import answer, memory, run

SEA = "The boat left the harbour and the waves broke on the reef. "
BREAD = "The baker kneaded the dough and the oven warmed the bread. "


def test_blocks_of_one_topic_are_clustered_wherever_they_are() -> None:
    document = Document("B", (Paragraph(SEA * 4), Paragraph(BREAD * 4), Paragraph(SEA * 4), Paragraph(BREAD * 4)))
    blocks = split_into_blocks(document, 12)
    assert len(blocks) == 16
    topics = cluster_blocks(blocks, BuiltInEmbedder().embed([b.text for b in blocks], CancelToken()), topic_words=100)
    assert topics == [(0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)]


@settings(max_examples=40, derandomize=True)
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


@pytest.mark.parametrize("sea", ["At sea.", EmptyReplyError("none")], ids=["shortened", "no reply"])
def test_topics_are_shortened_separately_and_put_in_order(sea: Reply) -> None:
    def reply(prompt: Prompt) -> Reply:
        if prompt.task == "compress":
            return sea if "boat" in prompt.text else "At the bakery."
        return "Both."

    model = FakeModel(reply)
    extra = {"block_words": 12, "chunk_words": 130}
    result = answer(run("semantic-compression", model, about=TWO_TOPICS, extra=extra))
    assert model.tasks() == ["compress", "compress", "answer_text"]
    topics = result.extra["topics"]
    assert [t["words"] for t in topics] == [120, 110]
    assert topics[0]["stretches"] == [[0, 60], [115, 175]]
    if sea == "At sea.":
        assert "At sea.\n\nAt the bakery." in model.prompts[-1].text
        assert result.compression_rate == pytest.approx(100 * (1 - 5 / 230))
    else:
        assert "The boat left the harbour" in model.prompts[-1].text
        assert "1 of 2 topics" in result.notes[0]


def test_pages_too_long_to_embed_are_found_by_their_gists() -> None:
    about = memory(3, 2500)  # over 10,000 characters a page
    result = answer(run("neural", FakeModel(["He."]), question="gist2?", about=about, look_ups=1))
    assert result.looked_up == (2,)
    result = answer(
        run("neural", FakeModel(["He."]), question="word3?", about=about, look_ups=1, extra={"embed": "pages"})
    )
    assert result.looked_up == (3,)


# --- a running summary ----------------------------------------------------------------------------

PARTS = {"segment_tokens": 110, "summary_tokens": 40}  # 82 words: two pages of the test book; 30 words


def test_a_summary_that_grows_is_cut() -> None:
    model = FakeModel(["long " * 60, "Second.", "Third.", "Anna."])
    result = answer(run("recurrence", model, extra=PARTS))
    assert "cut to 30 words" in result.notes[0]
    assert model.prompts[1].text.count("long ") == 29


def test_a_part_without_a_reply_leaves_the_summary_as_it_was() -> None:
    model = FakeModel(["First.", EmptyReplyError("none"), "Third.", "Anna."])
    result = answer(run("recurrence", model, extra=PARTS))
    assert "Summary so far:\n\nFirst." in model.prompts[2].text
    assert "1 of 3 parts" in result.notes[0]
