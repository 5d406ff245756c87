"""Models on this computer: what fits it, installing one as a job, using and removing one."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

import psutil

from readagent_core.cancel import CancelToken
from readagent_core.connecting import connecting
from readagent_core.connecting.checking.suitable_options import IN_ONE_CALL, suitable_for_speed
from readagent_core.errors import LocalModelError, SettingsError
from readagent_core.gisting.costs import NOVEL_WORDS, SLOW_NOVEL, SPEEDS, minutes_at
from readagent_core.jobs import Job
from readagent_core.models import connection
from readagent_core.models.local import download, engine, files
from readagent_core.models.local.download import Progress
from readagent_core.models.local.files import Offer
from readagent_core.models.local.gguf import read_head
from readagent_core.models.local.server import WHERE
from readagent_core.prompts import Prompt
from readagent_core.secret import Secret
from readagent_core.settings import Settings
from readagent_core.settings.saved import ModelOptions
from readagent_core.workspace import Workspace

INSTALL_KEY = "install a model"
SMALL_FILE = 2_200 << 20  # bytes; models of about 3 thousand million parameters and fewer: they copy examples
# tokens a second on a core of a model with a thousand million parameters: a first guess, until it was tried here
_READ_A_CORE, _WRITTEN_A_CORE = 25.0, 6.0
_TRY_PAGE = (
    "The ferry left Harrow at six, an hour late, because Tilda had lost the key of the boathouse. She found it at last "
    "in the pocket of her other coat. Nobody complained: the sea was flat, and Mr. Oake had brought a basket of apples."
)


class Fit(Enum):
    WELL = "fits well"
    SLOWLY = "fits, slowly"
    NOT = "does not fit"


@dataclass(frozen=True)
class Computer:
    """``memory``, ``free``, ``disk``: bytes, the last two those that are free."""

    memory: int
    free: int
    cores: int
    disk: int


@dataclass(frozen=True)
class Choice:
    """An offer as it stands here. ``needed``: bytes of memory. ``fetched``: bytes that came before a pause.
    ``minutes``: that a novel of ``NOVEL_WORDS`` takes; ``measured``: by the speed that was measured here.
    """

    offer: Offer
    fit: Fit
    needed: int
    installed: bool
    fetched: int
    minutes: float
    measured: bool


@dataclass(frozen=True)
class Installing:
    """What an installation is doing: ``progress`` of the download and its check; None while it tries a page."""

    name: str
    progress: Progress | None = None


def computer(settings: Settings) -> Computer:
    memory = psutil.virtual_memory()
    return Computer(memory.total, memory.available, engine.cores(), shutil.disk_usage(settings.home).free)


def choices(workspace: Workspace) -> list[Choice]:
    """The models that can be installed, smallest first. Raises LocalModelError for a list that cannot be read."""
    settings, here = workspace.settings, computer(workspace.settings)
    speeds = workspace.library.preference(SPEEDS, {})
    found = []
    for offer in files.offers(settings):
        needed = files.needed_for(offer, settings.home)
        guess = (here.cores * _READ_A_CORE / offer.parameters, here.cores * _WRITTEN_A_CORE / offer.parameters)
        minutes = minutes_at(NOVEL_WORDS, *speeds.get(offer.name, guess))
        fit = Fit.NOT if needed > here.free else Fit.SLOWLY if minutes > SLOW_NOVEL else Fit.WELL
        installed = offer.is_installed(settings.home)
        fetched = download.fetched_bytes(offer, settings.home)
        found.append(Choice(offer, fit, needed, installed, fetched, minutes, offer.name in speeds))
    return found


def best(choices: list[Choice]) -> Choice | None:
    """The largest that fits well, else the smallest that fits at all."""
    fitting = [choice for choice in choices if choice.fit is Fit.WELL][-1:]
    return next(iter([*fitting, *(choice for choice in choices if choice.fit is not Fit.NOT)]), None)


def start_install(workspace: Workspace, name: str) -> Job:
    """Fetch, check, try and use a model, as a job that publishes ``Installing``; goes on where it was paused."""
    _check_own(workspace)
    offer = files.offer_of(workspace.settings, name)

    def work(job: Job) -> Installing:
        def show(progress: Progress) -> None:
            job.publish(value=Installing(name, progress), done=progress.done, total=progress.total)

        download.install(workspace.settings, offer, job, show)
        job.publish(value=Installing(name))
        use(workspace, name, cancel=job)
        return Installing(name)

    return workspace.jobs.start(INSTALL_KEY, work, subject=name)


def start_use(workspace: Workspace, name: str) -> Job:
    """``use`` as a job of its own, because a large model takes a minute to load. Raises LocalModelError."""
    _check_own(workspace)
    read_head(files.file_of(workspace.settings, name))
    return workspace.jobs.start(INSTALL_KEY, lambda job: use(workspace, name, cancel=job), subject=name)


def use(workspace: Workspace, name: str, *, cancel: CancelToken | None = None) -> None:
    """Try a model on a page, and use it from now on. ``name``: see ``files.file_of``. Raises LocalModelError."""
    _check_own(workspace)
    file = files.file_of(workspace.settings, name)
    read_head(file)
    if Path(name).expanduser().is_file():
        name = str(file)
    server = connection.make_server(workspace.settings, name, where=WHERE, window=None)
    cancel = cancel or CancelToken()
    server.complete(Prompt("try", "Reply with one word: ready.", reply_words=5), cancel)  # now it is all in memory
    asked = Prompt("answer", f"{_TRY_PAGE}\n\nTell this in one sentence of at most 30 words.", reply_words=40)
    reply = server.complete(asked, cancel)
    speeds = dict(workspace.library.preference(SPEEDS, {}))
    if reply.tokens_in and reply.tokens_out and reply.first_word and reply.seconds > reply.first_word:
        speeds[name] = (reply.tokens_in / reply.first_word, reply.tokens_out / (reply.seconds - reply.first_word))
        workspace.library.set_preference(SPEEDS, speeds)
    if not workspace.settings.saved.options_of(name).to_dict():
        # pages opened after the gists leave those as they were read before
        options, _ = suitable_for_speed(ModelOptions(opened_after=True), *speeds.get(name, (0.0, 0.0)))
        if file.stat().st_size < SMALL_FILE:
            options = replace(options, plain_answers=True, method=IN_ONE_CALL)
        connecting.save_model_options(workspace, name, options)
    connecting.use_model(workspace, address=WHERE, model=name, key=Secret())


def remove(workspace: Workspace, name: str) -> None:
    """Remove an installed model or the part of one; the built-in reader reads where it was in use."""
    _check_own(workspace)
    offer = files.offer_of(workspace.settings, name)
    if workspace.settings.base_url == WHERE and workspace.settings.model == name:
        connecting.use_built_in(workspace)
    engine.stop_all()
    download.remove(workspace.settings, offer)
    if offer.path(workspace.settings.home).exists():
        raise LocalModelError(f"{offer.path(workspace.settings.home)} could not be removed. Remove it by hand.")


def _check_own(workspace: Workspace) -> None:
    if workspace.settings.team is not None:
        raise SettingsError("On a server for several people, who runs it chooses the model.")
