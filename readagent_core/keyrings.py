"""Keys in the system's keyring, through the ``keyring`` package: macOS Keychain, Windows Credential Manager, Secret
Service or KWallet on Linux.

A keyring may ask for its password in another window, and the package then waits without end. So calls run one at a time
in a thread, and the caller waits ``SECONDS`` at most. A key is read once a process, home and address. The package takes
a tenth of a second to import, so it is imported on first use. A backend's own words go into no message: they may hold
the key.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from readagent_core.errors import SettingsError
from readagent_core.secret import Secret

SECONDS = 20.0  # an open keyring answers in some hundredths of one; a person may have a password to type
LOCKED = "The system's keyring is locked, or did not let ReadAgent in."
SILENT = "The system's keyring has not answered; it may be asking for its password in another window."
NONE = "This computer has no keyring that can be used just now."
FAILED = "The system's keyring cannot be used just now."
GONE = "The system's keyring does not hold the key any more. Enter the key again in Settings."
READ_NEXT = "Unlock it and start ReadAgent again, or enter the key again in Settings."
PUT_NEXT = "The settings were not changed. Unlock the keyring and try again, or choose another place."
REMOVE_NEXT = "A key is still in it: remove “ReadAgent” with the system's own tool."

_LOCKED = ("KeyringLocked", "LockedException", "PromptDismissedException")  # the last two are SecretStorage's
_ONE_AT_A_TIME = threading.Lock()
_READ: dict[tuple[str, str], Secret | str] = {}  # the key, or why it cannot be had, by service and account


@functools.cache
def usable() -> bool:
    """Whether this computer has a keyring that can be used. Looked for once a process."""
    import keyring
    from keyring.backends import chainer, fail, null

    try:
        ring = keyring.get_keyring()
        if isinstance(ring, chainer.ChainerBackend):
            return bool(ring.backends)
        return not isinstance(ring, fail.Keyring | null.Keyring) and ring.priority > 0
    except Exception:  # noqa: BLE001  a backend may raise anything while it is loaded
        return False


def get(home: Path, address: str) -> Secret:
    """The key saved for this server. Raises SettingsError where it cannot be read."""
    at = _entry(home, address)
    if at not in _READ:
        text, problem = _call(lambda ring: ring.get_password(*at))
        _READ[at] = f"{problem} {READ_NEXT}" if problem else Secret(text) if text else GONE
    found = _READ[at]
    if isinstance(found, str):
        raise SettingsError(found)
    return found


def put(home: Path, address: str, key: Secret) -> None:
    """Save the key for this server, replacing an earlier one. Raises SettingsError."""
    at = _entry(home, address)
    if _READ.get(at) == key:
        return
    _, problem = _call(lambda ring: ring.set_password(*at, key.reveal()))
    if problem:
        raise SettingsError(f"{problem} {PUT_NEXT}")
    _READ[at] = key


def remove(home: Path, address: str) -> None:
    """Remove the key of this server, where one is saved. Raises SettingsError where that fails."""
    at = _entry(home, address)
    _, problem = _call(lambda ring: ring.get_password(*at) is not None and ring.delete_password(*at))
    if problem:
        raise SettingsError(f"{problem} {REMOVE_NEXT}")
    _READ.pop(at, None)


def _entry(home: Path, address: str) -> tuple[str, str]:
    """Service and account: each home has keys of its own."""
    return f"ReadAgent ({home.resolve()})", address.rstrip("/")


def _call(work: Callable[[Any], Any]) -> tuple[Any, str]:
    """What ``work`` returns for the keyring, and ''; or None and the problem, in our own words."""
    if not usable():
        return None, NONE
    outcome: Future[tuple[Any, str]] = Future()

    def run() -> None:
        import keyring

        with _ONE_AT_A_TIME:
            if not outcome.set_running_or_notify_cancel():
                return
            try:
                outcome.set_result((work(keyring), ""))
            except Exception as error:  # noqa: BLE001  a backend may raise anything
                outcome.set_result((None, LOCKED if type(error).__name__ in _LOCKED else FAILED))

    threading.Thread(target=run, daemon=True, name="keyring").start()
    try:
        return outcome.result(SECONDS)
    except TimeoutError:
        outcome.cancel()  # a call that still waits for another one is not made
        return None, SILENT
