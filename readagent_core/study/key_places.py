"""Where a person's key is kept, and moving it from one place to another.

A place is also a ``Settings.origin``. The keyring's entries belong to an address, so that one server's key is never
found for another. What could not be removed from a keyring is remembered by its address, and told until it is gone.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from readagent_core import keyrings
from readagent_core.errors import SettingsError
from readagent_core.settings import KEYRING, Secret, keep, load_settings, read_kept

if TYPE_CHECKING:
    from readagent_core.study import Study

MEMORY = "memory"  # chosen here, until the process ends
FILE = "settings"  # settings.json
LEFT = "keys_left"  # in settings.json: addresses whose key is still in a keyring that could not be opened


def places() -> list[str]:
    """Where a key can be kept on this computer."""
    return [MEMORY, KEYRING, FILE] if keyrings.usable() else [MEMORY, FILE]


def settle(study: Study, address: str, key: Secret, place: str, changes: dict[str, Any]) -> str:
    """Keep ``changes`` with the key in its place and in no other; the place it is in. Raises SettingsError.

    No key leaves one that cannot be read just now where it is, if the server is the same. Whatever is raised, nothing
    was changed.
    """
    before = _in_keyring(study)
    waiting = not key and before == address and bool(study.settings.key_trouble)
    place = KEYRING if waiting else place if key else MEMORY
    if key and place == KEYRING:
        keyrings.put(study.home, address, key)
    left = [where for where in _left(study) if where != address or place != KEYRING]
    changes |= {
        "api_key": key.reveal() if place == FILE else None,
        "api_key_in": KEYRING if place == KEYRING else None,
        LEFT: left or None,
    }
    try:
        keep(study.home, changes)
    except SettingsError:
        if place == KEYRING and before != address:
            with suppress(SettingsError):
                keyrings.forget(study.home, address)
        raise
    if before and (place != KEYRING or before != address):
        _remove(study, before)
    return place


def drop(study: Study, changes: dict[str, Any]) -> None:
    """Keep ``changes``, and the key nowhere. Raises SettingsError."""
    settle(study, "", Secret(), MEMORY, changes)


def left(study: Study) -> str:
    """A line for people where a key is still in a keyring that could not be opened; else ''."""
    addresses = _left(study)
    return f"{keyrings.FORGET_NEXT} It belongs to {', '.join(addresses)}." if addresses else ""


def remove_left(study: Study) -> None:
    """Try again to remove what is left. Raises SettingsError where the keyring still does not let it be removed."""
    keyrings.ask_again()
    for address in _left(study):
        keyrings.forget(study.home, address)
        keep(study.home, {LEFT: [where for where in _left(study) if where != address] or None})


def take_up(study: Study, *, patience: float | None = None) -> bool:
    """Connect the model if its key can be had from the keyring by now. Asks nothing anew, and waits only for
    ``patience`` seconds: until then the keyring may owe an answer. Raises SettingsError for a damaged settings.json.
    """
    if not study.settings.key_trouble:
        return False
    fresh = load_settings(patience=patience)
    if fresh.key_trouble != study.settings.key_trouble:
        study.reconnect(fresh)
    return not fresh.key_trouble


def ask_again(study: Study) -> None:
    """Ask the keyring once more for the key, as the person who can unlock it wants. Raises SettingsError."""
    keyrings.ask_again()
    take_up(study, patience=keyrings.PATIENCE)
    if study.settings.key_trouble:
        raise SettingsError(study.settings.key_trouble)


def _in_keyring(study: Study) -> str:
    """The address whose key is in the keyring; '' where none is."""
    kept = read_kept(study.home)
    return str(kept.get("base_url") or "") if kept.get("api_key_in") == KEYRING else ""


def _left(study: Study) -> list[str]:
    found = read_kept(study.home).get(LEFT)
    return [str(address) for address in found] if isinstance(found, list) else []


def _remove(study: Study, address: str) -> None:
    try:
        keyrings.forget(study.home, address)
    except SettingsError:
        keep(study.home, {LEFT: sorted({*_left(study), address})})
