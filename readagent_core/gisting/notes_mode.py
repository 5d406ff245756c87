"""How the notes of pages are made while gists are."""

from __future__ import annotations

from enum import StrEnum


class NotesMode(StrEnum):
    """How the notes of pages are made."""

    OFF = "off"
    WITH_GIST = "with-gist"  # in the reply that has the gist
    APART = "apart"  # in a call of their own
