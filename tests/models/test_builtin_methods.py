"""The built-in reader on the prompts of the other methods: summaries, walks, leaves, found pages."""

from __future__ import annotations

import pytest

from readagent_core.cancel import CancelToken
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.prompts import render, render_fragment

STORY = (
    "The keeper climbed the tower every evening. The tower stood on a reef. "
    "A brass key hung by the door of the tower. Nobody had come in the winter. The key opened the oil store."
)


def ask(task: str, language: str = "en", **fields: str) -> str:
    return BuiltInReader().complete(render(task, language, **fields), CancelToken()).text


@pytest.mark.parametrize("task", ["tree_segment", "tree_parent", "compress"])
def test_a_summary_is_sentences_of_the_text_within_the_length(task: str) -> None:
    said = ask(task, text=STORY, target="20")
    assert 0 < len(said.split()) <= 20
    assert said.split(". ")[0].rstrip(".") in STORY


def test_what_repeats_is_left_out_and_what_is_said_once_kept() -> None:
    filler = "The grass is green. The sky is blue. The sun is yellow. " * 20
    text = f"{filler}The pass key is 71432. {filler}"
    assert "71432" in ask("compress", text=text, target="40")


def test_a_running_summary_holds_both() -> None:
    said = ask("carry", title="T", target="30", memory="Anna left the harbour.", text=STORY)
    assert "Anna left" in said
    first = ask("carry", title="T", target="30", memory=render_fragment("carry.none", "en"), text=STORY)
    assert "nothing read" not in first


PARTS = "Part 1: A ship came into the harbour.\n\nPart 2: The brass key hung by the door."


def test_it_walks_to_the_part_that_shares_most() -> None:
    fields = {"title": "T", "memory": "", "question": "Where was the key?"}
    assert ask("walk", back="", parts=PARTS, **fields).endswith("Action: 2")
    seen = PARTS.replace("Part 2:", f"Part 2{render_fragment('walk.visited', 'en')}:")
    assert ask("walk", back=", or back", parts=seen, **fields).endswith("Action: 1")
    both = seen.replace("Part 1:", f"Part 1{render_fragment('walk.visited', 'en')}:")
    assert ask("walk", back=", or back", parts=both, **fields).endswith("Action: -1")


def test_a_leaf_answers_or_goes_back() -> None:
    fields = {"title": "T", "memory": "", "text": STORY}
    said = ask("leaf", question="Where did the brass key hang?", **fields)
    assert "Action: -2\nAnswer: A brass key hung by the door" in said
    assert ask("leaf", question="Who married Mr. Darcy?", **fields).endswith("Action: -1")
    chosen = ask("leaf", question="What did the key open?\n\n(A) the oil store\n(B) a ship's hold", **fields)
    assert "Answer: (A)" in chosen


def test_japanese_parts_and_leaves() -> None:
    parts = f"部分 1{render_fragment('walk.visited', 'ja')}：船が港に入った。\n\n部分 2：真鍮の鍵が戸口にあった。"
    assert ask("walk", "ja", title="本", memory="", back="戻る", parts=parts, question="鍵はどこ？").endswith("2")
    said = ask("leaf", "ja", title="本", memory="", text="真鍮の鍵が戸口にあった。", question="真鍮の鍵はどこ？")
    assert "Action: -2" in said


def test_pages_found_are_answered_from() -> None:
    memory = f"<Page 3> (full text)\n{STORY}"
    fields = {"title": "T", "memory": memory, "order": render_fragment("order.rank", "en")}
    assert "[3]" in ask("answer_pages", question="Where did the brass key hang?", **fields)
