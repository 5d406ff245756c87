"""Removes from replies what is not the reply: thinking, wrappers, control tokens, markup around single words.

Servers without the right parser for a model leave the marks of its chat template in the text. thinking.toml has them. A
mark is removed only in the place where a template puts it, so an answer about ``</think>`` is kept. ``ThinkFilter``
works on a reply while it streams, at its start; ``split_thinking`` on a whole reply.
"""

from __future__ import annotations

import html
import re
import tomllib
from pathlib import Path
from typing import NamedTuple


class Marker(NamedTuple):
    """A row of ``thinking`` in thinking.toml, which explains its fields."""

    opens: str
    closes: str
    models: str
    source: str


# names of tags around thinking; those that models were seen writing are in the table
_NAME = (
    r"(?:[a-z]+[:_])?(?:think[\w-]{0,50}|thoughts?(?:_process)?|reason(?:ing)?|reflection|scratch_?pad|analysis"
    r"|(?:inner|internal)_monologue)"
)
_TAG = re.compile(rf"<{_NAME}(?:\s[^<>]{{0,60}})?>", re.IGNORECASE)
_CLOSE_TAG = re.compile(rf"</{_NAME}>", re.IGNORECASE)
_UNFINISHED = re.compile(r"<[\w:/-]{0,70}(?:\s[^<>]{0,60})?")  # perhaps a tag
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MARKERS = tuple(Marker(**{**row, "closes": row["closes"] or _CLOSE_TAG.pattern}) for row in _TABLES["thinking"])
WRAPPERS: dict[str, str] = _TABLES["wrappers"]  # how each begins and ends
# gpt-oss: <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>… ('harmony')
_CHANNEL = re.compile(r"<\|channel\|>([^<]{0,40})(?:<\|constrain\|>[^<]{0,40})?<\|message\|>")
_CHANNEL_ENDS = re.compile(r"<\|end\|>|<\|call\|>|(?=<\|channel\|>)")
_BARE_CHANNELS = re.compile(r"\A(?:assistant)?analysis(?=\S)(.*?)assistant\s*final", re.DOTALL)  # the tokens dropped
_HEADERS = (  # of the assistant's turn, where a server sends it too
    "<|start|>assistant", "<|im_start|>assistant", "<|begin|>assistant<|content|>", "<start_of_turn>model",
    "<|turn>model", "<|start_header_id|>assistant<|end_header_id|>", "<|assistant_start|>", "<|assistant|>",
    "<｜assistant｜>", "<|start_of_turn_token|><|chatbot_token|>", "[|assistant|]",
)  # fmt: skip
_END = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|eot|end|return|call|endoftext|end_of_text|end_of_sentence|eos|assistant_end|flush"
    r"|END_OF_TURN_TOKEN|END_RESPONSE|END_TEXT|user|observation)\|>|<end_of_turn>|<turn\|>|<seed:eos>|\[e~\[|\[EOS\]"
    r"|<｜end▁of▁sentence｜>|\[\|endofturn\|\]|\[unused10\]|\[/INST\]"
    r"|(?:</s>|<\|\w{2,40}\|>|<SPECIAL_\d+>|<(?:eos|pad|end_of_\w{2,20})>)+\s*\Z"  # any, at the very end
)
# a conversation is shown
_TURN = re.compile(r"<\|(?:im_start|start_header_id|start)\|>|<start_of_turn>|<\|turn>|\[INST\]")
_BLOCK = re.compile(r"<(think|thinking|thoughts?|reasoning)>.*?(?:</\1>|\Z)\s*", re.DOTALL | re.IGNORECASE)
_LATE = re.compile(r"(?:[.!?…]\s|\n)\s*<(?:think|thinking|thoughts?|reasoning)>(?=\w)(?!.*</)", re.DOTALL)
# how gateways write thinking in Markdown: Poe as a quotation, others as a folded part or as code
_MARKDOWN = re.compile(
    r"\A\s*(?:\*+(?:Thinking|Reasoning)(?:\.{3}|…)\*+\s*\n(?:[ \t]*>[^\n]*(?:\n|\Z)|[ \t]*\n)+"
    r"|<details\b[^<>]*>\s*<summary>[^<]{0,40}(?:thought|thinking|reasoning).*?</details>"
    r"|```(?:think\w*|reasoning)\n.*?\n```)\s*",
    re.DOTALL | re.IGNORECASE,
)
_BOX = re.compile(r"(?<![`'\"])<\|begin_of_box\|>(.*?)<\|end_of_box\|>", re.DOTALL)  # GLM: around the answer itself
_QUOTES = "`'\"‘’“”«»()"
_FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE)
_BOXED = re.compile(r"\$?\\boxed\{\s*(?:\\text\{)?([^{}]*)\}+\$?")

