"""Settings: the data folder, the model's server, name and key, and whether links may be fetched.

Only this module reads the environment.

Each value comes from the first place that has it: the environment, ``.streamlit/secrets.toml``, then
``READAGENT_HOME/settings.json`` (mode 0600), which the settings page writes. That file may say that the key is in the
system's keyring. A saved key is used only with the server address it was saved with.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from readagent_core.errors import SettingsError
from readagent_core.secret import Secret

__all__ = ["Secret", "Settings", "home_folder", "load_settings", "read_saved_settings", "save_settings"]

FILE = "settings.json"
SECRETS = Path(".streamlit") / "secrets.toml"
KEYRING = "keyring"  # the origin of a key, and in settings.json the value of 'api_key_in'
CONNECTION_KEYS = ("base_url", "api_key", "model", "api_key_in")  # every other key is in ``Settings.saved``
_ON = ("on", "yes", "true", "1")  # any other value turns links off


@dataclass(frozen=True)
class Settings:
    """The settings in force. Without ``base_url`` and ``model`` the built-in reader is used.

    ``origin``: where base_url, api_key, model and links came from: 'environment', 'secrets', 'settings', 'keyring' (the
    key only) or ''. ``saved``: all other values in settings.json. ``key_trouble``: why the key could not be read from
    the keyring, and what to do; no model is connected then. ``links``: whether web addresses may be fetched.
    """

    home: Path
    base_url: str = ""
    api_key: Secret = field(default_factory=Secret)
    model: str = ""
    origin: Mapping[str, str] = field(default_factory=dict)
    saved: Mapping[str, Any] = field(default_factory=dict)
    key_trouble: str = ""
    links: bool = True

    @property
    def connected(self) -> bool:
        return bool(self.model and (self.base_url or self.api_key)) and not self.key_trouble


def home_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of library, cache and settings; created with mode 0700 if missing. Raises SettingsError."""
    environment = os.environ if environment is None else environment
    home = Path(environment.get("READAGENT_HOME") or platformdirs.user_data_dir("readagent")).expanduser()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise SettingsError(
            f"The folder {home} cannot be made ({error.strerror}). Set READAGENT_HOME to a folder you can write to."
        ) from None
    return home


def load_settings(environment: Mapping[str, str] | None = None, *, secrets: Path = SECRETS) -> Settings:
    """Return the settings in force. Raises SettingsError for a file that cannot be read."""
    environment = os.environ if environment is None else environment
    home = home_folder(environment)
    saved = read_saved_settings(home)
    sources: list[tuple[str, Mapping[str, Any]]] = [
        ("environment", _from_environment(environment)),
        ("secrets", _from_secrets(secrets)),
        ("settings", saved),
    ]
    values: dict[str, str] = {}
    origin: dict[str, str] = {}
    trouble = ""
    for name in ("base_url", "model", "api_key"):
        for where, source in sources:
            if name == "api_key" and source is saved and not _same_server(values, saved):
                continue
            if source.get(name):
                values[name], origin[name] = str(source[name]), where
                break
    key = Secret(values.get("api_key", ""))
    if not key and saved.get("api_key_in") == KEYRING and values.get("base_url") and _same_server(values, saved):
        origin["api_key"] = KEYRING
        key, trouble = _from_keyring(home, values["base_url"])
    links = True
    for where, source in sources:
        if source.get("links"):
            links, origin["links"] = str(source["links"]).strip().lower() in _ON, where
            break
    rest = {name: value for name, value in saved.items() if name not in CONNECTION_KEYS}
    return Settings(home, values.get("base_url", ""), key, values.get("model", ""), origin, rest, trouble, links)


def _same_server(values: Mapping[str, str], saved: Mapping[str, Any]) -> bool:
    """Return whether the saved key may be used: it was saved without an address, or with the one in force."""
    address = str(saved.get("base_url") or "").rstrip("/")
    return not address or values.get("base_url", "").rstrip("/") == address


def _from_keyring(home: Path, address: str) -> tuple[Secret, str]:
    """Return the key, and why it could not be read ('' if it was)."""
    from readagent_core import keyrings

    try:
        return keyrings.get(home, address), ""
    except SettingsError as error:
        return Secret(), str(error)


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        "base_url": environment.get("READAGENT_BASE_URL") or environment.get("OPENAI_BASE_URL", ""),
        "api_key": environment.get("READAGENT_API_KEY") or environment.get("OPENAI_API_KEY", ""),
        "model": environment.get("READAGENT_MODEL", ""),
        "links": environment.get("READAGENT_LINKS", ""),
    }


def _from_secrets(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise SettingsError(f"{path} cannot be read as TOML. Mend it or remove it.") from None
    return _from_environment({name: value for name, value in data.items() if isinstance(value, str)})


def read_saved_settings(home: Path) -> dict[str, Any]:
    """Return the content of settings.json; {} where there is none. Raises SettingsError for a damaged file."""
    path = home / FILE
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise SettingsError(f"{path} is damaged. Remove it, then connect your model again in Settings.") from None
    return data if isinstance(data, dict) else {}


def save_settings(home: Path, changes: Mapping[str, Any]) -> None:
    """Write ``changes`` to settings.json (mode 0600) atomically; None removes a value. Raises SettingsError."""
    saved = {**read_saved_settings(home), **changes}
    saved = {name: value for name, value in saved.items() if value is not None}
    path, draft = home / FILE, home / f"{FILE}.new"
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(saved, file, ensure_ascii=False, indent=1)
        os.replace(draft, path)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written ({error.strerror}). Nothing was changed.") from None
