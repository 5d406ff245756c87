"""What text files need: their names, CSV lines that hold no formula, Markdown without mark-up of its own, and the frame
of HTML pages: the app's own styles in the file, no script but our own, and nothing that is loaded.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from typing import Any

from readagent_core.resources import ASSETS
from readagent_core.words import collapse_whitespace

UTF_8_MARK = "\ufeff"  # at the start of a CSV file; without it spreadsheets show letters with accents as others
HTML_CLOSING = "</body></html>"
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Zl", "Zp", "Zs"})  # categories that a spreadsheet may skip or drop
_INLINE = re.compile(
    r"""(?P<plain> (?<=\S[ ])[*_]+(?=[ ]) | (?<=[^\W_])_+(?=[^\W_]) | (?<!\S)[~$](?=\w) )  # begins and ends nothing
    | [`*_~$] | \\(?=[!-/:-@\[-`{-~]|$) | <(?=[a-z/!?]) | &(?=\#?\w+;)
    | \[(?=[\[^!]) | (?<=\^)\[ | ^\[(?=.\]) | \](?=[(:\[{]) | ={2,}(?=\S) | %{2,}""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
EMPHASIS_SIGNS = {"markdown": "*", "text": "_"}  # round words in italics, by the format of the book; as in dom.js
_EMPHASISED = {
    sign: re.compile(
        rf"(?<![{sign}\w]){sign}(?=[^\s{sign}])([^{sign}\n]{{1,1000}}?)(?<=[^\s{sign}]){sign}(?![{sign}\w])"
    )
    for sign in map(re.escape, EMPHASIS_SIGNS.values())
}
EMPHASIS = re.compile(r"(?<!\w)(\*{1,2})([^*\s](?:[^*\n]*[^*\s])?)\1(?!\w)")  # in an answer
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w{1,2}\b)")  # before the end of a word
_SHORT_END = re.compile(r"(-[a-z]{1,3}){1,2}$")
_LINE_START = re.compile(
    r"^([ \t]*(?:\d{1,9}(?=[.)](?:\s|$)))?)((?<=\d)[.)]|[#>|]|[-+=](?![-+=]*\w)|:(?=[\s:-]))", re.MULTILINE
)


def slug(title: str) -> str:
    """Return a title as part of a file's name: lower-case words joined by '-', 60 characters at most, never empty.

    "Vane's" is 'vanes'. One that is cut does not end in 'a', 'of' or 'out'.
    """
    words = re.sub(r"[^\w]+", "-", _APOSTROPHE.sub("", title)).strip("-_").lower()
    cut = words if len(words) <= 60 else _SHORT_END.sub("", words[:61].rpartition("-")[0]) or words[:60]
    return cut or "book"


def safe_file_name(name: str) -> str:
    """Return ``name`` with '-' for every character that some system does not allow; '' where nothing is left."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.")


def csv_line(values: Sequence[Any]) -> str:
    """Return one row of a CSV file, in which a spreadsheet finds no formula. None is an empty cell."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([_cell(value) for value in values])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, int | float):
        return f"{value:.6g}" if isinstance(value, float) else value
    text = _LINE_ENDS.sub("\n", "" if value is None else str(value))  # csv quotes cells with this line end only
    return f"'{text}" if begins_formula(text) else text


def begins_formula(text: str) -> bool:
    """Return whether a spreadsheet might take ``text`` for a formula, also behind what is not seen."""
    first = next((c for c in text if unicodedata.category(c) not in _UNSEEN), "")
    return text.startswith(("\t", "\n")) or unicodedata.normalize("NFKC", first).startswith(("=", "+", "-", "@"))


def is_guarded(text: str) -> bool:
    """Return whether ``text`` looks like a cell that ``csv_line`` has guarded: with a "'" before a formula."""
    return text.startswith("'") and begins_formula(text.lstrip("'"))


def escape_markdown(text: str) -> str:
    """Return ``text`` escaped so that Markdown shows its characters: no heading, link, picture, table or formula.

    Signs that are no mark-up where they stand are left as they are. '%%' would begin a comment in Obsidian.
    """

    def escape_signs(found: re.Match[str]) -> str:
        signs = found[0]
        return signs if found["plain"] else "".join("&#37;" if sign == "%" else f"\\{sign}" for sign in signs)

    return _LINE_START.sub(r"\1\\\2", _INLINE.sub(escape_signs, text))


def emphasis_pieces(text: str, book_format: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text of a book, each with whether it is in italics, without the signs round those."""
    sign = re.escape(EMPHASIS_SIGNS.get(book_format, ""))
    pieces = _EMPHASISED[sign].split(text) if sign else [text]
    yield from ((piece, number % 2 == 1) for number, piece in enumerate(pieces) if piece)


def without_emphasis(text: str, book_format: str) -> str:
    """Return a text of a book without the signs round its words in italics."""
    return "".join(piece for piece, _ in emphasis_pieces(text, book_format))


def emphasised_markdown(text: str, book_format: str) -> str:
    """Return a text of a book escaped for Markdown, its words in italics in italics."""
    pieces = emphasis_pieces(text, book_format)
    return "".join(f"*{escape_markdown(piece)}*" if italic else escape_markdown(piece) for piece, italic in pieces)


def answer_markdown(text: str) -> str:
    """Return a text of an answer escaped for Markdown, its emphasis in italics."""
    pieces = enumerate(EMPHASIS.split(text))  # before, the signs, what is emphasised, after, …
    return "".join(f"*{escape_markdown(p)}*" if i % 3 == 2 else escape_markdown(p) for i, p in pieces if i % 3 != 1)


def answer_html(text: str) -> str:
    """Return a text of an answer escaped for HTML, its emphasis in italics."""
    return EMPHASIS.sub(r"<em>\2</em>", escape(text))


def block_quote(text: str) -> str:
    """Return ``text`` as a block quote in Markdown."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def markdown_line(text: str) -> str:
    """Return ``text`` in one line, escaped."""
    return escape_markdown(collapse_whitespace(text))


def html_page(title: str, body: str, *, language: str = "en", direction: str = "ltr", script: str = "") -> str:
    """Return an HTML file around ``body``, which the caller has escaped; in the app's colours, light and dark.

    ``script``: the only one that a browser runs in it.
    """
    opening, run = html_opening(title, language=language, direction=direction), ""
    if script:
        digest = b64encode(sha256(script.encode()).digest()).decode()
        opening = opening.replace("default-src 'none'", f"default-src 'none'; script-src 'sha256-{digest}'", 1)
        run = f'<script type="module">{script}</script>'
    return f"{opening}{body}{run}{HTML_CLOSING}"


def html_opening(title: str, *, language: str = "en", direction: str = "ltr") -> str:
    """Return everything in the file before its body; HTML_CLOSING ends it."""
    return (
        f'<!doctype html><html lang="{escape(language)}" dir="{direction}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{_styles()}</style></head><body>"
    )


def _styles() -> str:
    """Return the app's tokens, following the reader's own light or dark setting, and the rules of exported pages."""
    tokens = (ASSETS / "tokens.css").read_text(encoding="utf-8")
    dark = tokens.split('[data-theme="dark"]', 1)
    night = ""
    if len(dark) == 2 and "{" in dark[1]:
        rules = dark[1].split("{", 1)[1].split("}", 1)[0]
        night = f"@media screen and (prefers-color-scheme: dark) {{ :root {{{rules}}} }}"
    return f"{tokens}\n{night}\n{(ASSETS / 'export.css').read_text(encoding='utf-8')}"
