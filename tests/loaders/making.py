"""The bundled samples made into every format the loaders open, with what real files put in the way."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

import docx
from reportlab.lib.pagesizes import A5
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from readagent_core.document import Document
from readagent_core.loaders import load
from tests.loaders.picturing import book

SAMPLES = Path(__file__).resolve().parent.parent.parent / "assets" / "samples"
NAMES = ("the-keeper-of-harrow-light", "harrow-council-minutes", "yuki-no-eki")
_EMPHASIS = re.compile(r"\*(\S[^*\n]*\S|\S)\*")


def plain(text: str) -> str:
    """Without Markdown's emphasis marks, which no other format has."""
    return text if text.strip() == "* * *" else _EMPHASIS.sub(r"\1", _EMPHASIS.sub(r"\1", text))


@cache
def sample(name: str) -> Document:
    return load((SAMPLES / f"{name}.md").read_bytes(), f"{name}.md")


def parts(document: Document) -> list[tuple[str, list[str]]]:
    """(section title, its paragraphs); '' for what comes before the first section."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for index, paragraph in enumerate(document.paragraphs):
        for section in document.headings(index):
            found.append((section.title, []))
        found[-1][1].append(plain(paragraph.text))
    return [part for part in found if part[0] or part[1]]


def as_text(document: Document, *, wrap: int = 0) -> bytes:
    """Plain text; with ``wrap``, hard-wrapped at that many characters."""
    pieces = [f"{document.title}\n\nby {document.author}\n"]
    for title, paragraphs in parts(document):
        if title:
            pieces.append(f"\n\n{title}\n\n")
        pieces += ["\n".join(_wrapped(line, wrap) for line in p.split("\n")) + "\n" for p in paragraphs]
    return "\n".join(pieces).encode()


def _wrapped(line: str, width: int) -> str:
    lines, held = [], ""
    for word in line.split(" ") if width else [line]:
        if held and len(held) + 1 + len(word) > width:
            lines.append(held)
            held = word
        else:
            held = f"{held} {word}" if held else word
    return "\n".join([*lines, held])


def _body(paragraphs: list[str]) -> str:
    return "\n".join(
        "<hr/>" if p == "* * *" else f"<p>{html.escape(p).replace(chr(10), '<br/>')}</p>" for p in paragraphs
    )


def as_html(document: Document) -> bytes:
    """A page with navigation, a cookie bar and a footer around the text."""
    inner = "".join((f"<h2>{html.escape(t)}</h2>" if t else "") + _body(p) for t, p in parts(document))
    return (
        f'<!doctype html><html lang="{document.language}"><head><meta charset="utf-8">'
        f'<title>{html.escape(document.title)} | A Library</title><meta name="author" content="{document.author}">'
        "<script>track('me')</script><style>p{margin:0}</style></head><body>"
        '<nav><a href="/">Home</a> <a href="/books">All our books</a></nav>'
        '<div class="cookie-banner">We use cookies to make this page better. <button>Accept</button></div>'
        f"<main><h1>{html.escape(document.title)}</h1>{inner}</main>"
        "<footer>Copyright, imprint and privacy</footer></body></html>"
    ).encode()


def as_epub(document: Document) -> bytes:
    """A chapter a file, with nav and NCX, and a title page."""
    chapters = {title or document.title: _body(paragraphs) for title, paragraphs in parts(document)}
    return book(chapters, {}, document.title, author=document.author, language=document.language)


def as_docx(document: Document) -> bytes:
    """Headings by their style, and the title as its own paragraph."""
    made = docx.Document()
    made.core_properties.title = document.title
    made.core_properties.author = document.author
    made.core_properties.language = document.language
    made.add_heading(document.title, 0)
    for title, paragraphs in parts(document):
        if title:
            made.add_heading(title, 1)
        for text in paragraphs:
            made.add_paragraph(text)
    out = BytesIO()
    made.save(out)
    return out.getvalue()


@dataclass
class Press:
    """Sets a document as a PDF. ``indent``: of first lines; 0 separates paragraphs by a gap instead."""

    columns: int = 1
    indent: float = 14
    hyphens: bool = True
    header: bool = True
    size: float = 10

    def __call__(self, document: Document) -> bytes:
        self.out = BytesIO()
        self.canvas = Canvas(self.out, pagesize=A5)
        self.canvas.setTitle(document.title)
        self.canvas.setAuthor(document.author)
        self.document = document
        self.font, self.bold = "Times-Roman", "Times-Bold"
        if document.language == "ja":
            self.font = self.bold = "HeiseiMin-W3"
            pdfmetrics.registerFont(UnicodeCIDFont(self.font))
        self.width, self.height = A5
        self.column_width = (self.width - 90 - 18 * (self.columns - 1)) / self.columns
        self.page = 0
        self._new_page()
        for title, paragraphs in parts(document):
            if title:
                self._heading(title)
            after_heading = True
            for text in paragraphs:
                self._paragraph(text, first=after_heading)
                after_heading = False
        self.canvas.save()
        return self.out.getvalue()

    def _new_page(self) -> None:
        if self.page:
            self.canvas.showPage()
        self.page += 1
        self.canvas.setFont(self.font, 8)
        if self.header:
            name = self.document.title if self.page % 2 else self.document.author
            self.canvas.drawCentredString(self.width / 2, self.height - 30, name[:50])
        self.canvas.drawCentredString(self.width / 2, 26, str(self.page))
        self.column = 0
        self.y = self.height - 55

    def _down(self, step: float) -> None:
        self.y -= step
        if self.y < 48:
            self.column += 1
            self.y = self.height - 55
            if self.column == self.columns:
                self._new_page()

    @property
    def left(self) -> float:
        return 45 + self.column * (self.column_width + 18)

    def _heading(self, title: str) -> None:
        if self.y < 130:
            self._down(1000)
        self._down(26)
        for line in self._lines(title, self.bold, 15, 0, hyphens=False):
            self.canvas.setFont(self.bold, 15)
            self.canvas.drawString(self.left, self.y, line)
            self._down(17)
        self._down(10)

    def _paragraph(self, text: str, *, first: bool) -> None:
        if text == "* * *":
            self._down(6)
            self.canvas.setFont(self.font, self.size)
            self.canvas.drawCentredString(self.left + self.column_width / 2, self.y, text)
            self._down(self.size * 1.25 + 6)
            return
        verse = "\n" in text
        if verse or not self.indent:
            self._down(6)
        indent = 0 if first or verse else self.indent
        lines = text.split("\n") if verse else self._lines(text, self.font, self.size, indent, hyphens=self.hyphens)
        for number, line in enumerate(lines):
            self.canvas.setFont(self.font, self.size)
            start = 24 if verse else indent if number == 0 else 0
            last = number == len(lines) - 1
            spaces = line.count(" ")
            rest = self.column_width - start - pdfmetrics.stringWidth(line, self.font, self.size)
            spread = rest / spaces if spaces and not last and not verse and 0 < rest < 60 else 0
            self.canvas.drawString(self.left + start, self.y, line, wordSpace=spread)
            self._down(self.size * 1.25)
        if verse:
            self._down(6)

    def _lines(self, text: str, font: str, size: float, indent: float, *, hyphens: bool) -> list[str]:
        """Lines as a simple typesetter breaks them: at spaces, at hyphens, and inside long words."""
        if self.document.language == "ja":
            fit = int((self.column_width - indent) // size)
            rest = text[fit:]
            per = int(self.column_width // size)
            return [text[:fit], *(rest[i : i + per] for i in range(0, len(rest), per))]
        lines, held, room = [], "", self.column_width - indent
        for word in re.findall(r"[^\s-]+-?|-+|\s+", text):
            if pdfmetrics.stringWidth((held + word).rstrip(), font, size) <= room:
                held += word
                continue
            cut = self._cut(held, word, font, size, room) if hyphens and word.isalpha() and word.islower() else 0
            lines.append((held + word[:cut] + "-" if cut else held).rstrip())
            held, room = word[cut:].lstrip(), self.column_width
        return [*lines, held.rstrip()]

    def _cut(self, held: str, word: str, font: str, size: float, room: float) -> int:
        for cut in range(len(word) - 3, 2, -1):
            if len(word) > 6 and pdfmetrics.stringWidth(held + word[:cut] + "-", font, size) <= room:
                return cut
        return 0
