"""settings.json, which the settings page writes: every value is checked when it is read, and has a type from then on.

A value of another type is not used and is told by its name; the default holds in its place. The file itself stays as it
is until that value is saved again, and what a newer version wrote there stays too.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from readagent_core.errors import SettingsError
from readagent_core.plan import PAGINATIONS
from readagent_core.regular_files import write_whole
from readagent_core.secret import Secret

T = TypeVar("T")
FILE = "settings.json"
KEYRING = "keyring"  # the value of 'api_key_in' for a key in the system's keyring
SECRETS = ("api_key", "api_key_in", "catalogues", "catalogue_passwords")  # what a backup leaves out
PriceRow = tuple[Any, ...]  # dollars a million tokens read, written; where a server lists them also the date, reused


@dataclass(frozen=True)
class ModelOptions:
    """The settings that suit one model, where they are not the usual ones. ``why``: a line for people for each.

    ``small_pages``: pages half as long. ``pagination``: another than one pause point a prompt. ``method``: how Ask
    answers. ``reason_first``: it compares the options before it names a letter. ``json_replies``: a JSON schema is
    sent where a reply has a form. ``opened_after``: prompts show opened pages after all the gists, not in place, so
    that a server which reuses the beginnings of prompts has less to compute. ``notes_apart``: what a page establishes
    is asked for in a call of its own, not with its gist. ``plain_answers``: an answer is asked for in few words,
    without page marks and quotations, whose examples small models copy.
    """

    small_pages: bool = False
    pagination: str = ""
    method: str = ""
    reason_first: bool = False
    json_replies: bool = False
    opened_after: bool = False
    notes_apart: bool = False
    plain_answers: bool = False
    why: tuple[str, ...] = field(default=(), compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that are not the usual ones."""
        return {name: value for name, value in asdict(self).items() if value and name != "why"}


@dataclass(frozen=True)
class SavedSettings:
    """The values of settings.json, under the names they have there.

    The first six are the connection; what is in force of them is in ``Settings``. Of the numbers 0 stands for none set.
    ``connections``: model calls at once while making gists; ``at_once``: of all work together. ``ahead``: see
    ``gisting.read``. ``timeout``: seconds without a word from the server. ``window``: tokens, for every model that
    ``windows`` does not name. ``temperature``: None leaves it to the server. Budgets are in dollars.

    ``notes``: what each page establishes is noted with its gist.

    ``notes_folder``: where the notes of all books are kept up to date; ``notes_template``: '' for the usual one.

    ``catalogues``: by address, which may hold a key: name, user, and 'yes' for one in the home network.
    ``catalogue_passwords``: of those that are not in the keyring. ``options``: by model, in the file as ``suited`` and
    four lists of models. ``faults``: what could not be used, a sentence for each.
    """

    base_url: str = ""
    model: str = ""
    api_key: Secret = field(default_factory=Secret)
    api_key_in: str = ""
    server_model: bool = True
    notes: bool = True
    links: str = ""
    connections: int = 0
    at_once: int = 0
    ahead: float = 0.0
    timeout: float = 0.0
    window: float = 0.0
    windows: Mapping[str, float] = field(default_factory=dict)
    temperature: float | None = 0.0
    prices: Mapping[str, PriceRow] = field(default_factory=dict)
    budget_book: float = 0.0
    budget_month: float = 0.0
    cache_megabytes: int = 0
    state_megabytes: int = 0
    cache_days: float = 0.0
    embedding_model: str = ""
    notes_folder: str = ""
    notes_template: str = ""
    catalogues: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    catalogue_passwords: Mapping[str, Secret] = field(default_factory=dict)
    options: Mapping[str, ModelOptions] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    def options_of(self, model: str) -> ModelOptions:
        return of_model(self.options, model) or ModelOptions()

    def window_of(self, model: str) -> int | None:
        """Return the window set for ``model``, else the one set for every model; None asks the server."""
        return int(of_model(self.windows, model) or self.window) or None


def plain_name(model: str) -> str:
    """A model's name without what servers add: where it comes from, the tag that is meant without one, letter case."""
    return re.sub(
        r"^(?:models/|(?:registry\.ollama\.ai/)?library/)|:latest$|@sha256:\w+$", "", model.strip().casefold()
    )


def same_model(one: str, other: str) -> bool:
    """Whether both name one model: Ollama lists 'llama3.2' as 'llama3.2:latest', and letter case does not count."""
    return plain_name(one) == plain_name(other)


def of_model(rows: Mapping[str, T], model: str) -> T | None:
    """What is saved for a model, under this name or another one of it."""
    return rows[model] if model in rows else next((rows[name] for name in rows if same_model(name, model)), None)


# --- checks: each returns the value as it is used, or raises ValueError with what it must be -----------------------


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("text in quotation marks")
    return value


