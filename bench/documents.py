"""Documents of many kinds, made by code, whose text is known: how many are right, wrong and told, wrong without a word.

    python -m bench.documents [--before REVISION-OR-FOLDER]
    python -m bench.documents --each [FOLDER] [--big] [--facts FILE]
    python -m bench.documents --pdf [FOLDER] [--big] [--before REVISION-OR-FOLDER]

A file is right when all words of its headings and text are there in order and no others, as are its sections, title and
language where they are known; or, where something of it cannot be read, when an error or a notice says so.
``pdftotext``, or pandoc where it is installed, is shown beside: right where at least 98 % of the word trigrams agree
both ways, because notes and numbers of lists have other places there. The exit code is 1 when a file is wrong without
a word.

``--each`` opens every file of a folder as the app does and prints verdict, sections, words, seconds and peak memory.
Each file is opened by a fresh process, so that its memory is its own. ``--big`` adds PDFs of 505 and 5,000 pages and an
EPUB of 350,000 words, made from the bundled samples. The exit code is 1 when a file escapes the error tree, or the
bounds.

``--pdf`` compares the text of every PDF with that of ``pdftotext -raw`` (poppler-utils), by word trigrams, and its time
with that of PDFium for its plain text. ``--before`` does the same with another checkout of this project. Recall is
below 1 where headers, page numbers, contents and hyphens are left out on purpose.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.pdf_text import ROOT, agreement, checkout, compare_pdfs
from readagent_core import errors

DATA = ROOT.parent / "shared" / "data"
DOCUMENTS = DATA / "documents"
SECONDS, MEGABYTES = 30.0, 500.0
KINDS = {".pdf", ".epub", ".html", ".htm", ".txt", ".md", ".docx"}


def opened(path: Path) -> dict[str, object]:
    """Returns the result of opening ``path`` in a process that opens nothing else."""
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "bench.documents", "--one", str(path)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=2 * SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"verdict": "HANGS", "seconds": time.perf_counter() - start, "peak": 0.0}
    try:
        row: dict[str, object] = json.loads(done.stdout)
    except ValueError:
        row = {"verdict": f"ESCAPES: {done.stderr.strip().splitlines()[-1:]}", "seconds": 0.0, "peak": 0.0}
    return row


def one(path: Path) -> dict[str, object]:
    """Opens one file in this process and returns verdict, counts, seconds and peak memory in MB."""
    import resource

    from readagent_core.errors import DocumentError
    from readagent_core.loaders.child_process import load_in_child_process

    data = path.read_bytes()
    start = time.perf_counter()
    row: dict[str, object] = {}
    try:
        document = load_in_child_process(data, path.name)
        row = {
            "verdict": "opens",
            "sections": len(document.sections),
            "paragraphs": len(document.paragraphs),
            "words": document.words,
            "language": document.language,
            "notices": [w.code for w in document.warnings],
        }
    except DocumentError as error:
        row = {"verdict": type(error).__name__, "message": str(error)}
    row["seconds"] = time.perf_counter() - start
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    row["peak"] = max(resource.getrusage(w).ru_maxrss for w in who) / 1024
    return row


def big(folder: Path) -> list[Path]:
    """Writes PDFs of 505 and 5,000 pages and an EPUB of 350,000 words, made of the longest sample, into ``folder``."""
    from tests.loaders.making import Press, as_epub, sample

    story = sample("the-keeper-of-harrow-light")
    size = len(story.paragraphs)

    def repeat(times: int) -> object:
        sections = tuple(
            replace(s, title=f"{s.title} {n + 1}", start=s.start + n * size)
            for n in range(times)
            for s in story.sections
        )
        return replace(story, paragraphs=story.paragraphs * times, sections=sections)

    pdf, long, epub = (folder / f"made-{n}" for n in ("505-pages.pdf", "5000-pages.pdf", "350000-words.epub"))
    pdf.write_bytes(Press(size=11.5)(repeat(18)))  # type: ignore[arg-type]
    long.write_bytes(Press(size=11.5)(repeat(178)))  # type: ignore[arg-type]
    epub.write_bytes(as_epub(repeat(34)))  # type: ignore[arg-type]
    return [pdf, long, epub]


# run in a checkout, which may be an older one: what it finds in each file of a folder as a line of JSON
OPENER = """
import json, sys
from pathlib import Path
from readagent_core.loaders import load
for path in sorted(Path(sys.argv[1]).iterdir()):
    name = path.name.partition("--")[2]
    try:
        document = load(path.read_bytes(), name)
        parts = []
        for index, paragraph in enumerate(document.paragraphs):
            parts += [section.title for section in document.headings(index)] + [paragraph.text]
        row = ["\\n".join(parts), document.title, document.language, [s.title for s in document.sections],
               [w.code for w in document.warnings]]
    except Exception as error:
        row = [type(error).__name__]
    print(json.dumps([path.name, row]), flush=True)
