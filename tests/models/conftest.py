"""Connections and caches are shared in the process: each test leaves none behind."""

from __future__ import annotations

import gc

import pytest

from readagent_core import event_loop
from readagent_core.models import connection
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.settings import Secret, Settings
from readagent_core.settings.saved import parse_settings


@pytest.fixture(scope="session", autouse=True)
def loop_closed():
    """A connection that is still open when the event loop closes is a warning, and so an error."""
    yield
    connection.close_all()
    event_loop.close()
    gc.collect()


@pytest.fixture(autouse=True)
def nothing_left_open():
    yield
    connection.close_all()


@pytest.fixture
def settings_for(own_home):
    """Settings for a fake server: ``settings_for(server, window=…)``."""
    own_home.mkdir(mode=0o700)

    def make(server, *, model="fake-model", key="", **kept):
        return Settings(own_home, server.url, Secret(key), model, {}, parse_settings(kept, own_home))

    return make


@pytest.fixture
def model_at():
    """``model_at(where, name, …)``: a model at a server or an address; closed when the test ends."""
    made = []

    def make(where, name="fake-model", **changes):
        made.append(OpenAIServer(getattr(where, "url", where), name, **changes))
        return made[-1]

    yield make
    for model in made:
        model.close()
