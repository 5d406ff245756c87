"""What every loader shares: the limits it keeps to, and the builder it hands headings and paragraphs to.

The builder holds the document's rules: headings are sections and never paragraphs, nothing is lost quietly,
characters that cannot be shown are taken out and counted. Knows nothing of any file format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice

from readagent_core.document import Cover, Document, Notice, Paragraph, Section
from readagent_core.errors import EmptyDocumentError, TooLargeError
from readagent_core.languages import detect_language
from readagent_core.loaders import contents

SCENE_BREAK = "* * *"
MEGABYTE = 1 << 20
_TITLE_PAGE = 6  # paragraphs
# control and format characters that are never text, byte order marks, and the soft hyphen
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\xad\ufeff\ufffe\uffff\u2060]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BY = re.compile(r"(?:by|von|par|por|di|door|av|著者?[:：])\s+", re.IGNORECASE)
_MARKUP = re.compile(r"[*_#\s]+")


@dataclass(frozen=True)
class Limits:
    """What a file may cost. Sizes in bytes; ``ratio``: how far an archive may grow; ``seconds`` and
    ``memory`` bound the process that opens an untrusted format."""

    file: int = 200 * MEGABYTE
    text: int = 32 * MEGABYTE
    page: int = 12 * MEGABYTE  # one HTML file: its tree takes some fifteen times its size
    unpacked: int = 400 * MEGABYTE
    ratio: int = 200
    entries: int = 10_000
    source_pages: int = 6_000
    words: int = 5_000_000
    seconds: float = 30.0
    memory: int = 400 * MEGABYTE


DEFAULT = Limits()


def clean(text: str) -> str:
    """``text`` without characters that are never text; halves of characters become U+FFFD."""
    return _SURROGATE.sub("\ufffd", _UNSEEN.sub("", text))


def check_size(data: bytes, limit: int, what: str) -> None:
    """Raise TooLargeError when ``data`` is over ``limit`` bytes."""
    if len(data) > limit:
        raise TooLargeError(
            f"{what} is {len(data) / MEGABYTE:,.0f} MB; at most {limit / MEGABYTE:,.0f} MB can be opened. "
            "Nothing was opened. Split it into parts, for example one file a volume, and open those."
        )


def same(one: str, other: str) -> bool:
    """Whether two titles or names are the same but for case, spacing and emphasis."""
    return bool(one) and _MARKUP.sub(" ", one).strip().casefold() == _MARKUP.sub(" ", other).strip().casefold()


def _letters(text: str, most: int | None = None) -> str:
    """The letters and figures of ``text``, at most so many."""
    return "".join(islice((c for c in text if c.isalnum()), most)).casefold()


def _is_near(line: str, author: str) -> bool:
    """Whether ``line`` is 'by' and the author's name, though spelt a little differently."""
    by = _BY.match(line)
    return by is not None and SequenceMatcher(None, line[by.end() :], author).ratio() > 0.9


