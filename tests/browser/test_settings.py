"""A newcomer connects a model in a browser, tests it, and leaves it again; the key shows itself nowhere."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.fakes.server import FakeServer

KEY = "sk-marker-0123456789abcdef"


@pytest.fixture
def own_app(chromium, start_app, tmp_path):
    """An app of its own: the settings change what every other test would meet."""
    home = tmp_path / "home"
    with start_app(home) as url:
        yield url, home


def test_a_model_is_connected_tested_and_left(page: Page, own_app):
    url, home = own_app
    with FakeServer(key=KEY, kind="vllm", window=8192, models=("reader-8b",)) as server:
        page.goto(f"{url}/settings")
        page.locator(".st-key-who label", has_text="Another server").click()
        page.locator(".st-key-other_server input").click()
        page.get_by_role("option", name="Another address").click()
        address = page.locator(".st-key-other_own_address input")
        address.fill(server.url)
        address.press("Enter")
        key = page.locator("[class*='st-key-other_own_key'] input")
        key.fill(KEY)
        key.press("Enter")
        expect(page.locator(".st-key-other_own_model_1 input")).to_have_value("reader-8b")

        page.locator(".st-key-other_own_test button").click()
        card = page.locator(".st-key-test_card")
        expect(card).to_contain_text("The test passed")
        row = card.locator("[class*='st-key-check_']").filter(has_text="Names pages to look up")
        expect(row).to_contain_text("5 of 5")

        page.locator(".st-key-other_own_use button").click()
        expect(page.locator(".st-key-settings")).to_contain_text("In use now: reader-8b")
        expect(page.locator("[class*='st-key-other_own_key'] input")).to_have_attribute(
            "placeholder", re.compile("••••cdef")
        )
        assert KEY not in page.content()
        assert not [p for p in home.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]

        page.locator(".st-key-use_builtin button").click()
        expect(page.locator(".st-key-settings")).not_to_contain_text("In use now")
