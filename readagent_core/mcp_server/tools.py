"""What an agent may do with the library. Synchronous; the server runs it in threads.

A book whose spoiler limit is on is seen only as far as that limit lets in, in every tool. Asking saves nothing in the
library but what it computed for later questions. Raises ReadAgentError, whose text says what to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from readagent_core.answering.ask import ask
from readagent_core.answering.base import Answer, Answered, AskSettings, Event, LookedUp, ModelCall, Question, Searched
from readagent_core.answering.levels import make_levels
from readagent_core.answering.library_shelf import LibraryShelf, checked_answer_of_several
from readagent_core.answering.replay import checked_answer
from readagent_core.answering.resources import workspace_resources
from readagent_core.answering.retrieval import rank_by_bm25
from readagent_core.answering.run import Run
from readagent_core.answering.shelf import AskedShelf
from readagent_core.answering.view import find_in_texts, find_places, first_view
from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Section
from readagent_core.errors import NotInLibraryError, ReadAgentError, SettingsError
from readagent_core.gisting import GistingProgress
from readagent_core.gisting.costs import estimate_sentence
from readagent_core.gisting.job import start_gisting, usual_plan
from readagent_core.incoming.links import is_address, open_link, open_pasted_text
from readagent_core.incoming.opening import open_file, read_file
from readagent_core.jobs import Job
from readagent_core.library.marks import Mark
from readagent_core.mcp_server import results
from readagent_core.mcp_server.seen import CHARACTERS, SeenLibrary, cut_text, known_page, page_finder, with_gists
from readagent_core.memory import GistMemory
from readagent_core.models.cost.meter import Metered
from readagent_core.words import count_of, count_words
from readagent_core.workspace import Workspace
from readagent_core.world.as_of import Entity, Known, Line, Order
from readagent_core.world.telling import line_to_dict

_ROWS = 100  # books, sections or marks in one result
_MOST_PAGES = 20
_DIGITS = 9  # of the number of a page or paragraph
_AROUND = 3  # paragraphs on either side of a passage that is fetched
_POLL_SECONDS = 0.2
R = TypeVar("R")
M = TypeVar("M", bound=BaseModel)
Report = Callable[[float, float | None, str], None]


class Tools:
    """``cancel`` in a call ends it; ``report`` is called with what was done, of how much, and a line of words."""

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

    # --- questions ----------------------------------------------------------------------------------

    def ask(
        self,
        books: Sequence[str],
        question: str,
        *,
        method: str = "",
        look_ups: int = 3,
        options: Sequence[str] = (),
        cancel: CancelToken | None = None,
        report: Report | None = None,
    ) -> results.AnswerInfo:
        """Answer from one book or several. ``method``: by default what suits the model; zoom for several."""
        cancel, ids = cancel or CancelToken(), list(dict.fromkeys(books))
        for book_id in ids:
            self._books.card(book_id)  # raises where there is none
        asked, settings = Question(question.strip(), tuple(options)), AskSettings(look_ups=look_ups, may_decline=True)
        model = Metered(self._workspace.model)

        def answer_from(books: GistMemory | AskedShelf, text: str = "") -> Answer:
            resources = workspace_resources(self._workspace, text)
            events = ask(asked, books, model, cancel, method=method, settings=settings, resources=resources)
            return _last(events, report)

        if len(ids) > 1:
            answer = answer_from(LibraryShelf(self._workspace, ids, model.name))
            checked = checked_answer_of_several(self._workspace, answer.text, answer)
            shown = {book.number: (book.id, book.title) for book in answer.books}
            looked_up = {book.id: list(book.looked_up) for book in answer.books if book.looked_up}
            in_part = {book.id: book.pages_in_part for book in answer.books if book.passages}
        elif ids:
            memory = with_gists(self._books.seen(ids[0])[0], ids[0])
            answer = answer_from(memory, self._library.book(ids[0]).document_id)
            checked = checked_answer(answer.text, answer, memory)
            shown = {0: (ids[0], memory.document.title)}
            looked_up = {ids[0]: list(answer.looked_up)} if answer.looked_up else {}
            in_part = {ids[0]: answer.pages_in_part} if answer.passages else {}
        else:
            raise SettingsError("Name at least one book, by its id from `list_books`.")
        unknown = ("", "")
        return results.AnswerInfo(
            answer=cut_text(answer.text, 0)[0],
            answered_by=model.name if model.is_language_model else "Built-in reader: sentences that share your words",
            method=answer.method,
            option=asked.options[answer.option] if answer.option is not None else None,
            looked_up=looked_up,
            in_part=in_part,
            citations=[
                results.CitationInfo(
                    book=shown.get(c.book, unknown)[0],
                    title=shown.get(c.book, unknown)[1],
                    page=c.page,
                    state=c.state,
                    quotation=c.quotation,
                )
                for c in checked.citations
            ],
            words_seen=answer.memory_words,
            cost=answer.usage.cost,
            notes=list(answer.notes),
        )

    # --- changes ------------------------------------------------------------------------------------

    def add_book(self, source: str, text: str, *, local_files: bool, cancel: CancelToken) -> results.Done:
        """``local_files``: whether ``source`` may be a path on this computer."""
        if bool(source) == bool(text):
            raise SettingsError("Give either `source`, a web address or a path, or `text`.")
        if text:
            book = open_pasted_text(self._workspace, text)
        elif is_address(source):
            book = open_link(self._workspace, source, cancel)
        elif local_files:
            path = Path(os.path.expanduser(source))
            book = open_file(self._workspace, read_file(path), path.name)
        else:
            raise SettingsError(
                "Over HTTP only web addresses and texts are added: put the file on the web, or use stdio."
            )
        return results.Done(
            book=self._books.describe(self._books.card(book.id)), message="Added. `make_gists` makes its gists."
        )

    def start_gists(self, book: str) -> Job:
        """Have the model read the book in the background; one that was stopped resumes."""
        return start_gisting(self._workspace, self._books.card(book).book.id, None)

    def price_of_gists(self, book: str) -> str:
        """What making the gists of a book sends and costs, in a sentence; '' where it costs no money."""
        model, found = self._workspace.model, self._books.card(book).book
        if not model.is_language_model or (model.price is not None and not model.price.cost_of_words(1_000, 1_000)):
            return ""
        plan = usual_plan(self._workspace, found.words)
        return estimate_sentence(self._workspace, self._library.document(found.id), plan)

    def make_gists(self, book: str, *, cancel: CancelToken, report: Report) -> results.Done:
        """Have the model read the book, and wait for it."""
        job = self.start_gists(book)
        with cancel.on_cancel(job.cancel):
            while job.running:
                job.join(_POLL_SECONDS)
                value = job.snapshot.value
                if isinstance(value, GistingProgress):
                    report(value.words_read, value.words_total, gists_made(value))
        if job.exception is not None:
            raise job.exception
        return self.done_gists(job, book)

    def begun_gists(self, book: str) -> results.Done:
        return results.Done(book=self._books.describe(self._books.card(book)), message="Begun.")

    def done_gists(self, job: Job, book: str) -> results.Done:
        memory = self._library.memory(job.subject)
        return results.Done(
            book=self._books.describe(self._books.card(book)), message=f"Every page has its gist: {memory.made_by}."
        )


def gists_made(value: object) -> str:
    """'12 gists made', of what a job has published; '' where it has nothing yet."""
    return f"{count_of(value.gists, 'gist')} made" if isinstance(value, GistingProgress) else ""


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
    )


def _line_info(line: Line, document: Document) -> results.LineInfo:
    return results.LineInfo(**line_to_dict(line, document))


def _same(row: M) -> M:
    return row


def _last(events: Iterable[Event], report: Report | None) -> Answer:
    """The answer at the end of ``events``; each look-up and call is reported."""
    calls = 0
    for event in events:
        if isinstance(event, Answered):
            return event.answer
        if isinstance(event, ModelCall):
            calls += 1
        if report is not None and (line := _line(event)):
            report(calls, None, line)
    raise ReadAgentError("No answer came. Ask again.")


def _line(event: Event) -> str:
    if isinstance(event, LookedUp):
        named = ", ".join(map(str, event.pages or event.parts))
        return f"looked up {named}" if named else "no page was looked up"
    if isinstance(event, Searched):
        return "searched for words"
    return f"call: {event.task}" if isinstance(event, ModelCall) else ""