def _embedding_model(value: Any) -> str:
    if _text(value).startswith("local:"):  # of versions that ran one in this process
        raise ValueError("a model of the connected server, such as a GGUF file that llama.cpp or Ollama serves")
    return str(value)


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _on_or_off(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else _text(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise ValueError("a number of 0 or more")
    return float(value)


def _number_or_none(value: Any) -> float | None:
    return None if value is None else _number(value)


def _whole_number(value: Any) -> int:
    return math.floor(_number(value))


def _models(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("a list of the names of models")
    return tuple(value)


def _catalogue(value: Any) -> tuple[str, ...]:
    if len(_models(value)) != 3:
        raise ValueError("its name, the user, and 'yes' for one in the home network")
    return tuple(value)


def _price(value: Any) -> PriceRow:
    checks: tuple[Callable[[Any], Any], ...] = (_number, _number, _text, _number_or_none)
    if not isinstance(value, list) or not 2 <= len(value) <= len(checks):
        raise ValueError("two prices, read and written, as [2.5, 10]")
    return tuple(check(part) for check, part in zip(checks, value, strict=False))


def _model_options(value: Any) -> ModelOptions:
    if not isinstance(value, dict):
        raise ValueError('settings by name, as {"small_pages": true}')
    pagination = _text(value.get("pagination", ""))
    if pagination not in ("", *PAGINATIONS):
        raise ValueError(f"settings whose pagination is one of {', '.join(PAGINATIONS)}")
    return ModelOptions(_switch(value.get("small_pages", False)), pagination, _text(value.get("method", "")))


def _by_model(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError('values by model, as {"a model": …}')
    return value


_CHECKS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("base_url", "model", "api_key_in", "notes_folder", "notes_template"), _text),
    "embedding_model": _embedding_model,
    "api_key": lambda value: Secret(_text(value)),
    **dict.fromkeys(("server_model", "notes"), _switch),
    "links": _on_or_off,
    **dict.fromkeys(("connections", "at_once", "cache_megabytes", "state_megabytes"), _whole_number),
    **dict.fromkeys(
        ("ahead", "timeout", "window", "budget_book", "budget_month", "cache_days", "temperature"), _number
    ),
}
_CHECKS_BY_MODEL = {
    "windows": _number,
    "prices": _price,
    "suited": _model_options,
    "catalogues": _catalogue,
    "catalogue_passwords": lambda value: Secret(_text(value)),
}
_LISTS_OF_MODELS = ("reason_first", "json_replies", "opened_after", "notes_apart", "plain_answers")


def parse_settings(data: Mapping[str, Any], path: Path) -> SavedSettings:
    """Return the values of ``data``, the content of the file at ``path``, with a fault for each of another type."""
    faults: list[str] = []
    given = {name: value for name, value in data.items() if value is not None}

    def use(name: str, value: Any, check: Callable[[Any], Any]) -> list[Any]:
        """Return [the checked value], or [] with a fault."""
        try:
            return [check(value)]
        except ValueError as error:
            faults.append(
                f"'{name}' in {path} must be {error}. It is not used: correct it, or set it again in Settings."
            )
            return []

    def use_for_each_model(name: str, check: Callable[[Any], Any]) -> dict[str, Any]:
        rows = use(name, given.get(name, {}), _by_model)
        return {model: v for row in rows for model, value in row.items() for v in use(f"{name}: {model}", value, check)}

    values: dict[str, Any] = {n: v for n, check in _CHECKS.items() if n in given for v in use(n, given[n], check)}
    if "temperature" in data and "temperature" not in given:
        values["temperature"] = None
    if "base_url" in given and "base_url" not in values:  # nobody knows which server this key belongs to
        values.pop("api_key", None), values.pop("api_key_in", None)
    tables: dict[str, Any] = {name: use_for_each_model(name, check) for name, check in _CHECKS_BY_MODEL.items()}
    options: dict[str, ModelOptions] = tables.pop("suited")
    for name in _LISTS_OF_MODELS:
        for model in (m for models in use(name, given.get(name, []), _models) for m in models):
            chosen: dict[str, Any] = {name: True}
            options[model] = replace(options.get(model, ModelOptions()), **chosen)
    return SavedSettings(**values, **tables, options=options, faults=tuple(faults))


# --- the file ------------------------------------------------------------------------------------------------------


def read_saved_settings(home: Path) -> SavedSettings:
    """Return the values of settings.json, the defaults where there is none. Raises SettingsError: see ``read_file``."""
    data, fault = read_file(home)
    saved = parse_settings(data, home / FILE)
    return replace(saved, faults=(fault,)) if fault else saved


def read_file(home: Path) -> tuple[dict[str, Any], str]:
    """Return the JSON values of settings.json, and why there are none where it is damaged.

    Raises SettingsError where the file cannot be read.
    """
    path = home / FILE
    try:
        data = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror}). Make it readable, or remove it.") from None
    except (ValueError, RecursionError):
        remedy = "Nothing in it is used: correct it, or set everything again in Settings."
        return {}, f"{path} is damaged (not valid JSON). {remedy}"
    if not isinstance(data, dict):
        return (
            {},
            f'{path} must be values by name, as {{"links": "on"}}. Nothing of it is used: mend it, or set all again.',
        )
    return data, ""


def save_settings(home: Path, changes: Mapping[str, Any]) -> None:
    """Write ``changes``, values as the file has them, to settings.json (mode 0600), atomically. Raises SettingsError.

    None removes a value. Of a mapping only the entries in it are changed. A damaged file is kept as settings.json.old.
    """
    data, fault = read_file(home)
    for name, value in changes.items():
        before = data.get(name)
        if isinstance(value, Mapping):
            value = {**(before if isinstance(before, dict) else {}), **value}
            value = {key: entry for key, entry in value.items() if entry is not None} or None
        data[name] = value
    data = {name: value for name, value in data.items() if value is not None}
    path = home / FILE
    try:
        if fault:
            os.replace(path, home / f"{FILE}.old")
        write_whole(path, json.dumps(data, ensure_ascii=False, indent=1).encode())
    except OSError as error:
        raise SettingsError(f"{path} cannot be written ({error.strerror}). Nothing was changed.") from None


def options_as_saved(saved: SavedSettings, model: str, options: ModelOptions) -> dict[str, Any]:
    """Return the changes for ``save_settings`` that give ``model`` these options."""
    used = options.to_dict()
    changes: dict[str, Any] = {}
    for name in _LISTS_OF_MODELS:
        others = [other for other, its in saved.options.items() if getattr(its, name) and other != model]
        changes[name] = [*others, model] if used.pop(name, False) else others or None
    return {**changes, "suited": {model: used or None}}
