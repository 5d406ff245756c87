"""Evaluate in a browser: start, watch the table grow, stop, and find everything kept."""

from __future__ import annotations

from playwright.sync_api import expect


def open_screen(page, url):
    page.goto(f"{url}/evaluate")
    expect(page.locator("h1")).to_have_text("Evaluate")
    expect(page.locator(".st-key-evaluate_start button")).to_be_enabled()


def test_a_small_experiment_runs_and_can_be_looked_into(page, app_url):
    open_screen(page, app_url)
    limit = page.locator(".st-key-evaluate_limit input")
    limit.fill("2")
    limit.press("Enter")
    expect(page.get_by_text("2 questions on 1 document")).to_be_visible()
    page.locator(".st-key-evaluate_start button").click()
    table = page.locator(".ev-table table").first
    expect(table.locator("tbody tr")).to_have_count(5, timeout=60_000)  # four methods and chance
    expect(page.locator("[role=tab]").nth(2)).to_be_visible(timeout=60_000)
    expect(page.locator(".st-key-evaluate_plot svg circle")).to_have_count(8)  # in the plot and in its list
    page.locator("[role=tab]").nth(2).click()
    expect(page.locator(".st-key-evaluate_asked")).to_be_visible()
    expect(page.locator(".st-key-evaluate_stop")).to_have_count(0)  # nothing runs any more
    with page.expect_download() as download:
        page.locator("[role=tab]").nth(0).click()
        page.locator(".st-key-evaluate_download_csv button").click()
    assert download.value.suggested_filename.endswith(".csv")
