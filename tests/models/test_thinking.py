"""Thinking, wrappers and control tokens: removed where a template puts them, kept where they are spoken of."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.models.thinking import MARKERS, WRAPPERS, ThinkFilter, remove_thinking, split_thinking

ANSWER = "The lamp was lit at dusk."
CLOSERS = {
    "<|channel>thought": "<channel|>", "<|think|>": "<|end|>", "<|start_thinking|>": "<|END_THINKING|>",
    "<|inner_prefix|>": "<|inner_suffix|>", "<|begin_of_thought|>": "<|end_of_thought|>", "[unused16]": "[unused17]",
    "<|thought_start|>": "<|thought_end|>", '<details type="reasoning"': "</details>", "[think]": "[/THINK]",
    "here is my thought process:": "Here is my response:", "here are my reasoning steps:": "[BEGIN FINAL RESPONSE]",
    "◁think▷": "◁/think▷",
}  # fmt: skip


@pytest.mark.parametrize("marker", MARKERS, ids=[marker.opens for marker in MARKERS])
def test_thinking_between_the_marks_of_each_model(marker):
    closes = CLOSERS.get(marker.opens, marker.opens.replace("<", "</"))
    assert split_thinking(f"{marker.opens}\nA lamp?\n{closes}\n{ANSWER}") == ("A lamp?", ANSWER)
    assert marker.source


@pytest.mark.parametrize("opens", WRAPPERS)
def test_what_some_templates_put_around_the_answer(opens):
    closes = WRAPPERS[opens].upper()
    for before in ("", "<think>A lamp?</think>\n"):
        assert split_thinking(f"{before}{opens}\n{ANSWER}\n{closes}<|im_end|>")[1].strip() == ANSWER


@pytest.mark.parametrize(
    "text",
    [
        "The tag </think> ends its thinking.",
        "It ends with `</think>`.",
        "Qwen writes <think> first, then </think>.",
        "It writes <think>reasoning</think> and then the answer.",
        "Qwen's template:\n\n<think>\nreasoning\n</think>\n\nThen the answer.",
        "It ends at (</think>).",
        "ChatML ends each turn with <|im_end|> and a line end.",
        "Each turn ends with <|im_end|>",
        "<|im_end|> closes a turn.",
        "```\n<|im_start|>user\nHi<|im_end|>\n```\nThat is ChatML.",
        'The template is "<|im_start|>user\n{q}<|im_end|>\n".',
        "<answer> is a tag.",
        "<answer>B</answer> is how you write it.",
        "Here is my thought process: I like lamps.",
        "Magistral thinks in [THINK] and [/THINK].",
        "The token <|channel|> begins a channel.",
    ],
)
def test_an_answer_about_marks_is_kept(text):
    assert split_thinking(text) == ("", text)


PIECES = [*(m.opens for m in MARKERS), *CLOSERS.values(), *WRAPPERS, *WRAPPERS.values(), "<|channel|>", "<|message|>"]


@given(
    text=st.lists(st.sampled_from([*PIECES, "final", "<|end|>", "\n", " ", "<", "A lamp.", "h"]), max_size=8).map(
        "".join
    ),
    cuts=st.lists(st.integers(0, 200), max_size=12),
)
@settings(max_examples=300)
def test_how_a_stream_is_cut_makes_no_difference(text, cuts):
    one, many = ThinkFilter(), ThinkFilter()
    whole = one.feed(text) + one.end()
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    parts = [text[a:b] for a, b in pairwise(places)]
    assert ("".join([*map(many.feed, parts), many.end()]), many.reasoning) == (whole, one.reasoning)


@pytest.mark.parametrize(
    ("reply", "rest"),
    [
        ("<think>Page 3?\nNo.</think>Page [2]", "Page [2]"),
        ("<Thinking>Page 3?</thinking>\nPage [2]", "Page [2]"),
        ("<reasoning>a</reasoning>one <thought>b</thought>two", "one two"),
        ("Yes. <think>or is it", "Yes. "),
        ("Page 3? No.\n</think>\nPage [2]", "Page [2]"),
        ("analysisPage 3?assistantfinalPage [2]", "Page [2]"),
        ("<|channel|>analysis<|message|>Page 3?<|end|>Page [2]", "Page [2]"),
        ("<|channel|>analysis<|message|>Page 3", ""),
        ("Page [2]</s>", "Page [2]"),
        ("Page [2]<end_of_turn>\nuser: more", "Page [2]"),
        ("an <s>old</s> tag", "an <s>old</s> tag"),
        ("I think <5> is best", "I think <5> is best"),
        ("", ""),
    ],
)
def test_thinking_is_removed_from_a_whole_reply(reply, rest):
    assert remove_thinking(reply) == rest


@pytest.mark.parametrize("start", ["<think>3?</think>", "<Thinking>3?</Thinking>", "<thought>3?</thought>", ""])
@pytest.mark.parametrize("rest", ["Page [2]", "<thanks> to all", "< 5", "<57> because"])
def test_thinking_is_removed_from_a_stream(start, rest):
    stream = ThinkFilter()
    assert "".join([*map(stream.feed, start + rest), stream.end()]) == remove_thinking(start + rest) == rest
