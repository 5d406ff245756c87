"""The text read aloud, with a voice of the test's own, which says when a sentence has ended."""

from __future__ import annotations

import os
import wave
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from readagent_core.incoming.samples import add_samples
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.browser.conftest import StartApp
from tests.browser.test_marks import PAINTED
from tests.fakes.hub import Hub
from tests.fakes.voice.piper import RATE
from tests.speech.test_voices import FAKE, add_voice

SPEECH = """
  const voice = (name, lang) => ({ name, lang, voiceURI: lang });
  const voices = [];
  globalThis.install = () => voices.push(voice("A voice", "en-GB"), voice("Une voix", "fr-FR"));
  globalThis.spoken = [];
  globalThis.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  const nothing = () => {};
  const speak = (said) => spoken.push(said);
  const speech = { getVoices: () => voices, speak, cancel: nothing, addEventListener: (type, named) => named() };
  Object.defineProperty(globalThis, "speechSynthesis", { value: speech });
"""
INSTALL = "pip install readagent[voice]"
NO_VOICES = {
    "here": [],
    "offers": [],
    "install": INSTALL,
    "installs": True,
    "fetching": None,
    "failed": "",
    "chosen": {},
}
SOUND = """
  globalThis.played = [];
  globalThis.asked = [];
  HTMLMediaElement.prototype.play = function () { played.push(this); return Promise.resolve(); };
  const { fetch } = globalThis;
  globalThis.fetch = (address, options) => {
    if (String(address).endsWith("voice/say")) asked.push(JSON.parse(options.body).text);
    return fetch(address, options);
  };
"""


@pytest.mark.usefixtures("at_the_start")
def test_the_text_is_read_aloud_sentence_by_sentence(new_page: Page, app_url: str, keeper: str) -> None:
    page = new_page
    page.add_init_script(SPEECH)
    page.route("**/voice/list", lambda route: route.fulfill(json=NO_VOICES))
    page.goto(f"{app_url}/read?book={keeper}&page=1")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "1")
    for _ in range(2):  # without a voice nothing is read, however often one presses
        page.keyboard.press("l")
        expect(page.get_by_role("group", name="Listen")).to_contain_text("There is no voice to read with yet.")
        assert page.evaluate("spoken.length") == 0
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_hidden()
    more = page.get_by_role("region", name="More voices")
    expect(more.locator("p").first).to_contain_text("90 MB, once")  # needs no terminal, comes first
    failed = {**NO_VOICES, "failed": "It could not be installed."}
    page.route("**/voice/install", lambda route: route.fulfill(json=failed))
    more.get_by_role("button", name="Get a natural voice").click()
    expect(more.get_by_role("alert")).to_have_text("It could not be installed.")
    expect(more.get_by_role("button", name="Try again")).to_be_enabled()
    expect(more.get_by_text(INSTALL)).to_be_hidden()
    more.get_by_text("Other ways").click()
    expect(more.get_by_text(INSTALL)).to_be_visible()
    expect(page.get_by_role("button", name="Voices", exact=True)).to_be_hidden()
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


def test_a_voice_of_this_computer_reads_and_saves_a_chapter(
    new_page: Page, start_app: StartApp, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    add_voice(home, "en_GB-northern_male-medium")
    workspace = Workspace(load_settings({"READAGENT_HOME": str(home)}))
    add_samples(workspace)
    book = next(b for b in workspace.library.books() if b.title == "The Keeper of Harrow Light")
    workspace.library.close()
    page = new_page
    page.add_init_script(SOUND)
    path = os.pathsep.join([str(FAKE), os.environ.get("PYTHONPATH", "")])
    with Hub(b"another file") as hub, start_app(home, PYTHONPATH=path, READAGENT_HUB=hub.url) as url:
        page.goto(f"{url}/read?book={book.id}&page=1")
        expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "1")
        page.keyboard.press("l")
        expect(page.get_by_label("Voice", exact=True).locator("option:checked")).to_have_text("Northern Male")
        page.wait_for_function("played.length === 1")
        assert page.evaluate(PAINTED, "spoken") == ["I came to Harrow to count things."]
        page.wait_for_function("asked.length === 2")  # the next one is made while this one is heard
        assert page.evaluate("asked[1]").startswith("That is what I was paid for")
        page.get_by_label("Speed").select_option("1.5")
        page.wait_for_function("played.length === 2 && played[1].playbackRate === 1.5")
        page.evaluate("played.at(-1).onended()")
        page.wait_for_function("played.length === 3")
        (spoken,) = page.evaluate(PAINTED, "spoken")
        assert spoken.startswith("That is what I was paid for")
        assert page.evaluate("asked.length") == 3  # each sentence was asked for once
        page.get_by_role("button", name="Pause", exact=True).click()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save chapter").click()
        with wave.open(str(saved.value.path())) as wav:
            assert wav.getframerate() == RATE
            assert wav.getnframes() / RATE > 10  # ten samples a character
        expect(page.get_by_role("status").filter(has_text="among your downloads")).to_be_visible()
        page.get_by_role("button", name="Voices", exact=True).click()
        page.get_by_role("button", name="Get Alba").click()
        expect(page.get_by_role("region", name="More voices").get_by_role("alert")).to_contain_text("another file")
        page.reload()  # the choice is kept
        expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "1")
        page.keyboard.press("l")
        expect(page.get_by_label("Speed")).to_have_value("1.5")
