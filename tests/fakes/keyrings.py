"""Keyrings that are nobody's: one in memory, one that is locked, one that fails with what it was given, one that waits.

Named by PYTHON_KEYRING_BACKEND (``tests.fakes.keyrings.InMemory``) they reach an app in another process.
"""

from __future__ import annotations

import threading
from typing import ClassVar

from keyring.backend import KeyringBackend
from keyring.errors import KeyringError, KeyringLocked, PasswordDeleteError


class InMemory(KeyringBackend):
    """``asked``: each call's name, service and account."""

    priority: ClassVar[float] = 5  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.asked: list[tuple[str, str, str]] = []

    def get_password(self, service: str, username: str) -> str | None:
        self.asked.append(("get", service, username))
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.asked.append(("set", service, username))
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self.asked.append(("delete", service, username))
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("No such password!")


class Locked(InMemory):
    """Whoever was asked for its password said no; ``open`` it, and it is as any other."""

    open = False

    def _let_in(self) -> None:
        if not self.open:
            raise KeyringLocked("Failed to unlock the collection!")

    def get_password(self, service: str, username: str) -> str | None:
        self._let_in()
        return super().get_password(service, username)

    def set_password(self, service: str, username: str, password: str) -> None:
        self._let_in()
        super().set_password(service, username, password)

    def delete_password(self, service: str, username: str) -> None:
        self._let_in()
        super().delete_password(service, username)


class Failing(InMemory):
    """Repeats in its errors what it was given, as the worst of them might."""

    def get_password(self, service: str, username: str) -> str | None:
        raise ConnectionError(f"no bus for {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringError(f"cannot store {password!r}")

    def delete_password(self, service: str, username: str) -> None:
        raise OSError("no bus")


class Waiting(InMemory):
    """Asks for its password in another window: no call comes back before ``answered`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.answered = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.answered.wait(30)
        return super().get_password(service, username)

    def set_password(self, service: str, username: str, password: str) -> None:
        self.answered.wait(30)
        super().set_password(service, username, password)


class Nowhere(InMemory):
    """A keyring that says of itself that it is no place for anything."""

    priority: ClassVar[float] = 0  # type: ignore[assignment]
