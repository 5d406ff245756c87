"""What every test has: its own READAGENT_HOME, and no model or keyring of the machine's in reach."""

from __future__ import annotations

import gc
import signal
import threading

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # busy ones too
settings.load_profile("any machine")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell's background job ignores it, as would what tests start
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def no_keyring():
    """Nobody's own keyring is read or written, here or in a process that a test starts. Imports nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        yield


def pytest_ignore_collect(collection_path, config):
    """``-m "not browser"`` does not import the browser tests: True for their folder."""
    return True if collection_path.name == "browser" and config.option.markexpr == "not browser" else None


def pytest_collection_finish():
    """What was imported stays: every collection of garbage would look through all of it."""
    gc.freeze()


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    """A fresh home folder; the environment's connection is taken away."""
    home = tmp_path / "home"
    monkeypatch.setenv("READAGENT_HOME", str(home))
    for name in ("READAGENT_BASE_URL", "READAGENT_API_KEY", "READAGENT_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def open_workspace(own_home):
    """``open_workspace(address, model=…, **saved)``: a workspace of the test's home; closed when the test ends.

    ``address``: of a model server; '' takes what ``load_settings`` finds. ``saved``: the settings file's other values.
    """
    from readagent_core.models import connection
    from readagent_core.settings import Secret, Settings, load_settings
    from readagent_core.settings.saved import parse_settings
    from readagent_core.workspace import Workspace

    opened = []

    def start(address="", *, model=None, **saved):
        own_home.mkdir(mode=0o700, exist_ok=True)
        settings = (
            Settings(own_home, address, Secret(), "fake-model", {}, parse_settings(saved, own_home))
            if address
            else load_settings()
        )
        opened.append(Workspace(settings, model=model))
        return opened[-1]

    yield start
    for workspace in opened:
        for job in workspace.jobs.running():
            job.cancel()
            job.join(120)
        workspace.library.close()
    connection.close_all()


@pytest.fixture
def workspace(open_workspace):
    """A workspace of the test's home with the built-in reader."""
    return open_workspace()


@pytest.fixture
def in_keyring(monkeypatch):
    """``in_keyring(backend)``: the process has this keyring, and nothing is known of any before it."""

    def use(backend):
        import keyring

        from readagent_core import keyrings

        monkeypatch.setattr(keyring.core, "_keyring_backend", None)
        keyring.set_keyring(backend)
        monkeypatch.setattr(keyrings, "_READ", {})
        monkeypatch.setattr(keyrings, "_ONE_AT_A_TIME", threading.Lock())
        keyrings.usable.cache_clear()
        return backend

    yield use
    from readagent_core import keyrings

    keyrings.usable.cache_clear()
