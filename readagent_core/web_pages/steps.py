"""One step on a web page from its bytes to the action, for programs, the command line and the app.

    from readagent_core.web_pages.steps import next_action
    print(next_action(Path("shop.html").read_bytes(), "Search for lamps near 10203").text)

In the app a step is a job, and the last steps on a book's page are stored with the book.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from readagent_core import models
from readagent_core.answering.base import Answer, Answered, AskSettings, Event
from readagent_core.answering.event_json import event_from_dict, event_to_dict
from readagent_core.answering.replay import answer_of
from readagent_core.answering.resources import ArtifactStore, Resources, workspace_resources
from readagent_core.cancel import CancelToken, ended_with_block, key_lock
from readagent_core.errors import NotInLibraryError
from readagent_core.jobs import Job
from readagent_core.library.records import Book
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.settings import load_settings
from readagent_core.web_pages.acting import LOOK_UPS, NEEDS_GISTS, WebTask, act
from readagent_core.web_pages.frame import clean_body
from readagent_core.web_pages.memory import PageMemory, cut_memory, read_page
from readagent_core.web_pages.parsing import open_page
from readagent_core.workspace import Workspace

KIND = "web steps"  # in the artifact store
MOST_STORED = 20  # steps of one book
_MOST_OPEN = 4  # pages whose snippets stay in memory
_NO_PAGE = (
    "The saved web page of this book is not in the library, so nothing can be done on it. Open the file again to store "
    "it. (Settings, Storage, has the switch that stores original files.)"
)


@dataclass(frozen=True)
class ActProgress:
    """A step so far. ``page``: with the gists made so far."""

    page: PageMemory
    events: tuple[Event, ...] = ()

    @property
    def answer(self) -> Answer | None:
        return answer_of(self.events)


def next_action(
    html: bytes,
    task: str,
    model: ChatModel | None = None,
    *,
    previous: Sequence[str] = (),
    method: str = "read-agent-p",
    look_ups: int = LOOK_UPS,
    cancel: CancelToken | None = None,
) -> Answer:
    """Return the answer that names the next action: ``text`` in words, ``extra["action"]`` its element and operation.

    ``model``: by default that of the settings. ``previous``: the actions done so far, in words. Nothing is stored.
    Raises DocumentError, ModelError, CancelledError, or SettingsError for an unknown method.
    """
    page, wanted = cut_memory(open_page(html)), WebTask(task, tuple(previous))
    model = model or models.connect(load_settings())
    with ended_with_block(cancel) as cancel:
        done = take_step(page, wanted, model, method=method, look_ups=look_ups, cancel=cancel)
    assert done.answer is not None
    return done.answer


def take_step(
    page: PageMemory,
    task: WebTask,
    model: ChatModel,
    *,
    method: str = "read-agent-p",
    look_ups: int = LOOK_UPS,
    resources: Resources | None = None,
    cancel: CancelToken | None = None,
    on_change: Callable[[ActProgress], None] | None = None,
) -> ActProgress:
    """Make the gists that are missing, decide the next action, and return all of it; ``on_change`` gets it as it grows.

    ``resources``: where gists are stored, and calls at once. Raises as ``next_action``.
    """
    resources, cancel = resources or Resources(), cancel or CancelToken()
    metered = Metered(model)

    def publish(progress: ActProgress) -> None:
        if on_change is not None:
            on_change(progress)

    if method in NEEDS_GISTS:
        page = read_page(
            page,
            metered,
            cancel=cancel,
            connections=resources.connections,
            store=resources.artifacts,
            on_gist=lambda so_far: publish(ActProgress(so_far)),
        )
    progress = ActProgress(page)
    publish(progress)
    settings = AskSettings(look_ups=look_ups)
    for event in act(task, page, model, settings, cancel, resources=resources, method=method):
        cancel.check()
        if isinstance(event, Answered):
            used = metered.usage + event.answer.usage
            event = Answered(replace(event.answer, usage=used))
        progress = ActProgress(page, (*progress.events, event))
        publish(progress)
    return progress


# --- steps on the page of a book in the library -------------------------------------------------------------------


@dataclass(frozen=True)
class OpenedPage:
    """The page of a book. ``version``: another one for another file. ``body``: for a frame, see ``clean_body``."""

    version: str
    memory: PageMemory

    @cached_property
    def body(self) -> str:
        return clean_body(self.memory)


class BookPages:
    """The pages of the saved web pages of one workspace, cut; the last few stay in memory. Any thread may call."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._open: OrderedDict[str, OpenedPage] = OrderedDict()

    def open(self, book_id: str) -> OpenedPage:
        """Return the page of a book. Raises NotInLibraryError or DocumentError."""
        library = self._workspace.library
        book = library.book(book_id)
        stored = library.original_version(book_id)
        if stored is None or book.removed is not None or not can_act(book):
            raise NotInLibraryError(_NO_PAGE)
        path, version = stored
        # another page need not wait for this one
        with key_lock(f"web page {book_id} in {library.home}", CancelToken()):
            found = self._open.get(book_id)
            if found is None or found.version != version:
                try:
                    data = path.read_bytes()
                except FileNotFoundError:  # removed meanwhile
                    raise NotInLibraryError(_NO_PAGE) from None
                found = OpenedPage(version, cut_memory(open_page(data), title=book.title))
            with self._lock:
                self._open[book_id] = found
                self._open.move_to_end(book_id)
                while len(self._open) > _MOST_OPEN:
                    self._open.popitem(last=False)
        return found


def can_act(book: Book) -> bool:
    """Return whether the book was a saved web page. Its original file may be missing all the same."""
    return book.format == "html"


@dataclass(frozen=True)
class StoredStep:
    """A step that has ended. ``made``: seconds of ``time.time``. ``gists``: of every snippet, as the model saw them."""

    task: WebTask
    model: str
    made: float
    gists: tuple[str, ...]
    events: tuple[Event, ...]

    def to_dict(self) -> dict[str, Any]:
        events = [event_to_dict(event) for event in self.events]
        return {**vars(self), "task": vars(self.task), "events": events}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StoredStep:
        task = WebTask(data["task"]["task"], tuple(data["task"]["previous"]))
        events = tuple(map(event_from_dict, data["events"]))
        return cls(task, data["model"], data["made"], tuple(data["gists"]), events)


def stored_steps(store: ArtifactStore, version: str) -> list[StoredStep]:
    """Return the steps on this ``version`` of a page, the oldest first."""
    return [StoredStep.from_dict(row) for row in store.load(KIND, version) or ()]


def job_key(book_id: str) -> str:
    return f"act {book_id}"


def start_step(workspace: Workspace, pages: BookPages, book_id: str, task: WebTask, *, look_ups: int = LOOK_UPS) -> Job:
    """Start to decide the next action on the page of a book; the running job, if there is one.

    The job's subject is the task, its value an ``ActProgress``. Gists are stored as they are made, the step when
    it has ended.
    """
    document_id = workspace.library.book(book_id).document_id

    def work(job: Job) -> ActProgress:
        opened = pages.open(book_id)
        resources, model = workspace_resources(workspace, document_id), workspace.model
        done = take_step(
            opened.memory, task, model, look_ups=look_ups, resources=resources, cancel=job,
            on_change=lambda progress: job.publish(value=progress),
        )  # fmt: skip
        store = workspace.library.artifacts(document_id)
        step = StoredStep(task, model.name, time.time(), done.page.gists, done.events)
        store.save(KIND, opened.version, [*(store.load(KIND, opened.version) or ()), step.to_dict()][-MOST_STORED:])
        return done

    return workspace.jobs.start(job_key(book_id), work, subject=task)
