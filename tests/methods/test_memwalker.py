"""MemWalker: the tree, the walk down and back up, and replies without an action."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.answering.summary_tree import lay_out_tree
from readagent_core.document import Document, Paragraph
from readagent_core.errors import EmptyReplyError, WindowError
from readagent_core.methods.memwalker import parse_action
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel, Reply
from tests.methods.books import REPLIES, answer, memory, run

SMALL: dict[str, Any] = {"extra": {"segment_tokens": 60, "siblings": 3}}  # 45 words: a page of the test book each


def walking(*actions: Reply) -> FakeModel:
    """A model that summarises, and then gives the walk's replies in order."""
    queue = list(actions)
    return FakeModel(lambda prompt: "A part." if prompt.task.startswith("tree") else queue.pop(0))


def test_a_reply_without_an_action_is_asked_again() -> None:
    model = walking("I would read on.", "Action: 7", "Action: 1", "Action: 1", "Hm.", "Action: -2\nAnswer: Yes")
    result = answer(run("memwalker", model, **SMALL))
    assert result.text == "Yes"
    assert result.extra["unreadable_replies"] == 3
    assert "must be one of: enter part 1, enter part 2." in model.prompts[10].text


def test_three_unreadable_replies_end_the_walk_without_an_answer() -> None:
    result = answer(run("memwalker", walking("Hm.", EmptyReplyError("none"), "Hm."), **SMALL))
    assert result.text == "No answer was found."
    assert result.extra["ended"] == "unreadable"
    assert result.notes


def test_an_endless_walk_is_ended() -> None:
    replies = ["Action: 1", "Action: 1", *["Action: -1", "Action: 1"] * 20]
    result = answer(run("memwalker", walking(*replies), extra={**SMALL["extra"], "max_steps": 9}))
    assert result.extra["ended"] == "too long"
    assert result.steps == 9


def test_an_option_is_named_at_the_leaf() -> None:
    model = walking("Action: 1", "Action: 1", "Action: -2\nAnswer: hard to say", "Action: -2\nAnswer: (B) yes")
    result = answer(run("memwalker", model, options=["no", "yes"], **SMALL))
    assert result.option == 1
    assert (result.extra["stray"], result.extra["recovered"]) == (False, False)
    assert "(A) no\n(B) yes" in model.prompts[-1].text


def test_a_missing_summary_becomes_the_first_words_with_a_note() -> None:
    def reply(prompt: Prompt) -> Reply:
        if prompt.task == "tree_segment" and "word3" in prompt.text:
            return EmptyReplyError("no words")
        return {"tree_segment": "S", "tree_parent": "P", "walk": "Action: 1"}.get(prompt.task, "Action: -2\nAnswer: A")

    result = answer(run("memwalker", FakeModel(reply), **SMALL))
    assert "1 of 9 summaries" in result.notes[0]
    assert result.extra["tree"][2]["fallback"] is True


def test_the_working_memory_is_left_out_when_the_window_is_too_small() -> None:
    def reply(prompt: Prompt) -> Reply:
        if prompt.task == "leaf":
            return WindowError("too long") if "What you know so far" in prompt.text else "Action: -2\nAnswer: A"
        return {"tree_segment": "S", "tree_parent": "P"}.get(prompt.task, "Action: 1")

    result = answer(run("memwalker", FakeModel(reply), **SMALL))
    assert result.text == "A"
    assert "working memory" in result.notes[0]


def test_a_text_of_one_segment_is_a_tree_of_one_leaf() -> None:
    model = walking("Action: -2\nAnswer: A")
    assert answer(run("memwalker", model, about=memory(1), **SMALL)).text == "A"
    assert answer(run("memwalker", walking("Action: -1"), about=memory(1), **SMALL)).extra["ended"] == "nothing left"


@pytest.mark.parametrize(("reply", "action"), REPLIES["action"])
def test_the_action_of_a_reply(reply: str, action: int | None) -> None:
    assert parse_action(reply) == action


@settings(max_examples=60, derandomize=True)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(5, 60), st.integers(3, 8))
def test_leaves_cover_the_text_and_every_parent_has_few_children(sizes: list[int], words: int, siblings: int) -> None:
    document = Document("B", tuple(Paragraph(" ".join(["w"] * n)) for n in sizes)).limited(words)
    nodes = lay_out_tree(document, words, siblings)
    leaves = [n for n in nodes if n.level == 1]
    assert [n.start for n in leaves] == [0, *[n.end for n in leaves[:-1]]]
    assert leaves[-1].end == len(document.paragraphs)
    assert all(sum(p.words for p in document.paragraphs[n.start : n.end]) <= words for n in leaves)
    assert nodes[-1].parent is None
    for node in nodes[:-1]:
        assert node.parent is not None
        assert node.id in nodes[node.parent].children
    assert all(1 < len(n.children) <= siblings for n in nodes if n.level > 1)