_OPENERS = {marker.opens: re.compile(marker.closes, re.IGNORECASE) for marker in MARKERS}
_STARTS = (*_OPENERS, *WRAPPERS, *_HEADERS, "<|channel|>")
_LONGEST = max(72, *map(len, (*_STARTS, *WRAPPERS.values(), "here is my response:", "[BEGIN FINAL RESPONSE]")))
_LONE = [m.closes for m in MARKERS if m.opens[0] in "<[◁" and m.opens[:9] not in ("<|think|>", "<details ")]
_LONE_CLOSE = re.compile("|".join(dict.fromkeys(_LONE)), re.IGNORECASE)


class ThinkFilter:
    """``feed`` returns what of each part belongs to the reply; ``reasoning`` collects thinking at its start.

    How the parts are cut makes no difference. ``thought``: a mark of thinking was seen.
    """

    def __init__(self) -> None:
        self.reasoning = ""
        self.thought = False
        self._held = ""
        self._opened = ""  # what opened the thinking that is under way
        self._closes: re.Pattern[str] | None = None
        self.wrapper = ""  # around the answer
        self._in_reply = False

    def feed(self, part: str) -> str:
        if self._in_reply and not self.wrapper:
            return part
        self._held += part
        while not self._in_reply:
            if self._closes:
                found = self._closes.search(self._held)
                if not found:  # the end of what is held may be the beginning of the mark that closes it
                    if not self._opened[0].isalpha():
                        self.reasoning += self._held[:-_LONGEST]
                        self._held = self._held[-_LONGEST:]
                    return ""
                self.reasoning += self._held[: found.start()]
                self._held, self._closes = self._held[found.end() :], None
                if found.group().lower() in WRAPPERS:
                    self.wrapper = found.group().lower()
            elif not self._start():
                return ""
        if not self.wrapper:
            return self._release()
        kept = len(self._held) - 2 * _LONGEST  # the end may be that of the wrapper
        shown, self._held = (self._held[:kept], self._held[kept:]) if kept > 0 else ("", self._held)
        return shown

    def _start(self) -> bool:
        """Remove one mark from the start of what is held, or find that the reply has begun. False: more must come."""
        bare = self._held.lstrip()
        lower = bare[:_LONGEST].lower()
        opener = next((start for start in _STARTS if lower.startswith(start)), "")
        rest = bare[len(opener) :]
        if _UNFINISHED.fullmatch(bare):
            return False
        if tag := _TAG.match(bare):
            self._held = bare[tag.end() :]
            self._think(tag.group(), _CLOSE_TAG)
        elif opener == "<|channel|>":
            found = _CHANNEL.match(bare)
            if not found and len(bare) < 120:
                return False
            if not found:
                self._in_reply = True
                return True
            self._held = bare[found.end() :]
            if "final" not in found.group(1):
                self._think("<|channel|>", _CHANNEL_ENDS)
        elif opener in _OPENERS:
            self._held = rest
            self._think(opener, _OPENERS[opener])
        elif opener in WRAPPERS:
            if not rest:
                return False
            if not self.thought and rest[0] in " \t.,;:":  # a sentence that begins with the tag
                self._in_reply = True
            else:
                self._held, self.wrapper = rest.lstrip(), opener
        elif opener:
            self._held = rest
        elif any(start.startswith(lower) for start in _STARTS):
            return False
        else:
            self._held = bare if self.thought or self.wrapper else self._held
            self._in_reply = True
        return True

    def _think(self, opener: str, closes: re.Pattern[str]) -> None:
        self._opened, self._closes, self.thought = opener, closes, True

    def end(self) -> str:
        """Return what was still held back. Thinking that was never closed is no reply, but words that only look like
        its beginning are.
        """
        if self._closes and self._opened[0].isalpha():
            self._held = self._opened.capitalize() + self._held
        elif self._closes:
            self.reasoning += self._held
            self._held = ""
        return _without(WRAPPERS.get(self.wrapper, ""), self._release())

    def _release(self) -> str:
        self._in_reply = True
        text, self._held = self._held, ""
        return text


