"""Own questions in a browser: typed, pasted, undone, taken from a file, kept, and evaluated without opening a file."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

LONG = 60_000
ASKED = [
    ("What did Mrs. Oake win for guessing the weight?", "A tea cosy", ["A ham", "A pound in silver"]),
    ("How many pints of oil were burned after Vane had gone?", "Nine", ["Two", "Forty"]),
    ("What was stuck to the page with sealing wax?", "a farthing", []),
]


def open_table(page: Page, url: str, book: str) -> None:
    page.goto(f"{url}/evaluate?book={book}")
    page.get_by_text("Your own questions", exact=True).click()
    expect(questions(page).first).to_be_visible()


def questions(page: Page):
    return page.locator("textarea[name=question]")


def saved(page: Page) -> None:
    expect(page.get_by_text("Saved as you type")).to_be_visible()


def type_questions(page: Page) -> None:
    questions(page).first.click()
    for at, (question, answer, wrong) in enumerate(ASKED):
        page.keyboard.type(question)
        page.keyboard.press("Enter")  # to the answer
        page.keyboard.type(answer)
        if wrong:
            page.keyboard.press("Tab")
            for text in wrong:
                page.keyboard.type(text)
                page.keyboard.press("Enter")  # the next wrong answer
        if at + 1 < len(ASKED):
            page.keyboard.press("Enter")  # the next question


def test_questions_are_typed_kept_and_evaluated(page: Page, app_url: str, keeper: str, tmp_path: Path) -> None:
    open_table(page, app_url, keeper)
    type_questions(page)
    expect(questions(page)).to_have_count(3)
    saved(page)
    expect(page.get_by_text("✓ page 5")).to_be_visible()  # where the tea cosy is
    for name in ("Gists only", "Search (BM25)"):
        page.get_by_role("button", name=f"Remove {name}").click()
    expect(page.get_by_text("3 questions on 1 document, 6 answers to come")).to_be_visible()
    page.locator(".st-key-evaluate_start button").click()
    expect(page.get_by_text("all answers are in")).to_be_visible(timeout=LONG)
    open_table(page, app_url, keeper)  # another visit
    expect(questions(page)).to_have_count(3)
    expect(questions(page).first).to_have_value(ASKED[0][0])
    expect(page.locator("textarea[name=wrong]").first).to_have_value("A ham\nA pound in silver")

    page.get_by_role("button", name="Remove question 2").click()
    expect(questions(page)).to_have_count(2)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(questions(page)).to_have_count(3)
    expect(questions(page).nth(1)).to_have_value(ASKED[1][0])

    file = tmp_path / "mine.csv"
    file.write_text("question,answer\nWho kept the light?,Vane\n,nobody\nWhen?,\n", encoding="utf-8")
    page.locator("[class*=st-key-evaluate_own_file_] input[type=file]").set_input_files(file)
    expect(page.get_by_text("mine.csv: 2 of 3 questions were taken.")).to_be_visible()
    expect(page.get_by_text(re.compile("^Line 3: the question is missing"))).to_be_visible()
    expect(questions(page)).to_have_count(5)
    expect(page.get_by_text("A right answer is missing. This question is left out")).to_be_visible()
    page.get_by_role("button", name="Undo").first.click()  # also what came from a file
    expect(questions(page)).to_have_count(3)
    saved(page)
    with page.expect_download() as download:
        page.locator(".st-key-evaluate_own_export_csv button").click()
    assert Path(download.value.path()).read_text("utf-8-sig").count("\n") == 4


def test_a_part_of_a_spreadsheet_fills_rows(page: Page, app_url: str, keeper: str) -> None:
    open_table(page, app_url, keeper)
    page.get_by_role("button", name="Add a question").click()
    before = questions(page).count()
    questions(page).last.evaluate(
        """(field, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            field.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData }));
        }""",
        'Who?\tVane\tOake\tCrale\n"He said ""no"";\nwhy?"\tfear\n\t\n',
    )
    expect(questions(page)).to_have_count(before + 1)
    expect(page.locator("textarea[name=wrong]").nth(before - 1)).to_have_value("Oake\nCrale")
    expect(questions(page).last).to_have_value('He said "no";\nwhy?')
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(questions(page)).to_have_count(before)
