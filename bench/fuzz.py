"""Opens mutated real files: none may raise an error outside of the error tree, hang, or need much memory.

    python -m bench.fuzz [--cases 2000] [--seed 1] [--kind epub] [--folder FOLDER]

Says on standard error how far it is after every hundred files, and at once what escapes; the table comes at the end.

The files are the samples in every format and, where it is there, the shared test data; or those of ``--folder``, for
formats that no script makes (AZW3, LaTeX, Org).
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

from bench.documents import DOCUMENTS, KINDS
from readagent_core.errors import DocumentError
from readagent_core.loaders import load
from tests.loaders.converting import MADE, packed
from tests.loaders.known import strict
from tests.loaders.making import NAMES, SAMPLES, Press, as_docx, as_epub, as_html, as_text, sample
from tests.loaders.mutating import mutated
from tests.loaders.picturing import encode, line_art

SECONDS = 20
EVERY = 100  # files after which it says how far it is


class Hangs(BaseException):
    """Raised when a file takes too long. No Exception, so that no loader catches it."""


def seeds() -> list[tuple[str, bytes]]:
    """Returns the files to mutate, by name."""
    found: list[tuple[str, bytes]] = []
    for name in NAMES:
        document = sample(name)
        found += [(f"{name}.txt", as_text(document)), (f"{name}.html", as_html(document))]
        found += [(f"{name}.epub", as_epub(document)), (f"{name}.pdf", Press()(document))]
        found += [(f"{name}.docx", as_docx(document)), (f"{name}.md", (SAMPLES / f"{name}.md").read_bytes())]
    found += [(f"made.{kind}", make()) for kind, make in MADE.items()]
    pictures = {f"{n}.png": encode(line_art(200, 300), "PNG") for n in range(3)}
    found += [("made.cbz", packed(pictures)), ("strict.docx", strict(as_docx(sample(NAMES[1]))))]
    if DOCUMENTS.is_dir():
        files = sorted(p for p in DOCUMENTS.rglob("*") if p.suffix.lower() in KINDS and p.stat().st_size < 1 << 20)
        found += [(p.name, p.read_bytes()) for p in files]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", help="only files whose names end with this")
    parser.add_argument("--folder", type=Path, help="files of at most 200,000 bytes to mutate in place of the samples")
    options = parser.parse_args()
    files = sorted(p for p in options.folder.rglob("*") if p.is_file()) if options.folder else []
    given = [(p.name, p.read_bytes()) for p in files if p.stat().st_size <= 200_000]
    every = [
        (name, data) for name, data in given or seeds() if not options.kind or name.lower().endswith(f".{options.kind}")
    ]
    if not every:
        parser.error(f"there is no file .{options.kind} to mutate; name a --folder that has some")
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    slowest: dict[str, float] = defaultdict(float)
    escaped: list[str] = []

    def ring(_signal: int, _frame: Any) -> None:
        raise Hangs

    signal.signal(signal.SIGPROF, ring)
    for case in range(options.cases):
        random = Random(options.seed * 1_000_003 + case)
        name, data = every[case % len(every)]
        data = mutated(data, random)
        kind = name.rsplit(".", 1)[-1].lower()
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # CPU time of this process
        try:
            load(data, name)
            verdict = "opens"
        except DocumentError as error:
            verdict = type(error).__name__
        except Hangs:
            verdict = "HANGS"
            escaped.append(f"case {case} ({name}): no end in {SECONDS} s")
        except BaseException as error:  # noqa: BLE001  finding these is the purpose of the run
            verdict = "ESCAPES"
            escaped.append(f"case {case} ({name}): {type(error).__name__}")
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        verdicts[kind][verdict] += 1
        slowest[kind] = max(slowest[kind], time.process_time() - start)
        if verdict in ("HANGS", "ESCAPES"):
            print(escaped[-1], file=sys.stderr, flush=True)
        if (case + 1) % EVERY == 0:
            print(f"{case + 1:,} of {options.cases:,}, {len(escaped)} escaped", file=sys.stderr, flush=True)
    names = sorted({v for counts in verdicts.values() for v in counts})
    print(f"{'':6}{'cases':>7}" + "".join(f"{n.replace('Error', ''):>20}" for n in names) + f"{'slowest':>10}")
    for kind, counts in sorted(verdicts.items()):
        row = "".join(f"{counts[n]:>20}" for n in names)
        print(f"{kind:6}{sum(counts.values()):>7}{row}{slowest[kind]:>8.2f} s")
    print(f"\n{options.cases} mutated files, {len(escaped)} escaped; peak memory "
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")  # fmt: skip
    print("\n".join(escaped))
    return 1 if escaped else 0


if __name__ == "__main__":
    raise SystemExit(main())
