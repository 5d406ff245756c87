"""Asking in a browser: it goes back to the page, every claim leads to its words, and nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

from readagent_core.library import Library
from tests.browser.conftest import SIZE, go_to, settled
from tests.fakes.sensible import understood
from tests.fakes.server import FakeServer, Reply

KEEPER = "The Keeper of Harrow Light"
BOX = '[data-testid="stChatInputTextArea"]'
QUOTE = "So long as I burn, I’m killing her."
ANSWER = (
    "To stop a ship that steered on it [15]. A forged notice had brought her there [16]. He feared it for years [99]."
    f'\n\nEvidence:\n[15] "{QUOTE}"'
)


@pytest.fixture
def page(standing_page: Page) -> Page:
    return standing_page


def open_ask(page: Page, url: str, book: str) -> None:
    """The book's conversations; where the page is there already, it stays."""
    if page.url.startswith(f"{url}/read?book={book}"):
        go_to(page, "Ask")
    elif not page.url.startswith(f"{url}/ask?book={book}"):
        page.goto(f"{url}/ask?book={book}")
    expect(page.locator(BOX)).to_be_visible()


def book_called(title: str, home: Path) -> str:
    library = Library(home)
    found = [book.id for book in library.books() if book.title.startswith(title)]
    library.close()
    return found[0] if found else ""


@pytest.fixture
def story(page: Page, model_app_url: str, model_app_home: Path) -> str:
    """The story with its recorded reading, in the app that a model is connected to."""
    if not book_called(KEEPER, model_app_home):  # the samples come with the first visit
        open_library(page, model_app_url)
    library = Library(model_app_home)
    book = book_called(KEEPER, model_app_home)
    library.set_limit(book, on=False)  # all of it is open; tests/app/test_spoilers.py has the limit
    library.close()
    return book


def open_library(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator('[data-kind="library"], [data-kind="first"]').first).to_be_visible()


def begin_conversation(page: Page) -> None:
    for _ in range(3):  # a press just as the answer before ends may be lost
        settled(page)
        page.locator(".st-key-ask_new button").click()
        with suppress(AssertionError):
            expect(page.locator(".qt")).to_have_count(0, timeout=5_000)
            break
    expect(page.locator(".qt")).to_have_count(0)


def ask(page: Page, question: str, *, new: bool = True) -> Locator:
    """Ask in a new conversation; the exchange on the screen."""
    if new:
        begin_conversation(page)
    page.locator(BOX).fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".qt").last).to_have_text(question)
    return page.locator('[data-kind="exchange"]').last


@pytest.fixture
def replies(fake_server: FakeServer) -> Iterator[Callable[..., None]]:
    """``replies(look_up=…, answer=…)``: what the server says to each kind of prompt; the rest is sensible."""

    def script(**said: str | Reply | list[str] | Callable[[], Reply]) -> None:
        left = {kind: list(value) for kind, value in said.items() if isinstance(value, list)}

        def before(number: int, text: str) -> Reply | None:
            kind = kind_of(text)
            if kind in left:
                return Reply(left[kind].pop(0))
            found = said.get(kind)
            found = found() if callable(found) else found
            return Reply(found) if isinstance(found, str) else found  # type: ignore[return-value]

        fake_server.before = before

    yield script
    fake_server.before = None


def kind_of(text: str) -> str:
    prompt = understood(text)
    task = prompt.task if prompt else ""
    kinds = {"look_up": "look_up", "answer": "answer", "choose": "answer", "standalone": "standalone"}
    return next((kind for start, kind in kinds.items() if task.startswith(start)), "other")


