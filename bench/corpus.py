"""Many books on a local Dask cluster against a simulated pool of three servers that answer each call in 300 ms.

    python -m bench.corpus pace [--books 1000] [--connections 12]    two workers and one process, side by side
    python -m bench.corpus memory [--books 1000]                     two workers, a book of 600,000 words among them
    python -m bench.corpus kills [--books 200]                       20 kills of workers, then one of the whole run
    python -m bench.corpus outage [--books 200]                      one of three servers is away for a while

``pace``: the share of what the servers could do (calls × 0.3 s ÷ calls at once), with and without the start and end of
the workers; whether every book is as ``readagent read`` reads it; and each worker's memory at every tenth of the run
(its own, without files it shares with others, such as the cache of replies). Figures of one machine are in
docs/corpus.md.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from bench.evaluation import Slow, reply
from bench.server import serving
from readagent_core.api import read
from readagent_core.cancel import CancelToken
from readagent_core.corpus.gisting import CorpusPlan, CorpusProgress, read_corpus
from readagent_core.corpus.store import list_sources
from readagent_core.loaders import load
from readagent_core.models import connect
from readagent_core.models.connection import close_all
from readagent_core.settings import load_settings
from tests.cli.running import run, start
from tests.corpus.test_killed import kill_workers
from tests.corpus.test_reading import books_of
from tests.fakes.server import FakeServer, Reply

SECONDS = 0.3  # a call
LONG = 600_000  # words of the one long book
SENTENCE = "In year {k} the keeper of the light rang the bell in the fog and wrote it down with care that night."


def make_books(folder: Path, books: int, *, long: int = 0) -> None:
    """Write books of about 700 words, each with its own text, and one of ``long`` words."""
    folder.mkdir()
    for book in range(books):
        rows = [" ".join(SENTENCE.format(k=book * 1000 + p * 3 + i) for i in range(3)) for p in range(11)]
        (folder / f"book {book:05}.md").write_text(f"# Fog {book}\n\n" + "\n\n".join(rows), encoding="utf-8")
    if long:
        rows = [" ".join(SENTENCE.format(k=10_000_000 + p * 5 + i) for i in range(5)) for p in range(long // 105)]
        (folder / "long.md").write_text("# Long\n\n" + "\n\n".join(rows), encoding="utf-8")


def use_home(home: Path, url: str) -> None:
    """Workers and this process take their settings from here: no reply of another run is in its cache."""
    close_all()
    os.environ.update(READAGENT_HOME=str(home), READAGENT_BASE_URL=url, READAGENT_MODEL="fake-model")


def same_as_read(folder: Path, found: dict[str, Any]) -> int:
    """Return how many books have the pages and gists that reading them alone gives."""
    same = 0
    for path in sorted(folder.iterdir()):
        memory = read(load(path.read_bytes(), path.name), Slow(0.0), library=None).to_dict()
        alone = json.loads(json.dumps({name: memory[name] for name in found[path.name]}))
        same += alone == found[path.name]
    return same


def read_all(wanted: CorpusPlan, books: Path, look: Callable[[CorpusProgress], None]) -> CorpusProgress:
    files = list_sources(str(books))
    return read_corpus(wanted, files, connect(load_settings()), cancel=CancelToken(), on_change=look)


def pace(books: int, connections: int, *, long: int = 0, places: Sequence[int] = (2, 0)) -> None:
    with TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        base = Path(name)
        make_books(base / "books", books, long=long)
        urls = [stack.enter_context(serving(reply, latency=SECONDS)) for _ in range(3)]
        for workers in places:
            label = f"{workers} workers" if workers else "one process"
            out = base / f"out {workers}"
            use_home(base / f"home {workers}", urls[0])
            wanted = CorpusPlan(str(out), servers=tuple(urls), connections=connections, workers=workers)
            memory: dict[int, list[str]] = {}

            def look(now: CorpusProgress, memory: dict[int, list[str]] = memory, workers: int = workers) -> None:
                tenth = int(10 * (now.done + now.failed) / now.total)
                if tenth not in memory and now.done:
                    own = psutil.Process()
                    found = [c for c in own.children() if "spawn_main" in " ".join(c.cmdline())] if workers else [own]
                    at_work = [p for p in found if p.num_threads() > 3][-workers or None :]  # not the servers
                    memory[tenth] = [f"{p.memory_full_info().uss >> 20}" for p in at_work]

            begun = time.perf_counter()
            done = read_all(wanted, base / "books", look)
            seconds = time.perf_counter() - begun
            ideal = done.used.calls * SECONDS / connections
            used = done.used
            print(f"{label}: {done.done} books, {done.words:,} words, {used.calls:,} calls, {done.failed} failed")
            print(f"  {seconds:.1f} s, {done.seconds:.1f} s of them at work; the servers could in {ideal:.1f} s: they")
            print(f"  were used to {ideal / seconds:.1%}, to {ideal / done.seconds:.1%} while at work")
            print(f"  memory in MB at each tenth: {', '.join('/'.join(v) for _, v in sorted(memory.items()))}")
            size = sum(path.stat().st_size for path in (out / "books").iterdir())
            print(f"  {size >> 10:,} KB of results; {used.words_in:,} words sent, {used.words_out:,} back", flush=True)
            print(f"  as read alone: {same_as_read(base / 'books', books_of(out))} of {books + bool(long)}", flush=True)


def kills(books: int, times: int) -> None:
    with TemporaryDirectory() as name, FakeServer(reply, latency=SECONDS) as server:
        base = Path(name)
        make_books(base / "books", books)
        use_home(base / "home", server.url)
        out = base / "out"
        command = ("corpus", "read", base / "books", "--out", out, "--workers", "2", "--connections", "12")
        killed = kill_workers(start(*command), out, books=books, kills=times, chance=random.Random(7))
        whole = {path.name: path.read_bytes() for path in (out / "books").glob("*.json")}
        run(*command)
        changed = sum((out / "books" / name).read_bytes() != data for name, data in whole.items())
        prompts = [chat.text for chat in server.chats]
        failed = len(list((out / "failed").glob("*.json"))) if (out / "failed").is_dir() else 0
        print(f"{killed} workers and the scheduler killed; {len(whole)} books were there, {changed} changed since")
        print(f"as read alone: {same_as_read(base / 'books', books_of(out))} of {books}; {failed} failed")
        print(f"{len(prompts):,} calls, {len(prompts) - len(set(prompts)):,} sent more than once; "
              f"{len(list((out / 'drafts').iterdir()))} drafts left")  # fmt: skip


def outage(books: int, connections: int) -> None:
    """One of three servers breaks every connection from a third of the books to two thirds."""
    away = threading.Event()
    refuse = Reply(drop=True)
    with TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        failing = FakeServer(reply, latency=SECONDS, before=lambda n, text: refuse if away.is_set() else None)
        servers = [failing, FakeServer(reply, latency=SECONDS), FakeServer(reply, latency=SECONDS)]
        for server in servers:
            stack.enter_context(server)
        base = Path(name)
        make_books(base / "books", books)
        use_home(base / "home", servers[1].url)
        out = base / "out"
        notices: dict[str, None] = {}

        def look(now: CorpusProgress) -> None:
            notices.update(dict.fromkeys(now.notices))
            share = (now.done + now.failed) / now.total
            away.set() if 1 / 3 <= share < 2 / 3 else away.clear()

        wanted = CorpusPlan(str(out), servers=tuple(s.url for s in servers), connections=connections, workers=2)
        done = read_all(wanted, base / "books", look)
        ideal = done.used.calls * SECONDS / connections
        print(f"{done.done} books, {done.failed} failed, {done.seconds:.1f} s; used to {ideal / done.seconds:.1%}")
        print(f"calls at each server: {', '.join(str(len(server.chats)) for server in servers)}")
        print("\n".join(notices))
        print(f"as read alone: {same_as_read(base / 'books', books_of(out))} of {books}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pace", "memory", "kills", "outage"))
    parser.add_argument("--books", type=int, default=0)
    parser.add_argument("--connections", type=int, default=12)
    chosen = parser.parse_args()
    if chosen.what == "pace":
        pace(chosen.books or 1000, chosen.connections)
    elif chosen.what == "memory":
        pace(chosen.books or 1000, chosen.connections, long=LONG, places=[2])
    elif chosen.what == "kills":
        kills(chosen.books or 200, 20)
    else:
        outage(chosen.books or 200, chosen.connections)


if __name__ == "__main__":
    main()
