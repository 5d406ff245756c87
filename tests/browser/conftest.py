"""What browser tests have: one Chromium with one page and two running apps a session; each test finds the page empty.

- ``page``           a Playwright page, emptied for each test; fails it at its end if a script error was thrown on it
- ``standing_page``  the same as the test of the same file before left it
- ``asked_for``      the addresses that ``page`` asks for
- ``new_page``       a page of the test's own, for what stays with a page: a script run before any other
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
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, Error, Page, Request, ViewportSize, expect, sync_playwright

from readagent_core.incoming.samples import add_samples
from readagent_core.library import Library
from readagent_core.memory import GistMemory
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.fakes.server import FakeServer

ROOT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
TIMEOUT = 20_000
expect.set_options(timeout=15_000)  # the machine may be busy; what passes, passes at once
SIZE = ViewportSize(width=1440, height=900)
FAILED = pytest.StashKey[bool]()
OURS = ("READAGENT_BASE_URL", "READAGENT_API_KEY", "READAGENT_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL")


class StartApp(Protocol):
    def __call__(self, home: Path, **environment: str) -> AbstractContextManager[str]: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.fspath).is_relative_to(ROOT / "tests" / "browser"):
            item.add_marker(pytest.mark.browser)


def installed() -> str | None:
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    return found or (MAC if Path(MAC).exists() else None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = installed()
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


class Kept:
    """The page that the tests have one after another: what Streamlit's scripts take to fetch and compile is paid once.

    After a test that failed a new one is made.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._page: Page | None = None
        self.thrown: list[str] = []
        self.file: Path | None = None  # of the test that had it last

    def page(self) -> Page:
        if self._page is None:
            context = self._browser.new_context(viewport=SIZE, locale="en-US", reduced_motion="reduce")
            context.set_default_timeout(TIMEOUT)
            self._page = context.new_page()
            self._page.on("pageerror", lambda error: self.thrown.append(str(error)))
        self.thrown.clear()
        return self._page

    def empty(self) -> None:
        """Nothing on the page, nothing remembered, the pointer in the corner."""
        if self._page is None:
            return
        try:
            self._empty(self._page)
        except Error:  # it has crashed, or hangs
            self.close()

    @staticmethod
    def _empty(page: Page) -> None:
        page.evaluate("() => { if (origin !== 'null') { localStorage.clear(); sessionStorage.clear(); } }")
        page.goto("about:blank")
        page.context.clear_cookies()
        page.set_viewport_size(SIZE)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.mouse.move(0, 0)

    def close(self) -> None:
        if self._page is not None:
            self._page.context.close()
        self._page = None


@pytest.fixture(scope="session")
def kept(chromium: Browser) -> Iterator[Kept]:
    kept = Kept(chromium)
    yield kept
    kept.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture
def standing_page(kept: Kept, request: pytest.FixtureRequest) -> Iterator[Page]:
    if kept.file != request.node.path:  # another file's tests leave other windows: narrow ones, for one
        kept.empty()
        kept.file = request.node.path
    yield kept.page()
    thrown = list(kept.thrown)
    if thrown or request.node.stash.get(FAILED, False):
        kept.close()
    assert not thrown, f"scripts on the page failed: {thrown}"


@pytest.fixture
def page(kept: Kept, standing_page: Page) -> Page:
    kept.empty()
    return kept.page()


@pytest.fixture
def asked_for(page: Page) -> Iterator[list[str]]:
    """The addresses that the page asks for."""
    addresses: list[str] = []

    def note(request: Request) -> None:
        addresses.append(request.url)

    page.on("request", note)
    yield addresses
    page.remove_listener("request", note)


@pytest.fixture
def new_page(page: Page) -> Iterator[Page]:
    """In the same window as ``page``."""
    own, thrown = page.context.new_page(), list[str]()
    own.on("pageerror", lambda error: thrown.append(str(error)))
    yield own
    own.close()
    assert not thrown, f"scripts on the page failed: {thrown}"


def press_in_more(page: Page, name: str) -> None:
    """Press a button of the reader's toolbar that is behind '…' at this width."""
    page.locator(".tbar .moreb").click()
    page.locator(".panel").get_by_role("button", name=name).click()


def settled(page: Page) -> None:
    """Wait for the end of the script's run: a click in the middle of one may be lost, or make Streamlit's page fail."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.locator("html[data-arriving]")).to_have_count(0)  # nothing that is hidden takes the focus


def go_to(page: Page, screen: str) -> None:
    """By the line at the top, as a person goes there: a third of what opening its address takes."""
    settled(page)
    page.get_by_test_id("stTopNavLink").filter(has_text=screen).click()


@contextmanager
def running_app(
    home: Path, *, script: Path = ROOT / "app.py", share: bool = False, **environment: str
) -> Iterator[str]:
    """The app on a free port with ``home`` as its READAGENT_HOME; its address, without a slash at the end.

    ``share``: started as ``readagent app --share``.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    clean: dict[str, Any] = {name: value for name, value in os.environ.items() if name not in OURS}
    log = home.parent / f"app-{port}.log"
    by_command = ["readagent_core", "app", "--share", "--port", str(port)]
    command = by_command if share else ["streamlit", "run", str(script), "--server.port", str(port)]
    at = {"STREAMLIT_SERVER_ADDRESS": "127.0.0.1", "STREAMLIT_BROWSER_SERVER_ADDRESS": "127.0.0.1"}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env={**clean, **at, "READAGENT_HOME": str(home), **environment},
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


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path, *, seconds: float = 120) -> None:
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
    """The id of the novella in the library of ``app_url``, all of whose gists are open."""
    workspace = Workspace(load_settings({"READAGENT_HOME": str(app_home)}))
    add_samples(workspace)
    book = next(b for b in workspace.library.books() if b.title == "The Keeper of Harrow Light")
    workspace.library.set_limit(book.id, on=False)  # its gists are open; tests/app/test_spoilers.py has the veil
    workspace.library.close()
    return book.id


def add_read_book(home: Path, memory: GistMemory, source_name: str = "") -> str:
    """The id of the book of ``memory``, added to the library in ``home`` as read."""
    library = Library(home)
    book = library.add(memory.document, source_name=source_name)
    library.add_memory(book.id, memory)
    for conversation in library.conversations(book.id):  # of a run of the test before this one
        library.delete_conversation(conversation.id)
    library.close()
    return book.id


@pytest.fixture
def at_the_start(app_home: Path, keeper: str) -> None:
    """The novella is opened at its beginning: a test before may have left it on page 1, in another line."""
    library = Library(app_home)
    library.set_position(keeper, 0)
    library.close()


@pytest.fixture(scope="session")
def app_url(chromium: Browser, app_home: Path, keeper: str) -> Iterator[str]:
    with running_app(app_home) as url:
        yield url


@pytest.fixture(autouse=True)
def usual_view(request: pytest.FixtureRequest) -> None:
    """Every test finds the usual view and look of Read, whatever the one before it chose in an app that they share."""
    for name in {"app_home", "model_app_home"} & set(request.fixturenames):
        library = Library(request.getfixturevalue(name))
        library.set_preference("view", "both")
        library.set_preference("look", {})
        library.close()


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
