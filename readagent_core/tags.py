"""Page tags and labels in prompts, and how text of a book that looks like them is escaped.

A book that contains ``<Page 7>`` or ``<57>`` must not be taken for our tags, and one that contains ``<|im_start|>`` or
``[INST]`` must not begin a new turn of the chat: there the model sees ‹ › instead of the brackets. Nor can a text end
the part of a prompt that is marked as text.
"""

from __future__ import annotations

import re

_FULL_TEXT = {"ja": "（全文）"}
_GIST = {"ja": "（要点）"}
_LOOK_ALIKE = re.compile(
    r"<(\s*(?:pages?|book|ページ)?\s*[\d０-９]+(?:\.\d+)?\s*(?:[|-]\s*[\d０-９]+\s*)?)>", re.IGNORECASE
)
# how chat templates mark turns: ChatML, Llama, Mistral, Gemma, DeepSeek and others
_CONTROL_TOKEN = re.compile(
    r"<[|｜][^<>\n]{1,60}[|｜]>|<</?SYS>>|\[/?INST\]|\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS)\]|"
    r"</?(?:s|bos|eos|pad|unk|think|tool_call|tool_response|(?:start|end)_of_(?:turn|text|image))>",
    re.IGNORECASE,
)
# the marks around texts in prompts, in any spelling that could be taken for one
_TEXT_MARK = re.compile(r"[<＜](\s*[/／]?\s*text\b[^<>＜＞\n]{0,40})[>＞]", re.IGNORECASE)
_OTHER_BRACKETS = str.maketrans("<>[]", "‹›‹›")
_PASSAGE = {"ja": "（段落{}）"}
_TAG = re.compile(
    r"^<Pages? (\d+)(?:-\d+)?>(?: \(gist\)|（要点）)?"
    r"( \(full text\)|（全文）| \(paragraphs? [\d-]+\)|（段落[\d-]+）)?$",
    re.MULTILINE,
)
_BOOK_PAGE = re.compile(
    r"(?:(?<=\[)|\bbook |本)(\d{1,4})(?:\s*,?\s*(?:の|pages? ?|pp?\.? ?)|:)(\d{1,6})(?:ページ)?", re.IGNORECASE
)
_LABEL = re.compile(r"^<(\d+)(?: \| (\d+))?>$", re.MULTILINE)


def page_tag(number: int | str, *, full: bool = False, language: str = "en") -> str:
    """Return the line above a page in the memory. ``full``: in full text. Page 7 of book 2 of a shelf is '2.7'."""
    mark = _FULL_TEXT.get(language.split("-")[0], " (full text)") if full else ""
    return f"<Page {number}>{mark}"


def gist_mark(language: str) -> str:
    """Return what follows the tag of a gist where gists and full text stand side by side."""
    return _GIST.get(language.split("-")[0], " (gist)")


def passage_tag(number: int | str, paragraphs: str, *, language: str = "en") -> str:
    """Return the line above a part of a page. ``paragraphs``: '4' or '4-9', counted from 1 on the page."""
    form = _PASSAGE.get(language.split("-")[0], " (paragraphs {})" if "-" in paragraphs else " (paragraph {})")
    return f"<Page {number}>{form.format(paragraphs)}"


def range_tag(first: int, last: int, prefix: str = "") -> str:
    """Return the line above the gist of pages ``first`` to ``last``. ``prefix``: '2.' for book 2 of a shelf."""
    return f"<Pages {prefix}{first}-{last}>"


def book_tag(number: int) -> str:
    """Return the beginning of the line above a book of a shelf; its title follows."""
    return f"<Book {number}>"


def label(number: int, words_before: int | None = None) -> str:
    """Return a numbered label between paragraphs. ``words_before``: words so far, for span pagination."""
    return f"<{number}>" if words_before is None else f"<{number} | {words_before}>"


def join_labels(text: str) -> str:
    """Return ``text`` with 'book 2, page 7', '[2:7' and '本2の7ページ' as the label that prompts ask for: '2.7'."""
    return _BOOK_PAGE.sub(r"\1.\2", text)


def escape_tags(text: str) -> str:
    """Return ``text`` with ‹ › for the brackets of everything that looks like a tag, a label or a control token."""
    text = _CONTROL_TOKEN.sub(lambda found: found.group().translate(_OTHER_BRACKETS), text)
    return _LOOK_ALIKE.sub(r"‹\1›", text) if "<" in text else text


def escape_text_marks(text: str) -> str:
    """Return ``text`` with ‹ › for the brackets of everything that looks like <text> or </text>."""
    return _TEXT_MARK.sub(r"‹\1›", text)


def split_memory(text: str) -> list[tuple[int, bool, str]]:
    """Split the text of a memory into (page number, whether in full, text), in order; of a range its first page."""
    found = list(_TAG.finditer(text))
    ends = [m.start() for m in found[1:]] + [len(text)][: len(found)]
    return [
        (int(m.group(1)), bool(m.group(2)), text[m.end() : end].strip()) for m, end in zip(found, ends, strict=True)
    ]


def split_passage(text: str) -> list[tuple[str, int]]:
    """Split a labelled passage into (text before the label, label), in order; text after the last label is dropped."""
    pieces: list[tuple[str, int]] = []
    position = 0
    for found in _LABEL.finditer(text):
        pieces.append((text[position : found.start()].strip(), int(found.group(1))))
        position = found.end()
    return pieces
