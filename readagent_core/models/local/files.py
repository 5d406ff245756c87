"""The files of models on this computer: those offered and installed, those of other programs, and one of one's own."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from readagent_core.errors import LocalModelError
from readagent_core.models.local.engine import WINDOW, memory_needed
from readagent_core.models.local.gguf import read_head
from readagent_core.regular_files import check_replaceable
from readagent_core.settings import Settings

FOLDER, STATES = "models", "states"  # in the home folder
_HERE = Path(__file__).parent
_DEPTH = 4
_MOST_FOUND = 50
# parts of models, and files that are no language models by themselves
_OTHER = re.compile(r"mmproj|embed|rerank|bge-|-0000[2-9]-of|-000[1-9]\d-of", re.IGNORECASE)
_OLLAMA_MODEL = "application/vnd.ollama.image.model"


@dataclass(frozen=True)
class HubFile:
    """A file at the hub, installed in the folder ``name``. ``bytes`` 0 and ``sha256`` '': as the hub says."""

    name: str
    repository: str
    revision: str
    file: str
    bytes: int = 0
    sha256: str = ""

    def path(self, home: Path) -> Path:
        """Where it is installed."""
        return home / FOLDER / self.name / Path(self.file).name


@dataclass(frozen=True, kw_only=True)
class Offer(HubFile):
    """A model that can be installed, as ``models.toml`` has it."""

    size: str
    title: str
    says: str
    languages: str
    licence: str
    parameters: float
    source: str = ""

    def is_installed(self, home: Path) -> bool:
        return self.path(home).is_file()


@dataclass(frozen=True)
class Found:
    """A file that another program keeps. ``name``: what ``file_of`` takes; ``where``: the program."""

    name: str
    where: str
    file: Path
    bytes: int


def offers(settings: Settings) -> tuple[Offer, ...]:
    """The models that can be installed, smallest first. Raises LocalModelError for a list that cannot be read."""
    path = settings.models_list or _HERE / "models.toml"
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
        return tuple(Offer(name, **row) for name, row in rows.items())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError):
        raise LocalModelError(
            f"The list of models {path} cannot be used. Mend it, or unset READAGENT_MODELS."
        ) from None


def offer_of(settings: Settings, name: str) -> Offer:
    for offer in offers(settings):
        if offer.name == name:
            return offer
    known = ", ".join(offer.name for offer in offers(settings))
    raise LocalModelError(f"There is no model {name} to install. Choose one of {known}.")


def file_of(settings: Settings, name: str) -> Path:
    """The file of a model by its name: an installed one, one of another program, or the path of a file of one's own.

    Raises LocalModelError where there is none.
    """
    for offer in offers(settings):
        if offer.name == name and offer.is_installed(settings.home):
            return offer.path(settings.home)
    path = Path(name).expanduser()
    if path.is_file():
        return path.resolve()
    for found in find():
        if found.name == name:
            return found.file
    try:
        check_replaceable(path)
    except OSError as error:
        raise LocalModelError(f"{path} cannot be used ({error.strerror}). Choose a file that ends in .gguf.") from None
    raise LocalModelError(
        f"The model {name} is not on this computer any more. Install it again, or choose another one."
    )


def needed_for(offer: Offer, home: Path) -> int:
    """Bytes of memory that an offered model takes while it runs; before it is here a careful estimate."""
    path = offer.path(home)
    if path.is_file():
        head = read_head(path)
        return memory_needed(path.stat().st_size, head, min(head.window, WINDOW))
    return round(offer.bytes * 1.5) + (1 << 30)


def find() -> list[Found]:
    """The models of other programs, each file once, by name."""
    found: dict[Path, Found] = {}
    for program, row in _programs().items():
        looked = _ollama if row.get("kind") == "ollama" else _gguf_files
        for text in row["folders"]:
            folder = Path(os.path.expandvars(text)).expanduser()
            if "$" in str(folder) or not folder.is_dir():
                continue
            for name, file in looked(folder):
                if len(found) < _MOST_FOUND:
                    file = file.resolve()
                    found.setdefault(file, Found(f"{program}: {name}", program, file, file.stat().st_size))
    return sorted(found.values(), key=lambda model: model.name.lower())


@cache
def _programs() -> dict[str, dict[str, Any]]:
    return tomllib.loads((_HERE / "folders.toml").read_text(encoding="utf-8"))


def _gguf_files(folder: Path) -> Iterator[tuple[str, Path]]:
    for depth in range(_DEPTH + 1):
        for file in folder.glob("*/" * depth + "*.[gG][gG][uU][fF]"):
            if file.is_file() and not _OTHER.search(file.name):
                yield (file.stem if file.stem != "model" else file.parent.name), file


def _ollama(folder: Path) -> Iterator[tuple[str, Path]]:
    """Ollama names a model by a manifest, which lists the digests of its parts."""
    root = folder / "manifests"
    for manifest in root.glob("*/*/*/*"):
        try:
            layers = json.loads(manifest.read_text(encoding="utf-8"))["layers"]
            digest = next(layer["digest"] for layer in layers if layer["mediaType"] == _OLLAMA_MODEL)
        except (OSError, ValueError, KeyError, TypeError, StopIteration):
            continue
        file = folder / "blobs" / str(digest).replace(":", "-").replace("/", "")
        owner, model, tag = manifest.parts[-3:]
        name = f"{'' if owner == 'library' else f'{owner}/'}{model}:{tag}"
        if file.is_file() and not _OTHER.search(name):
            yield name, file
