"""What browser tests have: one Chromium and two running apps a session, a fresh page a test.

- ``page``           a Playwright page; fails the test at its end if a script error was thrown on it
- ``app_url``        an app with the built-in reader and a home of its own
- ``fake_server``    a model server on loopback (tests/fakes/server.py); ``model_app_url`` an app connected to it
- ``start_app``      starts another app for one test: ``with start_app(home, **environment) as url``

An installed Chromium or Chrome is used, else Playwright's own download. Where neither can be had the tests are
skipped with a plain line; in CI (CI set) they fail.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from readagent_core.settings import load_settings
from readagent_core.study import Study
from tests.fakes.server import FakeServer

ROOT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
TIMEOUT = 20_000
expect.set_options(timeout=15_000)  # the machine may be busy; what passes, passes at once
OURS = ("READAGENT_BASE_URL", "READAGENT_API_KEY", "READAGENT_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL")


class StartApp(Protocol):
    def __call__(self, home: Path, **environment: str) -> AbstractContextManager[str]: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.fspath).is_relative_to(ROOT / "tests" / "browser"):
            item.add_marker(pytest.mark.browser)


def _installed() -> str | None:
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    return found or (MAC if Path(MAC).exists() else None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = _installed()
    if path is None:  # Playwright's own; quick when it is there already
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False, timeout=300)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except Error as error:
            line = "no browser: install Chromium or Chrome, or run `playwright install chromium`"
            if os.environ.get("CI"):
                pytest.fail(f"{line} ({error.message.splitlines()[0]})")
            pytest.skip(line)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, locale="en-US", reduced_motion="reduce")
    context.set_default_timeout(TIMEOUT)
    page = context.new_page()
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    yield page
    context.close()
    assert not thrown, f"scripts on the page failed: {thrown}"


@contextmanager
def running_app(home: Path, **environment: str) -> Iterator[str]:
    """The app on a free port with ``home`` as its READAGENT_HOME; its address, without a slash at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    clean: dict[str, Any] = {name: value for name, value in os.environ.items() if name not in OURS}
    log = home.parent / f"app-{port}.log"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--server.address", "127.0.0.1", "--browser.serverAddress", "127.0.0.1"],
            cwd=ROOT,
            env={**clean, "READAGENT_HOME": str(home), **environment},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/_stcore/health", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path, *, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(f"the app did not come up:\n{log.read_text(encoding='utf-8', errors='replace')[-3000:]}")


@pytest.fixture(scope="session")
def start_app() -> StartApp:
    return running_app


@pytest.fixture(scope="session")
def app_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("app") / "home"


@pytest.fixture(scope="session")
def keeper(app_home: Path) -> str:
    """The id of the novella in the library of ``app_url``."""
    study = Study(load_settings({"READAGENT_HOME": str(app_home)}))
    study.add_samples()
    book = next(b for b in study.library.books() if b.title == "The Keeper of Harrow Light")
    study.library.close()
    return book.id


@pytest.fixture(scope="session")
def app_url(chromium: Browser, app_home: Path, keeper: str) -> Iterator[str]:
    with running_app(app_home) as url:
        yield url


@pytest.fixture(scope="session")
def fake_server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


@pytest.fixture(scope="session")
def model_app_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("model-app") / "home"


@pytest.fixture(scope="session")
def model_app_url(chromium: Browser, fake_server: FakeServer, model_app_home: Path) -> Iterator[str]:
    with running_app(model_app_home, READAGENT_BASE_URL=fake_server.url, READAGENT_MODEL="fake-model") as url:
        yield url
