"""PDFs that are read only in part: a page that brings the reader down, pages beyond the limits on time and memory."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from readagent_core.errors import DamagedDocumentError, UnsafeDocumentError
from readagent_core.loaders import DEFAULT, load
from readagent_core.loaders.child_process import load_in_child_process
from tests.loaders.test_pdf import pdf, wordy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a process in this way")

# a child imports this before anything else: what PDFium would do on a page is done to the child
SITECUSTOMIZE = """
import os, signal
from readagent_core.loaders.pdf import loader
read = loader.read_lines
def read_lines(page, number):
    if number in {pages}:
        {deed}
    return read(page, number)
loader.read_lines = read_lines
"""
CRASH = "os.kill(os.getpid(), signal.SIGSEGV)"
LOOP = "exec('while True: pass')"


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """Returns a function that makes the children of this test fail on some pages, from 0."""

    def fail(deed: str, *pages: int) -> None:
        (tmp_path / "sitecustomize.py").write_text(SITECUSTOMIZE.format(pages=pages, deed=deed))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return fail


def numbers(document) -> list[str]:
    """Returns the numbers of the pages that were read, from their text."""
    return [p.text.rsplit(" ", 1)[1].rstrip(".") for p in document.paragraphs]


BOOK = pdf([wordy(n) for n in range(1, 9)])
SECOND = replace(DEFAULT, seconds=1, pictures=0)  # with pictures, a file that fails is read once more


def test_pages_that_bring_the_reader_down_are_left_out_and_after_three_the_rest(failing):
    failing(f"{LOOP} if number == 3 else {CRASH}", 1, 3, 5, 6)
    document = load_in_child_process(BOOK, "x.pdf", limits=SECOND)
    assert numbers(document) == list("135")
    (notice,) = [w for w in document.warnings if w.code == "pages-not-read"]
    assert "5 pages (2, 4, 6–8)" in notice.message


def test_a_reader_that_crashes_on_every_page_is_an_explained_error(failing):
    failing(CRASH, *range(8))
    with pytest.raises(DamagedDocumentError, match=r"crashed or came to no end: .* open the new one here.$"):
        load_in_child_process(BOOK, "x.pdf", limits=replace(DEFAULT, pictures=0))


def test_a_reader_that_crashes_before_the_first_page_is_an_explained_error(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(DamagedDocumentError, match=r"crashed on this one.*Nothing else was harmed"):
        load_in_child_process(BOOK, "x.pdf")


def test_a_file_may_take_longer_than_the_limit_while_it_makes_progress(failing):
    failing("exec('import time\\nend = time.process_time() + 0.25\\nwhile time.process_time() < end: pass')", *range(8))
    document = load_in_child_process(BOOK, "x.pdf", limits=SECOND)
    assert numbers(document) == list("12345678")


def test_a_child_that_waits_for_ever_is_stopped(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import time\ntime.sleep(600)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(UnsafeDocumentError, match=r"longer than 0\.2 seconds without progress"):
        load_in_child_process(BOOK, "x.pdf", limits=replace(DEFAULT, seconds=0.2))


def test_progress_counts_the_pages_and_may_cancel():
    seen = []

    def cancel(*pages: int) -> None:
        seen.append(pages)
        if pages[0] == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_in_child_process(BOOK, "x.pdf", progress=cancel)
    assert seen == [(n, 8) for n in range(8)]


def test_what_was_read_in_the_time_allowed_is_opened():
    document = load(BOOK, "x.pdf", limits=replace(DEFAULT, longest=0))
    assert numbers(document) == ["1"]
    (notice,) = [w for w in document.warnings if w.code == "pages-not-read"]
    assert (notice.count, "7 pages (2–8)" in notice.message) == (7, True)


def test_what_was_read_in_the_memory_allowed_is_opened(failing):
    failing("kept = globals().setdefault('kept', []); kept.append(bytearray(30 << 20))", *range(8))
    document = load_in_child_process(BOOK, "x.pdf", limits=replace(DEFAULT, memory=160 << 20))
    read = numbers(document)
    assert 1 <= len(read) < 8
    (notice,) = [w for w in document.warnings if w.code == "pages-not-read"]
    assert "more than 160 MB of memory" in notice.message
    assert notice.count == 8 - len(read)
