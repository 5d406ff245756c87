"""Time of a reading with a simulated model, compared with the paper's sequential algorithm.

The model runs in this process: every call waits ``--latency`` seconds and ``--per-word`` seconds for each word of its
reply; the same prompt always gets the same reply. The baseline (docs/methods.md) makes one call at a time; its time is
its CPU time plus the sum of its waits, which are not slept.

    python -m bench.gisting                     books of 5k and 50k words
    python -m bench.gisting --words 350000 --connections 16 64
    python -m bench.gisting --book FILE.txt
    python -m bench.gisting --wire              over HTTP, with a server on this machine that waits as long
"""

from __future__ import annotations

import argparse
import itertools
import random
import resource
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph, Section
from readagent_core.gisting import read
from readagent_core.gisting.gisting import gist_page
from readagent_core.gisting.pause_points import ask_page
from readagent_core.gisting.pause_windows import Windows
from readagent_core.library import Library
from readagent_core.memory import Page
from readagent_core.models import connect
from readagent_core.models.base import ChatModel, Completion
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt
from readagent_core.settings import Settings
from readagent_core.tags import split_passage
from readagent_core.words import count_words


def book(words: int, *, seed: int = 1) -> Document:
    """Return a generated book: paragraphs of 5 to 120 words, a chapter about every 4,000 words."""
    chance = random.Random(seed)
    vocabulary = [f"{a}{b}{c}" for a, b, c in itertools.product("bdlmnrst", "aeiou", ["ren", "lo", "mer", "th", "ka"])]
    paragraphs: list[Paragraph] = []
    sections: list[Section] = []
    made = next_chapter = 0
    while made < words:
        if made >= next_chapter:
            sections.append(Section(f"Chapter {len(sections) + 1}", len(paragraphs)))
            next_chapter += chance.randint(3000, 5000)
        size = min(chance.choice([8, 15, 30, 60, 120]), words - made) if words - made > 5 else words - made
        paragraphs.append(Paragraph(" ".join(chance.choices(vocabulary, k=size)).capitalize() + "."))
        made += size
    return Document(f"A made-up book of {words:,} words", tuple(paragraphs), tuple(sections))


class SlowModel(ChatModel):
    """A model that answers after a delay. It chooses pause points by a hash of the text before them."""

    name = "simulated"

    def __init__(self, *, latency: float, per_word: float, chapters: bool = False, sleeps: bool = True) -> None:
        self.latency, self.per_word, self.pauses_at_chapters, self.sleeps = latency, per_word, chapters, sleeps
        self.calls: dict[str, int] = {}
        self.words_in = 0
        self.waited = 0.0
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        text = self.reply(prompt)
        wait = self.latency + self.per_word * len(text.split())
        with self._lock:
            self.calls[prompt.task] = self.calls.get(prompt.task, 0) + 1
            self.words_in += prompt.words
            self.waited += wait
        if self.sleeps:
            time.sleep(wait)
        return Completion(text, model=self.name)

    def stream(self, prompt: Prompt, cancel: CancelToken):
        yield self.complete(prompt, cancel)

    def reply(self, prompt: Prompt) -> str:
        if prompt.task == "paginate":
            pieces = split_passage(prompt.fields["passage"])
            _, best = max(pieces, key=lambda piece: zlib.crc32(piece[0][-200:].encode()))
            if self.pauses_at_chapters:
                follows = itertools.pairwise(pieces)
                best = next((here[1] for here, after in follows if after[0].lstrip().startswith("#")), best)
            return f"Break point: <{best}>\nBecause what comes next is something else."
        words = prompt.fields["page"].split()
        return " ".join(words[: max(1, min(len(words) - 1, int(prompt.fields["most"])))])


@contextmanager
def over_http(model: SlowModel, home: Path) -> Iterator[ChatModel]:
    """Yield a connected model that gets the same replies, after the same waits, from a server on loopback."""
    from tests.fakes.sensible import understood
    from tests.fakes.server import FakeServer, Reply

    def reply(text: str) -> Reply:
        prompt = understood(text)
        assert prompt is not None
        model.sleeps = False
        started = time.monotonic()
        answer = model.complete(prompt, CancelToken()).text
        wait = model.latency + model.per_word * len(answer.split())
        return Reply(answer, delay=max(0.0, wait - (time.monotonic() - started)))

    with FakeServer(reply) as server:
        yield connect(Settings(home, base_url=server.url, model="fake-model"))


