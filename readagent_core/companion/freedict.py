"""Free dictionaries between two languages: found in the list that freedict.org publishes, fetched, checked, unpacked.

The list: https://github.com/freedict/fd-dictionaries/wiki/FreeDict-API. Nothing is sent but the requests themselves.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx2
from babel import Locale
from babel.core import get_global

from readagent_core.companion.looking_up import start_indexing
from readagent_core.dictionaries.shelf import FOLDER
from readagent_core.dictionaries.unpacking import unpack_dictionary
from readagent_core.errors import DamagedDictionaryError, DocumentError, LinkError, OfflineError, UnreachableLinkError
from readagent_core.fetching.connecting import Named, Rules, is_home, is_public, origin_of
from readagent_core.fetching.fetch import Progress, fetch
from readagent_core.jobs import Job
from readagent_core.settings import DICTIONARIES
from readagent_core.workspace import Workspace

LISTING, GETTING = "list of free dictionaries", "get a free dictionary"  # the jobs
_MOST_LIST, _MOST = 20 << 20, 200 << 20  # bytes
_SECONDS = 1800.0  # for the largest, 35 MB, on a slow line
_SHA512 = re.compile("[0-9a-f]{128}")
_ALIASES = get_global("language_aliases")  # 'deu' → 'de'


@dataclass(frozen=True)
class Offer:
    """A dictionary that can be fetched. ``source``, ``target``: languages, as 'de'. ``size``: in bytes."""

    source: str
    target: str
    words: int
    address: str
    size: int
    sha512: str

    @property
    def folder(self) -> str:
        """The name of the folder that it is unpacked into."""
        return f"freedict-{self.source}-{self.target}"

    def title(self) -> str:
        """Return 'German to English, 81,000 words, 5.4 MB'."""
        names = Locale("en").languages
        languages = " to ".join(names.get(one, one) for one in (self.source, self.target))
        return f"{languages}, {self.words:,} words, {max(0.1, self.size / 1e6):.1f} MB"


def start_listing(workspace: Workspace, reader: str) -> Job:
    """Start a job that ends with the offers. First those for languages of the books that explain in ``reader``'s."""

    def work(job: Job) -> list[Offer]:
        books = Counter(book.language.split("-")[0].lower() for book in workspace.library.books()).most_common()
        ranks = {language: rank for rank, (language, _) in enumerate(books)}
        found = _offers(_fetch(workspace, workspace.settings.dictionaries, job, most=_MOST_LIST))
        last = len(ranks)
        return sorted(
            found,
            key=lambda one: (one.source not in ranks, one.target != reader, ranks.get(one.source, last), -one.words),
        )

    return workspace.jobs.start(LISTING, work)


def start_getting(workspace: Workspace, offer: Offer) -> Job:
    """Start a job that fetches a dictionary, checks its size and SHA-512, unpacks it and begins to index it."""

    def work(job: Job) -> None:
        def show(done: int, _: int) -> None:
            job.publish(done=done, total=offer.size)

        data = _fetch(workspace, offer.address, job, most=min(offer.size, _MOST), progress=show)
        if len(data) != offer.size or hashlib.sha512(data).hexdigest() != offer.sha512:
            raise DamagedDictionaryError("What came is not the published file. It was thrown away. Try again later.")
        unpack_dictionary(data, f"{offer.folder}.tar.xz", workspace.home / FOLDER)
        start_indexing(workspace)

    return workspace.jobs.start(GETTING, work, subject=offer)


def _offers(data: bytes) -> list[Offer]:
    """Return what the list has that can be read and checked. Raises DamagedDictionaryError where there is nothing."""
    found = []
    with suppress(ValueError, TypeError, RecursionError):
        for entry in json.loads(data):
            with suppress(ValueError, TypeError, LookupError, AttributeError):  # the last one tells of software
                found.append(_offer(entry))
    if not found:
        raise DamagedDictionaryError("What came is no list of dictionaries. Try again later.")
    return found


def _offer(entry: dict[str, Any]) -> Offer:
    releases = {one["platform"]: one for one in entry["releases"]}
    release = releases.get("stardict") or releases["dictd"]  # the others are not read
    sha512 = _SHA512.fullmatch(release["checksum"].lower())
    if sha512 is None:
        raise ValueError(entry["name"])
    source, target = (_ALIASES.get(one, one) for one in entry["name"].split("-"))
    return Offer(source, target, int(entry["headwords"]), str(release["URL"]), int(release["size"]), sha512[0])


def _fetch(workspace: Workspace, address: str, job: Job, *, most: int, progress: Progress | None = None) -> bytes:
    listed = workspace.settings.dictionaries
    if not workspace.settings.links:
        raise LinkError("Links are turned off, so nothing was fetched. Put a file here instead.")
    own = listed != DICTIONARIES  # who runs the app named another server, which may be one at home
    try:
        rules = Rules(
            allows=(lambda one: is_public(one) or is_home(one)) if own else is_public,
            seconds=_SECONDS,
            most=most,
            accept="*/*",
            named=Named(origin_of(httpx2.URL(listed))),
        )
        return fetch(address, job, rules=rules, progress=progress).data
    except (DocumentError, httpx2.InvalidURL) as error:
        host = address.split("//")[-1].split("/")[0]
        bring = "Or fetch a dictionary on another computer, and add its file below."
        if isinstance(error, UnreachableLinkError):
            said = f"{host} cannot be reached. Connect this computer to the internet, then try again. {bring}"
            raise OfflineError(said) from None
        raise LinkError(f"{host} did not send what was asked for. Try again later. {bring}") from None
