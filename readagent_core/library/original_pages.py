"""The pages of the PDFs that books were made of, as pictures, and where words of the book stand on them.

A book's PDF is open in a child process from the first picture until a minute after the last. A password is stored in
the memory of this process only, and asked for again when the app was restarted.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from readagent_core.errors import NotInLibraryError, PasswordError
from readagent_core.library import Library
from readagent_core.loaders.pdf.picture import PdfFacts, PdfPages
from readagent_core.loaders.pdf.quotation import PagePlace

_MOST_OPEN = 3  # PDFs, a process each
_IDLE_SECONDS = 60.0
_PLACE = "p. "  # what the place of a paragraph begins with, before the printed number of its page
NO_ORIGINAL = (
    "The original file of this book is not in the library, so its pages cannot be shown. Open the file again to store "
    "it: the book keeps its place, marks and answers. (Settings, Storage, has the switch that stores original files.)"
)


@dataclass
class _Open:
    version: str
    pages: PdfPages
    used: float = 0.0


class OriginalPages:
    """The pages of the PDFs of one library. Any thread may call."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._passwords: dict[str, str] = {}
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def facts(self, book_id: str) -> tuple[PdfFacts, str]:
        """Returns the number and printed numbers of the pages, and the version of the file: another file has another.

        Raises NotInLibraryError, PasswordError where a password is needed, or another DocumentError."""
        opened = self._opened(book_id)
        return opened.pages.facts(), opened.version

    def draw(self, book_id: str, number: int, *, width: int) -> bytes:
        """Returns a JPEG of source page ``number``, from 1, about ``width`` pixels wide. Raises as ``facts``."""
        return self._opened(book_id).pages.draw(number, width=width)

    def find(self, book_id: str, text: str, start: int, end: int, place: str) -> tuple[PagePlace, ...]:
        """Returns where characters ``start`` to ``end`` of the paragraph ``text`` stand; () where that is not known.

        ``place``: the place of the paragraph in the document. Raises as ``facts``."""
        pages = self._opened(book_id).pages
        return pages.find(text, start, end, pages.facts().numbers(place.removeprefix(_PLACE)))

    def remember_password(self, book_id: str, password: str) -> None:
        """Stores the password with which the book's file was opened, until this process ends."""
        self._passwords[book_id] = password

    def unlock(self, book_id: str, password: str) -> None:
        """Stores the password of a locked PDF until this process ends. Raises PasswordError where it is wrong."""
        self._forget(book_id)
        self._passwords[book_id] = password
        try:
            self.facts(book_id)
        except PasswordError:
            self._forget(book_id)
            raise

    def close(self) -> None:
        """End the processes. The next call starts them again."""
        with self._lock:
            opened = list(self._open.values())
            self._open.clear()
            if self._timer is not None:
                self._timer.cancel()
        for one in opened:
            one.pages.close()

    def _opened(self, book_id: str) -> _Open:
        stored = self._library.original_version(book_id)
        if stored is None or self._library.book(book_id).removed is not None:
            raise NotInLibraryError(NO_ORIGINAL)
        path, version = stored
        closing: list[_Open] = []
        with self._lock:
            found = self._open.get(book_id)
            if found is None or found.version != version:
                if found is not None:
                    closing.append(found)
                pages = PdfPages(path, password=self._passwords.get(book_id, ""))
                found = self._open[book_id] = _Open(version, pages)
            found.used = time.monotonic()
            self._open.move_to_end(book_id)
            while len(self._open) > _MOST_OPEN:
                closing.append(self._open.popitem(last=False)[1])
            if self._timer is None:
                self._start_timer()
        for one in closing:
            one.pages.close()
        return found

    def _start_timer(self) -> None:
        self._timer = threading.Timer(_IDLE_SECONDS / 2, self._close_idle)
        self._timer.daemon = True
        self._timer.start()

    def _close_idle(self) -> None:
        with self._lock:
            idle = [key for key, one in self._open.items() if time.monotonic() - one.used > _IDLE_SECONDS]
            closing = [self._open.pop(key) for key in idle]
            self._timer = None
            if self._open:
                self._start_timer()
        for one in closing:
            one.pages.close()

    def _forget(self, book_id: str) -> None:
        """Closes the book's PDF and forgets its password."""
        self._passwords.pop(book_id, None)
        with self._lock:
            found = self._open.pop(book_id, None)
        if found is not None:
            found.pages.close()