def test_a_sample_is_read_asked_about_and_the_right_page_opens(page: Page, model_app_url: str):
    """Issue 2: open a sample, read it, ask, see the looked-up page expanded in place."""
    open_library(page, model_app_url)
    page.get_by_role("link", name=re.compile("^Harrow Sound")).first.click()
    afresh = page.get_by_role("button", name="Make gists again")
    afresh.click()
    page.get_by_role("dialog").get_by_role("button", name="Make gists").click()
    expect(page.locator('[class*="st-key-choose_"]')).to_be_visible()  # there are two readings to choose from now
    expect(afresh).to_be_visible(timeout=90_000)  # and the second is done
    go_to(page, "Ask")
    expect(page.locator(BOX)).to_be_visible()
    settled(page)
    expect(page.locator(".st-key-ask_gists")).to_have_count(0, timeout=60_000)  # of gists yet to be made
    exchange = ask(page, "Which firm will repair the slip, Stell Marine or Brannock Civil?")
    expect(exchange.locator("[data-signer]")).to_contain_text("fake-model on")
    step = exchange.locator(".step")
    expect(step).to_contain_text("Went back to page")
    expect(exchange.locator(".cost")).to_contain_text("words")
    wanted = sorted(int(n) for n in re.findall(r"\d+", step.locator(".who").inner_text()))
    assert wanted
    opened = page.locator('[data-kind="memory"] .m.open')
    expect(opened).to_have_count(len(wanted))
    assert [int(row.get_attribute("data-n") or 0) for row in opened.all()] == wanted
    expect(opened.filter(has_text="Brannock").first).to_be_attached()
    expect(page.locator('[data-kind="memory"] .mlook')).to_have_count(len(wanted))
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_every_claim_leads_to_its_words_or_says_that_there_are_none(
    page: Page, model_app_url: str, story: str, replies
):
    replies(look_up="I want to look up Page [15, 21] to read what he said.", answer=ANSWER)
    open_ask(page, model_app_url, story)
    exchange = ask(page, "Why did Vane put out the light?")
    chips = exchange.locator(".cite")
    expect(chips).to_have_text(["from page 15", "from memory", "not found"])
    expect(exchange.locator(".legend")).to_contain_text("1 found nowhere: do not rely on that one.")
    marks = page.locator('[data-kind="memory"] mark')
    expect(marks).to_have_text([QUOTE.rstrip(".")])
    cut = page.locator('[data-kind="memory"] .m:not(.open) .g').first  # after a word: a longer gist fades
    expect(cut).to_have_css("mask-image", re.compile("linear-gradient"))
    shown = page.locator('[data-kind="memory"] .m.open[data-n="15"] .ot').inner_text()  # what is seen of it
    assert QUOTE in shown
    assert "*" not in shown  # the quotation ends inside of emphasised words
    chips.first.click()
    expect(marks.first).to_be_in_viewport()
    chips.last.click()  # nothing is highlighted for it, never another sentence
    expect(marks).to_have_count(1)
    expect(exchange.locator(".ans")).not_to_contain_text("Evidence")
    page.locator('[data-kind="memory"] .m.open[data-n="15"] button', has_text="Read it").click()
    expect(page.locator('.leaf.cur[data-n="15"]')).to_be_visible()


def test_a_link_into_the_middle_of_a_conversation_opens_there(page: Page, model_app_url: str, story: str, replies):
    long = " ".join(f"It is told in line {n}." for n in range(100))
    replies(look_up=[f"I want to look up Page {n} to see." for n in (3, 7, 9)], answer=long)
    open_ask(page, model_app_url, story)
    links = []
    for number, name in enumerate(("first", "second", "third")):
        ask(page, f"What is told {name}?", new=not number)
        expect(page.locator(".cost")).to_have_count(number + 1)
        page.wait_for_function("seen => /exchange=/.test(location.href) && !seen.includes(location.href)", arg=links)
        links.append(page.url)  # the address follows a moment after the answer
    expect(page.locator(".qt").last).to_have_text("What is told third?")
    expect(page.locator('[data-kind="exchange"].current .qt')).to_have_text("What is told third?")
    question, thread = page.locator(".qt").last, page.locator(".st-key-ask_thread")
    expect(question).to_be_in_viewport()  # the column went to the newest and held its question as the answer grew
    expect(page.locator(".cost").last).not_to_be_in_viewport()
    assert 0 < question.bounding_box()["y"] - thread.bounding_box()["y"] < 80
    thread.hover()
    page.mouse.wheel(0, 10_000)
    expect(page.locator(".cost").last).to_be_in_viewport()
    page.goto(f"{links[1]}&step=5")  # as somebody else opens the link
    expect(page.locator('[data-kind="replay"] [aria-current="step"]')).to_contain_text("5")
    expect(page.locator('[data-kind="memory"] .m.open')).to_have_count(1)
    current = page.locator('[data-kind="exchange"].current .qt')
    expect(current).to_have_text("What is told second?")
    expect(current).to_be_in_viewport()
    expect(page.locator(".qt").first).not_to_be_in_viewport()
    expect(page.locator(".cost").last).not_to_be_in_viewport()
    replies(look_up="I want to look up Page 3 to see.", answer="Nothing came of it.")
    ask(page, "And what came of it?", new=False)  # and from there it goes to what is newest
    expect(page.locator(".cost")).to_have_count(4)
    expect(page.locator(".qt").last).to_be_in_viewport()
    expect(page.locator(".cost").last).to_be_in_viewport()  # as it is short, the one before stands above it
    expect(page.locator(".cost").nth(2)).to_be_in_viewport()


