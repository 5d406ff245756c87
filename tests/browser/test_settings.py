"""A newcomer connects a model, reads, asks and exports with it, and leaves it again; the key shows itself nowhere."""

from __future__ import annotations

import os
import re
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocket, expect

from readagent_core.dictionaries.shelf import FOLDER
from readagent_core.library import Library
from tests.browser.conftest import ROOT, SIZE, StartApp, go_to, press_in_more, settled
from tests.browser.test_access import findings, shown
from tests.connecting.test_fault_table import book
from tests.dictionaries.making import make_stardict
from tests.fakes.capable import capable
from tests.fakes.server import FakeServer, Reply, error

KEY = "sk-marker-0123456789abcdef"
QUESTION = "What did Mrs. Oake win with a silver bell?"


class Seen:
    """Everything the browser was sent: pages, files, and what came over the app's own connection."""

    def __init__(self, page: Page) -> None:
        self.frames: list[bytes] = []
        page.on("websocket", self.watch)

    def watch(self, socket: WebSocket) -> None:
        socket.on(
            "framereceived", lambda frame: self.frames.append(frame if isinstance(frame, bytes) else frame.encode())
        )


@pytest.fixture
def seen(page: Page) -> Iterator[Seen]:
    seen = Seen(page)
    yield seen
    page.remove_listener("websocket", seen.watch)


def processes_with(marker: bytes) -> list[str]:
    """Processes whose command line holds ``marker``; none where there is no /proc."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker in (folder / "cmdline").read_bytes() and int(folder.name) != os.getpid():
                found.append(folder.name)
        except OSError:  # it ended meanwhile
            continue
    return found


def files_with(marker: bytes, folder: Path) -> list[Path]:
    """Files that hold ``marker``: of the home with its library and cache, and of the app's own log beside it."""
    return [path for path in folder.rglob("*") if path.is_file() and marker in path.read_bytes()]


@pytest.fixture
def own_app(chromium, start_app: StartApp, tmp_path):
    """An app of its own, with a keyring of its own: the settings change what every other test would meet."""
    home = tmp_path / "home"
    with start_app(home, PYTHON_KEYRING_BACKEND="tests.fakes.keyrings.InMemory", PYTHONPATH=str(ROOT)) as url:
        yield url, home


def echoing(text: str) -> str | Reply:
    """A server that repeats the key in the error of one question, as some do."""
    if "What is the key" in text:
        return Reply(status=400, error=error(f"Something odd with {KEY}", code="odd_code"))
    return capable(text)


def expect_model(page: Page, name: str) -> None:
    """Wait until the box of models has this one; that of the address before has gone."""
    box = "[class*='st-key-other_own_model'] input"
    expect(page.locator(f"{box}[value='{name}']")).to_have_count(1)
    expect(page.locator(box)).to_have_count(1)


def first_visit_is_accessible(page: Page, url: str, library: Library) -> None:
    """Axe finds nothing serious on the screen of the first visit, nor on that of an empty library."""
    page.goto(url)
    for width, theme in ((1440, "light"), (1440, "dark"), (390, "dark"), (390, "light")):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        shown(page, '[data-kind="first"]', theme)
        assert findings(page, colours=width == 1440 and theme == "dark") == [], (width, theme)
    page.set_viewport_size(SIZE)
    for sample in library.books():
        library.remove(sample.id)
    go_to(page, "Library")
    shown(page, ".nothing", "light")
    assert findings(page) == []