def split_thinking(reply: str) -> tuple[str, str]:
    """Return the thinking in a whole reply and the answer, without the marks of a template.

    A closing mark without an opening one ends thinking that began in the prompt.
    """
    if bare := _BARE_CHANNELS.match(reply):
        return bare[1], split_thinking(reply[bare.end() :])[1]
    if block := _MARKDOWN.match(reply):
        return block.group().strip(), reply[block.end() :]
    leading = ThinkFilter()
    answer = leading.feed(reply) + leading.end()
    thinking = [leading.reasoning]
    if leading.thought and leading.wrapper == "":  # a model that writes marks may write them again
        thinking += [found.group() for found in _BLOCK.finditer(answer)]
        answer = _BLOCK.sub("", answer)
    elif late := _LATE.search(answer):
        thinking.append(answer[late.end() :])
        answer = answer[: late.end()].rpartition("<")[0]
    lone = next((m for m in _LONE_CLOSE.finditer(answer) if _ends_thinking(answer, m)), None)
    if lone:
        inner, answer = split_thinking(answer[lone.end() :].lstrip())
        thinking += [lone.string[: lone.start()], inner]
    answer = _BOX.sub(r"\1", answer)
    end = next((m for m in _END.finditer(answer) if _ends_reply(answer, m)), None)
    answer = answer[: end.start()] if end else answer
    if close := WRAPPERS.get(leading.wrapper):
        answer = _without(close, answer)
        if close in answer.lower() and not leading.thought:  # words about the wrapper
            answer = leading.wrapper + answer
    return "\n".join(part.strip() for part in thinking if part.strip()), answer


def _ends_thinking(text: str, mark: re.Match[str]) -> bool:
    """Whether a closing mark without an opening one stands where thinking ends, and is not spoken of."""
    before, after = text[max(0, mark.start() - 1) : mark.start()], text[mark.end() : mark.end() + 1]
    spoken_of = before in _QUOTES if before else False
    if spoken_of or (after and after in _QUOTES) or _in_code(text, mark.start()):
        return False
    opening = mark.group().replace("</", "<").replace("[/", "[").replace("◁/", "◁")
    if opening.lower() in text[: mark.start()].lower() or _BLOCK.search(text[: mark.start()]):
        return False
    return before in ("", "\n") or (before != " " and after not in (*" \t", *",.;:")) or after == "\n"


def _ends_reply(text: str, mark: re.Match[str]) -> bool:
    """Whether a control token stands where a turn ends, and is not spoken of."""
    before, after = text[max(0, mark.start() - 1) : mark.start()], text[mark.end() : mark.end() + 1]
    if (before and before in _QUOTES + " ") or (after and after in _QUOTES + ",.;:") or _in_code(text, mark.start()):
        return False
    return not _TURN.search(text[: mark.start()]) and (bool(before) or after != " ")


def _in_code(text: str, place: int) -> bool:
    return text.count("```", 0, place) % 2 == 1


def _without(close: str, text: str) -> str:
    """Return ``text`` without the end of a wrapper, where it ends with that."""
    bare = text.rstrip()
    return bare[: -len(close)].rstrip() if close and bare.lower().endswith(close) else text


def remove_thinking(reply: str) -> str:
    """Return ``reply`` without thinking, wrappers and control tokens."""
    return split_thinking(reply)[1]


def remove_markup(reply: str) -> str:
    """Return ``reply`` without thinking, code fences, HTML entities and LaTeX boxes ('Answer: (C)' for a boxed C)."""
    return _BOXED.sub(r"(\1)", html.unescape(_FENCE.sub("", remove_thinking(reply))))
