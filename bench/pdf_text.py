"""The text of PDFs as this checkout and others read it, beside that of ``pdftotext -raw``; see ``documents``."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# run in a checkout, which may be an older one: the seconds and the text of a PDF as a line of JSON
IMPORTER = """
import json, sys, time
from readagent_core.loaders import load
from readagent_core.loaders.base import Limits
data = open(sys.argv[1], "rb").read()
load(open(sys.argv[2], "rb").read(), "first.pdf")
start = time.process_time()
try:
    document = load(data, "x.pdf", limits=Limits(source_pages=10_000))
    text = document.title + "\\n" + document.text()
except Exception as error:
    text = ""
print(json.dumps([time.process_time() - start, text]))
"""
PLAIN = """
import json, sys, time
from pypdfium2 import PdfDocument
start = time.process_time()
try:
    for page in PdfDocument(sys.argv[1]):
        page.get_textpage().get_text_range()
except Exception as error:
    pass
print(json.dumps([time.process_time() - start, ""]))
"""


@contextmanager
def checkout(before: str) -> Iterator[Path]:
    """Yields the folder ``before``, or a temporary working tree of the revision of that name."""
    if Path(before).is_dir():
        yield Path(before).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(path), before], check=True)
        try:
            yield path
        finally:
            subprocess.run([*git, "remove", "--force", str(path)], check=True)


def measured(program: str, root: Path, *files: Path) -> tuple[float, str]:
    """Returns the CPU seconds and the text that ``program`` prints, run in the checkout ``root``."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, files)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, text = json.loads(done.stdout)
    return seconds, text


def trigrams(text: str) -> Counter[tuple[str, ...]]:
    """Returns the word trigrams of ``text``; hyphens at line ends are joined, a CJK character is a word."""
    text = re.sub(r"(?<=\w)[-\u2010\u00ad]\s*\n\s*(?=\w)", "", text)
    words = re.findall(r"[\u3040-\u9fff]|[^\W_]+", text.casefold())
    return Counter(zip(words, words[1:], words[2:], strict=False))


def agreement(text: str, reference: str) -> tuple[float, float]:
    """Returns precision and recall of the word trigrams of ``text``."""
    ours, theirs = trigrams(text), trigrams(reference)
    both = sum((ours & theirs).values())
    return both / max(1, sum(ours.values())), both / max(1, sum(theirs.values()))


def compare_pdfs(files: list[tuple[str, Path]], roots: list[Path]) -> int:
    """Prints the agreement with pdftotext and the times of each checkout. Returns how many files became worse."""
    if shutil.which("pdftotext") is None:
        print("pdftotext is not installed (poppler-utils); nothing to compare with.")
        return 0
    worse = 0
    heads = "".join(f"{'precision':>11}{'recall':>8}{'s':>8}" for _ in roots)
    print(f"{'file':46}{'PDFium s':>9}{heads}   (this checkout first)")
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "first.pdf"
        small.write_bytes(_small_pdf())
        for name, path in files:
            command = ["pdftotext", "-raw", "-cropbox", str(path), "-"]
            reference = subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace")
            plain, _ = measured(PLAIN, ROOT, path)
            row, figures = f"{name[:46]:46}{plain:9.2f}", []
            for root in roots:
                seconds, text = measured(IMPORTER, root, path, small)
                figures.append(agreement(text, reference))
                row += f"{figures[-1][0]:11.3f}{figures[-1][1]:8.3f}{seconds:8.2f}"
            lower = any(now < then - 0.01 for then in figures[1:] for now, then in zip(figures[0], then, strict=True))
            worse += lower
            print(row + ("   LOWER" if lower else ""), flush=True)
    return worse


def _small_pdf() -> bytes:
    from tests.loaders.making import Press, sample

    return Press()(sample("yuki-no-eki"))
