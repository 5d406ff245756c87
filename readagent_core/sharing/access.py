"""Who may use the library over the home network: whoever knows the password that this computer made.

It is in share.json (mode 0600) with the devices that are signed in; of a device's cookie only the hash is stored. After
``TRIES`` wrong passwords in a row from one address that address waits a minute, and so does everybody after
``TRIES_OF_ALL``: 49 bits are not guessed at that pace.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from readagent_core.errors import SettingsError, SignInError
from readagent_core.quick_json import to_json
from readagent_core.regular_files import write_whole

FILE = "share.json"
DAYS = 30  # a device stays signed in
TRIES, TRIES_OF_ALL, WAIT_SECONDS = 5, 30, 60.0
_MOST_DEVICES = 50
_NOTE_SECONDS = 60.0  # between two notes that a device is here
_CONSONANTS, _VOWELS, _WORDS = "bdfgklmnprstvz", "aeiou", 4
_NUMBERS = ("No", "One", "Two", "Three", "Four")
_SYSTEMS = (("iPad", "Tablet"), ("Tablet", "Tablet"), ("Mobile", "Phone"), ("Android", "Tablet"))
_BROWSERS = (("Edg", "Edge"), ("Firefox", "Firefox"), ("FxiOS", "Firefox"), ("Chrom", "Chrome"), ("Safari", "Safari"))


@dataclass(frozen=True)
class Device:
    """A browser that is signed in. ``since``, ``seen``: seconds since 1970. ``token``: the hash of its cookie."""

    id: str
    name: str
    token: str
    since: float
    seen: float


class Access:
    """The password and the devices of a home folder. Any thread may use it; there is one a process."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE
        self._lock = threading.RLock()
        self._wrong: dict[str, list[float]] = {}  # by address, and '' for all: when
        values = self._read()
        self.on: bool = values.get("on") is True
        self.password = str(values.get("password") or make_password())
        self.devices = tuple(Device(**row) for row in values.get("devices", ()))

    def sign_in(self, password: str, address: str, agent: str) -> str:
        """Return the cookie of a device that gives the password. Raises SignInError with what to do."""
        self.check(password, address)
        token, now = secrets.token_urlsafe(32), time.time()
        with self._lock:
            device = Device(secrets.token_hex(6), device_name(agent), _hash(token), now, now)
            self.devices = (*self.devices, device)[-_MOST_DEVICES:]
            self._write()
        return token

    def check(self, password: str, address: str, *, hashed: bool = False) -> None:
        """Raise SignInError for another password. ``hashed``: it is the MD5 of one, which KOReader sends."""
        with self._lock:
            now = time.monotonic()
            for who, most in ((address, TRIES), ("", TRIES_OF_ALL)):
                self._wrong[who] = [at for at in self._wrong.get(who, ()) if now - at < WAIT_SECONDS]
                if len(self._wrong[who]) >= most:
                    raise SignInError("Too many wrong passwords. Wait one minute, then try again.")
            right = hashlib.md5(self.password.encode(), usedforsecurity=False).hexdigest() if hashed else self.password
            if hmac.compare_digest(password.strip().lower().encode(), right.encode()):
                self._wrong.pop(address, None)
                return
            for who in (address, ""):
                self._wrong[who].append(now)
            left = TRIES - len(self._wrong[address])
        more = f"{_NUMBERS[left]} more {'try' if left == 1 else 'tries'}, then a wait of one minute."
        raise SignInError(f"That is not the password. {more if left else 'Wait one minute, then try again.'}")

    def device(self, token: str) -> Device | None:
        """Return the device that has this cookie, and note that it is here."""
        wanted, now = _hash(token), time.time()
        with self._lock:
            found = next((one for one in self.devices if hmac.compare_digest(one.token, wanted)), None)
            if found is None or now - found.since > DAYS * 86_400:
                return None
            if now - found.seen > _NOTE_SECONDS:
                self.devices = tuple(replace(one, seen=now) if one is found else one for one in self.devices)
                with suppress(SettingsError):  # a full disk keeps nobody out
                    self._write()
            return found

    def sign_out(self, device_id: str) -> None:
        with self._lock:
            self.devices = tuple(one for one in self.devices if one.id != device_id)
            self._write()

    def new_password(self) -> None:
        """Make another password, and sign every device out."""
        with self._lock:
            self.password, self.devices = make_password(), ()
            self._write()

    def keep(self, on: bool | None = None) -> None:
        """Keep the password for the next start, and with ``on`` whether the home network is answered then too."""
        with self._lock:
            self.on = self.on if on is None else on
            self._write()

    def _read(self) -> dict[str, Any]:
        try:
            values = json.loads(self._path.read_text(encoding="utf-8")) if self._path.is_file() else {}
            [Device(**row) for row in values.get("devices", ())]
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return {}  # another password is made; every device signs in again
        return dict(values)

    def _write(self) -> None:
        values = {"on": self.on, "password": self.password, "devices": [asdict(one) for one in self.devices]}
        try:
            write_whole(self._path, to_json(values))
        except OSError as error:
            raise SettingsError(f"{self._path} cannot be written ({error.strerror}). Nothing was changed.") from None


def make_password() -> str:
    """Return four words of two syllables that can be said and typed: 'lomi-kadu-veso-rina'."""
    choose = secrets.choice
    return "-".join("".join(choose(_CONSONANTS) + choose(_VOWELS) for _ in range(2)) for _ in range(_WORDS))


def device_name(agent: str) -> str:
    """Return what a browser calls itself, for people: 'Phone, Firefox'."""
    system = next((name for sign, name in _SYSTEMS if sign in agent), "Computer")
    browser = next((name for sign, name in _BROWSERS if sign in agent), "")
    return f"{system}, {browser}" if browser else system


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
