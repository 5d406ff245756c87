"""Kill fifty readings with ``kill -9`` at random moments: each must end with the memory of an undisturbed reading.

python -m bench.killing [--times 50]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.gisting.test_killed import run_and_kill


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=50)
    times = parser.parse_args().times
    print(f"{'run':>4}{'pagination':>12}{'connections':>13}{'calls':>7}{'repeated':>10}  same memory")
    failed = most = 0
    for number in range(times):
        pagination = ("pause", "many", "one-pass")[number % 3]
        connections = (1, 4, 16)[number // 3 % 3]
        with TemporaryDirectory() as folder:
            memory, whole, calls, repeated = run_and_kill(
                Path(folder) / "home", seed=number, connections=connections, pagination=pagination, kills=1
            )
        same = (memory.pages, memory.gists, memory.complete) == (whole.pages, whole.gists, True)
        failed += not same or repeated > connections
        most = max(most, repeated)
        print(f"{number + 1:4}{pagination:>12}{connections:13}{calls:7}{repeated:10}  {same}", flush=True)
    print(f"{times - failed} of {times} right; at most {most} calls repeated")


if __name__ == "__main__":
    main()