def test_what_is_typed_is_taken_however_its_field_is_left(page: Page, own_app) -> None:
    """An address as it is pasted; a model's name by Tab and by a press elsewhere; a key by a long press on a button.
    Tested again, the card of the test stays as high as it was, with its head in view; used, its button too.
    """
    url, _ = own_app
    answers = threading.Event()
    answers.set()
    with FakeServer(
        capable, models=("reader-8b", "reader-9b"), before=lambda *_: None if answers.wait(60) else Reply(status=500)
    ) as server:
        page.goto(f"{url}/settings")
        page.locator(".st-key-who label", has_text="Another server").click()
        page.locator(".st-key-other_server input").click()
        page.get_by_role("option", name="Another address").click()
        address = page.locator(".st-key-other_own_address input")
        address.fill(server.url)
        address.dispatch_event("paste")  # what is pasted is taken at once
        expect_model(page, "reader-8b")
        model = page.locator("[class*='st-key-other_own_model'] input")
        leave: list[tuple[str, Callable[[], None]]] = [
            ("a-new-one", lambda: page.keyboard.press("Tab")),
            ("reader-9b", lambda: page.mouse.click(720, 20)),
            ("another", lambda: page.mouse.click(720, 20)),
            ("reader-9b", lambda: page.keyboard.press("Tab")),
        ]
        settled(page)
        for name, act in leave:
            model.focus()  # a list is closed where its field is moved into view after the press
            model.click()
            expect(model).to_have_attribute("aria-expanded", "true")
            model.fill(name)
            expect(page.get_by_role("option", name=name)).to_be_visible()
            act()
            expect(page.get_by_role("option")).to_have_count(0)
            expect(model).to_have_value(name)
            unlisted = page.get_by_text(f"The server’s list of models does not have “{name}”")
            expect(unlisted).to_have_count(int(name not in ("reader-8b", "reader-9b")))
        for typed, name in (
            ("8", "reader-8b"),
            ("READER-9B", "reader-9b"),
            ("reader-", "reader-"),
            ("9b", "reader-9b"),
        ):
            model.focus()
            model.click()
            model.fill(typed)
            expect(page.get_by_role("option", name=name, exact=True)).to_have_count(int(name != "reader-"))
            page.keyboard.press("Enter")
            expect(model).to_have_value(name)
        model.click()
        model.fill("half")
        for _ in range(2):  # with the list open, and closed
            page.keyboard.press("Escape")
            expect(model).to_have_attribute("aria-expanded", "false")
        expect(model).to_have_value("reader-9b")
        page.keyboard.press("Tab")
        expect(model).to_have_value("reader-9b")
        key = page.locator(".st-key-other_own_key_0 input")
        for typed in ("sk-first", ""):  # the app takes it when Tab moves the focus to the eye
            key.fill(typed)
            key.press("Tab")
            expect(page.get_by_text("Where to store the key")).to_have_count(int(bool(typed)))
        key.fill(KEY)
        test = page.locator(".st-key-other_own_test button")
        test.hover()
        page.mouse.down()
        page.wait_for_timeout(700)  # in which a key that was typed is drawn with where to store it
        page.mouse.up()
        expect(page.get_by_text("Where to store the key")).to_be_visible()
        card = page.locator(".st-key-test_card")
        expect(card).to_contain_text("The test passed", timeout=60_000)
        page.locator(".st-key-model_side").hover()
        page.mouse.wheel(0, 3000)
        expect(card.get_by_text("The test passed")).to_be_in_viewport()
        high = card.evaluate("card => card.offsetHeight")
        answers.clear()
        test.click()
        expect(card.get_by_role("button", name="Stop")).to_be_in_viewport()
        assert card.evaluate("card => card.offsetHeight") == high
        answers.set()
        expect(card).to_contain_text("The test passed", timeout=60_000)
        use = page.locator(".st-key-other_own_use button")
        was = use.bounding_box()
        use.click()
        expect(page.locator(".st-key-settings")).to_contain_text("In use now: reader-9b")
        settled(page)
        now = use.bounding_box()
        assert was
        assert now
        assert abs(was["y"] - now["y"]) <= 1
        page.locator("summary", has_text="Limits and prices").click()
        calls = page.get_by_label("Calls at once while making gists")
        saved = page.get_by_test_id("stToast")
        save = page.locator(".st-key-save_numbers_limits button")
        calls.fill("999")
        save.click()
        expect(calls).to_be_focused()
        expect(saved).to_have_count(0)
        calls.fill("9")
        save.click()
        expect(saved).to_contain_text("Saved.")


