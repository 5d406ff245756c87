"""Who is signed in, on a server for several people: in a session of the app, and in a request for a file.

The signed cookie of Streamlit's OpenID Connect sign-in is the only source; nothing of an address or a message is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from starlette.requests import HTTPConnection

from pages.parts.shared.streamlit_private import claims_in_cookies, sign_in_settings
from readagent_core.errors import NotSignedInError, SettingsError
from readagent_core.models.connection import price_on_server
from readagent_core.settings import home_folder, load_settings, load_team
from readagent_core.team.people import Person, admit

NEEDED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
SHORTEST_SECRET = 32  # characters


def person_of_session() -> Person | None:
    """Whoever is signed in in the session whose script runs; None on a computer of one person.

    Raises SignInError where nobody is, or the account is not admitted.
    """
    return _person(st.user.to_dict()) if load_team() else None


def person_of_request(request: HTTPConnection) -> Person | None:
    """Whoever sent the request; None on a computer of one person. Raises SignInError like ``person_of_session``."""
    return _person(claims_in_cookies(request.cookies)) if load_team() else None


def _person(claims: Mapping[str, Any]) -> Person:
    team = load_team()
    if team is None or not claims.get("is_logged_in"):
        raise NotSignedInError("Sign in to open your library.")
    return admit(claims, team, home_folder())


def check_configuration() -> None:
    """Raise SettingsError where several people are to be served and something that keeps them apart is missing."""
    team = load_team()
    if team is None:
        return
    section = sign_in_settings()
    if missing := [name for name in NEEDED if not section.get(name)]:
        raise SettingsError(
            "READAGENT_TEAM is on, but sign-in is not set up. Install requirements-team.txt, and set "
            f"{', '.join(missing)} in the section [auth] of .streamlit/secrets.toml; see docs/hosting.md."
        )
    if len(str(section["cookie_secret"])) < SHORTEST_SECRET:
        raise SettingsError(f"cookie_secret in secrets.toml needs at least {SHORTEST_SECRET} random characters.")
    unsafe = [name for name in ("server.trustedUserHeaders", "server.enableAgentApi") if st.get_option(name)]
    unsafe += [] if st.get_option("server.enableXsrfProtection") else ["server.enableXsrfProtection"]
    if unsafe:
        raise SettingsError(f"{', '.join(unsafe)} must be as they are by default where people sign in.")
    server = load_settings()
    if server.connected:
        price_on_server(server, team)
