"""Settings: the data folder, the model's server, name and key, and whether links may be fetched.

Only this module reads the environment.

Each value comes from the first place that has it: the environment, ``.streamlit/secrets.toml``, then
``READAGENT_HOME/settings.json`` (mode 0600), which the settings page writes. That file may say that the key is in the
system's keyring. A saved key is used only with the server address it was saved with.

On a server for several people (``load_team``) each person has a home of their own, in ``READAGENT_HOME/people``. Their
settings are those of their own file; without a connection there they use the server's.
"""

from __future__ import annotations

import logging
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import platformdirs

from readagent_core.errors import SettingsError
from readagent_core.secret import Secret as Secret
from readagent_core.settings.saved import KEYRING as KEYRING
from readagent_core.settings.saved import SavedSettings
from readagent_core.settings.saved import read_saved_settings as read_saved_settings
from readagent_core.settings.saved import save_settings as save_settings

HUB = "https://huggingface.co"
DICTIONARIES = "https://freedict.org/freedict-database.json"  # the list of free ones
SPENDING_FILE = "spending.db"  # beside settings.json in the home folder
SECRETS = Path(".streamlit") / "secrets.toml"
SERVER = "server"  # the origin of a connection that the server lends to a person
PEOPLE = "people"  # the folder of everybody's homes
SERVER_MODEL = "server-model"  # the folder in a person's home that records what the server paid for them
ANYONE = "*"  # in place of a domain: everybody whom the provider signs in
_PERSON = re.compile(r"[0-9a-f]{24}")
_MEGABYTES, _JOBS = 2_000, 50  # of a person, where nothing else is set
_ON = ("on", "yes", "true", "1")  # any other value turns links off
_log = logging.getLogger(__name__)
_told: set[str] = set()  # faults of settings.json that this process has logged


@dataclass(frozen=True)
class TeamSettings:
    """What holds for everybody on a server for several people.

    ``domains``: of the e-mail addresses that are admitted, or ``ANYONE``. ``admins``: their e-mail addresses.
    ``budget``: dollars a month that each person may spend with the server's connection; None for no limit. ``price``:
    dollars a million tokens read and written there, where none is listed. ``megabytes``, ``jobs``: what one person may
    store, and run at once.
    """

    domains: frozenset[str]
    admins: frozenset[str] = frozenset()
    budget: float | None = None
    price: tuple[float, float] | None = None
    megabytes: int = _MEGABYTES
    jobs: int = _JOBS


@dataclass(frozen=True)
class Settings:
    """The settings in force. Without ``base_url`` and ``model`` the built-in reader is used.

    ``origin``: where base_url, api_key, model and links came from: 'environment', 'secrets', 'settings', 'keyring' (the
    key only) or ''. ``saved``: what settings.json says. ``key_trouble``: why the key could not be read from the
    keyring, and what to do; no model is connected then. ``links``: whether web addresses may be fetched. ``hub``: where
    models of one's own are fetched from; ``models_list``: the file that lists them, None for ours.
    ``dictionaries``: the address of the list of free ones.

    On a server for several people only: ``person``: whose settings they are. ``team``: what holds for everybody.
    ``server``: the server's own settings where its connection is used, else None.
    """

    home: Path
    base_url: str = ""
    api_key: Secret = field(default_factory=Secret)
    model: str = ""
    origin: Mapping[str, str] = field(default_factory=dict)
    saved: SavedSettings = field(default_factory=SavedSettings)
    key_trouble: str = ""
    links: bool = True
    hub: str = HUB
    models_list: Path | None = None
    dictionaries: str = DICTIONARIES
    person: str = ""
    team: TeamSettings | None = None
    server: Settings | None = None

    @property
    def spending_folder(self) -> Path:
        """Where what the connection in use costs is recorded: what the server pays is apart from what a person pays."""
        return self.home / SERVER_MODEL if self.server else self.home

    @property
    def connected(self) -> bool:
        return bool(self.model and (self.base_url or self.api_key)) and not self.key_trouble


