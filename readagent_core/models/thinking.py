"""Removes from replies what is not the reply: thinking, control tokens, markup around single words.

Servers without the right parser for a model leave its thinking in the text, between <think> tags, before a lone closing
tag (the opening one was part of the prompt), or in the channels of gpt-oss. ``ThinkFilter`` works on a reply while it
streams, at its start; the functions work on a whole reply.
"""

from __future__ import annotations

import html
import re

_NAMES = "(?:think|thinking|thought|reasoning)"
_OPEN = re.compile(rf"\s*<{_NAMES}>", re.IGNORECASE)
_OPEN_ANYWHERE = re.compile(rf"<{_NAMES}>", re.IGNORECASE)
_LONGEST = 14  # characters of the longest tag and a little space before it
_CLOSE = re.compile(rf"</{_NAMES}>\s*", re.IGNORECASE)
_BLOCK = re.compile(rf"<{_NAMES}>.*?(?:</{_NAMES}>|\Z)", re.DOTALL | re.IGNORECASE)
_LONE_CLOSE = re.compile(rf"\A.*</{_NAMES}>\s*", re.DOTALL | re.IGNORECASE)
_FINAL = re.compile(r"\A.*<\|channel\|>\s*final\b[^<]*<\|message\|>", re.DOTALL)
_FINAL_BARE = re.compile(r"\Aanalysis.*?assistantfinal", re.DOTALL)  # the same where the server dropped the tokens
_CHANNEL = re.compile(r"<\|channel\|>.*?(?:<\|end\|>(?:<\|start\|>assistant)?|\Z)", re.DOTALL)
_END = re.compile(
    r"<\|(?:im_end|eot_id|end|return|endoftext|end_of_text)\|>|<end_of_turn>|<｜end▁of▁sentence｜>|</s>\s*\Z|\[/INST\]"
)
_FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE)
_BOXED = re.compile(r"\$?\\boxed\{\s*(?:\\text\{)?([^{}]*)\}+\$?")


def remove_control_tokens(reply: str) -> str:
    """Return ``reply`` without channels and tokens that the server should have read, and what follows its end.

    A closing tag without an opening one ends thinking that began in the prompt.
    """
    text = _CHANNEL.sub("", _FINAL.sub("", _FINAL_BARE.sub("", reply)))
    text = _END.split(text, maxsplit=1)[0]
    return text if _OPEN_ANYWHERE.search(text) else _LONE_CLOSE.sub("", text)


def remove_thinking(reply: str) -> str:
    """Return ``reply`` without thinking, wherever it is. A block that is not closed ends with the reply."""
    return _LONE_CLOSE.sub("", _BLOCK.sub("", remove_control_tokens(reply)))


def remove_markup(reply: str) -> str:
    """Return ``reply`` without thinking, code fences, HTML entities and LaTeX boxes ('Answer: (C)' for a boxed C)."""
    return _BOXED.sub(r"(\1)", html.unescape(_FENCE.sub("", remove_thinking(reply))))


class ThinkFilter:
    """``feed`` returns what of each part belongs to the reply; ``reasoning`` collects the rest."""

    def __init__(self) -> None:
        self.reasoning = ""
        self._held = ""
        self._state = "start"

    def feed(self, part: str) -> str:
        if self._state == "reply":
            return part
        self._held += part
        if self._state == "start":
            found = _OPEN.match(self._held)
            if found:
                self._held = self._held[found.end() :]
                self._state = "thinking"
            elif self._could_open():
                return ""
            else:
                return self._release()
        closed = _CLOSE.search(self._held)
        if not closed:  # the end of what is held may be the beginning of the closing tag
            self.reasoning += self._held[:-_LONGEST]
            self._held = self._held[-_LONGEST:]
            return ""
        self.reasoning += self._held[: closed.start()]
        self._held = self._held[closed.end() :].lstrip()
        if self._held:
            return self._release()
        self._state = "start"  # another block may follow
        return ""

    def end(self) -> str:
        """Return what was still held back. A block that was never closed is all thinking."""
        if self._state == "thinking":
            self.reasoning += self._held
            self._held = ""
        return self._release()

    def _could_open(self) -> bool:
        bare = self._held.lstrip()
        return not bare or (len(bare) < _LONGEST and bare[0] == "<" and ">" not in bare)

    def _release(self) -> str:
        self._state, text, self._held = "reply", self._held, ""
        return text
