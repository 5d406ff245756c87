"""The alternative text of pictures: what describes a picture, and what is only the name of its file or its kind."""

from __future__ import annotations

import re

from readagent_core.loaders.base import strip_unprintable

_NO_DESCRIPTION = re.compile(
    r"^[\w./ -]+\.(?:jpe?g|png|gif|svg|webp|emf|wmf)$|^\W*$|"
    r"^(?:(?:front|back|book|half|full|meta|the)[ -]?)*(?:cover|title|page|image|img|picture|photo|illustration|illo|"
    r"figure|fig|plate|logo|icon|ornament|decoration|divider|chapter|カバー|表紙|画像)"
    r"[ _-]?(?:page|image|art|picture|photo)?[ .:_#-]*\d*$",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"\[(?:illustration|image|picture|figure)\s*:?\s*(.*?)\s*\]", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\r\n\f\u00a0]+")


def describe_picture(text: str) -> str:
    """Returns a picture's alternative text on one line; '' for a file name and words like 'Cover image', 'Page 1'."""
    text = _BLANKS.sub(" ", strip_unprintable(text)).strip()
    labelled = _LABELLED.fullmatch(text)
    text = labelled.group(1) if labelled else text
    return "" if not text or _NO_DESCRIPTION.match(text) else text


def bracket_description(text: str) -> str:
    """Returns the alternative text of a picture that is not shown, in brackets; '' where it describes nothing."""
    text = describe_picture(text)
    return f"[{text}]" if text else ""
