"""The people of a server for several: who is admitted, where each one's home is, what it has and spends.

A person is known by the pair of issuer and subject that their OpenID Connect provider never gives to anybody else; an
e-mail address may change hands. The hash of the pair is the person's ``id`` and the name of their folder.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from readagent_core.errors import SignInError
from readagent_core.models.connection import open_spending_log
from readagent_core.quick_json import to_json
from readagent_core.regular_files import write_whole
from readagent_core.settings import ANYONE, PEOPLE, SERVER_MODEL, TeamSettings
from readagent_core.workspace import folder_size

_PROFILE, _BLOCKED = "person.json", "blocked"


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in. ``name``: for other people to read; the e-mail address where there is no name."""

    id: str
    email: str
    name: str
    admin: bool = False


@dataclass(frozen=True)
class Account:
    """What an administrator sees of a person.

    ``seen``: seconds since 1970. ``bytes``: of their home. ``spent``: dollars of the server's, this month.
    """

    person: Person
    seen: float
    bytes: int
    spent: float
    blocked: bool


def admit(claims: Mapping[str, Any], team: TeamSettings, home: Path) -> Person:
    """Return the person whom the verified ``claims`` of an ID token name. ``home``: the server's.

    Raises SignInError for an account of another domain, one whose address the provider has not verified, and one that
    an administrator has blocked. A provider that says nothing of verification is trusted for admission, because the
    configuration names it, but its addresses make nobody an administrator: those are then listed by their id.
    """
    issuer, subject = claims.get("iss"), claims.get("sub")
    email = str(claims.get("email") or "").strip().lower()
    if not issuer or not subject:
        raise SignInError("The provider did not say who you are. Sign out, then sign in again.")
    person_id = hashlib.sha256(f"{issuer}\n{subject}".encode()).hexdigest()[:24]
    local, _, domain = email.rpartition("@")
    if claims.get("email_verified") in (False, "false"):
        raise SignInError(f"Your provider has not verified the address {email}. Verify it there, then sign in again.")
    if ANYONE not in team.domains and not (local and domain in team.domains):
        raise SignInError(
            f"{email or 'This account'} is not admitted here. Sign out and use an address of "
            f"{', '.join(sorted(team.domains))}, or ask who runs this server."
        )
    if (home / PEOPLE / person_id / _BLOCKED).exists():
        raise SignInError("This account is blocked. Ask who runs this server.")
    verified = claims.get("email_verified") in (True, "true")
    admin = person_id in team.admins or (verified and email in team.admins)
    return Person(person_id, email, str(claims.get("name") or email or "Somebody"), admin)


def note_visit(person: Person, home: Path) -> None:
    """Record for the administrators who the person of this id is, and that they were here now."""
    folder = home / PEOPLE / person.id
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(folder / _PROFILE, to_json(asdict(person) | {"seen": time.time()}))


def accounts(home: Path) -> list[Account]:
    """Everybody who was ever admitted, last seen first."""
    found = []
    for profile in (home / PEOPLE).glob(f"*/{_PROFILE}"):
        values = json.loads(profile.read_text(encoding="utf-8"))
        folder, seen = profile.parent, float(values.pop("seen"))
        log = folder / SERVER_MODEL
        spent = open_spending_log(log).month() if log.is_dir() else 0.0
        found.append(Account(Person(**values), seen, folder_size(folder), spent, (folder / _BLOCKED).exists()))
    return sorted(found, key=lambda account: -account.seen)


def block(person_id: str, home: Path, *, blocked: bool) -> None:
    """Refuse a person from their next request on, or admit them again. Their library stays as it is."""
    mark = home / PEOPLE / person_id / _BLOCKED
    if blocked:
        mark.touch()
    else:
        mark.unlink(missing_ok=True)
