"""Books of the library that a question is asked of: a selection, a shelf or a tag, each with its own spoiler limit.

What is shown first comes from few queries of the library however many books there are; a book's text is loaded when it
is opened or when words were found in it. Every memory that is loaded ends at the book's spoiler limit, so nothing later
can enter a prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from readagent_core.answering.base import Answer, AskSettings, Question
from readagent_core.answering.levels import make_levels
from readagent_core.answering.limits import page_allowed
from readagent_core.answering.resources import Resources, workspace_resources
from readagent_core.answering.run import Run
from readagent_core.answering.shelf import OPENING, OWN_WORDS, AskedShelf, ShelfBook, book_of
from readagent_core.answering.shelf_view import OPENED_WORDS
from readagent_core.answering.view import PLACES, FoundLine, find_in_texts, find_places
from readagent_core.cancel import CancelToken
from readagent_core.citations import Checked
from readagent_core.citations.several import Source, check_several
from readagent_core.errors import NotInLibraryError, SettingsError
from readagent_core.library.several import BookToAsk
from readagent_core.memory import GistMemory
from readagent_core.models.builtin.introductions import SPEECH, introduces, mentions, person_asked
from readagent_core.models.builtin.statistics import content, shared_words, split_sentences
from readagent_core.models.cost.meter import Metered
from readagent_core.words import count_of, count_words, is_unspaced, split_long
from readagent_core.workspace import Workspace

MOST_BOOKS = 1000
GIST_OF_BOOK = "gist of the book"  # in the artifact store
INDEXED_NOW = 20  # texts that are made searchable before a question is answered
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_SEARCHED = 8  # books in which places of words are looked for, those with most of them
_PASSAGE_WORDS = 60
_PASSAGES_OF_BOOK = 2


def checked_answer_of_several(workspace: Workspace, text: str, answer: Answer) -> Checked:
    """``text`` of an answer from several books in pieces with its citations, each with the number of its book."""
    sources: dict[int, Source] = {}
    for book in answer.books:
        memory = workspace.library.memory(book.reading_id) if book.reading_id else None
        if memory is not None and book.up_to is not None:
            memory = memory.up_to(book.up_to)
        full = [n for n, how in book.seen.items() if how == "full"]
        sources[book.number] = Source(memory, full, list(book.seen), book.title, book.passages, book.found)
    return check_several(text, sources)


def make_book_gist(workspace: Workspace, memory: GistMemory) -> str:
    """Return the gist of a whole book, at most ``OWN_WORDS`` long where there is more than one level of gists.

    The workspace's model makes the gists of ranges of pages that are missing; they are stored. Raises ModelError.
    """
    resources = workspace_resources(workspace, memory.document.id)
    run = Run("book-gist", Question(""), memory, Metered(workspace.model), AskSettings(), CancelToken(), resources)
    levels = make_levels(run, OWN_WORDS)
    return "\n\n".join(map(levels.gist, levels.top))


class LibraryShelf(AskedShelf):
    """Books of the library. ``model``: by whom gists of whole books are made, and were made.

    ``on_screen``: stories that nobody has begun are kept out, as on the screens of each (see ``Position.allowed``).
    """

    def __init__(self, workspace: Workspace, book_ids: Sequence[str], model: str, *, on_screen: bool = False) -> None:
        self._library, self._model = workspace.library, model
        book_ids = list(dict.fromkeys(book_ids))
        if len(book_ids) > MOST_BOOKS:
            raise SettingsError(
                f"At most {MOST_BOOKS:,} books can be asked at once, not {len(book_ids):,}. Choose fewer."
            )
        found = self._library.books_to_ask(book_ids)
        if not found:
            raise NotInLibraryError("None of these books is in the library any more.")
        gists = self._library.stored_artifacts(GIST_OF_BOOK, [book.document_id for book in found])
        if on_screen:
            found = [replace(row, position=row.position.on_screen) for row in found]
        self._rows: dict[str, BookToAsk] = {row.id: row for row in found}
        described = [self._describe(row, gists) for row in found]
        let_in = [book for book in described if self._rows[book.id].position.allowed != 0]
        self.books = tuple(replace(book, number=number) for number, book in enumerate(let_in, start=1))
        self._by_text = {self._rows[book.id].document_id: book for book in self.books}
        left_out = len(found) - len(let_in)
        if left_out and not on_screen:  # where each of them is named
            self.notes = (f"{count_of(left_out, 'book')} left out: the spoiler limit lets nothing in yet.",)

    def is_limited(self, book: ShelfBook) -> bool:
        """Whether the spoiler limit keeps out a part of a book's text."""
        row = self._rows[book.id]
        return book.up_to is not None if book.pages else book.text_words < row.text_words

    def is_lifted(self, book: ShelfBook) -> bool:
        """Whether somebody turned the spoiler limit of a book off that is not read to its end."""
        row = self._rows[book.id]
        return row.position.lifted and row.position.words_read < row.text_words

    def make_searchable(self, cancel: CancelToken) -> None:
        """Index the texts that words cannot be looked for in, if they are few; else say so in the notes."""
        texts = self._library.unindexed(list(self._by_text))
        for document_id in texts[:INDEXED_NOW]:
            cancel.check()
            self._library.index_text(document_id)
        left = len(texts[INDEXED_NOW:])
        if left:
            self.notes += (f"Words cannot be looked for in {count_of(left, 'book')} yet: the texts are not indexed.",)

    def memory(self, book: ShelfBook) -> GistMemory:
        memory = self._library.memory(book.gisting_id)
        return memory if book.up_to is None else memory.up_to(book.up_to)

    def resources(self, resources: Resources, book: ShelfBook) -> Resources:
        return replace(resources, artifacts=self._library.artifacts(self._rows[book.id].document_id))

    def store_gist(self, book: ShelfBook, gist: str) -> None:
        super().store_gist(book, gist)
        row = self._rows[book.id]
        value = {"changed": row.changed, "text": gist}
        self._library.artifacts(row.document_id).save(GIST_OF_BOOK, self._key(row, book.up_to), value)

    def find(self, words: str) -> list[FoundLine]:
        texts = self._library.texts_with(words, list(self._by_text))
        found: list[FoundLine] = []
        for book in (self._by_text[text] for text in texts[:_SEARCHED]):
            if book.pages:
                places = find_places(self.memory(book), words, most=self.places_of_book)
            else:
                paragraphs = self._paragraphs(book)
                places = [
                    FoundLine(0, place.line)
                    for place in find_in_texts(enumerate(paragraphs), words, most=self.places_of_book)
                ]
            found += [replace(place, book=book.number) for place in places]
        return found[:PLACES]

    def passages(self, question: str) -> list[FoundLine]:
        unread = [self._rows[book.id].document_id for book in self.books if not book.pages]
        wanted = " ".join(question[start:end] for start, end in shared_words(question, question))
        terms, (name, _) = set(content(wanted)), person_asked(question)
        ranked = self._library.passages(wanted, unread) if unread else []
        found: list[FoundLine] = []
        for text, index in [*self._of_person(name, ranked), *ranked]:
            book = self._by_text[text]
            if sum(place.book == book.number for place in found) < _PASSAGES_OF_BOOK:
                paragraphs = self._paragraphs(book)
                if index < len(paragraphs):
                    pieces = split_long(paragraphs[index], _PASSAGE_WORDS, book.language)
                    told = [piece for piece in pieces if name and introduces(piece, name)] or pieces
                    best = max(told, key=lambda piece: len(terms & set(content(piece))))
                    line = FoundLine(0, best.strip(), book.number)
                    found += [] if line in found else [line]
            if len(found) == PLACES:
                break
        return found

    def _of_person(self, name: str, ranked: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """Of each of the first texts of ``ranked`` the paragraph that says who a person is, and the first that tells of
        the person; of whom the last name alone may be another's. None without a name.
        """
        words, found = name.split(), list[tuple[str, int]]()
        for text in list(dict.fromkeys(text for text, _ in ranked))[:_SEARCHED] if words else ():
            book = self._by_text[text]
            sentences = [
                (i, sentence)
                for i, paragraph in enumerate(self._paragraphs(book))
                if words[0] in paragraph or words[-1] in paragraph
                for sentence in split_sentences(paragraph, book.language)
            ]
            told = [(i, s) for i, s in sentences if introduces(s, name)]
            told.sort(key=lambda row: (name not in row[1], words[0] not in row[1], row[1].startswith(SPEECH)))
            first = [row for row in sentences if mentions(row[1], name)]
            found += [(text, i) for i, _ in [*told[:1], *first[:1]]]
        return found

    def nowhere(self, question: str, books: Sequence[ShelfBook]) -> tuple[str, ...]:
        """Return the words of ``question`` that none of ``books`` has, as far as the spoiler limits let in.

        None of scripts without spaces, or where the books have more than ``OPENED_WORDS``: each is read for it.
        """
        if is_unspaced(question) or self.words > OPENED_WORDS:
            return ()
        left = {word: set(content(word)) for word in _WORD.findall(question) if len(word) > 1}
        left = {word: stems for word, stems in left.items() if stems}
        for book in books:
            if left:
                known = set(content("\n".join(self._paragraphs(book))))
                left = {word: stems for word, stems in left.items() if not stems <= known}
        return tuple(left)

    def _describe(self, row: BookToAsk, gists: dict[tuple[str, str], str]) -> ShelfBook:
        """A book as the question may see it; its number is set later."""
        book = ShelfBook(0, row.id, row.title, row.author, row.language)
        up_to = self._last_page(row) if row.gisting_id else 0
        if up_to == 0:  # a limit within page 1 of the gists lets in the text alone
            return replace(book, text_words=self._text_words(row))
        stored = json.loads(gists.get((row.document_id, self._key(row, up_to)), "{}"))
        own = str(stored["text"]) if stored.get("changed") == row.changed else ""
        if up_to is not None:
            memory = self._library.memory(row.gisting_id).up_to(up_to)
            limited = book_of(0, memory, id=row.id, gisting_id=row.gisting_id, up_to=up_to)
            return replace(limited, gist=own or limited.gist)
        opening = row.opening[:OPENING]
        words = count_words(row.opening) * row.characters // max(1, len(row.opening))
        return replace(
            book,
            words=row.words,
            pages=row.pages,
            gist_words=words,
            gist=own or (row.opening if words <= OWN_WORDS else ""),
            opening=opening,
            gisting_id=row.gisting_id,
        )

    def _last_page(self, row: BookToAsk) -> int | None:
        """The last page that the book's spoiler limit lets in, 0 for none; None where there is no limit."""
        if row.position.allowed is None:
            return None
        whole = self._library.document(row.id, document_id=row.document_id)
        return page_allowed(self._library.memory(row.gisting_id), whole, row.position)

    def _key(self, row: BookToAsk, up_to: int | None) -> str:
        return f"{row.gisting_id} {up_to or ''} {self._model}"

    def _paragraphs(self, book: ShelfBook) -> list[str]:
        """The paragraphs of a book, as far as its spoiler limit lets in."""
        row = self._rows[book.id]
        whole = self._library.document(book.id, document_id=row.document_id)
        return [paragraph.text for paragraph in whole.paragraphs[: row.position.allowed]]

    def _text_words(self, row: BookToAsk) -> int:
        """The words of a text without gists, as far as its spoiler limit lets in."""
        if row.position.allowed is None:
            return row.text_words
        whole = self._library.document(row.id, document_id=row.document_id)
        return sum(paragraph.words for paragraph in whole.paragraphs[: row.position.allowed])
