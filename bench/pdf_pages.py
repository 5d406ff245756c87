"""The pages of PDFs as the app shows them: are quotations marked at their words, and how soon is a page there?

    python -m bench.pdf_pages [FILE-OR-FOLDER …] [--sentences 50] [--seed 1] [--big]

Of every PDF some sentences are drawn at random and looked up on the pages. 'right': the words under the rectangles, as
PDFium reads them there, are the words of the sentence; 'unknown': no place was found; else 'wrong'. Milliseconds:
of the first picture with the start of its process, of the next pictures, and of finding a sentence (medians). ``--big``
adds a PDF of 1,000 pages, made of the longest sample.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from pypdfium2 import PdfDocument

from bench.documents import DOCUMENTS
from readagent_core.document import Paragraph
from readagent_core.errors import DocumentError
from readagent_core.loaders import load
from readagent_core.loaders.pdf.picture import PdfPages
from tests.loaders.making import Press, sample
from tests.loaders.words_under import plain, words_under

SENTENCE = re.compile(r"[^.!?。\s][^.!?。]{11,}[.!?。]+")
WIDTH = 1000  # pixels
PICTURES = 8


def sentences(paragraphs: tuple[Paragraph, ...]) -> list[tuple[Paragraph, int, int]]:
    return [(p, found.start(), found.end()) for p in paragraphs if p.place for found in SENTENCE.finditer(p.text)]


def milliseconds(start: float) -> float:
    return 1000 * (time.perf_counter() - start)


def measure(path: Path, count: int, seed: int) -> bool:
    """Prints the row of one PDF, and the sentences that are not right. Returns whether there are none of those."""
    try:
        document = load(path.read_bytes(), path.name)
    except DocumentError as error:
        print(f"{path.name:40} {type(error).__name__}")
        return True
    found = sentences(document.paragraphs)
    chosen = random.Random(seed).sample(found, min(count, len(found)))
    verdicts: Counter[str] = Counter()
    finding: list[float] = []
    pdf = PdfDocument(path)
    start = time.perf_counter()
    with PdfPages(path) as pages:
        pages.draw(1, width=WIDTH)
        first = milliseconds(start)
        facts = pages.facts()
        drawing: list[float] = []
        for number in range(2, min(PICTURES + 2, facts.pages + 1)):
            start = time.perf_counter()
            pages.draw(number, width=WIDTH)
            drawing.append(milliseconds(start))
        for paragraph, begin, end in chosen:
            start = time.perf_counter()
            places = pages.find(paragraph.text, begin, end, facts.numbers(paragraph.place.removeprefix("p. ")))
            finding.append(milliseconds(start))
            wanted, under = plain(paragraph.text[begin:end]), plain(words_under(pdf, places))
            verdict = "unknown" if not places else "right" if wanted == under else "wrong"
            verdicts[verdict] += 1
            if verdict != "right":
                print(f"  {verdict}: {paragraph.place}: {wanted[:100]}\n     instead: {under[:100]}")
    times = " ".join(f"{statistics.median(row):6.0f}" if row else "     –" for row in (drawing, finding))
    right = f"{verdicts['right']} of {len(chosen)} right"
    print(f"{path.name:40} {facts.pages:5} pages  {right:16} {verdicts['unknown']} unknown  {first:6.0f} {times} ms")
    return verdicts["right"] == len(chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[DOCUMENTS / "pdf"])
    parser.add_argument("--sentences", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--big", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = [file for path in asked.paths for file in (sorted(path.rglob("*.pdf")) if path.is_dir() else [path])]
        if asked.big:
            story = sample("the-keeper-of-harrow-light")
            made = Path(folder) / "made-of-1000-pages.pdf"
            made.write_bytes(Press(size=11.5)(replace(story, paragraphs=story.paragraphs * 36)))
            files.append(made)
        whole = [measure(file, asked.sentences, asked.seed) for file in files]
    raise SystemExit(0 if all(whole) else 1)


if __name__ == "__main__":
    main()
