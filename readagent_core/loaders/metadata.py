"""Cleans the title and the author that a file gives about itself; programs that make files put junk there."""

from __future__ import annotations

import re
from html import unescape

from readagent_core.loaders.base import strip_unprintable
from readagent_core.loaders.readable import Verdict, judge, mend_letters

_BY = re.compile(r"(.{2,}), by ((?:[A-Z][\w.'’-]*)(?: (?:[A-Z][\w.'’-]*|de|du|von|van|der|la)){1,4})$")
# names of files and of programs
_NO_TITLE = re.compile(
    r"^(?:untitled\b.*|unknown|(?:table of )?contents|[^\s_]+_\S+|.*[,;]|<[\da-f]{8,}>?|"
    r"(?:document|slide|presentation|layout|scan|print|cover|title)[ _-]?\d*|[\d\s-]{6,}|\W*|"
    r"microsoft (?:word|powerpoint).*|(?:\S+ (?:de )?)?powerpoint(?:[ -]\S+)?|"
    r"[a-z]+://.*|[a-z]:[\\/].*|\S+\.[a-z]\w{1,4}|.*[\ue000-\uf8ff\ufffd].*|"
    r".*\.(?:docx?|tex|indd|qxd|pdf|dvi|rtf|odt|pptx?|txt|html?|ps|wpd|fm|p65))$",
    re.I,
)
_FEWEST_LETTERS = 8  # of a title that can be seen to be in no language
_NO_AUTHOR = frozenset({"unknown", "anonymous", "user", "admin", "administrator", "python-docx"})


def clean_metadata(title: str, author: str) -> tuple[str, str]:
    """Returns title and author, each '' where it is none."""
    # some programs encode a byte order mark a second time
    title, author = (
        mend_letters(" ".join(strip_unprintable(unescape(text)).removeprefix("þÿ").split())) for text in (title, author)
    )
    named = _BY.match(title)
    if named:  # "Emma, by Jane Austen": the file's author is then often who made the file
        title, author = named.groups()
    wrong = title.isascii() and judge(title, fewest=_FEWEST_LETTERS) is Verdict.UNREADABLE
    return "" if wrong or _NO_TITLE.match(title) else title, "" if author.lower() in _NO_AUTHOR else author
