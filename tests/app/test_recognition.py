"""What the library and the import report say of scanned pages, before, while and after they are recognised."""

from __future__ import annotations

from PIL import Image
from streamlit.testing.v1 import AppTest

from pages.parts.library import recognition
from pages.parts.library.imports import import_record, start_import
from readagent_core.incoming import recognising
from readagent_core.library.scans import Scans
from readagent_core.loaders.recognition.page import RecognisedPage
from tests.library.test_original_pages import opened
from tests.loaders.scans import partly_scanned, scanned_pdf

BLANK = Image.new("L", (874, 1240), 240)


def report(book_id: str) -> AppTest:
    """What the import report of a book says of its scanned pages."""

    def screen(book_id: str) -> None:
        from pages.parts.library import recognition
        from pages.parts.shared.cached import get_workspace

        workspace = get_workspace()
        recognition.draw_in_report(workspace, workspace.library.book(book_id))

    at = AppTest.from_function(screen, args=(book_id,), default_timeout=30).run()
    assert not at.exception
    return at


def test_a_refused_scan_offers_recognition_with_its_time_or_says_what_to_install(workspace, monkeypatch):
    one = start_import(workspace, "scan.pdf", scanned_pdf([BLANK] * 2))
    one.job.join(30)
    for installed in (True, False):
        monkeypatch.setattr(recognising, "is_installed", lambda installed=installed: installed)
        record = import_record(workspace, one)
        assert record["state"] == "failed"
        assert record.get("offer") == ("Recognise the text of 2 pages (about 10 seconds)" if installed else None)
        assert ("requirements-ocr.txt" in record["text"]) is not installed


def test_the_report_offers_it_and_shows_a_doubtful_page(workspace, monkeypatch):
    book = opened(workspace, partly_scanned(), "minutes.pdf")
    for installed in (True, False):
        monkeypatch.setattr(recognising, "is_installed", lambda installed=installed: installed)
        at = report(book.id)
        assert [b.label for b in at.button] == ["Recognise the text of 2 pages (about 10 seconds)"] * installed
        assert ["requirements-ocr.txt" in code.value for code in at.code] == [True] * (not installed)
    assert at.selectbox[0].options == ["page 2", "page 3"]
    at.selectbox[0].set_value(3).run()
    assert len(at.get("image")) == 1
    assert not at.exception


def test_a_recognition_that_an_earlier_app_began_is_shown_as_paused(workspace):
    book = opened(workspace, partly_scanned(), "minutes.pdf")
    scans = Scans(workspace.home)
    scan = scans.add(b"%PDF-", "minutes.pdf", (2, 3), book_id=book.id)
    scans.save_page(scan.id, 2, RecognisedPage())
    (record,) = recognition.scan_records(workspace)
    assert (record["name"], record["state"], record["pages"]) == (book.title, "paused", [1, 2])
    at = report(book.id)
    assert [b.label for b in at.button] == ["Resume"]
    assert not recognition.under_way(workspace)


def test_the_report_says_what_is_doubtful_what_was_left_out_and_opens_the_place(workspace):
    def screen(book_id: str) -> None:
        from pages.parts.library.dialogs import show_report
        from pages.parts.shared.cached import get_workspace

        workspace = get_workspace()
        show_report(workspace, workspace.library.book(book_id))

    page = b"<p>" + "Größe und Weite. ".encode() * 9 + b"</p><p>The lamp \xff was lit.</p><p hidden>Not here.</p>"
    book = opened(workspace, b"<!doctype html><html><body>" + page + b"</body></html>", "page.html")
    at = AppTest.from_function(screen, args=(book.id,), default_timeout=30).run()
    assert not at.exception
    assert [m.value for m in at.markdown if m.value.startswith("**")] == ["**To check**", "**Left out**"]
    assert [b.label for b in at.button if b.key == "place_undecodable_1"] == ["Open “The lamp \ufffd was lit.…”"]