def test_in_a_narrow_window_a_test_comes_into_view_and_the_focus_stays(page: Page, own_app) -> None:
    url, _ = own_app
    page.set_viewport_size({"width": 900, "height": 800})
    refusing = threading.Event()

    def before(_number: int, _text: str) -> Reply | None:
        return Reply(status=401, error=error("Incorrect API key")) if refusing.is_set() else None

    with FakeServer(capable, before=before, models=("reader-8b",)) as server:
        page.goto(f"{url}/settings")
        page.locator(".st-key-who label", has_text="OpenAI").first.click()
        page.set_viewport_size({"width": 900, "height": 560})  # the form opens below the cards
        page.locator(".st-key-who label", has_text="Another server").click()
        expect(page.locator(".st-key-other_server input")).to_be_in_viewport()
        page.set_viewport_size({"width": 900, "height": 800})
        page.locator(".st-key-other_server input").click()
        page.get_by_role("option", name="Another address").click()
        page.locator(".st-key-other_own_address input").fill("http://127.0.0.1:9")
        page.keyboard.press("Enter")
        page.locator(".st-key-other_own_use button").click()
        expect(page.get_by_text("Choose a model first")).to_be_in_viewport()
        page.locator(".st-key-other_own_address input").fill(server.url)
        page.keyboard.press("Enter")
        expect_model(page, "reader-8b")
        settled(page)
        page.locator(".st-key-other_own_test button").click()
        verdict = page.locator(".st-key-test_now").get_by_text("The test passed")
        expect(verdict).to_be_in_viewport(timeout=60_000)
        use = page.locator(".st-key-other_own_use button")
        expect(use).to_be_in_viewport()
        settled(page)
        use.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".st-key-settings")).to_contain_text("In use now: reader-8b")
        expect(use).to_be_focused()
        settled(page)
        refusing.set()
        page.locator(".st-key-other_own_test button").click()
        failed = page.locator(".st-key-test_now").get_by_text("The test did not get through")
        expect(failed).to_be_in_viewport(timeout=60_000)
        trouble = page.locator(".st-key-error_alert_now")  # far above: the eye stays at what was pressed
        expect(trouble).to_contain_text("This server answers only with a key.")
        settled(page)
        expect(trouble).not_to_be_in_viewport()
        expect(use).to_be_in_viewport()
        page.locator(".st-key-use_builtin button").focus()
        page.keyboard.press("Enter")  # the button goes
        now = page.locator(".st-key-model_now")  # no card, where the next arrow would choose another reader
        expect(now).to_be_focused()
        expect(now).to_contain_text("The built-in reader reads and answers from now on.")


def test_the_focus_stays_near_a_dictionary_that_is_removed_and_a_folder_that_is_added(page: Page, own_app) -> None:
    url, home = own_app
    for name in ("one", "two"):
        make_stardict(home / FOLDER / name, [("go", b"to move")], title=name)
    make_stardict(home / "elsewhere", [("go", b"to move")], title="three")
    page.goto(f"{url}/settings")
    tab = page.get_by_role("tab", name="Dictionaries")
    tab.click()
    remove = page.get_by_role("button", name="Remove", exact=True)
    for left in (1, 0):
        expect(remove).to_have_count(left + 1)
        settled(page)
        remove.first.press("Enter")
        expect(page.get_by_role("button", name="Remove it")).to_be_visible()
        page.keyboard.press("Tab")  # into what opened, which stands at the end of the page
        expect(page.get_by_role("button", name="Remove it")).to_be_focused()
        page.keyboard.press("Enter")
        expect(remove).to_have_count(left)
        expect(remove if left else tab).to_be_focused()
    fold = page.locator(".st-key-unpacked_dictionaries summary")
    fold.press("Enter")
    page.set_viewport_size({"width": 900, "height": 560})
    page.get_by_label("Folder with dictionaries").fill("/not/there")
    page.keyboard.press("Enter")
    expect(page.get_by_text("There is no folder")).to_be_in_viewport()
    page.get_by_label("Folder with dictionaries").fill(str(home / "elsewhere"))
    page.keyboard.press("Enter")
    expect(fold).to_be_focused()
    page.get_by_role("button", name="Leave it out").press("Enter")
    expect(tab).to_be_focused()
    page.reload()
    expect(page.get_by_label("Folder with dictionaries")).to_have_count(1)  # the same tab


MEMORY, KEYRING, FILE = "Only until the app stops", "In the system's keyring", "In a file only you can read"


