"""The text read aloud, with a voice of the test's own, which says when a sentence has ended."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.test_marks import PAINTED

SPEECH = """
  const voice = (name, lang) => ({ name, lang, voiceURI: lang });
  const voices = [];
  globalThis.install = () => voices.push(voice("A voice", "en-GB"), voice("Une voix", "fr-FR"));
  globalThis.spoken = [];
  globalThis.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  const nothing = () => {};
  const speak = (said) => spoken.push(said);
  const speech = { getVoices: () => voices, speak, cancel: nothing, addEventListener: nothing };
  Object.defineProperty(globalThis, "speechSynthesis", { value: speech });
"""


def test_the_text_is_read_aloud_sentence_by_sentence(new_page: Page, app_url: str, keeper: str) -> None:
    page = new_page
    page.add_init_script(SPEECH)
    page.goto(f"{app_url}/read?book={keeper}&page=1")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "1")
    for _ in range(2):  # without a voice nothing is read, however often one presses
        page.keyboard.press("l")
        expect(page.get_by_role("group", name="Listen")).to_contain_text("This browser has no voices")
        assert page.evaluate("spoken.length") == 0
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_hidden()
    page.evaluate("install()")
    page.keyboard.press("l")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect(page.get_by_label("Voice").locator("option")).to_have_text(["A voice"])  # in the book's language
    said = "() => spoken.map((one) => one.text)"
    assert page.evaluate(said) == ["I came to Harrow to count things."]
    assert page.evaluate(PAINTED, "spoken") == ["I came to Harrow to count things."]
    page.evaluate("spoken.at(-1).onend()")
    assert page.evaluate(said)[-1].startswith("That is what I was paid for")
    page.get_by_label("Speed").select_option("1.5")
    assert page.evaluate("spoken.at(-1).rate") == 1.5
    page.get_by_role("button", name="Pause", exact=True).click()
    count = len(page.evaluate(said))
    page.evaluate("spoken.at(-1).onend()")  # of what was stopped
    assert len(page.evaluate(said)) == count
    page.get_by_label("Stop at the page's end").check()
    page.get_by_role("button", name="Play", exact=True).click()
    for _ in range(400):  # the page may be another one where gists were made again
        if page.get_by_role("button", name="Play", exact=True).count():
            break
        page.evaluate("spoken.at(-1).onend()")
    expect(page.get_by_role("group", name="Listen")).to_contain_text("Page 1 ends here")
    page.keyboard.press("Escape")
    expect(page.get_by_role("group", name="Listen")).to_be_hidden()
