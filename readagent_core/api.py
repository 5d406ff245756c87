"""The front door for programs: open a document, read it with a model, ask about it.

The names are also at the package's root (``import readagent_core as ra``). Every function is synchronous and may be
called from any thread. What goes wrong is a ReadAgentError (see ``errors``), whose text is fit to show a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from readagent_core import models
from readagent_core.answering.ask import ask as answer
from readagent_core.answering.base import Answer, Answered, AskSettings, Event, Question
from readagent_core.answering.resources import Resources
from readagent_core.answering.shelf import AskedShelf, ShelfBook
from readagent_core.cancel import CancelToken, ended_with_block
from readagent_core.document import Document
from readagent_core.errors import SettingsError
from readagent_core.gisting import GistingProgress
from readagent_core.gisting import read as read_document
from readagent_core.gisting.job import default_plan, start_gisting
from readagent_core.incoming.links import fetch_document, is_address
from readagent_core.incoming.opening import read_file
from readagent_core.library import Library
from readagent_core.loaders import PageProgress
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.server.openai_server import OPENAI
from readagent_core.plan import GistingPlan
from readagent_core.settings import Secret, load_settings
from readagent_core.workspace import CONNECTIONS, Workspace, connections_of

PROGRESS_SECONDS = 0.2  # between two calls of on_progress
STOP_SECONDS = 1.0  # for which an interrupted reading may still save what came


def get_model(name: str = "", *, base_url: str = "", api_key: str = "") -> ChatModel:
    """Return the model called ``name`` on the server at ``base_url``. Nothing is sent yet.

    What is not given comes from the settings (environment, ``.streamlit/secrets.toml``, the settings page). A saved
    key is used only with the address it was saved for. A model without an address is OpenAI's. Where no model is
    chosen anywhere, the built-in reader is returned. Raises SettingsError.
    """
    settings = load_settings()
    if base_url and base_url.rstrip("/") != (settings.base_url or OPENAI).rstrip("/"):
        settings = replace(settings, base_url=base_url, api_key=Secret(), key_trouble="")
    if api_key:
        settings = replace(settings, api_key=Secret(api_key), key_trouble="")
    if settings.key_trouble:
        raise SettingsError(settings.key_trouble)
    return models.connect(replace(settings, model=name or settings.model))


def open_document(
    source: str | Path | bytes, *, name: str = "", password: str = "", progress: PageProgress | None = None
) -> Document:
    """Return the document in a file, which is parsed in a process with bounds on memory and time.

    ``source``: a path, a web address (https://…), or the file's bytes together with its ``name`` ('book.epub').
    ``progress`` is called with the source pages of a PDF that were read, and how many there are. Raises DocumentError;
    for a web address also LinkError.
    """
    if isinstance(source, str) and is_address(source):
        return fetch_document(load_settings(), source, password=password)[0]
    if isinstance(source, bytes):
        return load_in_child_process(source, name or "document", password=password, progress=progress)
    path = Path(source)
    return load_in_child_process(read_file(path), name or path.name, password=password, progress=progress)


def read(
    document: Document,
    model: ChatModel | None = None,
    *,
    preset: str = "",
    plan: GistingPlan | None = None,
    library: str | Path | None = "",
    connections: int = CONNECTIONS,
    cancel: CancelToken | None = None,
    on_progress: Callable[[GistingProgress], None] | None = None,
) -> GistMemory:
    """Return the gist memory of ``document``: its pages and a gist of each.

    ``model``: by default that of the settings. ``preset``: 'article', 'book', 'meeting' or 'script'; by default that
    of the book's last reading, else chosen by the length. ``plan`` sets everything by hand. ``library``: the folder of
    the library where every page and gist is saved as it is made, by default that of READAGENT_HOME; there a reading
    that was stopped resumes, and a finished one is returned without a model call. None saves nothing.
    ``connections``: model calls at the same time. ``on_progress``: called with the state of the reading as it changes.
    Raises ModelError, CancelledError, DocumentError or LibraryError.
    """
    model = model or get_model()
    plan = plan or (GistingPlan.from_preset(preset) if preset else None)
    with ended_with_block(cancel) as cancel:
        if library is None:
            chosen = plan or default_plan(document.words)
            return read_document(document, model, chosen, connections=connections, cancel=cancel, on_change=on_progress)
        settings = load_settings()
        workspace = Workspace(replace(settings, home=Path(library)) if library else settings, model=model)
        with closing(workspace.library):
            book = workspace.library.add(document)
            job = start_gisting(workspace, book.id, plan, connections=connections)
            try:
                with cancel.on_cancel(job.cancel):
                    while job.running:
                        job.join(PROGRESS_SECONDS)
                        if on_progress is not None and isinstance(job.snapshot.value, GistingProgress):
                            on_progress(job.snapshot.value)
            finally:
                job.cancel()  # where the wait was interrupted: then what came is saved, and no call goes on
                job.join(STOP_SECONDS)
            if job.snapshot.failure is not None:
                raise job.snapshot.failure
            return workspace.library.memory(job.subject)


def ask_events(
    memory: GistMemory | Sequence[GistMemory],
    question: str,
    model: ChatModel | None = None,
    *,
    options: Sequence[str] = (),
    method: str = "",
    look_ups: int = 3,
    up_to: int | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[Event]:
    """Yield what happens while ``question`` is answered: model calls, look-ups, parts of the answer, last ``Answered``.

    ``memory``: of one book, or of several that the question is about; those are asked by zoom, each is limited by its
    own ``GistMemory.up_to``, and its pages are cited with its number in the list: '[2.7]' (see ``answering.base``).
    ``options``: the choices of a multiple-choice question. ``method``: a name from ``methods.all_methods()``, by
    default the one that suits the model. ``look_ups``: the most pages to read again. ``up_to``: no page after this one
    enters a prompt. Of a memory that is in a library, what a method makes of the text is stored there for the next
    question; nothing else is saved. Raises ModelError, CancelledError, or SettingsError for an unknown method, for
    another method or ``up_to`` with several books, and NotInLibraryError where no page has a gist.
    """
    settings, several = load_settings(), not isinstance(memory, GistMemory)
    if several and up_to is not None:
        raise SettingsError("A page limit belongs to one book. Limit each memory with up_to instead.")
    memories = [memory] if isinstance(memory, GistMemory) else memory
    with StoredShelf(memories) as shelf, ended_with_block(cancel) as cancel:
        resources = Resources(models.connect_embedder(settings), connections=connections_of(settings))
        books: GistMemory | AskedShelf = shelf
        if isinstance(memory, GistMemory):
            resources = shelf.resources(resources, shelf.books[0])
            books = memory if up_to is None else memory.up_to(up_to)
        asked, limits = Question(question, tuple(options)), AskSettings(look_ups=look_ups, may_decline=True)
        model = model or get_model()
        events = answer(asked, books, model, cancel, method=method, settings=limits, resources=resources)
        try:
            for event in events:  # noqa: UP028  not 'yield from', which would close the events before the calls are ended
                yield event
        finally:
            cancel.cancel()
            events.close()


class StoredShelf(AskedShelf):
    """Books whose memories a program has; what is made of one that is in a library is stored there."""

    def __init__(self, memories: Sequence[GistMemory]) -> None:
        super().__init__(memories)
        self._libraries: dict[Path, Library] = {}

    def __enter__(self) -> StoredShelf:
        return self

    def __exit__(self, *_: object) -> None:
        for library in self._libraries.values():
            library.close()

    def resources(self, resources: Resources, book: ShelfBook) -> Resources:
        stored = self.memory(book).stored
        if stored is None:
            return resources
        if stored.home not in self._libraries:
            self._libraries[stored.home] = Library(stored.home)
        return replace(resources, artifacts=self._libraries[stored.home].artifacts(stored.id))


def ask(
    memory: GistMemory | Sequence[GistMemory],
    question: str,
    model: ChatModel | None = None,
    *,
    options: Sequence[str] = (),
    method: str = "",
    look_ups: int = 3,
    up_to: int | None = None,
    cancel: CancelToken | None = None,
) -> Answer:
    """Return the answer to ``question``, with the pages looked up and what it cost (``answer.usage.cost``, US dollars).

    The arguments and errors are those of ``ask_events``.
    """
    events = ask_events(
        memory, question, model, options=options, method=method, look_ups=look_ups, up_to=up_to, cancel=cancel
    )
    return next(event.answer for event in events if isinstance(event, Answered))
