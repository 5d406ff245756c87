"""The scripts that make the tables of the library's SQLite file, one for each schema version, from migrations.sql."""

from __future__ import annotations

from pathlib import Path

MIGRATIONS = tuple(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split("-- next version\n"))