def home_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of library, cache and settings; created with mode 0700 if missing. Raises SettingsError."""
    home = environment.get("READAGENT_HOME") or platformdirs.user_data_dir("readagent")
    return _create_folder(Path(home).expanduser())


def _create_folder(home: Path) -> Path:
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise SettingsError(
            f"The folder {home} cannot be made ({error.strerror}). Set the environment variable READAGENT_HOME to a "
            "folder you can write to, then start ReadAgent again."
        ) from None
    return home


def load_team(environment: Mapping[str, str] = os.environ) -> TeamSettings | None:
    """Return what READAGENT_TEAM_… says where READAGENT_TEAM is on, else None: one person, without sign-in.

    Raises SettingsError for a value that cannot be used.
    """
    if environment.get("READAGENT_TEAM", "").strip().lower() not in _ON:
        return None

    def words(name: str) -> frozenset[str]:
        return frozenset(environment.get(name, "").lower().replace(",", " ").split())

    def numbers(name: str, count: int) -> tuple[float, ...] | None:
        text = environment.get(name, "")
        try:
            found = tuple(float(part) for part in text.replace(",", " ").split())
        except ValueError:
            found = ()
        if text.strip() and (len(found) != count or not all(0 <= number < float("inf") for number in found)):
            raise SettingsError(f"{name} must be {'a number' if count == 1 else f'{count} numbers'} of 0 or more.")
        return found or None

    domains = frozenset(domain.removeprefix("@") for domain in words("READAGENT_TEAM_DOMAINS"))
    if not domains:
        raise SettingsError(
            "READAGENT_TEAM is on, so READAGENT_TEAM_DOMAINS must say whose e-mail addresses are admitted: "
            f"'example.org', or '{ANYONE}' for everybody whom the provider signs in."
        )
    budget, price = numbers("READAGENT_TEAM_BUDGET", 1), numbers("READAGENT_TEAM_PRICE", 2)
    megabytes, jobs = numbers("READAGENT_TEAM_MEGABYTES", 1), numbers("READAGENT_TEAM_JOBS", 1)
    return TeamSettings(
        domains,
        words("READAGENT_TEAM_ADMINS"),
        budget[0] if budget else None,
        (price[0], price[1]) if price else None,
        int(megabytes[0]) if megabytes else _MEGABYTES,
        int(jobs[0]) if jobs else _JOBS,
    )


def share_addresses() -> tuple[str, ...] | None:
    """Return where READAGENT_SHARE says that the home network is answered: () at all of this computer's addresses.

    None without it: then the switch in Settings decides.
    """
    words = os.environ.get("READAGENT_SHARE", "").replace(",", " ").split()
    return None if not words else () if words[0].lower() in _ON else tuple(words)


def load_settings(
    environment: Mapping[str, str] = os.environ, *, secrets: Path = SECRETS, person: str = ""
) -> Settings:
    """Return the settings in force; those of ``person`` on a server for several people.

    What of settings.json could not be used is logged once, and listed in ``saved.faults``. Raises SettingsError for a
    file that cannot be read.
    """
    if person:
        return _person_settings(person, environment, secrets)
    home = home_folder(environment)
    saved = _read_saved(home)
    kept = saved.api_key.reveal()
    sources: list[tuple[str, Mapping[str, str]]] = [
        ("environment", _from_environment(environment)),
        ("secrets", _from_secrets(secrets)),
        ("settings", {"base_url": saved.base_url, "model": saved.model, "links": saved.links, "api_key": kept}),
    ]
    values: dict[str, str] = {}
    origin: dict[str, str] = {}
    trouble = ""
    for name in ("base_url", "model", "api_key", "links"):
        for where, source in sources:
            if name == "api_key" and where == "settings" and not _same_server(values, saved):
                continue
            if source.get(name):
                values[name], origin[name] = source[name], where
                break
    key = Secret(values.get("api_key", ""))
    if not key and saved.api_key_in == KEYRING and values.get("base_url") and _same_server(values, saved):
        origin["api_key"] = KEYRING
        key, trouble = _from_keyring(home, values["base_url"])
    links = values.get("links", "on").strip().lower() in _ON
    hub = (environment.get("READAGENT_HUB") or HUB).rstrip("/")
    listed = environment.get("READAGENT_MODELS")
    return Settings(
        home, values.get("base_url", ""), key, values.get("model", ""), origin, saved, trouble, links, hub,
        Path(listed) if listed else None, environment.get("READAGENT_DICTIONARIES") or DICTIONARIES,
    )  # fmt: skip


def _person_settings(person: str, environment: Mapping[str, str], secrets: Path) -> Settings:
    """Return a person's settings: address, model and key are all their own, or all the server's, and never mixed."""
    team = load_team(environment)
    if team is None or not _PERSON.fullmatch(person):
        raise SettingsError("This server is not set up for several people. Ask who runs it.")
    server = load_settings(environment, secrets=secrets)
    home = _create_folder(server.home / PEOPLE / person)
    saved = _read_saved(home)
    links = server.links and (saved.links or "on").strip().lower() in _ON
    origin = {"links": server.origin.get("links", "")} if not server.links else {}
    settings = Settings(home, origin=origin, saved=saved, links=links, person=person, team=team)
    if saved.model and saved.base_url:
        origin |= {name: "settings" for name in ("base_url", "model", "api_key") if getattr(saved, name)}
        return replace(settings, base_url=saved.base_url, model=saved.model, api_key=saved.api_key)
    if server.connected and saved.server_model:
        origin |= dict.fromkeys(("base_url", "model", "api_key"), SERVER)
        settings = replace(
            settings, base_url=server.base_url, model=server.model, api_key=server.api_key, server=server
        )
        _create_folder(settings.spending_folder)
    return settings


def _read_saved(home: Path) -> SavedSettings:
    saved = read_saved_settings(home)
    for fault in saved.faults:
        if fault not in _told:
            _told.add(fault)
            _log.warning("%s", fault)
    return saved


def _same_server(values: Mapping[str, str], saved: SavedSettings) -> bool:
    """Return whether the saved key may be used: it was saved without an address, or with the one in force."""
    address = saved.base_url.rstrip("/")
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