def sequential(document: Document, plan: GistingPlan, model: SlowModel) -> tuple[list[Page], float]:
    """Run the paper's sequential algorithm: pages one after another, then gists. Returns the pages and the seconds."""
    started = time.process_time()
    document = document.limited(plan.max_words)
    windows = Windows(document, plan)
    pages: list[Page] = []
    start = 0
    while start < windows.total:
        window = windows.window(start)
        if window.labels:
            page = ask_page(windows, window, model, cancel=CancelToken())
        else:
            page = windows.page(window.start, window.end, ends=window.ends)
        pages.append(page)
        start = page.end
    for page in pages:
        gist_page(document, page, plan, model=model, cancel=CancelToken())
    return pages, time.process_time() - started + model.waited


def run(document: Document, plan: GistingPlan, args: argparse.Namespace) -> None:
    model = SlowModel(latency=args.latency, per_word=args.per_word, chapters=args.chapters, sleeps=False)
    pages, alone = sequential(document, plan, model)
    one_by_one = model.calls["paginate"]
    words = document.words
    print(f"\n{document.title}: {words:,} words, {len(pages)} pages, {args.latency * 1000:.0f} ms a call")
    print(f"{'':22}{'calls':>8}{'paginate':>10}{'× seq.':>8}{'words in':>12}{'seconds':>10}{'ratio':>8}"
          f"{'page 1':>8}{'gist 1':>8}{'CPU/100k':>10}{'peak MB':>9}")  # fmt: skip
    calls = sum(model.calls.values())
    print(f"{'one call at a time':22}{calls:8}{one_by_one:10}{1:8.2f}{model.words_in:12,}{alone:10.1f}{1:8.1f}")
    for connections in args.connections:
        with TemporaryDirectory() as home:
            library = Library(Path(home))
            gisting = library.open_gisting(library.add(document).id, plan, "simulated")
            model = SlowModel(latency=args.latency, per_word=args.per_word, chapters=args.chapters)
            first: dict[str, float] = {}
            started, cpu = time.monotonic(), time.process_time()

            def report(progress, started=started, first=first):
                if progress.pages:
                    first.setdefault("page", time.monotonic() - started)
                if progress.gists:
                    first.setdefault("gist", time.monotonic() - started)

            store = library.store(gisting.id)
            with over_http(model, Path(home)) if args.wire else nullcontext(model) as connected:
                memory = read(document, connected, plan, store=store, connections=connections, on_change=report)
            wall, cpu = time.monotonic() - started, time.process_time() - cpu
            assert [(p.start, p.end) for p in memory.pages] == [(p.start, p.end) for p in pages], "other pages!"
            opened = time.monotonic()
            assert library.memory(gisting.id).complete
            opened = time.monotonic() - opened
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{f'{connections} connections':22}{sum(model.calls.values()):8}{model.calls['paginate']:10}"
                  f"{model.calls['paginate'] / one_by_one:8.2f}{model.words_in:12,}{wall:10.1f}{alone / wall:8.1f}"
                  f"{first['page']:8.2f}{first['gist']:8.2f}{cpu / words * 100_000:10.2f}{peak:9.0f}"
                  f"   opened again in {opened * 1000:.0f} ms")  # fmt: skip
            library.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, nargs="*", default=[5_000, 50_000])
    parser.add_argument("--book", type=Path, nargs="*", default=[])
    parser.add_argument("--connections", type=int, nargs="*", default=[1, 4, 16, 64])
    parser.add_argument("--latency", type=float, default=0.3)
    parser.add_argument("--per-word", type=float, default=0.0)
    parser.add_argument("--chapters", action="store_true", help="the model pauses before chapters")
    parser.add_argument("--wire", action="store_true", help="CPU is then the server's as well")
    parser.add_argument("--preset", default="article")
    args = parser.parse_args()
    plan = GistingPlan.from_preset(args.preset)
    documents = [book(words) for words in args.words] if not args.book else []
    for path in args.book:
        blocks = [b.strip() for b in path.read_text(encoding="utf-8-sig").replace("\r\n", "\n").split("\n\n")]
        documents.append(Document(path.stem, tuple(Paragraph(b) for b in blocks if count_words(b))))
    for document in documents:
        run(document, plan, args)


if __name__ == "__main__":
    main()
