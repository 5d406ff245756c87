"""Ask beside the text: the panel in Read, the words that a claim rests on, and the ways there and back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import settled

MARKED = """() => [...(CSS.highlights.get('cited-now') ?? [])].map((range) => {
    const box = range.getBoundingClientRect();
    return [range.toString(), box.top > 0 && box.bottom < innerHeight];
})"""

NAME_ABOVE = """([paragraph, sheet]) => {
    paragraph.scrollIntoView();
    return [...(CSS.highlights.get('name-line') ?? [])].some((range) => {
        const box = range.getBoundingClientRect();
        return box.top > 110 && box.bottom < sheet.getBoundingClientRect().top - 20;
    });
}"""


@pytest.mark.usefixtures("at_the_start")
def test_asked_beside_the_text_a_claim_leads_to_its_words_and_back(page: Page, app_url: str, keeper: str) -> None:
    page.goto(f"{app_url}/read?book={keeper}&page=1")  # other tests read in the same book
    expect(page.locator("p[data-i='0']")).to_be_in_viewport()
    settled(page)
    line = page.locator("p[data-i='0']").bounding_box()
    box = page.locator(".st-key-ask_panel")
    page.keyboard.press("a")
    page.keyboard.type("who rowed")  # before the field is there: no letter is a command
    expect(box.get_by_test_id("stChatInputTextArea")).to_be_focused()
    expect(box.get_by_test_id("stChatInputTextArea")).to_have_value("who rowed")
    box.get_by_test_id("stChatInputTextArea").fill("")
    page.keyboard.press("Escape")  # in the empty line
    expect(box).to_have_count(0)
    expect(page.locator(".leaves")).to_be_focused()
    page.keyboard.press("a")
    expect(box.get_by_test_id("stChatInputTextArea")).to_be_focused()
    settled(page)
    assert page.locator("p[data-i='0']").bounding_box() == line  # no line of the text has moved
    edge = box.bounding_box()
    assert line
    assert edge
    assert edge["x"] - line["x"] - line["width"] >= 24  # nor does any touch the panel
    field = box.get_by_test_id("stChatInputTextArea")
    field.fill("Where was the log in the watch room?")
    field.press("Enter")
    exchange = box.locator('[data-kind="exchange"]').last  # others may have chips already
    chip = exchange.locator(".cite").last
    expect(box.locator(".qt").last).to_have_text("Where was the log in the watch room?")
    expect(chip).to_be_visible()
    exchange.get_by_role("button", name="Keep", exact=True).click()
    bar, notes = page.locator(".tbar"), page.locator(".notespanel")
    bar.get_by_role("button", name="Notes").click()
    expect(notes).to_contain_text("Where was the log in the watch room?")  # the reader has it at once
    bar.get_by_role("button", name="Ask").click()
    exchange.get_by_role("button", name="Do not keep this answer").click()
    chip.click()
    page.wait_for_function(f"() => ({MARKED})().length === 1")
    ((words, in_view),) = page.evaluate(MARKED)
    assert words[:20] in exchange.locator(".sentence").last.inner_text()
    assert in_view
    page.get_by_role("button", name=re.compile("^Back to")).click()  # one press
    expect(page.locator("p[data-i='0']")).to_be_in_viewport()
    settled(page)
    page.keyboard.press("x")
    card = page.locator(".namecard")
    expect(card).to_be_visible()
    shown, edge = card.bounding_box(), box.bounding_box()
    assert shown
    assert edge
    assert shown["x"] + shown["width"] <= edge["x"]  # beside the text, not behind the panel
    page.keyboard.press("Escape")
    page.keyboard.press("i")  # at the same place
    notes.get_by_role("button", name="Close notes").click(trial=True)
    expect(box).to_be_hidden()
    bar.get_by_role("button", name="Ask").click()
    expect(notes).to_be_hidden()
    expect(box).to_be_visible()
    page.locator(".aa").click()
    look = page.locator(".panel")
    look.get_by_role("button", name="Sepia").click(trial=True)
    look.get_by_role("button", name="Two pages").click()
    expect(look).to_contain_text("One page for now")  # two have no room beside the panel
    page.get_by_role("button", name="Text", exact=True).click()
    expect(look).to_be_hidden()  # a press outside closes it
    settled(page)
    page.get_by_role("button", name="Next page").click(trial=True)
    lines = [one.bounding_box() for one in page.locator(".unit.on > p").all()[:3]]
    assert all(line["x"] + line["width"] <= box.bounding_box()["x"] for line in lines if line)
    page.get_by_role("button", name="With gists").click()
    page.locator(".aa").click()
    look.get_by_role("button", name="Scroll", exact=True).click()
    expect(look).not_to_contain_text("One page for now")
    page.locator(".aa").click()
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".aa").click()
    look.get_by_role("button", name="Sepia").click(trial=True)
    look.get_by_role("button", name="Close").click()
    first = page.locator("p[data-i='1']").element_handle()  # the first paragraph with a name that has a card
    page.wait_for_function(NAME_ABOVE, arg=[first, box.element_handle()])
    page.keyboard.press("x")
    card.get_by_role("button", name="Close").click()  # the sheet of a name lies over that of Ask
    expect(card).to_be_hidden()
    page.locator(".aa").click()
    look.get_by_role("button", name="Pages", exact=True).click()
    look.get_by_role("button", name="Close").click()
    settled(page)
    chip.click()  # to words in the lower half of a page, which the sheet would lie over
    up = box.get_by_role("button", name="Back to the answer")
    expect(up).to_be_visible()
    back = page.get_by_role("button", name=re.compile("^Back to (?!the answer)"))
    over = back.bounding_box()
    assert over
    ((_, in_view),) = page.evaluate(MARKED.replace("innerHeight", str(over["y"])))
    assert in_view
    back.click(trial=True)  # it stands over the sheet
    up.click()
    expect(chip).to_be_in_viewport()
    back.click(trial=True)
    switch = box.get_by_label("Only what I have read")
    for on in (not switch.is_checked(), switch.is_checked()):
        box.get_by_text("Only what I have read", exact=True).click()
        expect(switch).to_be_checked(checked=on)
        whole = box.get_by_text("whole book", exact=True)
        expect(whole).to_have_count(0 if on else 1)
    box.get_by_role("button", name="Close").click()
    expect(box).to_have_count(0)


@pytest.mark.usefixtures("at_the_start")
def test_the_panel_hides_no_text_in_a_narrow_window_and_is_seen_at_twice_the_size(
    page: Page, app_url: str, keeper: str
) -> None:
    page.set_viewport_size({"width": 1100, "height": 900})
    page.goto(f"{app_url}/read?book={keeper}&page=1")
    expect(page.locator("p[data-i='0']")).to_be_in_viewport()
    settled(page)
    page.keyboard.press("a")
    panel = page.locator(".st-key-ask_panel")
    expect(panel.get_by_test_id("stChatInputTextArea")).to_be_visible()
    page.wait_for_function(
        """([text, panel]) => text.getBoundingClientRect().right < panel.getBoundingClientRect().left""",
        arg=[page.locator("p[data-i='0']").element_handle(), panel.element_handle()],
    )
    page.set_viewport_size({"width": 720, "height": 450})  # a window of 1440 px at 200 %: without furniture
    expect(page.locator(".root.bare")).to_be_visible()
    field = panel.get_by_test_id("stChatInputTextArea")
    expect(field).to_be_in_viewport()  # at the foot, also while the answer above it is long
    thread, line = panel.locator(".st-key-ask_thread").bounding_box(), field.bounding_box()
    assert thread
    assert line
    assert line["y"] - thread["y"] > 80  # the answer is seen above it
    for question in ("Where was the log in the watch room?", "Who is Dunstan Reeve?"):
        field.fill(question)
        field.press("Enter")
        expect(panel.locator(".qt").last).to_have_text(question)
        expect(panel.locator(".qt").last).to_be_in_viewport()  # the panel goes to what was asked last
        expect(panel.locator('[data-kind="exchange"]').last.locator(".sentence").first).to_be_in_viewport()
    expect(panel.get_by_role("button", name="Show in memory")).to_have_count(0)  # there is none beside the text
    panel.evaluate("panel => (panel.scrollTop = 0)")
    panel.get_by_text("Only what I have read", exact=True).click(trial=True)  # nothing lies over it
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_have_count(0)
    page.goto(f"{app_url}/ask?book={keeper}")  # opened again: at the newest answer, below its question
    newest = page.locator('[data-kind="exchange"]').last
    expect(newest.locator(".sentence").first).to_be_in_viewport()
    header, asked = page.locator(".stAppHeader").bounding_box(), newest.locator(".qt").bounding_box()
    assert header
    assert asked
    assert asked["y"] >= header["y"] + header["height"]
    expect(newest.locator(".step")).to_be_hidden()  # the words come first
    newest.get_by_text("How it was found").click()
    expect(newest.locator(".step")).to_be_visible()


def test_from_the_memory_in_ask_to_the_marked_words_beside_the_answer(page: Page, app_url: str, keeper: str) -> None:
    page.goto(f"{app_url}/ask?book={keeper}")
    page.locator(".cite").first.click()
    settled(page)
    page.locator(".convs button", has_text="Questions of the recording").click()
    expect(page.locator('[data-signer="recording"]')).to_be_visible()
    expect(page.locator(".options .chosen")).to_be_visible()
    settled(page)
    page.locator(".m.open").first.get_by_role("button", name="Read it").click()
    expect(page).to_have_url(re.compile("/read"))
    page.wait_for_function(f"() => ({MARKED})().length > 0")
    assert all(in_view for _, in_view in page.evaluate(MARKED))
    expect(page.locator('.st-key-ask_panel [data-kind="exchange"]')).to_be_visible()  # the answer is beside its words
    expect(page.locator(".st-key-ask_panel .options")).to_be_hidden()  # nobody asked by choices here
    page.locator(".st-key-ask_panel").get_by_text("With 4 choices").click()
    expect(page.locator(".st-key-ask_panel .options .chosen")).to_be_visible()
    settled(page)
    page.locator(".st-key-ask_whole button").first.click()
    expect(page).to_have_url(re.compile("/ask"))
