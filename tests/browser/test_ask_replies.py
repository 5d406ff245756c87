"""What a server may say to a question, one after another in the same visit: each begins a conversation of its own."""

from __future__ import annotations

import re
import time
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_ask import ask, open_ask
from tests.browser.test_ask import replies as replies
from tests.browser.test_ask import story as story
from tests.fakes.server import Reply


@pytest.fixture
def page(standing_page: Page) -> Page:
    return standing_page


def test_no_look_up_is_said(page: Page, model_app_url: str, story: str, replies):
    replies(look_up="I want to look up Page [] to ... nothing.", answer="It is about a lighthouse [1].")
    open_ask(page, model_app_url, story)
    exchange = ask(page, "What is it about?")
    expect(exchange.locator(".before")).to_have_text("Answered from gists; no page was needed.")
    expect(page.locator('[data-kind="memory"] .m.open')).to_have_count(0)
    replies(answer="It is about a lighthouse [1].")  # a question of one click is answered without a look-up
    page.locator(".st-key-ask_new button").click()
    expect(page.locator(".qt")).to_have_count(0)
    page.locator(".sug .btn", has_text="What is this about?").click()
    expect(page.locator(".before")).to_have_text("Answered from gists; no page was needed.")
    expect(page.locator(".cost")).to_contain_text("no page looked up")


def test_refused_then_asked_again(page: Page, model_app_url: str, story: str, replies):
    replies(look_up="Page [2]", answer=Reply("", finish="content_filter"))
    open_ask(page, model_app_url, story)
    exchange = ask(page, "Who stole the box?")
    expect(exchange.locator(".note.alert")).to_be_visible()
    replies(look_up="Page [2]", answer="Nobody knows [2].")
    expect(exchange.locator(".note").get_by_role("button", name="Ask the built-in reader")).to_be_visible()
    exchange.locator(".note").get_by_role("button", name="Ask again").click()
    expect(page.locator(".qt")).to_have_count(2)
    expect(page.locator(".ans").last).to_contain_text("Nobody knows.")


def test_a_reply_that_breaks_off_keeps_what_had_come(page: Page, model_app_url: str, story: str, replies):
    replies(look_up="Page [2]", answer=Reply("He rowed out to the ship and then", finish="length"))
    open_ask(page, model_app_url, story)
    exchange = ask(page, "What did he do that night?")
    expect(exchange.locator(".note")).to_contain_text("broke off")
    expect(exchange.locator(".ans")).to_contain_text("He rowed out to the ship and then")


def test_a_wait_for_the_server_is_told_and_can_be_ended(page: Page, model_app_url: str, story: str, replies):
    busy = Reply(status=429, headers={"Retry-After": "12"}, error={"message": "slow down"})
    waits = iter([busy])
    replies(look_up="Page [2]", answer=lambda: next(waits, Reply("He did [2].")))
    open_ask(page, model_app_url, story)
    exchange = ask(page, f"Who rowed out on night {uuid4()}?")  # in another try too: no reply is there already
    expect(exchange.locator(".status")).to_contain_text(re.compile(r"continues in \d+ s"))
    began = time.monotonic()
    exchange.locator("button.hurry").click()
    expect(exchange.locator(".ans")).to_contain_text("He did")
    assert time.monotonic() - began < 10  # not by waiting
    expect(page.locator("button.hurry")).to_have_count(0)


def test_a_follow_up_is_made_self_contained_and_shown(page: Page, model_app_url: str, story: str, replies):
    replies(look_up="Page [2]", answer="He did [2].", standalone="Why did Ambrose Vane row out to the ship?")
    open_ask(page, model_app_url, story)
    ask(page, "Who is Ambrose Vane?")
    expect(page.locator(".cost")).to_have_count(1)
    ask(page, "And why did he row out?", new=False)
    expect(page.locator(".understood")).to_contain_text("Why did Ambrose Vane row out to the ship?")
    expect(page.locator(".cost")).to_have_count(2)