class Builder:
    """Takes a document's pieces in order. ``place``: where the next paragraphs stand in the source."""

    def __init__(self) -> None:
        self.paragraphs: list[Paragraph] = []
        self.sections: list[Section] = []
        self.notices: list[Notice] = []
        self.place = ""
        self._rule = False

    def paragraph(self, text: str, place: str | None = None) -> None:
        text = clean(text).strip("\n ")
        if text.strip():
            opens = not self.paragraphs or (self.sections and self.sections[-1].start == len(self.paragraphs))
            if self._rule and not opens:
                self.paragraphs.append(Paragraph(SCENE_BREAK, self.paragraphs[-1].place))
            self._rule = False
            self.paragraphs.append(Paragraph(text, self.place if place is None else place))

    def rule(self) -> None:
        """A line across the page: a scene break between two paragraphs; ornament next to a heading or at an end."""
        self._rule = True

    def heading(self, title: str, level: int = 1) -> None:
        title = " ".join(clean(title).split())
        last = self.sections[-1] if self.sections else None
        if last and last.start == len(self.paragraphs) and same(last.title, title):
            return  # said twice: in the table of contents and again at the top
        if title:
            self.sections.append(Section(title, len(self.paragraphs), max(1, level)))

    def notice(self, code: str, message: str, count: int = 1) -> None:
        self.notices.append(Notice(code, message, count))

    def document(
        self,
        *,
        title: str,
        format: str,
        author: str = "",
        language: str = "",
        cover: Cover | None = None,
        limits: Limits = DEFAULT,
    ) -> Document:
        """The document. Raises EmptyDocumentError when there is no paragraph, TooLargeError over the word limit."""
        self._set_title_apart(title, author)
        self._keep_last_headings()
        self._set_contents_apart()
        self._set_title_page_apart(author)
        if not self.paragraphs:
            raise EmptyDocumentError("There is no text in this file. Nothing was added; open another file.")
        self._count_unreadable()
        text = "\n".join(p.text for p in self.paragraphs[:400])[:60_000]
        document = Document(
            title=" ".join(clean(title).split()) or "Untitled",
            paragraphs=tuple(self.paragraphs),
            sections=tuple(_flattened(self.sections)),
            author=" ".join(clean(author).split()),
            language=language or detect_language(text),
            format=format,
            warnings=tuple(self.notices),
            cover=cover,
        )
        if document.words > limits.words:
            raise TooLargeError(
                f"This text has {document.words:,} words; at most {limits.words:,} can be opened at once. "
                "Split it into parts, for example one file a volume, and open those."
            )
        return document

    def _set_title_apart(self, title: str, author: str) -> None:
        """The title and the author's name at the very start are metadata, not the first thing read."""
        near = [s for s in self.sections if s.start <= _TITLE_PAGE]
        for section in near:
            named = same(section.title, title)
            if (named and (len(self.sections) == 1 or section is not near[-1])) or self._is_author(
                section.title, author
            ):
                self.sections.remove(section)
        dropped = self._title_lines(title)
        for paragraph in self.paragraphs[dropped : dropped + 4]:
            line = paragraph.text
            if same(line, title) or self._is_author(line, author):
                dropped += 1
            else:
                break
        if dropped and dropped < len(self.paragraphs):
            del self.paragraphs[:dropped]
            self.sections = [Section(s.title, max(0, s.start - dropped), s.level) for s in self.sections]

    def _title_lines(self, title: str) -> int:
        """How many paragraphs at the very start say the title between them: 'MOBY-DICK;', 'or, THE WHALE.'"""
        texts = [p.text for p in self.paragraphs[:3]]
        parted = any(0 < s.start < 3 for s in self.sections)
        whole = _letters(title)
        most = len(whole) + 1  # a first paragraph may be the whole book
        return next((n for n in (2, 3) if not parted and whole and _letters("".join(texts[:n]), most) == whole), 0)

    def _set_title_page_apart(self, author: str) -> None:
        """'An Indian Tale' and 'by Hermann Hesse', set as headings above a first chapter's, are no sections."""
        first = self.sections[0].start if self.sections else 0
        here = [s for s in self.sections if s.start == first]
        by = next((n for n, s in enumerate(here[:-1], start=1) if _is_near(s.title, author)), 0)
        if by and first <= _TITLE_PAGE:
            lines = "\n".join(s.title for s in here[:by])
            self.paragraphs.insert(first, Paragraph(lines, self.paragraphs[first].place))
            self.sections = [Section(s.title, s.start + 1, s.level) for s in self.sections[by:]]

    @staticmethod
    def _is_author(line: str, author: str) -> bool:
        line, author = line.rstrip(" ."), author.rstrip(" .")
        by = _BY.sub("", _MARKUP.sub(" ", line).strip(), count=1)
        return bool(author) and (same(line, author) or same(by, author.split(" (")[0]) or same(by, author))

    def _keep_last_headings(self) -> None:
        """A heading with nothing under it would never be shown: it becomes a paragraph."""
        while self.sections and self.sections[-1].start >= len(self.paragraphs):
            last = [s for s in self.sections if s.start >= len(self.paragraphs)]
            self.sections = self.sections[: -len(last)]
            for section in last:
                self.paragraphs.append(Paragraph(section.title, self.place))

    def _set_contents_apart(self) -> None:
        """The sections are the table of contents; printed as text it would be the first thing read."""
        self.paragraphs, self.sections, entries = contents.set_apart(self.paragraphs, self.sections)
        if entries:
            self.notice(
                "contents",
                f"The table of contents ({entries:,} entries) was left out: each stands again in the book, as a "
                "section or as text.",
                entries,
            )

    def _count_unreadable(self) -> None:
        lost = sum(p.text.count("\ufffd") for p in self.paragraphs)
        if lost:
            self.notice(
                "undecodable", f"{lost:,} characters could not be decoded and stand as \ufffd in the text.", lost
            )


def _flattened(sections: list[Section]) -> list[Section]:
    """Sections with levels that start at 1 and skip none."""
    held: list[int] = []
    flat: list[Section] = []
    for section in sections:
        while held and held[-1] >= section.level:
            held.pop()
        held.append(section.level)
        flat.append(Section(section.title, section.start, len(held)))
    return flat
