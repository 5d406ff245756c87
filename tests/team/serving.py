"""A server for several people with a provider of accounts, both on loopback."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from oidc_provider_mock import User, run_server_in_thread

from tests.browser.conftest import ROOT, running_app

SECRET = "a cookie secret of some length for the tests"
PEOPLE = {
    "anna": {"email": "anna@example.org", "email_verified": True, "name": "Anna"},
    "ben": {"email": "ben@example.org", "email_verified": True, "name": "Ben"},
    "eve": {"email": "eve@elsewhere.net", "email_verified": True, "name": "Eve"},
    "una": {"email": "una@example.org", "email_verified": False, "name": "Una"},
}
ENVIRONMENT = {
    "READAGENT_TEAM": "on",
    "READAGENT_TEAM_DOMAINS": "example.org",
    "READAGENT_TEAM_ADMINS": "anna@example.org",
}


@contextmanager
def team_server(folder: Path, *, script: Path = ROOT / "app.py", **environment: str) -> Iterator[str]:
    """The address of an app that admits example.org, with ``folder / "home"`` as its home. Anna administers it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with run_server_in_thread(user_claims=[User(sub=sub, claims=claims) for sub, claims in PEOPLE.items()]) as provider:
        secrets = folder / "secrets.toml"
        secrets.write_text(
            f'[auth]\nredirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"\ncookie_secret = "{SECRET}"\n'
            'client_id = "readagent"\nclient_secret = "of the client"\n'
            f'server_metadata_url = "http://localhost:{provider.server_port}/.well-known/openid-configuration"\n',
            encoding="utf-8",
        )
        team = ENVIRONMENT | {"STREAMLIT_SECRETS_FILES": str(secrets)}
        with running_app(folder / "home", script=script, **{**team, **environment}) as url:
            yield url


def home_of(folder: Path, name: str) -> Path:
    """The home of somebody who has signed in."""
    for profile in (folder / "home" / "people").glob("*/person.json"):
        if json.loads(profile.read_text(encoding="utf-8"))["email"] == PEOPLE[name]["email"]:
            return profile.parent
    raise AssertionError(f"{name} was never here")