def test_a_model_is_connected_tested_used_and_left_and_its_key_is_found_nowhere(page: Page, own_app, seen: Seen):
    url, home = own_app
    with FakeServer(echoing, key=KEY, kind="vllm", window=8192, models=("reader-8b",)) as server:
        with closing(Library(home)) as library:
            first_visit_is_accessible(page, url, library)
            library.add(book(14), source_name="a small book.txt")
        page.get_by_role("button", name="Connect a model").click()
        page.locator(".st-key-who label", has_text="Another server").click()
        page.locator(".st-key-other_server input").click()
        page.get_by_role("option", name="Another address").click()
        address = page.locator(".st-key-other_own_address input")
        settings = page.locator(".st-key-settings")
        address.fill("http://127.0.0.1:9")
        address.press("Enter")
        key = page.locator("[class*='st-key-other_own_key'] input")
        key.fill(KEY)
        for _ in range(2):  # past the field's eye
            page.keyboard.press("Tab")
        expect(settings).to_contain_text("127.0.0.1:9 cannot be reached. Start the server, or check its address.")
        address.fill(server.url)
        address.press("Enter")
        expect(settings).to_contain_text("The key typed for 127.0.0.1:9 was removed.")
        expect(key).to_have_count(1)  # the field of the other server has gone
        key.fill(KEY)
        key.press("Tab")
        expect_model(page, "reader-8b")

        page.locator(".st-key-other_own_test button").click()
        card = page.locator(".st-key-test_card")
        expect(card).to_contain_text("The test passed", timeout=60_000)  # a dozen calls
        expect(card).to_contain_text("reader-8b at 127.0.0.1")
        row = card.locator("[class*='st-key-check_']").filter(has_text="Names pages to look up")
        expect(row).to_contain_text("1 of 1")
        card.get_by_role("button", name="Test everything").click()
        expect(row).to_contain_text("4 of 4", timeout=60_000)

        kept = home / "settings.json"
        page.locator("label", has_text=MEMORY).click()
        page.locator(".st-key-other_own_use button").click()
        expect(settings).to_contain_text("In use now: reader-8b")
        assert "keyring" not in kept.read_text(encoding="utf-8")
        keys = page.locator("[class*='st-key-other_own_key'] input")
        expect(keys).to_have_count(1)  # the field it was typed into has gone
        expect(keys).to_have_attribute("placeholder", re.compile("••••cdef"))
        sources = [page.content()]

        go_to(page, "Library")
        page.get_by_role("link", name="A Small Book", exact=True).click()
        page.get_by_role("button", name="Make gists").click()
        expect(page.locator("#p1 .gtext")).not_to_be_empty()
        expect(page.locator(".foot")).to_contain_text("Ready")
        press_in_more(page, "Export")
        with page.expect_download() as export:
            page.get_by_role("dialog").get_by_role("button", name="JSON").click()
        exported = Path(export.value.path()).read_bytes()
        assert b"Mrs. Oake" in exported
        expect(page.get_by_role("dialog")).to_contain_text("Saved in your downloads: ")
        sources.append(page.content())

        page.keyboard.press("Escape")
        go_to(page, "Ask")
        box = page.get_by_test_id("stChatInputTextArea")
        box.fill(QUESTION)
        page.keyboard.press("Enter")
        expect(page.locator("body")).to_contain_text("tea cosy")
        box.fill("What is the key of the lighthouse?")
        page.keyboard.press("Enter")
        expect(page.locator("body")).to_contain_text("error 400, code odd_code")
        sources.append(page.content())
        assert any(chat.headers["authorization"] == f"Bearer {KEY}" for chat in server.chats)

        marker = KEY.encode()
        assert any(b"reader-8b" in frame for frame in seen.frames)  # they can be read
        assert not any(marker in frame for frame in seen.frames)
        assert not any(KEY in source for source in sources)
        assert marker not in exported
        assert not files_with(marker, home.parent)
        assert not processes_with(marker)

        page.goto(f"{url}/settings")  # another visit
        before = MEMORY
        for turn, place in enumerate((KEYRING, FILE), start=1):
            expect(page.locator("label", has_text=before).locator("input")).to_be_checked()
            page.locator("label", has_text=place).click()
            page.locator("[class*='_use'] button", has_text="Use this model").click()
            expect(page.locator(f".st-key-other_own_key_{turn} input")).to_be_visible()  # done: another field
            expect(settings).to_contain_text("In use now: reader-8b")
            assert files_with(marker, home.parent) == ([kept] if place == FILE else [])
            assert ("keyring" in kept.read_text(encoding="utf-8")) is (place == KEYRING)
            before = place
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert not any(marker in frame for frame in seen.frames)
        assert not processes_with(marker)

        page.locator(".st-key-use_builtin button").click()
        expect(settings).not_to_contain_text("In use now: reader-8b")
        assert not files_with(marker, home.parent)
        assert not any(marker in frame for frame in seen.frames)
