"""How soon a question about a library of 1,000 books has its first view, and how much memory that takes.

    python -m bench.shelf [--books 1000] [--home FOLDER]

Books of 350 to 300,000 words (logarithmically uniform) with pages and gists are made up and stored once, in FOLDER if
one is given, so that a second run only measures. Every book has the gist of the whole book, as after earlier questions.
Prints the seconds and the growth of memory from the question to the first prompt, in a process of its own, and what
that prompt holds, for a question that names the three largest books, which are then opened; and the seconds of a search
for two words in all books. Targets: 1 s and 300 MB.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from readagent_core.answering.base import AskSettings, BooksShown, Question
from readagent_core.answering.library_shelf import GIST_OF_BOOK, LibraryShelf
from readagent_core.answering.registry import method
from readagent_core.answering.resources import workspace_resources
from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph
from readagent_core.library import Library
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.models.base import Completion
from readagent_core.plan import GistingPlan
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.fakes.model import FakeModel

LEAST, MOST = 350, 300_000  # words
PAGE, PARAGRAPH, SHARE = 600, 120, 6.5  # words; gists are a SHARE-th of a page


def fill(home: Path, books: int) -> int:
    """Store the books; return their words."""
    dice = random.Random(5)
    vocabulary = [f"word{n}" for n in range(4000)]
    library, total = Library(home), 0
    for number in range(books):
        size = int(LEAST * (MOST / LEAST) ** dice.random())
        texts = [" ".join(dice.choices(vocabulary, k=PARAGRAPH)) for _ in range(max(1, size // PARAGRAPH))]
        texts[0] = f"Here begins tale{number}. {texts[0]}"
        document = Document(f"Tale{number}", tuple(map(Paragraph, texts)), author="Nobody")
        step = PAGE // PARAGRAPH
        pages = [Page(i // step + 1, i, min(i + step, len(texts)), PAGE) for i in range(0, len(texts), step)]
        gists = [Gist(" ".join(texts[page.start].split()[: int(PAGE / SHARE)])) for page in pages]
        memory = GistMemory(document, GistingPlan(), tuple(pages), tuple(gists), FakeModel.name, complete=True)
        book = library.add(document)
        gisting = library.gisting(library.add_memory(book.id, memory).id)
        if len(pages) > 1:
            own = {"changed": gisting.changed, "text": " ".join(dice.choices(vocabulary, k=110))}
            library.artifacts(document.id).save(GIST_OF_BOOK, f"{gisting.id}  {FakeModel.name}", own)
        total += document.words
    for _ in library.index_texts():
        pass
    library.close()
    return total


def measure(home: Path) -> None:
    """Print the time and memory from the question to the first prompt, and of a search."""
    workspace = Workspace(load_settings({"READAGENT_HOME": str(home)}))
    books = workspace.library.books()
    largest = sorted(books, key=lambda book: -book.words)[:3]
    question = f"What do {', '.join(book.title for book in largest)} say of word3999?"
    import bm25s  # noqa: F401  the app has imported it long before
    import numpy  # noqa: F401

    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    asked: list[float] = []

    def reply(prompt: object) -> Completion:
        asked.append(time.perf_counter() - began)
        return Completion("ANSWER: It is not told.")

    shelf = LibraryShelf(workspace, [book.id for book in books], FakeModel.name)
    described = time.perf_counter() - began
    model = FakeModel(lambda prompt: "told " * int(prompt.fields["least"]) if prompt.task == "gist" else reply(prompt))
    resources = workspace_resources(workspace)
    events = list(method("zoom").run(Question(question), shelf, model, AskSettings(), CancelToken(), resources))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    shown = next(event for event in events if isinstance(event, BooksShown))
    hows = [how for *_, how in shown.books]
    print(f"first prompt after {asked[0]:.2f} s (books described after {described:.2f} s), memory +{grown:.0f} MB")
    print(
        f"{len(hows)} of {shown.of} books shown, {hows.count('gists')} opened; {model.tasks().count('gist')} gists made"
    )
    began = time.perf_counter()
    places = shelf.find("here begins")
    print(f"words found in {len({place.book for place in places})} books after {time.perf_counter() - began:.2f} s")
    workspace.library.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--books", type=int, default=1000)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.home)
        return
    with TemporaryDirectory() as folder:
        home = given.home or Path(folder)
        if not (home / "library.db").exists():
            print(f"{fill(home, given.books):,} words in {given.books:,} books stored")
        subprocess.run([sys.executable, "-m", "bench.shelf", "--measure", "--home", str(home)], check=True)


if __name__ == "__main__":
    main()
