"""A scan becomes a book by the packages that recognise text; killed at any time, no page is recognised twice."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from difflib import SequenceMatcher

import pytest
from PIL import Image

from readagent_core.errors import DocumentError, NoTextError, SettingsError
from readagent_core.incoming import recognising
from readagent_core.incoming.opening import open_file
from readagent_core.library.scans import FOLDER, Scans
from readagent_core.loaders.recognition import recogniser
from tests.cli.running import run_here, start, wait_until
from tests.library.test_original_pages import opened
from tests.loaders import scans
from tests.loaders.test_recognition import recognised

needs_packages = pytest.mark.skipif(not recogniser.is_installed(), reason="requirements-ocr.txt is not installed")
ENGLISH = (
    "# The Second Night",
    "The lamp on Harrow Light was lit at dusk, as it was on every night of the year, and it burned until the morning.",
    "Nobody saw who put it out. The boat came back without her master, and the keeper wrote nothing in his book.",
)
JAPANESE = (
    "雪守駅の時計は、三分進んでいる。",
    "水野遥がそれに気づいたのは、改札を出て、駅前の広場で自分の携帯電話を見たときだった。画面は十三時八分。",
)


def words(text):
    """Words without the marks around them, or single characters of Chinese and Japanese."""
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?|[^\W_a-z0-9]", text.lower().replace("’", "'"))


def share_right(wanted, found):
    """The share of the wanted words that were found in their order."""
    blocks = SequenceMatcher(None, words(wanted), words(found), autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(words(wanted))


BLANK = Image.new("L", (874, 1240), 240)
FIRST = "The page that was recognised before."
# in place of the package: it finds that on the first page, and is at the second one until its parent ends
ENGINE = f"""
import os, time
from types import SimpleNamespace
import numpy
class RapidOCR:
    def __init__(self, params):
        self.pages = 0
    def __call__(self, picture):
        self.pages += 1
        parent = os.getppid()
        while self.pages > 1 and os.getppid() == parent:
            time.sleep(0.05)
        corners = [[100, 150], [700, 150], [700, 190], [100, 190]]
        return SimpleNamespace(boxes=numpy.array([corners]), txts=["{FIRST}"], scores=[0.99])
"""


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """``with engine():`` children that are started within it have ``ENGINE``, not the package."""
    (tmp_path / "rapidocr.py").write_text(ENGINE)

    @contextmanager
    def use():
        with monkeypatch.context() as patch:
            patch.setenv("PYTHONPATH", str(tmp_path))
            yield

    return use


@needs_packages
@pytest.mark.skipif(not scans.has_font("ja"), reason="no Japanese font")
def test_killed_no_page_is_recognised_twice(tmp_path, own_home, workspace, engine):
    texts = {"en": ENGLISH, "ja": (*JAPANESE, scans.CHINESE[0])}
    drawn = [scans.draw_pages(text, language, most=1) for language, text in texts.items()]
    file = tmp_path / "three pages.pdf"
    file.write_bytes(scans.scanned_pdf([BLANK, *(pages[0] for pages, _ in drawn)]))
    with engine():
        process = start("recognise", file)
        wait_until(lambda: list(own_home.glob(f"{FOLDER}/*/pages/*.json")), process)
        process.kill()
        process.communicate(timeout=30)
    assert "100 % of the words, on 3 pages (1–3)" in run_here("recognise", file)[0]
    (book,) = workspace.library.books()
    document = workspace.library.document(book.id)
    assert document.paragraphs[0].text == FIRST  # which the second run would not find
    assert [section.title for section in document.sections] == ["The Second Night"]
    for number, (_, text) in enumerate(drawn, 2):
        found = "".join(p.text + " " for p in document.paragraphs if p.place == f"p. {number}")
        assert share_right(" ".join(text).removeprefix("The Second Night "), found) >= 0.97
    assert all(0.97 < p.confidence <= 1 for p in document.paragraphs)
    assert not recognising.unfinished(workspace)
    assert workspace.library.original(book.id) == file.read_bytes()


@needs_packages
def test_a_paused_job_is_unfinished_until_it_is_discarded(workspace, engine):
    data = scans.scanned_pdf([BLANK] * 2)
    with pytest.raises(NoTextError) as refused:
        open_file(workspace, data, "scan.pdf")
    with engine():
        job = recognising.start_recognising(workspace, data, "scan.pdf", refused.value.pages)
        while job.running and not job.snapshot.done:
            job.join(0.02)
        job.cancel()
        assert job.join(10).state == "cancelled"
    (scan,) = recognising.unfinished(workspace)
    assert (scan.name, scan.pages, scan.done, scan.book_id) == ("scan.pdf", (1, 2), 1, "")
    assert workspace.library.preference("recognition_seconds", 0) > 0
    workspace.library.set_preference("recognition_seconds", 4.0)
    assert recognising.estimate(workspace, 1) == "about 10 seconds"
    assert recognising.estimate(workspace, 30) == "about 2 minutes"
    recognising.discard(workspace, scan.id)
    assert not recognising.unfinished(workspace)
    assert not list((workspace.home / FOLDER).iterdir())


def test_the_book_of_a_file_with_scanned_pages_gets_a_new_version(workspace):
    data = scans.partly_scanned()
    book = opened(workspace, data, "minutes.pdf")
    workspace.library.rename(book.id, title="Minutes of March", author="")
    store = Scans(workspace.home)
    scan = store.add(data, "minutes.pdf", workspace.library.document(book.id).doubtful_pages, book_id=book.id)
    for number in scan.pages:
        store.save_page(scan.id, number, recognised(f"The lamp was lit on night {number}."))
    job = recognising.resume_recognising(workspace, scan.id)
    assert job.join(60).state == "done", job.snapshot.error
    newer = workspace.library.book(book.id)
    assert (job.snapshot.value, newer.version, newer.title) == (book.id, 2, "Minutes of March")
    assert workspace.library.document(book.id).recognised_pages == ((2, 0.99), (3, 0.99))
    assert not recognising.unfinished(workspace)


def test_without_the_packages_the_exact_command_is_named(workspace, monkeypatch):
    monkeypatch.setattr(recognising, "is_installed", lambda: False)
    with pytest.raises(SettingsError, match=r"-m pip install -r .*/requirements-ocr\.txt"):
        recognising.start_recognising(workspace, b"%PDF-", "scan.pdf", (1,))
    assert not recognising.unfinished(workspace)


def test_a_file_without_pictures_of_pages_has_nothing_to_recognise(tmp_path):
    with pytest.raises(DocumentError, match="nothing to recognise"):
        recognising.pages_to_recognise(b"The lamp was lit at dusk.", "lamp.txt")


def test_the_scan_of_a_book_that_was_deleted_is_deleted(workspace):
    book = open_file(workspace, b"The lamp was lit at dusk.", "lamp.txt")
    scan = Scans(workspace.home).add(b"%PDF-", "lamp.pdf", (1,), book_id=book.id)
    assert scan.id == hashlib.sha256(b"%PDF-").hexdigest()[:32]  # by which one that an earlier version began goes on
    assert recognising.unfinished(workspace) == [scan]
    workspace.library.remove(book.id)
    workspace.library.delete_removed()
    assert not recognising.unfinished(workspace)
    assert not Scans(workspace.home).all()
