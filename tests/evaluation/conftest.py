"""What the record of every experiment begins with is worked out once."""

from __future__ import annotations

from functools import cache

import pytest

from readagent_core.evaluation import experiment


@pytest.fixture(autouse=True, scope="session")
def versions_once():
    """The hash of our source and the packages' versions do not change while the tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "_versions", cache(experiment._versions))
        yield
