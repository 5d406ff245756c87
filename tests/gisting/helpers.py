"""Documents and fake replies for the tests of reading; they do not depend on the order of calls."""

from __future__ import annotations

import json
import random
import re
import zlib
from contextlib import suppress
from pathlib import Path

from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph, Section
from readagent_core.errors import CancelledError
from readagent_core.gisting import read
from readagent_core.gisting.pause_windows import Windows
from readagent_core.memory import GistMemory, Page
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt
from readagent_core.tags import split_passage
from tests.fakes.model import FakeModel

# replies as real models write them, good and bad, by what they reply to, each with what it means
REPLIES = json.loads(Path(__file__).with_name("replies.json").read_text(encoding="utf-8"))


def make_document(sizes, *, sections=(), title="A Book", language="en") -> Document:
    """Paragraphs with the given numbers of words; all words are different."""
    paragraphs = tuple(Paragraph(" ".join(f"w{i}x{n}" for n in range(size))) for i, size in enumerate(sizes))
    return Document(title, paragraphs, tuple(Section(f"Part {s}", s) for s in sections), language=language)


def random_document(seed, paragraphs=60, most=90, **more) -> Document:
    chance = random.Random(seed)
    return make_document([chance.randint(1, most) for _ in range(paragraphs)], **more)


def labels_in(prompt: Prompt) -> list[int]:
    return [label for _, label in split_passage(prompt.fields["passage"])]


def pick(prompt: Prompt, salt=0) -> int:
    """A label chosen by a hash of the passage's text."""
    labels = labels_in(prompt)
    return labels[zlib.crc32(f"{salt}{prompt.fields['passage']}".encode()) % len(labels)]


def even_words(prompt: Prompt) -> str:
    words = prompt.fields["page"].split()
    return " ".join(words[: max(1, len(words) // 6)])


def replier(salt=0, *, bad=0.0):
    """Answers every prompt of reading. ``bad``: share of pagination prompts that first get a useless reply."""

    def answer(prompt: Prompt):
        if prompt.task == "gist":
            return even_words(prompt)
        if prompt.task == "paginate":
            if "labels" not in prompt.fields and zlib.crc32(f"b{prompt.text}".encode()) % 1000 < bad * 1000:
                return "I think it is all one scene."
            label = pick(prompt, salt)
            return f"Break point: <{label}>\nBecause it ends at {label}."
        if prompt.task == "notes":
            return "none"
        raise AssertionError(prompt.task)

    return answer


def sensible_model(salt=0, **more) -> FakeModel:
    return FakeModel(replier(salt, **more))


def sequential(document: Document, plan: GistingPlan, model) -> list[Page]:
    """The paper's sequential algorithm (docs/methods.md): one window after another."""
    from readagent_core.gisting.pause_points import ask_page

    document = document.limited(plan.max_words)
    windows = Windows(document, plan)
    pages: list[Page] = []
    start, before = 0, None
    while start < len(document.paragraphs):
        window = windows.window(start)
        if window.labels:
            page = ask_page(windows, window, model, cancel=CancelToken(), before=before)
        else:
            page = windows.page(window.start, window.end, ends=window.ends)
        pages.append(Page(len(pages) + 1, *list(page.__dict__.values())[1:7]))
        before = None if windows.is_border(page.end) else start
        start = page.end
    return pages


def shown_words(prompts) -> int:
    """Words of text shown in pagination prompts (retries and titles left out)."""
    return sum(
        len(re.findall(r"\bw\d+x\d+", p.fields["passage"]))
        for p in prompts
        if p.task == "paginate" and "labels" not in p.fields
    )


def labels_with_words(prompt: Prompt) -> list[tuple[int, int]]:
    """The labels of a span's prompt with the words before each."""
    return [(int(a), int(b)) for a, b in re.findall(r"^<(\d+) \| (\d+)>$", prompt.fields["passage"], re.MULTILINE)]


def divided(prompt: Prompt, *, sloppy=0) -> list[int]:
    """Pause points within the bounds asked for; ``sloppy``: one in so many is omitted."""
    least, most = int(prompt.fields["least"]), int(prompt.fields["most"])
    chosen, at = [], 0
    for label, words in labels_with_words(prompt):
        if words - at >= (least + most) // 2:
            at = words
            if not sloppy or zlib.crc32(f"{label}{prompt.fields['passage'][:99]}".encode()) % sloppy:
                chosen.append(label)
    return chosen


def many_replier(*, sloppy=0):
    """Answers span prompts, with gists in one-pass reading, and gist prompts."""

    def answer(prompt: Prompt):
        if prompt.task == "gist":
            return even_words(prompt)
        if prompt.task == "paginate_many":
            return "\n".join(f"<{n}> because of {n}" for n in divided(prompt, sloppy=sloppy))
        if prompt.task == "paginate_gist":
            pieces = re.split(r"^<(\d+) \| \d+>$", prompt.fields["passage"], flags=re.MULTILINE)
            text, out, chosen = "", [], set(divided(prompt, sloppy=sloppy))
            for piece, label in zip(pieces[::2], [*pieces[1::2], "0"], strict=False):
                text += piece
                if int(label) in chosen:
                    words = text.split()
                    out.append(f"<{label}> because of {label}\nGist: {' '.join(words[: len(words) // 6])}")
                    text = ""
            return "\n".join(out)
        if prompt.task == "notes":
            return "none"
        raise AssertionError(prompt.task)

    return answer


def read_with_stops(document: Document, plan: GistingPlan, library, reply, *, stops, connections: int):
    """Reads to the end, cancelled after each number of prompts in ``stops``; returns the memory and the prompts."""
    gisting = library.open_gisting(library.add(document).id, plan, "fake-model")
    prompts: list[str] = []
    memory: GistMemory | None = None
    stops = iter(stops)
    while memory is None:
        cancel, stop_at = CancelToken(), len(prompts) + next(stops, 10_000)

        def answer(prompt, cancel=cancel, stop_at=stop_at):
            prompts.append(prompt.text)
            if len(prompts) >= stop_at:
                cancel.cancel()
            return reply(prompt)

        store = library.store(gisting.id)
        with suppress(CancelledError):
            memory = read(document, FakeModel(answer), plan, store=store, cancel=cancel, connections=connections)
    return memory, prompts
