"""What an agent may look at in the library: books, passages, gists, pages, notes and the world of a book.

A book whose spoiler limit is on is seen only as far as that limit lets in, in every tool. Raises ReadAgentError,
whose text says what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel

from readagent_core.answering.base import AskSettings, Question
from readagent_core.answering.levels import make_levels
from readagent_core.answering.resources import workspace_resources
from readagent_core.answering.retrieval import rank_by_bm25
from readagent_core.answering.run import Run
from readagent_core.answering.view import find_in_texts, find_places, first_view
from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Section
from readagent_core.errors import NotInLibraryError
from readagent_core.library.marks import Mark
from readagent_core.mcp_server import results
from readagent_core.mcp_server.seen import CHARACTERS, SeenLibrary, cut_text, known_page, page_finder, with_gists
from readagent_core.models.cost.meter import Metered
from readagent_core.words import count_of, count_words
from readagent_core.workspace import Workspace
from readagent_core.world.as_of import Entity, Known, Line, Order
from readagent_core.world.telling import line_to_dict

_ROWS = 100  # books, sections or marks in one result
_MOST_PAGES = 20
_DIGITS = 9  # of the number of a page or paragraph
_AROUND = 3  # paragraphs on either side of a passage that is fetched
R = TypeVar("R")
M = TypeVar("M", bound=BaseModel)


class LookingTools:
    """``cancel`` in a call ends it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._library = workspace, workspace.library
        self._books = SeenLibrary(workspace.library)

    # --- what there is ------------------------------------------------------------------------------

    def list_books(self, query: str, shelf: str, tag: str, start: int) -> results.BookList:
        words = query.casefold().split()
        found = [
            card
            for card in self._library.cards()
            if all(word in f"{card.book.title} {card.book.author}".casefold() for word in words)
            and (not shelf or shelf in card.shelves)
            and (not tag or tag in card.tags)
        ]
        books, following = _part(found, start, self._books.describe)
        return results.BookList(books=books, total=len(found), next=following)

    def search(self, query: str, most: int) -> results.SearchResults:
        for _ in self._library.index_texts():
            pass
        titles = {card.book.id: card.book.title for card in self._library.cards()}
        found: list[results.SearchResult] = []
        most = min(most, _ROWS)
        for hit in self._library.search_all(query, limit=_ROWS):
            memory, whole = self._books.seen(hit.book_id)
            if hit.book_id not in titles or hit.paragraph >= len(whole.paragraphs) or len(found) >= most:
                continue
            page = page_finder(memory, whole)(hit.paragraph)
            name = f"{hit.book_id}/page/{page}" if page else f"{hit.book_id}/paragraph/{hit.paragraph}"
            text = "".join(part for part, _ in hit.parts)
            found.append(results.SearchResult(id=name, title=titles[hit.book_id], url=f"book://{name}", text=text))
        return results.SearchResults(results=_part(found, 0, _same)[0])

    def fetch(self, id: str, start: int) -> results.Fetched:
        book_id, _, rest = id.removeprefix("book://").partition("/")
        kind, _, number = rest.partition("/")
        if kind not in ("page", "paragraph") or not number.isdecimal() or len(number) > _DIGITS:
            raise NotInLibraryError(f"'{id}' is no id of `search`. It looks like BOOK/page/7 or BOOK/paragraph/120.")
        memory, whole = self._books.seen(book_id)
        if kind == "page":
            memory = with_gists(memory, book_id)
            text = memory.page_text(known_page(memory, int(number)))
        else:
            first = int(number)
            if first >= len(whole.paragraphs):
                raise NotInLibraryError(f"This book has no paragraph {first} that may be seen.")
            text = whole.text(max(0, first - _AROUND), min(len(whole.paragraphs), first + _AROUND + 1))
        piece, following = cut_text(text, start)
        title = f"{whole.title}, {kind} {number}"
        about = {"author": whole.author, "language": whole.language}
        return results.Fetched(id=id, title=title, text=piece, url=f"book://{id}", metadata=about, next=following)

    def outline(self, book: str, start: int) -> results.Outline:
        memory, whole = self._books.seen(book)
        page_of = page_finder(memory, whole)
        starts = [section.start for section in whole.sections]
        ends = [*starts[1:], len(whole.paragraphs)][: len(starts)]

        def describe(row: tuple[Section, int]) -> results.SectionInfo:
            section, end = row
            return results.SectionInfo(
                title=section.title,
                level=section.level,
                words=sum(p.words for p in whole.paragraphs[section.start : end]),
                page=page_of(section.start),
                paragraph=section.start,
            )

        sections, following = _part(list(zip(whole.sections, ends, strict=True)), start, describe)
        return results.Outline(
            book=self._books.describe(self._books.card(book)),
            sections=sections,
            note=self._books.limit_note(book),
            next=following,
        )

    # --- the memory ---------------------------------------------------------------------------------

    def gist_memory(
        self, book: str, words: int | None, about: str, start: int, *, cancel: CancelToken
    ) -> results.MemoryText:
        """``words``: the finest view of at most so many; where it needs gists of ranges of pages, a model makes them.

        ``about``: what the view is to be finest for.
        """
        memory = with_gists(self._books.seen(book)[0], book)
        note, text = self._books.limit_note(book), memory.gist_text
        if words is not None and memory.gist_words > words:
            resources = workspace_resources(self._workspace, self._library.book(book).document_id)
            metered = Metered(self._workspace.model)
            run = Run("gist-memory", Question(about), memory, metered, AskSettings(), cancel, resources)
            ranking = rank_by_bm25(about, memory) if about.strip() else ()
            view = first_view(make_levels(run, words), words, ranking)
            text = view.text()
            made = f" {count_of(metered.usage.calls, 'call')} to {metered.name}." if metered.usage.calls else ""
            note = " ".join(filter(None, [note, f"A view of the {memory.gist_words:,} words of gists.{made}"]))
        piece, following = cut_text(text, start)
        pages = len(memory.readable)
        return results.MemoryText(
            book=book,
            title=memory.document.title,
            pages=pages,
            text=piece,
            words=count_words(piece),
            note=note,
            next=following,
        )

    def open_pages(self, book: str, pages: Sequence[int], start: int) -> results.Pages:
        memory = with_gists(self._books.seen(book)[0], book)
        opened: list[results.PageText] = []
        left_out: list[str] = []
        room = CHARACTERS
        for number in dict.fromkeys(pages):
            if number not in memory.readable:
                left_out.append(f"page {number}: this book has pages 1 to {memory.readable[-1]} that may be seen")
            elif room <= 0 or len(opened) == _MOST_PAGES:
                left_out.append(f"page {number}: no room in this result, ask for it in another call")
            else:
                text, following = cut_text(memory.page_text(number), 0 if opened else start, room)
                section, gist = memory.section_of(number), memory.gists[number - 1]
                room -= len(text) + (len(gist.text) if gist else 0)
                opened.append(
                    results.PageText(
                        number=number,
                        section=section.title if section else "",
                        text=text,
                        gist=gist.text if gist else "",
                        next=following,
                    )
                )
        if not opened:
            raise NotInLibraryError("; ".join(left_out) or "Name at least one page.")
        return results.Pages(book=book, title=memory.document.title, pages=opened, left_out=left_out)

    def find(self, book: str, words: str, most: int) -> results.Places:
        memory, whole = self._books.seen(book)
        most = min(max(1, most), _ROWS)
        if memory is not None and memory.complete:
            found = [
                results.Place(page=place.page, paragraph=memory.page(place.page).start, line=place.line)
                for place in find_places(memory, words, most=most)
            ]
        else:
            page_of = page_finder(memory, whole)
            texts = enumerate(paragraph.text for paragraph in whole.paragraphs)
            found = [
                results.Place(page=page_of(place.page), paragraph=place.page, line=place.line)
                for place in find_in_texts(texts, words, most=most)
            ]
        note = self._books.limit_note(book)
        if not found:
            note = f"{note} Nothing: these exact words are not there. Try fewer words, or `search`.".strip()
        return results.Places(book=book, title=whole.title, places=_part(found, 0, _same)[0], note=note)

    def notes(self, book: str, start: int) -> results.Notes:
        title = self._books.card(book).book.title

        def describe(mark: Mark) -> results.MarkInfo:
            return results.MarkInfo(
                kind=mark.kind,
                words=mark.exact,
                note=mark.note,
                colour=mark.colour,
                section=mark.section,
                changed=mark.changed or mark.created,
            )

        shown, following = _part(self._library.marks(book), start, describe)
        return results.Notes(book=book, title=title, marks=shown, next=following)

    # --- the book's world ---------------------------------------------------------------------------

    def cast(self, book: str, kind: str, page: int | None, start: int) -> results.Cast:
        known, document = self._books.known(book, page)
        entities = [entity for entity in known.entities if kind in ("", entity.kind)]
        entities.sort(key=lambda entity: entity.is_met_once)
        shown, following = _part(entities, start, _describe)
        note = self._world_note(book, known)
        title = document.title
        return results.Cast(book=book, title=title, as_of_page=known.page, entities=shown, note=note, next=following)

    def world_card(self, book: str, name: str, page: int | None, start: int) -> results.Card:
        known, document = self._books.known(book, page)
        entity = known.entity(name)
        if entity is None:
            raise NotInLibraryError(
                f"Up to page {known.page} nobody and nothing is called '{name}'. `cast` has the names."
            )
        lines, following = _part(entity.lines, start, lambda line: _line_info(line, document))
        return results.Card(
            book=book,
            as_of_page=known.page,
            entity=_describe(entity),
            pages=list(entity.pages),
            lines=lines,
            note=self._world_note(book, known),
            next=following,
        )

    def timeline(self, book: str, by_time: bool, page: int | None, start: int) -> results.Timeline:
        known, document = self._books.known(book, page)
        events = known.timeline(Order.TIME if by_time else Order.TOLD)
        shown, following = _part(events, start, lambda line: _line_info(line, document))
        note = self._world_note(book, known)
        return results.Timeline(book=book, as_of_page=known.page, happened=shown, note=note, next=following)

    def _world_note(self, book: str, known: Known) -> str:
        missing = len(known.without_notes) + len(known.failed)
        without = f"{count_of(missing, 'page')} without notes: names there are found by rule." if missing else ""
        return " ".join(filter(None, [self._books.limit_note(book), without]))


def _part(rows: Sequence[R], start: int, describe: Callable[[R], M]) -> tuple[list[M], int | None]:
    """Return the rows from ``start`` on that have room in a result, and the start of the rest; None at the end."""
    shown: list[M] = []
    room = CHARACTERS
    for row in rows[start : start + _ROWS]:
        made = describe(row)
        room -= len(made.model_dump_json())
        if shown and room < 0:
            break
        shown.append(made)
    following = start + len(shown)
    return shown, following if following < len(rows) else None


def _describe(entity: Entity) -> results.EntityInfo:
    return results.EntityInfo(
        name=entity.name,
        kind=entity.kind,
        also=[other.name for other in entity.also],
        first_page=entity.pages[0][0] if entity.pages else None,
        mentions=entity.mentions,
        told=len(entity.lines),
        met_once=entity.is_met_once,
    )


def _line_info(line: Line, document: Document) -> results.LineInfo:
    return results.LineInfo(**line_to_dict(line, document))


def _same(row: M) -> M:
    return row
