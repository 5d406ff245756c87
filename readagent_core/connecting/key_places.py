"""Where a key is stored: in memory until the process ends, in the system's keyring or in settings.json; in one of them.

A place is also a ``Settings.origin``. A keyring's entry belongs to an address, so that one server's key is never used
for another.
"""

from __future__ import annotations

from typing import Any

from readagent_core import keyrings
from readagent_core.secret import Secret
from readagent_core.settings import Settings
from readagent_core.settings.saved import KEYRING, read_saved_settings, save_settings
from readagent_core.workspace import Workspace

MEMORY = "memory"
FILE = "settings"


def places(settings: Settings) -> list[str]:
    """Where a key can be stored on this computer; the keyring of a server is not that of the people who use it."""
    return [MEMORY, KEYRING, FILE] if settings.team is None and keyrings.usable() else [MEMORY, FILE]


def save(workspace: Workspace, address: str, key: Secret, place: str, changes: dict[str, Any]) -> tuple[str, str]:
    """Write ``changes`` to the settings with the key in its place. Returns the place, and the address whose key is to
    be removed from the keyring with ``keyrings.remove``; '' where none is. Raises SettingsError.

    Without a ``key``, one of the same server that cannot be read from the keyring just now stays there.
    """
    saved = read_saved_settings(workspace.home)
    before = saved.base_url if saved.api_key_in == KEYRING else ""
    unread = not key and before == address and bool(workspace.settings.key_trouble)
    place = KEYRING if unread else place if key else MEMORY
    if key and place == KEYRING:
        keyrings.put(workspace.home, address, key)
    changes |= {"api_key": key.reveal() if place == FILE else None, "api_key_in": KEYRING if place == KEYRING else None}
    save_settings(workspace.home, changes)
    return place, "" if place == KEYRING and before == address else before
