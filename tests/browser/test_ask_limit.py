"""The spoiler limit on Ask's map, the list of a recording's questions, and the way to Read and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from readagent_core.answering.limits import paragraphs_through
from readagent_core.library import Library
from readagent_core.library.records import Position
from tests.browser.conftest import SIZE, settled
from tests.browser.test_ask import BOX, ask, open_ask

MEMORY = '[data-kind="memory"]'


@pytest.fixture
def page(standing_page: Page) -> Page:
    return standing_page


def test_back_from_read_is_one_press_and_the_questions_of_a_recording_stay_by_themselves(
    page: Page, app_url: str, keeper: str
) -> None:
    open_ask(page, app_url, keeper)
    expect(page.locator(".qt").last).to_be_visible()
    question = page.locator(".qt").last.inner_text()
    page.set_viewport_size({"width": 390, "height": 844})
    memory_tab = page.locator(".st-key-ask_tabs button", has_text="Memory")
    for _ in range(2):  # from the memory to the conversation in one press as well
        memory_tab.click()
        expect(memory_tab).to_have_attribute("aria-checked", "true")
        address = page.url
        page.go_back()
        expect(memory_tab).to_have_attribute("aria-checked", "false")
        assert page.url == address
    memory_tab.click()
    page.locator(f"{MEMORY} .m.open button", has_text="Read it").first.click()
    expect(page.locator(".leaf.cur")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/read\?.*page="))
    settled(page)  # Streamlit leaves the screen empty where Back meets the run that draws it
    page.go_back()
    expect(memory_tab).to_have_attribute("aria-checked", "true")
    page.set_viewport_size(SIZE)
    expect(page.locator(BOX)).to_be_visible()
    expect(page.locator(".qt").last).to_have_text(question)
    settled(page)

    # the questions of the recording are a list
    page.locator(".convs button", has_text="Questions of the recording").click()
    listed = page.get_by_role("navigation", name="Questions of the recording")
    listed.locator("summary").click()
    expect(listed.locator("li")).to_have_count(16)
    listed.get_by_role("button", name="Why did Ambrose Vane put out Harrow Light?").click()
    expect(page.locator(".qt")).to_have_text("Why did Ambrose Vane put out Harrow Light?")
    expect(page.locator('[data-signer="recording"]')).to_contain_text(
        re.compile(r"A recording of \d{4}-\d\d-\d\d, made")
    )
    expect(listed.locator("summary")).to_have_text("Question 4 of 16 in this recording")
    exchange = ask(page, "What is the murderer's telephone number?", new=False)
    expect(exchange.locator('[data-signer="builtin"]')).to_contain_text("nothing was understood")
    expect(exchange.locator(".missing")).to_contain_text("Not found in what it saw.")
    expect(exchange.locator(".cite, .ans")).to_have_count(0)
    expect(page.locator(".notice")).to_contain_text("A conversation of your own")
    expect(page.locator(".qt")).to_have_count(1)
    exchange = ask(page, "why did Ambrose Vane put out Harrow Light", new=False)  # a question of the recording
    expect(exchange.locator(".foot")).to_contain_text("The recording answers this question too.")
    exchange.get_by_role("button", name="Open it").click()
    expect(listed.locator("summary")).to_have_text("Question 4 of 16 in this recording")


@pytest.fixture
def limited(app_home: Path, keeper: str) -> Iterator[Callable[[], Position]]:
    """The person has read to the end of page 15 and the limit is on; the function returns the position now."""
    library = Library(app_home)
    memory = library.memory(library.gistings(keeper)[-1].id)
    library.set_furthest(keeper, paragraphs_through(memory, library.document(keeper), 15))
    library.set_limit(keeper, on=True)
    yield lambda: library.position(keeper)
    library.set_limit(keeper, on=False)
    library.set_furthest(keeper, 0)
    library.close()


def test_a_question_waits_in_the_conversation_until_something_is_let_in(
    page: Page, app_url: str, keeper: str, limited: Callable[[], Position], app_home: Path, tmp_path: Path
) -> None:
    library = Library(app_home)
    library.set_furthest(keeper, 3)  # of page 1
    page.goto(f"{app_url}/ask?book={keeper}")  # it may be open, drawn without the limit
    expect(page.locator(BOX)).to_be_visible()
    settled(page)
    listed = page.get_by_role("navigation", name="Questions of the recording")
    if not listed.is_visible():  # else a press runs the script while the question is typed
        page.locator(".convs button", has_text="Questions of the recording").click()
    for way in ("Not now", "Page 1 only"):
        expect(listed).to_be_visible()
        settled(page)
        box = page.locator(BOX)
        box.fill("Who keeps the light?")
        box.press("Enter")
        expect(page.locator(".qt")).to_have_text("Who keeps the light?")  # in the place of the recording's
        expect(page.locator(".missing")).to_contain_text("How much of the book may answers use?")
        expect(page.locator(".missing .first")).to_have_text("Page 1 only")  # the filled one tells least
        expect(page.locator(f"{MEMORY} .curtain")).to_contain_text("Every page is kept out.")
        expect(page.locator('[data-kind="replay"] .steps button')).to_have_count(0)  # nothing of the recording stays
        page.get_by_role("button", name=way).click()
        expect(box).to_have_value("Who keeps the light?" if way == "Not now" else "")
    expect(page.locator(".before")).to_contain_text("Page 1 only.")
    expect(page.locator(".cost")).to_be_visible()
    assert limited().limit
    library.close()

    # it plays by itself, and not behind a dialog
    play = page.locator('[data-key="play"]')
    play.click()
    expect(play).to_have_accessible_name("Pause")
    replay = page.locator('[data-kind="replay"]')
    for step, said in ((0, "The question:"), (1, "Opened page 1")):  # a step that is pressed is told of
        replay.locator(".steps button").nth(step).click()
        expect(replay.locator(".caption")).to_contain_text(said)
    replay.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_contain_text("Save as HTML")
    expect(play).to_have_accessible_name("Play")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as HTML").click()
    expect(page.get_by_role("dialog")).to_contain_text("Saved in your downloads: ")
    saved.value.save_as(tmp_path / "replay.html")
    file = page.context.new_page()
    file.goto((tmp_path / "replay.html").as_uri())
    for label in ("Play", "Pause"):
        expect(file.locator(".bar .play")).to_have_text(re.compile(f"{label}$"))
        file.keyboard.press(" ")
    file.locator(".bar li button").last.click()
    expect(file.locator("main > section:visible a").first).to_have_attribute("href", "#page-1")
    file.locator(".bar .play", has_text="Play again").click()
    expect(file.locator(".bar [aria-current]")).to_contain_text("Question")
    file.close()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    # the map has the length of what the answer did not see; a cited gist is shown whole
    page.locator("label", has_text="Only what I have read").click()
    expect(page.locator(f"{MEMORY} .curtain")).to_contain_text("This answer was made without pages 2 to 25.")
    expect(page.locator(".mmap .mtodo")).to_have_count(24)
    ask(page, "Who is Mr. Crale?", new=False).get_by_role("button", name="gist of page 3").click()
    expect(page.locator(f"{MEMORY} .m.cited")).to_have_attribute("data-n", "3")


def test_a_press_before_the_screen_shows_a_new_limit_does_not_turn_it_off(
    new_page: Page, app_url: str, app_home: Path, keeper: str
) -> None:
    """The browser repeats the switch as it has drawn it."""
    held: list[str | bytes] = []
    holding = False
    sent: list[WebSocketRoute] = []

    def relay(browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()
        browser.on_message(server.send)
        server.on_message(lambda message: held.append(message) if holding else browser.send(message))
        sent.append(browser)

    page = new_page
    page.route_web_socket(re.compile("_stcore/stream"), relay)
    page.goto(f"{app_url}/ask?book={keeper}")
    switch = page.get_by_role("switch", name="Only what I have read")
    expect(switch).not_to_be_checked()
    settled(page)
    library = Library(app_home)
    library.set_limit(keeper, on=True)  # in another tab
    holding = True
    for name in ("Questions of the recording", "New conversation"):  # the run of the second has the switch of before
        before = len(held)
        page.get_by_role("button", name=name).first.click()
        for _ in range(100):
            page.wait_for_timeout(100)
            if len(held) > before + 1:
                break
    holding = False
    for message in held:
        sent[-1].send(message)
    expect(switch).to_be_checked()
    assert library.position(keeper).limited
    switch.locator("xpath=ancestor::label").click()
    expect(page.get_by_text("Answers use the whole book")).to_be_visible()
    assert not library.position(keeper).limited
    library.close()


def test_the_limit_is_moved_and_dragged_on_the_map(
    page: Page, app_url: str, keeper: str, limited: Callable[[], Position]
) -> None:
    open_ask(page, app_url, keeper)  # anew: is drawn with the limit
    page.locator(".convs button", has_text="Questions of the recording").click()
    handle = page.get_by_role("slider", name="Spoiler limit")
    curtain = page.locator(f"{MEMORY} .curtain")
    expect(handle).to_have_attribute("aria-valuetext", "I have read up to page 15")
    expect(page.locator(f"{MEMORY} .m")).to_have_count(15)
    expect(curtain).to_contain_text("Pages 16 to 25 are kept out.")
    handle.focus()
    for key in ("ArrowUp", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    expect(curtain).to_contain_text("Pages 14 to 25 are kept out.")  # what was read is let go without a question
    expect(page.get_by_role("button", name="Follow what I have read")).to_be_visible()
    handle.focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    asked = page.get_by_role("alertdialog")
    expect(asked).to_contain_text("Let in pages 16 to 25?")
    page.keyboard.press("Escape")
    expect(asked).to_be_hidden()
    assert limited().limit is not None
    expect(curtain).to_contain_text("Pages 14 to 25 are kept out.")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    asked.get_by_role("button", name="Let in").click()
    expect(curtain).to_be_hidden()
    expect(page.locator(".missing")).to_have_count(0)  # nothing is hidden where the whole book is let in
    page.get_by_role("button", name="Follow what I have read").click()
    expect(curtain).to_contain_text("Pages 16 to 25 are kept out.")
    now = limited()  # other tests of this app may have moved the place itself
    assert (now.limited, now.limit) == (True, None)

    # dragged by the pointer
    expect(handle).to_have_attribute("aria-valuetext", "I have read up to page 15")  # the map is drawn a moment later
    box = handle.bounding_box()
    assert box
    x, y = box["x"] + 30, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 120, steps=6)
    expect(handle).not_to_have_attribute("aria-valuenow", "15")
    wanted = handle.get_attribute("aria-valuenow")
    page.mouse.up()
    expect(page.locator(".st-key-ask_line")).to_contain_text(f"Answers see pages 1 to {wanted} only.")
    exchange = ask(page, "Where was the log in the watch room?")
    expect(exchange.locator(".before")).to_contain_text(f"Pages 1 to {wanted} only.")
    expect(exchange.locator(".step")).to_contain_text("Opened page")
    expect(exchange.locator(".cost")).to_contain_text("words")
    assert (limited().limit or 0) < limited().furthest
    exchange = ask(page, "Who is Zebulon?", new=False)
    expect(exchange.locator(".missing")).to_contain_text("kept out by your limit")
    exchange.get_by_role("button", name="Let in the whole book and ask again").click()
    newest = page.locator('[data-kind="exchange"]').last
    expect(newest.locator(".missing")).to_contain_text("nowhere in the book")
    assert not limited().limited
