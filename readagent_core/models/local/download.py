"""Fetches files of models and voices from the hub that has them: pinned, checked, in parts that are kept; never run.

A pause, a lost connection or a killed app leave the part that came beside the place where the file will be; the next
download goes on from there. What ``huggingface_hub`` has for this removes the part at every interruption, so its three
addresses are asked here. A file counts as installed once its size and SHA-256 are right and it has its name.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

import httpx2

from readagent_core.cancel import CancelToken
from readagent_core.errors import DownloadError, LocalModelError, ModelError
from readagent_core.models.local.files import HubFile
from readagent_core.models.local.gguf import read_head
from readagent_core.models.server import network
from readagent_core.settings import Secret, Settings

SPARE = 500 << 20  # bytes of the disk that are left free
TRIES = 5  # in a row without a byte
_SECONDS = 30.0  # without a byte
_BLOCK = 8 << 20
_SHA256 = re.compile("[0-9a-f]{64}")


class Step(StrEnum):
    GET = "get"
    CHECK = "check"
    DONE = "done"


@dataclass(frozen=True)
class Progress:
    """``done`` of ``total`` bytes of a step; ``speed`` in bytes a second, 0 where it is not known yet."""

    step: Step
    done: int
    total: int
    speed: float = 0.0


def part_of(offer: HubFile, home: Path) -> Path:
    """Where the part that came is kept."""
    path = offer.path(home)
    return path.with_name(f"{path.name}.part")


def fetched_bytes(offer: HubFile, home: Path) -> int:
    """How much of a file came before a pause."""
    part = part_of(offer, home)
    return part.stat().st_size if part.is_file() else 0


def install(
    settings: Settings,
    offer: HubFile,
    cancel: CancelToken,
    progress: Callable[[Progress], object] = lambda _: None,
    *,
    check: Callable[[Path], object] = read_head,
) -> Path:
    """Fetch and check the file and return its path. Raises LocalModelError; CancelledError at a pause.

    ``check`` raises LocalModelError for the published file where it is none of its kind."""
    path, part = offer.path(settings.home), part_of(offer, settings.home)
    if path.is_file():
        return path
    with _disk_errors(part):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    address = f"{settings.hub}/{offer.repository}/resolve/{offer.revision or 'main'}/{quote(offer.file)}"
    try:
        network.check(settings.hub, Secret())
        with httpx2.Client(timeout=_SECONDS, follow_redirects=True, **network.options(settings.hub)) as client:
            size, sha256 = _ask(client, address, offer)
            _check_disk(part, size)
            _fetch(client, address, part, size, cancel, progress)
    except (httpx2.HTTPError, httpx2.InvalidURL, ModelError) as error:
        if isinstance(error, LocalModelError):
            raise
        here, host = fetched_bytes(offer, settings.home), _host(settings.hub)
        broke = f"The download from {host} broke off at {_gigabytes(here)}. What came is kept. Go on when"
        said = broke if here else f"Nothing could be fetched from {host}. Try again when"
        raise DownloadError(f"{said} this computer is online.") from None
    _check(part, size, sha256, cancel, progress, check)
    os.replace(part, path)
    progress(Progress(Step.DONE, size, size))
    return path


def remove(settings: Settings, offer: HubFile) -> None:
    """Remove an installed model, or the part of one."""
    shutil.rmtree(offer.path(settings.home).parent, ignore_errors=True)


def _ask(client: httpx2.Client, address: str, offer: HubFile) -> tuple[int, str]:
    """Return size and SHA-256 as the hub states them. Raises LocalModelError where they are not those of our list."""
    answer = client.head(address, follow_redirects=False, headers={"Accept-Encoding": "identity"})
    if answer.status_code >= 400:
        raise DownloadError(
            f"The hub has no {offer.file} in {offer.repository} (error {answer.status_code}). Choose another model, or "
            "another hub with READAGENT_HUB."
        )
    stated = answer.headers.get("x-linked-size") or answer.headers.get("content-length") or ""
    size = int(stated) if stated.isdecimal() else 0
    etag = (answer.headers.get("x-linked-etag") or answer.headers.get("etag") or "").removeprefix("W/").strip('"')
    sha256 = etag if _SHA256.fullmatch(etag) else ""
    if (offer.bytes and size and size != offer.bytes) or (offer.sha256 and sha256 and sha256 != offer.sha256):
        raise DownloadError(
            f"The hub has another file under the name {offer.file} than the published one. Nothing was fetched."
        )
    size, sha256 = offer.bytes or size, offer.sha256 or sha256
    if not size or not sha256:
        raise DownloadError(f"The hub does not say which file {offer.file} is. Nothing was fetched.")
    return size, sha256


def _check_disk(part: Path, size: int) -> None:
    needed = size - (part.stat().st_size if part.is_file() else 0)
    free = shutil.disk_usage(part.parent).free
    if needed + SPARE > free:
        raise DownloadError(
            f"Needs {_gigabytes(needed + SPARE)}; {_gigabytes(free)} is free on this disk. Make room, then go on."
        )


def _fetch(
    client: httpx2.Client,
    address: str,
    part: Path,
    size: int,
    cancel: CancelToken,
    progress: Callable[[Progress], object],
) -> None:
    """Fetch what is missing of the part; a connection that breaks is opened again."""
    failed = 0
    while (have := part.stat().st_size if part.is_file() else 0) < size:
        cancel.check()
        try:
            _fetch_from(client, address, part, have, size, cancel, progress)
            came = part.stat().st_size > have
        except httpx2.TransportError:
            came = part.is_file() and part.stat().st_size > have
        failed = 0 if came else failed + 1
        if failed >= TRIES:
            raise httpx2.ReadError("no byte came")
        if not came:
            cancel.wait(min(2.0**failed, 30.0) * 0.5, "Waiting for the connection")


def _fetch_from(
    client: httpx2.Client,
    address: str,
    part: Path,
    have: int,
    size: int,
    cancel: CancelToken,
    progress: Callable[[Progress], object],
) -> None:
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    with client.stream("GET", address, headers=headers) as answer, _disk_errors(part):
        if answer.status_code >= 400:
            raise DownloadError(f"The hub refused the file (error {answer.status_code}). Try again later.")
        if answer.status_code != 206:
            have = 0
        began, first = time.monotonic(), have
        with part.open("ab" if have else "wb") as file:
            for data in answer.iter_raw():
                cancel.check()
                file.write(data)
                have += len(data)
                if have > size:
                    break
                passed = time.monotonic() - began
                progress(Progress(Step.GET, have, size, (have - first) / passed if passed > 1 else 0.0))


def _check(
    part: Path,
    size: int,
    sha256: str,
    cancel: CancelToken,
    progress: Callable[[Progress], object],
    check: Callable[[Path], object],
) -> None:
    """Raise LocalModelError and remove the part where it is not the published file."""
    found, done = hashlib.sha256(), 0
    if part.stat().st_size == size:
        with part.open("rb") as file:
            while data := file.read(_BLOCK):
                cancel.check()
                found.update(data)
                done += len(data)
                progress(Progress(Step.CHECK, done, size))
    if found.hexdigest() != sha256:
        part.unlink()
        raise DownloadError("The file that came is not the published one. It was thrown away. Install again.")
    try:
        check(part)
    except LocalModelError:
        part.unlink()
        raise


@contextmanager
def _disk_errors(part: Path) -> Iterator[None]:
    """Turn errors of the disk into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise DownloadError(
            f"The file cannot be written to {part.parent} ({error.strerror}). Make room, then go on."
        ) from None


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


def _host(hub: str) -> str:
    return hub.split("//")[-1].split("/")[0]
