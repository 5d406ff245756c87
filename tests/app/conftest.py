"""What AppTests have: ``app()`` gives the app with a home of its own, its shared workspace forgotten between tests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from pages.parts.shared import cached
from readagent_core.companion import looking_up
from tests.fakes.server import FakeServer

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True, scope="session")
def packages_looked_through_once() -> Iterator[None]:
    """Every AppTest looks through all installed packages for components, which takes longer than the app itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(autouse=True)
def no_dictionaries_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking_up, "known_folders", list)


def forget() -> None:
    st.cache_resource.clear()
    cached._open.clear()
    cached._used.clear()


@pytest.fixture(autouse=True)
def fresh_workspace() -> Iterator[None]:
    """The workspace, what Streamlit caches, and ``__main__``, which is the app's script, do not outlive the test."""
    main = sys.modules["__main__"]
    forget()
    yield
    forget()
    sys.modules["__main__"] = main


@pytest.fixture
def app() -> Callable[..., AppTest]:
    """``app()`` or ``app("pages/read.py", book="…")``: run once, on that screen, with that address."""

    def start(screen: str = "", **address: str) -> AppTest:
        at = AppTest.from_file(str(ROOT / "screens.py"), default_timeout=30)
        at.query_params.update(address)
        at.run()
        return at.switch_page(screen).run() if screen else at

    return start


def open_tab(at: AppTest, name: str) -> AppTest:
    """Open a tab of Settings."""
    at.session_state["settings_tab"] = name
    return at.run()


@pytest.fixture
def fake_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """A model server on loopback that the app under test is connected to."""
    with FakeServer() as server:
        monkeypatch.setenv("READAGENT_BASE_URL", server.url)
        monkeypatch.setenv("READAGENT_MODEL", "fake-model")
        yield server
