"""Thinking is removed from whole replies, whatever its tag."""

from __future__ import annotations

import pytest

from readagent_core.models.server.thinking import ThinkFilter, remove_thinking


@pytest.mark.parametrize(
    ("reply", "rest"),
    [
        ("<think>Page 3?\nNo.</think>Page [2]", "Page [2]"),
        ("<Thinking>Page 3?</thinking>\nPage [2]", "\nPage [2]"),
        ("<reasoning>a</reasoning>one <thought>b</thought>two", "one two"),
        ("Yes. <think>or is it", "Yes. "),
        ("I think <5> is best", "I think <5> is best"),
        ("", ""),
    ],
)
def test_thinking_is_removed_from_a_whole_reply(reply, rest):
    assert remove_thinking(reply) == rest


@pytest.mark.parametrize("tag", ["think", "thinking", "thought", "reasoning"])
def test_a_stream_and_a_whole_reply_give_the_same_text(tag):
    reply = f"<{tag}>Page 3?</{tag}>Page [2]"
    stream = ThinkFilter()
    assert "".join([*map(stream.feed, reply), stream.end()]) == remove_thinking(reply) == "Page [2]"
