"""Every file of a folder opened as the app opens it: verdict, sections, words, seconds, peak memory.

    python -m bench.documents [FOLDER] [--big] [--facts FILE]

Each file is opened by a fresh process, so that its memory is its own. ``--big`` adds a 500-page PDF and an EPUB of
350,000 words, made from the bundled samples. The exit code is 1 when a file escapes the error tree, or the bounds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ROOT.parent / "shared" / "data" / "documents"
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
    """Writes a 500-page PDF and an EPUB of 350,000 words, the longest sample repeated, into ``folder``."""
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

    pdf, epub = folder / "made-505-pages.pdf", folder / "made-350000-words.epub"
    pdf.write_bytes(Press(size=11.5)(repeat(18)))  # type: ignore[arg-type]
    epub.write_bytes(as_epub(repeat(34)))  # type: ignore[arg-type]
    return [pdf, epub]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DOCUMENTS)
    parser.add_argument("--big", action="store_true", help="also a 500-page PDF and a 350,000-word EPUB")
    parser.add_argument("--facts", type=Path, help="JSON of words by file, from another program, to compare with")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one)))
        return 0
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