def test_what_is_typed_while_an_answer_comes_is_kept(page: Page, model_app_url: str, story: str, replies):
    long = " ".join(f"It is told in line {n}." for n in range(300))
    replies(look_up="I want to look up Page 3 to see.", answer=Reply(long, gap=0.005))
    open_ask(page, model_app_url, story)
    ask(page, "What is told first?")
    page.locator(BOX).fill("And what is told")
    page.locator(".st-key-ask_new button").evaluate("button => (button.dataset.seen = '1')")
    expect(page.locator(".cost")).to_have_count(1)
    settled(page)
    expect(page.locator(BOX)).to_have_value("And what is told")
    expect(page.locator(".st-key-ask_line .st-key-ask_above")).to_be_visible()
    expect(page.locator(".st-key-ask_new button")).to_have_attribute("data-seen", "1")  # a press under way is not lost


def test_stopped_and_a_tab_closed_in_the_middle(page: Page, model_app_url: str, story: str, replies):
    replies(look_up="Page [15]", answer=Reply(" ".join(f"He rowed out to ship {n}." for n in range(30)), gap=0.3))
    open_ask(page, model_app_url, story)
    exchange = ask(page, "How did he warn the ship?")
    expect(exchange.locator(".ans")).to_contain_text("He rowed out")
    expect(page.locator(".convs [aria-current]")).to_contain_text("How did he warn the ship?")
    address = page.url
    page.goto("about:blank")  # the tab is closed while the answer streams
    page.goto(address)
    exchange = page.locator('[data-kind="exchange"]').last
    expect(exchange.locator(".qt")).to_have_text("How did he warn the ship?")
    expect(exchange.locator(".ans")).to_contain_text("He rowed out")
    expect(page.locator('[data-kind="memory"] .m.open')).to_have_count(1)
    page.set_viewport_size({"width": 1440, "height": 520})  # the answer is longer than its column
    expect(exchange.locator(".qt")).to_be_in_viewport(ratio=1)
    expect(exchange.locator("button.stop")).to_be_in_viewport(ratio=1)
    exchange.locator("button.stop").click()
    expect(exchange.locator(".note")).to_contain_text("Stopped. What was written so far is saved.")
    expect(exchange.locator(".ans")).to_contain_text("He rowed out")
    expect(exchange.locator("button.stop")).to_have_count(0)
    page.set_viewport_size(SIZE)


