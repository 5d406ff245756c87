"""What the tools return: the SDK makes the schema of each result from these classes.

Pages are numbered from 1. Lengths are in words. Every list and text is bounded; ``next`` is the value of ``start`` for
the rest, None at the end.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field


def _cut(longest: int) -> BeforeValidator:
    return BeforeValidator(lambda text: text if len(text) <= longest else f"{text[:longest]} …")


Title = Annotated[str, _cut(300)]
RowText = Annotated[str, _cut(4_000)]


class Part(BaseModel):
    """A result that may go on."""

    next: int | None = None


class OfBook(Part):
    book: str
    title: Title


class OfWorld(Part):
    book: str
    as_of_page: int
    note: str = ""


class BookInfo(BaseModel):
    """One book of the library."""

    id: str
    title: Title
    author: Title = ""
    language: str = ""
    words: int = 0
    gists: str = Field(description="'ready', 'none', or how many pages of it have gists")
    pages: int = 0
    only_read: bool = Field(False, description="The person lets you see only what they have read.")
    tags: list[Title] = []
    shelves: list[Title] = []


class BookList(Part):
    books: list[BookInfo]
    total: int


class SearchResult(BaseModel):
    id: str = Field(description="for `fetch`")
    title: Title
    url: str
    text: RowText = Field("", description="the words around the first place")


class SearchResults(BaseModel):
    results: list[SearchResult]


class Fetched(Part):
    """A page or passage in full."""

    id: str
    title: Title
    text: str
    url: str
    metadata: dict[str, Title] = {}


class SectionInfo(BaseModel):
    title: Title
    level: int
    words: int
    page: int | None = Field(None, description="the page it begins on, where there are pages")
    paragraph: int


class Outline(Part):
    book: BookInfo
    sections: list[SectionInfo]
    note: str = ""


class MemoryText(OfBook):
    """The gist memory, as the model of ReadAgent sees it: a gist below the tag of its page or range of pages."""

    pages: int
    text: str
    words: int
    note: str = ""


class PageText(BaseModel):
    number: int
    section: Title = ""
    text: str
    gist: str = ""
    next: int | None = Field(None, description="`start` for the rest of this page")


class Pages(BaseModel):
    book: str
    title: Title
    pages: list[PageText]
    left_out: list[str] = []


class Place(BaseModel):
    page: int | None = None
    paragraph: int
    line: RowText


class Places(BaseModel):
    book: str
    title: Title
    places: list[Place]
    note: str = ""


class CitationInfo(BaseModel):
    book: str
    title: Title
    page: int
    state: str = Field(description="'page': the words are there; 'memory': only a gist says so; 'not found'")
    quotation: RowText = ""


class AnswerInfo(BaseModel):
    """``answered_by``: the model. ``looked_up``: the pages read in full for it."""

    answer: str
    answered_by: str
    method: str
    option: str | None = None
    looked_up: dict[str, list[int]] = Field(default={}, description="by book")
    in_part: dict[str, list[int]] = Field(default={}, description="by book, pages of which passages were read")
    citations: list[CitationInfo] = []
    words_seen: int = 0
    cost: float | None = Field(None, description="US dollars")
    notes: list[RowText] = []


class MarkInfo(BaseModel):
    kind: str
    words: RowText = ""
    note: RowText = ""
    colour: str = ""
    section: Title = ""
    changed: str = ""


class Notes(OfBook):
    marks: list[MarkInfo]


class LineInfo(BaseModel):
    """What a page tells: ``words`` are the book's own that it rests on."""

    page: int
    kind: str
    name: Title
    says: RowText
    other: Title = ""
    when: Title = ""
    words: RowText = ""


class EntityInfo(BaseModel):
    """``also``: other names that were revealed by then."""

    name: Title
    kind: str
    also: list[Title] = []
    first_page: int | None = None
    mentions: int = 0
    told: int = Field(0, description="lines of its card, see `card`")
    met_once: bool = Field(False, description="has no name, and one page tells of it; may be another of the list")


class Cast(OfWorld):
    title: Title
    entities: list[EntityInfo]


class Card(OfWorld):
    entity: EntityInfo
    pages: list[tuple[int, int]] = Field([], description="page, mentions")
    lines: list[LineInfo] = Field([], description="newest last")


class Timeline(OfWorld):
    happened: list[LineInfo]


class Done(BaseModel):
    book: BookInfo
    message: str
