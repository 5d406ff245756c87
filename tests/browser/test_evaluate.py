"""Evaluate in a browser: a run, its drawings and its report; own questions typed, pasted, from a file."""

from __future__ import annotations

import re
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from readagent_core.library import Library
from tests.browser.conftest import go_to, settled

LONG = 60_000
LETTERS = 15  # pixels: the height of a drawing's letters with a little room; boxes have their outline besides

ASKED = [
    ("What did Mrs. Oake win?", "A tea cosy", ["A ham", "A pound"]),
    ("How much oil?", "Nine", ["Two", "Forty"]),
    ("What stuck?", "a farthing", []),
]


@pytest.fixture
def page(standing_page: Page) -> Page:
    return standing_page


def open_screen(page: Page, url: str, book: str = "") -> None:
    if page.url.startswith(f"{url}/evaluate"):
        return open_form(page)
    page.goto(f"{url}/evaluate?book={book}" if book else f"{url}/evaluate")
    expect(page.locator("h1")).to_have_text("Evaluate")
    open_form(page)


def open_form(page: Page) -> None:
    """It is folded where there are results."""
    start, folded = page.locator(".st-key-evaluate_start button"), page.get_by_text("New experiment", exact=True)
    expect(start.or_(folded).first).to_be_visible()
    settled(page)
    if not start.is_visible():
        folded.click()
    expect(start).to_be_visible()


def test_a_small_experiment_runs_and_can_be_looked_into(page: Page, app_url: str, keeper: str, tmp_path: Path) -> None:
    open_screen(page, app_url, keeper)
    limit = page.locator(".st-key-evaluate_limit input")
    limit.fill("2")
    limit.press("Enter")
    expect(page.get_by_text("2 questions on 1 document")).to_be_visible()
    page.locator(".st-key-evaluate_start button").click()
    table = page.locator(".ev-table table").first
    expect(table.locator("tbody tr")).to_have_count(5, timeout=LONG)  # four methods and chance
    expect(page.locator(".st-key-evaluate_start")).to_be_hidden()  # the form is folded, the run comes first
    expect(page.locator("[role=tab]").nth(2)).to_be_visible(timeout=LONG)
    names_stay_apart(page, ".broad", 4)
    page.set_viewport_size({"width": 390, "height": 844})
    names_stay_apart(page, ".slim", 4)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    page.set_viewport_size({"width": 1440, "height": 900})
    page.locator("[role=tab]").nth(2).click()
    expect(page.locator(".st-key-evaluate_asked")).to_be_visible()
    expect(page.locator(".st-key-evaluate_stop")).to_have_count(0)  # nothing runs any more
    page.locator("[role=tab]").nth(0).click()
    files = {}
    for format in ("csv", "answers.csv", "html"):
        with page.expect_download() as download:
            page.locator(f".st-key-evaluate_download_{format.replace('.', '_')} button").click()
        assert download.value.suggested_filename.endswith(f".{format}")
        files[format] = tmp_path / f"report.{format}"
        download.value.save_as(files[format])
    assert files["csv"].read_text(encoding="utf-8").startswith("arm,")
    assert files["answers.csv"].read_text(encoding="utf-8-sig").startswith("number,")
    report = page.context.new_page()
    the_report_is_usable_by_keyboard(report, files["html"])
    report.close()

    # the recording opens at one click, and a word view is drawn
    page.locator(".st-key-evaluate_show_recorded button, .st-key-evaluate_recorded_too button").first.click()
    expect(page.locator(".ev-said li").first).to_contain_text("10 of 10 right")
    page.locator(".st-key-evaluate_view button").nth(1).click()
    expect(page.locator(".st-key-evaluate_plot .broad")).to_contain_text("Words sent for a question")
    page.locator(".st-key-evaluate_close button").click()
    expect(page.locator(".st-key-evaluate_recording")).to_have_count(0)

    # a page that an answer names leads there
    page.locator("[role=tab]").nth(2).click()
    page.locator("button.cite:visible").first.click()
    expect(page.get_by_text("Back to Evaluate")).to_be_visible(timeout=LONG)


