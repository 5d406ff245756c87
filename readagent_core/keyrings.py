"""The system's keyring as a place for a key: macOS Keychain, Windows' credentials, Secret Service or KWallet on Linux.

A keyring may ask for its password in another window, and the ``keyring`` package then waits without end. So every call
runs in a thread of its own: whoever asked waits a little and is told that no answer came; the answer is taken up when
it is asked for the next time. A key is read once a process, home and address. The package is imported on first use: it
takes a tenth of a second, which nobody pays who keeps no key there.

Knows nothing of settings or screens. What a keyring says goes into no message: it might hold anything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from readagent_core.errors import SettingsError
from readagent_core.secret import Secret

MOMENT = 3.0  # seconds: an open keyring answers in some hundredths
PATIENCE = 30.0  # where a person has just asked for it, and may have a password to type

NONE = "This computer has no keyring that can be used just now."
LOCKED = "The system's keyring is locked, or did not let ReadAgent in."
AWAY = "The system's keyring cannot be used just now."
SILENT = "The system's keyring has not answered; it may be asking for its password in another window."
GONE = "The system's keyring does not hold the key any more."
ENTER = "Enter the key anew in Settings."
COMES_BACK = "Enter the key anew in Settings, or start again when there is one."
READ_NEXT = "Unlock it and ask it again in Settings, or enter the key anew there."
KEEP_NEXT = "The key was not kept, and nothing was changed. Unlock the keyring and try again, or choose another place."
FORGET_NEXT = (
    "A key is still in the keyring: unlock it and try again, or remove “ReadAgent” with the system's own tool."
)

_LOCKED = ("KeyringLocked", "LockedException", "PromptDismissedException")  # the last two are SecretStorage's own
_LOCK = threading.RLock()
_CALLS: dict[tuple[str, ...], _Call] = {}  # ("usable",), ("writing",), and (service, account) of each key asked for
_HELD: dict[tuple[str, str], Secret] = {}


class _Trouble(Exception):
    """Why a call came to nothing, in our own words."""


class _Call:
    """One call in a thread of its own. ``undo``: done after ``work`` where nobody waits for it any more."""

    def __init__(self, work: Callable[[], Any], *, undo: Callable[[], Any] | None = None) -> None:
        self._work, self._undo = work, undo
        self._over = threading.Event()
        self._given_up = False
        self._value: Any = None
        self._trouble = ""
        threading.Thread(target=self._run, daemon=True, name="keyring").start()

    @property
    def running(self) -> bool:
        return not self._over.is_set()

    def good(self) -> bool:
        """It is over, and brought something."""
        return self._over.is_set() and bool(self._value)

    def result(self, seconds: float, *, or_never: bool = False) -> Any:
        """What it brought, waited for so long. ``or_never``: what comes later is undone. Raises _Trouble."""
        self._over.wait(seconds)
        with _LOCK:
            if not self._over.is_set():
                self._given_up = or_never
                raise _Trouble(SILENT)
        if self._trouble:
            raise _Trouble(self._trouble)
        return self._value

    def _run(self) -> None:
        try:
            self._value = self._work()
        except Exception as error:  # noqa: BLE001  a backend may raise anything; its words go no further
            self._trouble = _words(error)
        with _LOCK:
            if not self._given_up:
                self._over.set()
                return
        if self._undo is not None and not self._trouble:
            with suppress(Exception):
                self._undo()
        self._over.set()


def usable() -> bool:
    """Whether this computer has a keyring that can be used. Looked for once a process; never raises."""
    try:
        return bool(_once(("usable",), _look, None))
    except _Trouble:
        return False


def get(home: Path, address: str, seconds: float | None = None) -> Secret:
    """The key kept for this server. Raises SettingsError where it cannot be had.

    ``seconds``: how long to wait for the keyring; None is a moment the first time, and not at all while the keyring
    still owes an answer.
    """
    at = _entry(home, address)
    if at not in _HELD:
        try:
            _HELD[at] = _once(at, lambda: _read(at), seconds)
        except _Trouble as trouble:
            following = {NONE: COMES_BACK, GONE: ENTER}.get(str(trouble), READ_NEXT)
            raise SettingsError(f"{trouble} {following}") from None
    return _HELD[at]


def put(home: Path, address: str, key: Secret) -> None:
    """Keep the key for this server, in place of one kept before. Raises SettingsError; then nothing was changed."""
    at = _entry(home, address)
    old = _HELD.get(at)
    if old == key:
        return

    def write() -> None:
        import keyring

        keyring.set_password(*at, key.reveal())

    def undo() -> None:
        import keyring

        if old is None:
            keyring.delete_password(*at)
        else:
            keyring.set_password(*at, old.reveal())

    try:
        _write(write, undo)
    except _Trouble as trouble:
        raise SettingsError(f"{trouble} {KEEP_NEXT}") from None
    _HELD[at] = key


def forget(home: Path, address: str) -> None:
    """Remove the key of this server, where one is kept. Raises SettingsError where that cannot be done."""
    at = _entry(home, address)

    def remove() -> None:
        import keyring

        if keyring.get_password(*at) is not None:
            keyring.delete_password(*at)

    try:
        _write(remove)
    except _Trouble as trouble:
        raise SettingsError(f"{trouble} {FORGET_NEXT}") from None
    with _LOCK:
        _CALLS.pop(at, None)
        _HELD.pop(at, None)


def ask_again() -> None:
    """Let go of what failed, so that the keyring is asked anew; a call still under way is waited for."""
    with _LOCK:
        for at in [at for at, call in _CALLS.items() if not call.good() and not call.running]:
            del _CALLS[at]


def _entry(home: Path, address: str) -> tuple[str, str]:
    """Service and account: a home's keys are its own, as everything else in it."""
    return f"ReadAgent ({home.resolve()})", address.rstrip("/")


def _once(at: tuple[str, ...], work: Callable[[], Any], seconds: float | None) -> Any:
    with _LOCK:
        known = _CALLS.get(at)
        call = known or _CALLS.setdefault(at, _Call(work))
    return call.result(seconds if seconds is not None else 0 if known else MOMENT)


def _write(work: Callable[[], None], undo: Callable[[], None] | None = None) -> None:
    if not usable():
        raise _Trouble(NONE)
    with _LOCK:
        last = _CALLS.get(("writing",))
        if last is not None and last.running:
            raise _Trouble(SILENT)
        call = _CALLS[("writing",)] = _Call(work, undo=undo)
    call.result(PATIENCE, or_never=True)


def _look() -> bool:
    import keyring
    from keyring.backends import chainer, fail, null

    ring = keyring.get_keyring()
    if isinstance(ring, chainer.ChainerBackend):
        return bool(ring.backends)
    return not isinstance(ring, fail.Keyring | null.Keyring) and ring.priority > 0


def _read(at: tuple[str, str]) -> Secret:
    import keyring

    if not _look():
        raise _Trouble(NONE)
    text = keyring.get_password(*at)
    if not text:
        raise _Trouble(GONE)
    return Secret(text)


def _words(error: Exception) -> str:
    if isinstance(error, _Trouble):
        return str(error)
    names = {kind.__name__ for kind in type(error).__mro__}
    return LOCKED if names.intersection(_LOCKED) else NONE if "NoKeyringError" in names else AWAY
