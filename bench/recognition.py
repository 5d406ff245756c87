"""Recognise a scanned book of our own: the share of words that are right, seconds a page, and what confidence says.

    python -m bench.recognition [--poor]

Eight English pages, one Japanese and one Chinese one are drawn, turned a little, blurred and made noisy
(tests/loaders/scans.py). Words are compared without the marks around them; of Chinese and Japanese, characters are.
``--poor`` recognises four English pages at lower and lower resolutions: from where on pages are doubtful.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from readagent_core.incoming import recognising
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.incoming.test_recognising import share_right
from tests.loaders import scans

SAMPLES = Path(__file__).parents[1] / "assets" / "samples"
SHARES = (1.0, 0.6, 0.4, 0.35, 0.325, 0.3, 0.275, 0.25)  # of 150 dots an inch


def paragraphs(name: str) -> list[str]:
    """The paragraphs of a sample without emphasis; headings begin with '# '."""
    text = re.sub(r"\*(\S[^*\n]*\S|\S)\*", r"\1", (SAMPLES / name).read_text(encoding="utf-8"))
    blocks = (" ".join(block.split()) for block in text.split("\n\n")[2:])
    return ["# " + block.lstrip("# ") if block.startswith("#") else block for block in blocks]


def recognise(pages: list[Image.Image], wanted: Iterable[str], name: str) -> None:
    """Print how many words of ``wanted`` are right after ``pages`` were recognised, and how long that took."""
    with TemporaryDirectory() as folder:
        workspace = Workspace(load_settings({"READAGENT_HOME": folder}))
        numbers = tuple(range(1, len(pages) + 1))
        started = time.monotonic()
        job = recognising.start_recognising(workspace, scans.scanned_pdf(pages), f"{name}.pdf", numbers)
        job.join()
        seconds = (time.monotonic() - started) / len(pages)
        if job.snapshot.state != "done":
            raise SystemExit(job.snapshot.error)
        document = workspace.library.document(job.snapshot.value)
        workspace.library.close()
    found = " ".join([document.title, *(s.title for s in document.sections), *(p.text for p in document.paragraphs)])
    # the last page ends in a paragraph that is not wholly on it, so more may be found than was wanted
    right = share_right(" ".join(wanted), found)
    confidences = [confidence for _, confidence in document.recognised_pages]
    print(
        f"{name:14}{len(pages):3} pages  {100 * right:6.2f} % right  {seconds:5.1f} s a page"
        f"  confidence {min(confidences):.4f} to {max(confidences):.4f}",
        flush=True,
    )


def coarse(page: Image.Image, share: float) -> Image.Image:
    """``page`` as scanned with fewer dots an inch."""
    small = (round(page.width * share), round(page.height * share))
    return page.resize(small, Image.Resampling.BILINEAR).resize(page.size, Image.Resampling.BILINEAR)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--poor", action="store_true")
    english = paragraphs("the-keeper-of-harrow-light.md")
    if parser.parse_args().poor:
        for share in SHARES:
            pages, drawn = scans.draw_pages(english, header="The Keeper of Harrow Light", most=4)
            recognise([coarse(page, share) for page in pages], drawn, f"{150 * share:.0f} dots")
        return
    for name, text, most in (("en", english, 8), ("ja", paragraphs("yuki-no-eki.md"), 1), ("zh", scans.CHINESE, 1)):
        pages, drawn = scans.draw_pages(text, name, header="The Keeper of Harrow Light" if most > 1 else "", most=most)
        recognise(pages, drawn, name)


if __name__ == "__main__":
    main()