def names_stay_apart(page: Page, drawing: str, count: int) -> None:
    """Every point has its name, and no name lies over another one, as the browser has drawn them."""
    shown = page.locator(f".st-key-evaluate_plot {drawing}")
    expect(shown.locator("circle").first).to_be_visible()
    expect(shown.locator("circle")).to_have_count(count)
    boxes = [box for text in shown.locator("text.name").all() if (box := text.bounding_box())]
    assert len(boxes) == count + 1  # and that of guessing
    for one, other in combinations(boxes, 2):
        beside = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
        assert beside or abs(one["y"] - other["y"]) >= LETTERS, (one, other)


def the_report_is_usable_by_keyboard(page: Page, file: Path) -> None:
    page.goto(file.as_uri())
    expect(page.locator("h2", has_text="Questions")).to_be_visible()
    shown = page.locator(".q:visible")
    expect(shown).to_have_count(2)
    differ = page.locator(".q.differ").count()
    page.locator("[name=show][value=all]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[name=show][value=differ]")).to_be_checked()
    expect(shown).to_have_count(differ)
    page.keyboard.press("ArrowRight")
    expect(shown).to_have_count(2)
    answers = page.locator(".q").first.locator(".a")
    expect(answers.first).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(answers).to_have_count(4)
    expect(answers.last).to_be_visible()


def open_table(page: Page, url: str, book: str) -> None:
    open_screen(page, url, book)
    settled(page)
    page.get_by_text("Your own questions", exact=True).click()
    expect(questions(page).first).to_be_visible()


def questions(page: Page):
    return page.locator("textarea[name=question]")


def saved(page: Page) -> None:
    expect(page.get_by_text("Saved as you type")).to_be_visible()


def type_questions(page: Page) -> None:
    questions(page).first.click()
    for at, (question, answer, wrong) in enumerate(ASKED):
        write = page.keyboard.insert_text if at else page.keyboard.type  # the first one letter by letter
        write(question)
        page.keyboard.press("Enter")  # to the answer
        write(answer)
        if wrong:
            page.keyboard.press("Tab")
            for text in wrong:
                write(text)
                page.keyboard.press("Enter")  # the next wrong answer
        if at + 1 < len(ASKED):
            page.keyboard.press("Enter")  # the next question


def test_own_questions_are_typed_pasted_and_stored(
    page: Page, app_url: str, app_home: Path, keeper: str, tmp_path: Path
) -> None:
    open_table(page, app_url, keeper)
    type_questions(page)
    expect(questions(page)).to_have_count(3)
    saved(page)
    expect(page.get_by_text("✓ page 5")).to_be_visible()  # where the tea cosy is
    expect(page.get_by_text("3 questions on 1 document")).to_be_visible()
    with closing(Library(app_home)) as library:
        assert [(row.question, row.answer, list(row.wrong)) for row in library.own_questions(keeper)] == ASKED

    number = page.locator("input[name=page]").first
    for wrong in ("99", "abc"):
        number.fill(wrong)
        expect(page.get_by_text(f"“{wrong}” is no page of this book")).to_be_visible()
        expect(number).to_have_attribute("aria-invalid", "false")  # it is asked all the same
        expect(page.get_by_text("✓ page 5")).to_be_hidden()
    number.fill("5")
    expect(page.get_by_text("✓ page 5")).to_be_visible()
    number.fill("")
    saved(page)

    go_to(page, "Library")
    expect(page.locator('[data-kind="library"], [data-kind="first"]')).to_be_visible()
    go_to(page, "Evaluate")
    open_table(page, app_url, keeper)
    expect(questions(page)).to_have_count(3)
    expect(questions(page).first).to_have_value(ASKED[0][0])
    expect(page.locator("textarea[name=wrong]").first).to_have_value("A ham\nA pound")

    page.get_by_role("button", name="Remove question 2").click()
    expect(questions(page)).to_have_count(2)
    page.locator(".toast:not([hidden])").get_by_role("button", name="Undo").click()
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

    # a part of a spreadsheet fills rows
    page.get_by_role("button", name="Add a question").click()
    expect(questions(page)).to_have_count(4)
    questions(page).last.evaluate(
        """(field, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            field.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData }));
        }""",
        'Who?\tVane\tOake\tCrale\n"He said ""no"";\nwhy?"\tfear\n\t\n',
    )
    expect(questions(page)).to_have_count(5)
    expect(page.locator("textarea[name=wrong]").nth(3)).to_have_value("Oake\nCrale")
    expect(questions(page).last).to_have_value('He said "no";\nwhy?')
    page.locator(".toast:not([hidden])").get_by_role("button", name="Undo").click()
    expect(questions(page)).to_have_count(4)
