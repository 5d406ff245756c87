"""Where things are kept and which model is used: the only reader of the environment.

Each value comes from the first place that has it: environment, ``.streamlit/secrets.toml``, then what the
settings page kept in ``READAGENT_HOME/settings.json`` (0600), which may say of the key that it is in the system's
keyring. A kept key belongs to the address it was kept with, and is used with no other.
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

__all__ = ["Secret", "Settings", "home_folder", "keep", "load_settings", "read_kept"]

FILE = "settings.json"
SECRETS = Path(".streamlit") / "secrets.toml"
KEYRING = "keyring"  # an origin, and what settings.json says of a key that is kept there
OURS = ("base_url", "api_key", "model", "api_key_in")


@dataclass(frozen=True)
class Settings:
    """``base_url``/``model`` empty: no language model is connected, the built-in reader is used.

    ``origin``: where each of base_url, api_key and model came from: 'environment', 'secrets', 'settings', 'keyring'
    (the key alone), ''. ``kept``: everything else the settings page keeps, by name. ``key_trouble``: why the key in
    the keyring cannot be had, and what to do; then no model is connected.
    """

    home: Path
    base_url: str = ""
    api_key: Secret = field(default_factory=Secret)
    model: str = ""
    origin: Mapping[str, str] = field(default_factory=dict)
    kept: Mapping[str, Any] = field(default_factory=dict)
    key_trouble: str = ""

    @property
    def connected(self) -> bool:
        return bool(self.model and (self.base_url or self.api_key)) and not self.key_trouble


def home_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where library, cache and settings live; made with mode 0700 when missing."""
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
    """The settings in force. Raises SettingsError for a file that cannot be read."""
    environment = os.environ if environment is None else environment
    home = home_folder(environment)
    kept = read_kept(home)
    sources: list[tuple[str, Mapping[str, Any]]] = [
        ("environment", _from_environment(environment)),
        ("secrets", _from_secrets(secrets)),
        ("settings", kept),
    ]
    values: dict[str, str] = {}
    origin: dict[str, str] = {}
    trouble = ""
    for name in ("base_url", "model", "api_key"):
        for where, source in sources:
            if name == "api_key" and source is kept and not _same_server(values, kept):
                continue
            if source.get(name):
                values[name], origin[name] = str(source[name]), where
                break
    key = Secret(values.get("api_key", ""))
    if not key and kept.get("api_key_in") == KEYRING and values.get("base_url") and _same_server(values, kept):
        origin["api_key"] = KEYRING
        key, trouble = _from_keyring(home, values["base_url"])
    rest = {name: value for name, value in kept.items() if name not in OURS}
    return Settings(home, values.get("base_url", ""), key, values.get("model", ""), origin, rest, trouble)


def _same_server(values: Mapping[str, str], kept: Mapping[str, Any]) -> bool:
    """Whether the address in force is the one the kept key belongs to, where it belongs to one."""
    belongs = str(kept.get("base_url") or "").rstrip("/")
    return not belongs or values.get("base_url", "").rstrip("/") == belongs


def _from_keyring(home: Path, address: str) -> tuple[Secret, str]:
    """The key, or why it cannot be had."""
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
    }


def _from_secrets(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise SettingsError(f"{path} cannot be read as TOML. Mend it or remove it.") from None
    return _from_environment({name: value for name, value in data.items() if isinstance(value, str)})


def read_kept(home: Path) -> dict[str, Any]:
    """What the settings page kept; {} where nothing is. Raises SettingsError for a damaged file."""
    path = home / FILE
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise SettingsError(f"{path} is damaged. Remove it, then connect your model again in Settings.") from None
    return data if isinstance(data, dict) else {}


def keep(home: Path, changes: Mapping[str, Any]) -> None:
    """Write ``changes`` into settings.json (0600), whole or not at all; None removes a value."""
    kept = {**read_kept(home), **changes}
    kept = {name: value for name, value in kept.items() if value is not None}
    path, draft = home / FILE, home / f"{FILE}.new"
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(kept, file, ensure_ascii=False, indent=1)
        os.replace(draft, path)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written ({error.strerror}). Nothing was changed.") from None
