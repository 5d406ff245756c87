"""What every test has: its own READAGENT_HOME, and no model of the machine's in reach."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    """A fresh home folder; the environment's connection is taken away."""
    home = tmp_path / "home"
    monkeypatch.setenv("READAGENT_HOME", str(home))
    for name in ("READAGENT_BASE_URL", "READAGENT_API_KEY", "READAGENT_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return home
