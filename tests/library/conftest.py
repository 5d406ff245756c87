"""``library``: an empty one, closed when the test ends."""

from __future__ import annotations

import pytest

from readagent_core.library import Library


@pytest.fixture
def library(tmp_path):
    made = Library(tmp_path / "kept")
    yield made
    made.close()
