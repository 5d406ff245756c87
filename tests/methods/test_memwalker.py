"""MemWalker: the tree, the walk down and back up, and replies without an action."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph
from readagent_core.errors import EmptyReplyError, UnreachableError, WindowError
from readagent_core.methods import method
from readagent_core.methods.base import AskSettings, LookedUp, ModelCall, Question
from readagent_core.methods.memwalker import parse_action
from readagent_core.methods.support.resources import Resources, with_resources
from readagent_core.methods.support.summary_tree import lay_out_tree
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel, Reply
from tests.methods.books import answer, memory, run

SMALL: dict[str, Any] = {"extra": {"segment_tokens": 60, "siblings": 3}}  # 45 words: a page of the test book each


class MemoryStore:
    """An artifact store in memory."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], Any] = {}

    def load(self, kind: str, key: str) -> Any | None:
        return self.values.get((kind, key))

    def save(self, kind: str, key: str, value: Any) -> None:
        self.values[kind, key] = value


def walking(*actions: Reply) -> FakeModel:
    """A model whose summaries list the words below them, and which then gives the walk's replies in order."""
    queue = list(actions)

    def reply(prompt: Prompt) -> Reply:
        if prompt.task.startswith("tree"):
            return "About " + " ".join(
                sorted({w for w in prompt.text.split() if w.startswith("word") and w[4:].isdigit()})
            )
        return queue.pop(0)

    return FakeModel(reply)


def test_the_walk_goes_down_to_the_leaf_that_answers() -> None:
    model = walking("Reasoning: it is later.\nAction: 2", "Action: 2", "Reasoning: said.\nAction: -2\nAnswer: Anna.")
    events = run("memwalker", model, **SMALL)
    assert model.tasks() == ["tree_segment"] * 6 + ["tree_parent"] * 3 + ["walk", "walk", "leaf"]
    root = model.prompts[9].text
    assert "Part 1: About word1 word2 word3" in root
    assert "Part 2: About word4 word5 word6" in root
    assert "-1" not in root
    assert "Action: -1" in model.prompts[10].text
    leaf = model.prompts[11].text
    assert "word5 word5" in leaf
    assert "What you know so far:\nAbout word1 word2 word3 word4 word5 word6\n\nAbout word4 word5 word6" in leaf
    result = answer(events)
    assert result.text == "Anna."
    assert result.looked_up == (5,)
    assert result.seen == {1: "gist", 2: "gist", 3: "gist", 4: "gist", 5: "full", 6: "gist"}
    assert [s["action"] for s in result.extra["walk"]] == [7, 4, -2]
    assert result.extra["walk"][0]["reason"] == "it is later."
    assert result.extra["stray"] is False
    assert result.extra["share_read"] == pytest.approx(1 / 6, abs=0.001)
    assert [e.pages for e in events if isinstance(e, LookedUp)] == [(5,)]
    assert result.memory_words == 40 + 7 + 4


def test_it_goes_back_up_and_remembers_where_it_was() -> None:
    model = walking(
        "Action: 1", "Action: 3", "Action: -1", "Action: -1", "Action: 2", "Action: 1", "Action: -2\nAnswer: Yes"
    )
    result = answer(run("memwalker", model, **SMALL))
    assert result.text == "Yes"
    assert result.looked_up == (3, 4)
    assert result.extra["stray"] is True
    assert result.extra["recovered"] is True
    assert "Part 3 (looked into already): About word3" in model.prompts[12].text
    assert "Part 1 (looked into already): About word1" in model.prompts[13].text
    assert result.extra["share_read"] == pytest.approx(2 / 6, abs=0.001)


def test_a_reply_without_an_action_is_asked_again() -> None:
    model = walking("I would read on.", "Action: 7", "Action: 1", "Action: 1", "Hm.", "Action: -2\nAnswer: Yes")
    result = answer(run("memwalker", model, **SMALL))
    assert result.text == "Yes"
    assert result.extra["unreadable_replies"] == 3
    assert "must be one of: 1, 2." in model.prompts[10].text


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
    assert "(A) no\n(B) yes" in model.prompts[-1].text


def test_a_stored_tree_is_not_built_again() -> None:
    store = MemoryStore()
    wanted = with_resources(AskSettings(**SMALL), Resources(artifacts=store, connections=2))
    for asked in (12, 3):
        model = walking("Action: 1", "Action: 1", "Action: -2\nAnswer: Yes")
        list(method("memwalker").run(Question("Who?"), memory(), model, wanted, CancelToken()))
        assert len(model.prompts) == asked


def test_an_interrupted_tree_resumes() -> None:
    store = MemoryStore()
    wanted = with_resources(AskSettings(**SMALL), Resources(artifacts=store, connections=1))
    done = walking()
    calls = 0

    def broken(prompt: Prompt) -> Reply:
        nonlocal calls
        calls += 1
        return UnreachableError("gone") if prompt.task == "tree_parent" else done._answer(prompt)  # type: ignore[misc]

    with pytest.raises(UnreachableError):
        list(method("memwalker").run(Question("Who?"), memory(), FakeModel(broken), wanted, CancelToken()))
    model = walking("Action: 1", "Action: 1", "Action: -2\nAnswer: Yes")
    list(method("memwalker").run(Question("Who?"), memory(), model, wanted, CancelToken()))
    assert model.tasks().count("tree_segment") == 0


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


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("Reasoning: part 3.\nAction: 2", 2),
        ("**Action:** 2", 2),
        ("action = -1", -1),
        ("Action: − 1", -1),
        ("Action: Part 4", 4),
        ("Action: [2]", 2),
        ("Action：２", 2),
        ("Action: 1? No. Action: 3", 3),
        ("2", 2),
        ("(-2)", -2),
        ("<think>Action: 9</think>Action: 1", 1),
        ("I take the second.", None),
        ("", None),
        ("Action: 99999999999999", None),
    ],
)
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


def test_every_summary_and_step_is_an_event() -> None:
    model = walking("Action: 1", "Action: 1", "Action: -2\nAnswer: Yes")
    asked = [e for e in run("memwalker", model, **SMALL) if isinstance(e, ModelCall)]
    assert sorted(e.prompt for e in asked) == sorted(p.text for p in model.prompts)