def test_text_of_a_model_is_never_markup(
    page: Page, model_app_url: str, story: str, replies, asked_for: list[str]
) -> None:
    nasty = '<img src=x onerror="document.title=1"> ![x](https://example.invalid/x.png) <script>1</script> **b** [2].'
    replies(look_up=f"Page [2] to {nasty}", answer=nasty)
    open_ask(page, model_app_url, story)
    exchange = ask(page, "Is <b>this</b> *safe*?")
    expect(exchange.locator(".ans")).to_contain_text("<img src=x onerror=")
    expect(exchange.locator("img, script")).to_have_count(0)
    page.evaluate("fetch('/_stcore/health').then(() => null)")
    assert any(url.endswith("/_stcore/health") for url in asked_for)  # what it asks for is seen
    assert not [url for url in asked_for if "example.invalid" in url]
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_refused_then_asked_again(page: Page, model_app_url: str, story: str, replies):
    replies(look_up="Page [2]", answer=Reply("", finish="content_filter"))
    open_ask(page, model_app_url, story)
    exchange = ask(page, "Who stole the box?")
    expect(exchange.locator(".note.alert")).to_be_visible()
    replies(look_up="Page [2]", answer="Nobody knows [2].")
    expect(exchange.locator(".note").get_by_role("button", name="Ask the built-in reader")).to_be_visible()
    exchange.locator(".note").get_by_role("button", name="Ask again").click()
    expect(page.locator(".ans").last).to_contain_text("Nobody knows.")
    expect(page.locator(".qt")).to_have_count(1)  # the card that failed is gone


def test_a_wait_for_the_server_is_told_and_can_be_ended(page: Page, model_app_url: str, story: str, replies):
    busy = Reply(status=429, headers={"Retry-After": "50"}, error={"message": "slow down"})
    waits = iter([busy])
    replies(look_up="Page [2]", answer=lambda: next(waits, Reply("He did [2].")))
    open_ask(page, model_app_url, story)
    exchange = ask(page, f"Who rowed out on night {uuid4()}?")  # in another try too: no reply is there already
    expect(exchange.locator(".status")).to_contain_text(re.compile(r"continues in \d+ s"))
    exchange.locator("button.hurry").click()
    expect(exchange.locator(".ans")).to_contain_text("He did")  # long before the 50 s are over
    expect(page.locator("button.hurry")).to_have_count(0)


@pytest.fixture
def own_method(model_app_home: Path) -> Iterator[None]:
    """The method is stored for the next conversation: a test that chooses another puts it back, however it ends."""
    library = Library(model_app_home)
    before = library.preference("ask method", "read-agent-p")
    yield
    library.set_preference("ask method", before)
    library.close()


def test_one_after_another_and_replayed(page: Page, model_app_url: str, story: str, replies, own_method: None):
    replies(
        look_up=["I want to look up Page 3 to see.", "I want to look up Page 7 to check.", "STOP"],
        answer="He met her at the quay [3].",
    )
    page.goto(f"{model_app_url}/ask?book={story}")  # a new visit: no work under way draws the list of methods again
    expect(page.locator(".qt").last).to_be_visible()
    page.get_by_text("More methods", exact=True).click()
    page.locator(".st-key-ask_method [role=combobox]").first.click()
    page.get_by_role("listbox").get_by_role("option", name="ReadAgent, one at a time", exact=True).click()
    exchange = ask(page, "Who met Nora?")
    expect(exchange.locator(".step")).to_have_count(3)
    expect(exchange.locator(".cost")).to_contain_text("2 pages looked up")
    steps = page.locator('[data-kind="replay"] .steps button')
    expect(steps).to_have_count(7)
    steps.filter(has_text="Look-up 2").click()
    expect(page).to_have_url(re.compile(r"step=4"))
    expect(page.locator('[data-kind="memory"] .m.open')).to_have_count(1)
    expect(exchange.locator(".ans")).to_have_count(0)
    page.locator('[data-kind="replay"] button', has_text="Prompt and reply").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("I want to look up Page 7 to check.")
    expect(dialog).to_contain_text("<Page 3> (full text)")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("]")
    expect(page.locator('[data-kind="replay"] [aria-current="step"]')).to_contain_text("Look-up 3")
    expect(page).to_have_url(re.compile(r"step=5"))
    page.wait_for_timeout(2000)  # until the server takes the address for newer than the step that was chosen
    page.go_back()
    expect(page.locator('[data-kind="replay"] [aria-current="step"]')).to_contain_text("Look-up 2")