"""
ERRORS = vars(errors)
READ_BY_PANDOC = {
    "docx": "docx", "epub": "epub", "fb2": "fb2", "html": "html", "ipynb": "ipynb", "md": "markdown", "odt": "odt",
    "pptx": "pptx", "rtf": "rtf",
}  # fmt: skip


def compare_kinds(before: list[Path]) -> int:
    """Prints, by kind, what became of the known documents here and in other checkouts. Returns how many are silent."""
    from tests.loaders.known import Known, Opened, known_documents, verdict, words_of

    every = known_documents()
    results: list[dict[str, Counter[str]]] = []
    silent: list[str] = []

    def judged(known: Known, row: list[Any]) -> str:
        if len(row) == 1:
            return verdict(known, None) if issubclass(ERRORS.get(row[0], type), errors.DocumentError) else "escapes"
        return verdict(known, Opened(words_of(row[0]), *row[1:]))

    with tempfile.TemporaryDirectory() as folder:
        for number, known in enumerate(every):
            (Path(folder) / f"{number:03}--{known.name}").write_bytes(known.data)
        for root in (ROOT, *before):
            done = subprocess.run(
                [sys.executable, "-c", OPENER, folder],
                cwd=root,
                env={**os.environ, "PYTHONPATH": str(root)},
                capture_output=True,
                text=True,
                check=True,
            )
            counts: dict[str, Counter[str]] = defaultdict(Counter)
            for line in done.stdout.splitlines():
                name, row = json.loads(line)
                known = every[int(name[:3])]
                found = judged(known, row)
                counts[known.kind][found] += 1
                if root is ROOT and found in ("silent", "escapes"):
                    silent.append(f"{known.kind}: {known.name}")
            results.append(counts)
        others = _by_other_programs(every, Path(folder))
    heads = "".join(f"{'right':>8}{'told':>6}{'silent':>8}" for _ in results)
    print(f"{'kind':40}{'files':>6}{heads}{'another program':>20}   (this checkout first)")
    for kind in dict.fromkeys(known.kind for known in every):
        print(_row(kind, [counts[kind] for counts in results], others.get(kind)))
    totals = [sum(counts.values(), Counter()) for counts in results]
    print(_row("all", totals, sum(others.values(), Counter()) or None))
    print("\n".join(["", *silent]))
    return len(silent)


def _row(kind: str, counts: list[Counter[str]], other: Counter[str] | None) -> str:
    row = f"{kind:40}{sum(counts[0].values()):6}"
    row += "".join(f"{c['right']:8}{c['told']:6}{c['silent'] + c['escapes']:8}" for c in counts)
    return row + (f"{other['right']:12} of {other['files']:4}" if other else f"{'–':>20}")


def _by_other_programs(every: Sequence[Any], folder: Path) -> dict[str, Counter[str]]:
    """Returns how many files of each kind ``pdftotext`` or pandoc can open, and how many are right."""
    pandoc = shutil.which("pandoc") or next(
        iter(Path(sys.prefix).glob("lib/*/site-packages/pypandoc/files/pandoc")), ""
    )
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for number, known in enumerate(every):
        path, ending = folder / f"{number:03}--{known.name}", known.name.rpartition(".")[2]
        if ending == "pdf" and shutil.which("pdftotext"):
            command = ["pdftotext", str(path), "-"]
        elif ending in READ_BY_PANDOC and pandoc:
            command = [str(pandoc), "--sandbox", "-f", READ_BY_PANDOC[ending], "-t", "plain", "--wrap=none", str(path)]
        else:
            continue
        done = subprocess.run(command, capture_output=True, check=False, timeout=60)
        found, wanted = done.stdout.decode("utf-8", "replace"), "\n".join(known.text)
        right = done.returncode != 0 if known.told else min(agreement(found, wanted)) >= 0.98
        counts[known.kind] += Counter(files=1, right=int(right))
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--each", action="store_true", help="open each file of the folder as the app does")
    parser.add_argument("--big", action="store_true", help="also PDFs of 505 and 5,000 pages and a long EPUB")
    parser.add_argument("--facts", type=Path, help="JSON of words by file, from another program, to compare with")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--pdf", action="store_true", help="compare the text of PDFs with that of pdftotext")
    parser.add_argument("--before", action="append", default=[], help="revision or folder to compare with")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one)))
        return 0
    if options.pdf:
        folder = options.folder or DATA
        files = [(str(p.relative_to(folder)), p) for p in sorted(folder.rglob("*.pdf"))]
        with tempfile.TemporaryDirectory() as made, ExitStack() as stack:
            files += [(p.name, p) for p in big(Path(made)) if p.suffix == ".pdf"] if options.big else []
            return 1 if compare_pdfs(files, [ROOT, *(stack.enter_context(checkout(b)) for b in options.before)]) else 0
    if not (options.each or options.folder):
        with ExitStack() as stack:
            return 1 if compare_kinds([stack.enter_context(checkout(b)) for b in options.before]) else 0
    options.folder = options.folder or DOCUMENTS
    facts_file = options.facts or options.folder / "facts.json"
    facts = json.loads(facts_file.read_text()) if facts_file.is_file() else {}
    files = sorted(p for p in options.folder.rglob("*") if p.suffix.lower() in KINDS)
    wrong = 0
    with tempfile.TemporaryDirectory() as made:
        files += big(Path(made)) if options.big else []
        print(f"{'file':46} {'verdict':22} {'sections':>8} {'words':>8} {'other':>8} {'s':>6} {'MB':>5}  notices")
        for path in files:
            row = opened(path)
            name = str(path.relative_to(options.folder)) if path.is_relative_to(options.folder) else path.name
            fact = facts.get(name, {})
            other = fact.get("words", fact.get("xhtml_text_words", ""))
            print(
                f"{name[:46]:46} {str(row['verdict'])[:22]:22} {row.get('sections', ''):>8} {row.get('words', ''):>8} "
                f"{other:>8} {row['seconds']:6.2f} {row['peak']:5.0f}  {', '.join(row.get('notices', []))}"  # type: ignore[arg-type]
            )
            verdict = str(row["verdict"])
            escaped = verdict.startswith(("ESCAPES", "HANGS"))
            wrong += escaped or float(str(row["seconds"])) > SECONDS or float(str(row["peak"])) > MEGABYTES
    print(f"\n{len(files)} files, {wrong} outside the bounds ({SECONDS:g} s, {MEGABYTES:g} MB, one error tree)")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
