"""A model on this computer at work: a book read from start to end, questions in the middle of it and after it.

    nice -n 10 python -m bench.laptop MODEL.gguf OUT read         reads the bundled novella; asks once in the middle
    nice -n 10 python -m bench.laptop MODEL.gguf OUT ask          three questions; run it twice: app and engine anew
    nice -n 10 python -m bench.laptop MODEL.gguf OUT choose bm25  the samples' questions with options, by methods
    nice -n 10 python -m bench.laptop MODEL.gguf OUT tasks        every task there is: each method, notes, names, study
    nice -n 10 python -m bench.laptop MODEL.gguf OUT report       what the calls so far took, and their faults

MIDDLE=0.1 in the environment opens Ask after a tenth of the words; BOOK names another sample. OUT/home is the library
of the run, so that a stopped reading resumes; OUT/calls.jsonl has every call with the server's own figures. ``choose``
asks about the model's own reading of the novella and about the recorded one of the Japanese story.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from readagent_core import loaders
from readagent_core.answering.ask import ask
from readagent_core.answering.base import Answer, Answered, AnswerPart, FirstAnswerPart, Question
from readagent_core.answering.preparing import start_preparing
from readagent_core.answering.registry import all_methods
from readagent_core.answering.resources import Resources
from readagent_core.answering.suggesting import suggest
from readagent_core.cancel import CancelToken
from readagent_core.companion.passage import TASKS, Passage, make_prompt
from readagent_core.companion.study import study_prompt
from readagent_core.connecting import local_models
from readagent_core.errors import ReadAgentError
from readagent_core.gisting.job import newest_memory, start_gisting, usual_plan
from readagent_core.gisting.noting import make_notes
from readagent_core.incoming.samples import FOLDER, read_recording, recorded_memory
from readagent_core.library.marks import Spot
from readagent_core.memory import GistMemory
from readagent_core.models.base import Completion
from readagent_core.models.cost.tokens import estimate_tokens, tokens_of_words
from readagent_core.models.local.server import LocalServer
from readagent_core.models.local.states import size_of
from readagent_core.models.server.guard import LEAST_ROOM, repetition
from readagent_core.prompts import Prompt
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from readagent_core.world.storage import load_world

NOVELLA, STORY = os.environ.get("BOOK", "the-keeper-of-harrow-light"), "yuki-no-eki"
METHODS = ("read-agent-p", "gist-mem", "bm25")
STATES = "states"
TYPING = 20.0  # seconds from opening Ask to the question
MIDDLE = float(os.environ.get("MIDDLE", "0.4"))  # of the words read, when it is asked


def record(file: Path, part: str) -> None:
    """Have every call to the engine written to ``file``."""
    send = LocalServer._reply

    async def recorded(self: LocalServer, prompt: Prompt, cancel: CancelToken) -> AsyncIterator[str | Completion]:
        row: dict[str, Any] = {"part": part, "task": prompt.task, "began": time.time(), "prompt": prompt.text}
        row |= {"background": cancel.background, "reply_words": prompt.reply_words}
        try:
            async for piece in send(self, prompt, cancel):
                if isinstance(piece, Completion):
                    row |= {"reply": piece.text, "tokens_in": piece.tokens_in, "tokens_out": piece.tokens_out}
                    row |= {"reused": piece.tokens_reused, "first": piece.first_word, "finish": piece.finish}
                yield piece
        except BaseException as error:
            row["error"] = f"{type(error).__name__}: {error}"
            raise
        finally:
            row["ended"] = time.time()
            row["load"] = os.getloadavg()[0]
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")

    LocalServer._reply = recorded  # type: ignore[method-assign]


def workspace_of(model: Path, out: Path) -> Workspace:
    """The library of this run, with the model in use as the settings page would have it."""
    os.environ["READAGENT_HOME"] = str(out / "home")
    workspace = Workspace(load_settings())
    if workspace.settings.model != str(model.resolve()):
        local_models.use(workspace, str(model))
    return workspace


def questions(name: str) -> list[dict[str, Any]]:
    return json.loads((FOLDER / f"{name}.questions.json").read_text(encoding="utf-8"))


def answer(
    workspace: Workspace, memory: GistMemory, row: dict[str, Any], method: str = ""
) -> tuple[Answer, float, float]:
    """Return the answer, and the seconds to its first word and to its end."""
    began, first, answered = time.time(), 0.0, None
    asked = Question(row["question"], tuple(row.get("options", ())))
    resources = Resources(None, connections=1)
    model = workspace.model.without_cache()
    for event in ask(asked, memory, model, CancelToken(), method=method, resources=resources):
        if isinstance(event, FirstAnswerPart | AnswerPart) and not first:
            first = time.time() - began
        if isinstance(event, Answered):
            answered = event.answer
    assert answered is not None
    return answered, first, time.time() - began


def read(workspace: Workspace, pagination: str = "pause") -> None:
    document = loaders.load((FOLDER / f"{NOVELLA}.md").read_bytes(), f"{NOVELLA}.md")
    book = workspace.library.add(document, source_name=f"{NOVELLA}.md")
    plan = replace(usual_plan(workspace, book.words), pagination=pagination)
    began = time.time()
    job = start_gisting(workspace, book.id, plan)
    asking = threading.Thread(target=_ask_in_the_middle, args=(workspace, book.id), daemon=True)
    asking.start()
    while job.running:
        job.join(5)
    asking.join(600)
    print(f"read in {(time.time() - began) / 60:.1f} minutes; {job.snapshot.failure or 'no error'}")


def _ask_in_the_middle(workspace: Workspace, book_id: str) -> None:
    while True:
        time.sleep(5)
        found = newest_memory(workspace, book_id)
        if found is not None and found[1].readable_words > found[1].document.words * MIDDLE:
            break
    start_preparing(workspace, book_id, found[1])  # as Ask does when it is opened
    time.sleep(TYPING)
    asked = next(row for row in questions(NOVELLA) if not row.get("options"))
    text, first, seconds = answer(workspace, found[1], asked)
    print(f"asked in the middle: first word {first:.1f} s, end {seconds:.1f} s: {text.text[:200]}", flush=True)


def own_memory(workspace: Workspace) -> GistMemory:
    book = next(book for book in workspace.library.books() if NOVELLA in book.source_name)
    found = newest_memory(workspace, book.id)
    assert found is not None
    return found[1]


def ask_some(workspace: Workspace, methods: tuple[str, ...]) -> None:
    memory = own_memory(workspace)
    for row in [row for row in questions(NOVELLA) if not row.get("options")][:3]:
        for method in methods or ("",):
            text, first, seconds = answer(workspace, memory, row, method)
            print(f"{text.method}: first word {first:.1f} s, end {seconds:.1f} s, pages {text.looked_up}", flush=True)
            print(f"  {row['question']}\n  {text.text[:300]!r}\n  notes {text.notes}", flush=True)


def choose(workspace: Workspace, methods: tuple[str, ...]) -> None:
    story = loaders.load((FOLDER / f"{STORY}.md").read_bytes(), f"{STORY}.md")
    memories = {NOVELLA: own_memory(workspace), STORY: recorded_memory(story, read_recording(STORY))}
    right: Counter[str] = Counter()
    for name, memory in memories.items():
        for row in [row for row in questions(name) if row.get("options")]:
            for method in methods or METHODS:
                found, _, seconds = answer(workspace, memory, row, method)
                right[method] += found.option == row["answer"]
                line = f"{row['id']} {method}: {found.option} of {row['answer']}, {seconds:.0f} s, {found.looked_up}"
                print(line, found.notes, repr(found.text[:160]), flush=True)
    print(dict(right))


def every_task(workspace: Workspace, methods: tuple[str, ...]) -> None:
    """Send prompts of all tasks about the novella, and say of each answer whether its pages exist.

    ``methods``: those asked; none for all.
    """
    memory, model, cancel = own_memory(workspace), workspace.model.without_cache(), CancelToken()
    some = [row for row in questions(NOVELLA) if not row.get("options")][3:4]
    some += [row for row in questions(NOVELLA) if row.get("options")][:1]
    for method in methods or [name for name in all_methods() if "neural" not in name]:  # those need another model
        for row in some:
            try:
                text, _, seconds = answer(workspace, memory, row, method)
            except ReadAgentError as error:
                print(f"{method}: {type(error).__name__}: {error}", flush=True)
                continue
            missing = [page for page in text.looked_up if not 1 <= page <= len(memory.pages)]
            print(f"{method}: {seconds:.0f} s, {text.looked_up} {missing=} {text.text[:120]!r}", flush=True)
    for page in (memory.pages[2], memory.pages[-2]):
        passage = Passage(memory.document, Spot(page.start + 1, 0), Spot(page.start + 2, 0))
        for task in TASKS:
            model.complete(make_prompt(task, passage, into="German"), cancel)
    suggest(memory, model, cancel)
    library = workspace.library
    book = next(book for book in library.books() if NOVELLA in book.source_name)
    gisting = next(found for found in library.gistings(book.id) if found.pages)
    make_notes(library, gisting.id, model, cancel, pages=range(1, 7), connections=1)
    model.complete(study_prompt(load_world(library, gisting.id), (4, 5, 6)), cancel)


def faults_of(row: dict[str, Any]) -> list[str]:
    """What is wrong with a reply: longer than the room of its task, or a loop of more than 60 tokens."""
    found = []
    if row["tokens_out"] > max(2 * tokens_of_words(row["reply_words"]), LEAST_ROOM) * 1.1:  # seen every 60 characters
        found.append(f"{row['tokens_out']} tokens where {row['reply_words']} words are asked for")
    start = min(
        (at for end in range(len(row["reply"])) if (at := repetition(row["reply"][: end + 1])) is not None),
        default=None,
    )
    if start is not None and (looped := estimate_tokens(row["reply"][start:])) > 60:
        found.append(f"a loop of {looped} tokens")
    return found


def rows_of(out: Path) -> Iterator[dict[str, Any]]:
    with (out / "calls.jsonl").open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def new_tokens(rows: list[dict[str, Any]]) -> int:
    """The prompt tokens that the server computed."""
    return sum(row["tokens_in"] - row["reused"] for row in rows)


def report(workspace: Workspace, out: Path) -> None:
    rows = list(rows_of(out))
    for part in dict.fromkeys(row["part"] for row in rows):
        calls = [row for row in rows if row["part"] == part]
        whole = [row for row in calls if row.get("tokens_in")]
        minutes = sum(row["ended"] - row["began"] for row in calls) / 60
        reading = max(1.0, sum(row["first"] or 0 for row in whole))
        written = sum(row["tokens_out"] for row in whole)
        loads = [row["load"] for row in calls]
        print(f"\n{part}: {len(calls)} calls, {minutes:.1f} min, load {min(loads):.1f} to {max(loads):.1f}")
        print("  errors:", [row["error"][:80] for row in calls if "error" in row])
        print("  same prompt at most", Counter(row["prompt"] for row in calls).most_common(1)[0][1], "times")
        print(f"  prompt tokens {sum(row['tokens_in'] for row in whole):,}, computed {new_tokens(whole):,}", end="")
        print(f" ({new_tokens(whole) / reading:.1f} a second); written {written:,}", end="")
        print(f" ({written / max(1.0, minutes * 60 - reading):.1f} a second)")
        print("  faults:", [(row["task"], fault) for row in whole for fault in faults_of(row)])
        for task in dict.fromkeys(row["task"] for row in whole):
            of = [row for row in whole if row["task"] == task]
            longest = max(of, key=lambda row: row["tokens_out"])
            print(f"    {task}: {len(of)}, computed {new_tokens(of) / len(of):.0f} each, longest reply ", end="")
            print(f"{longest['tokens_out']} tokens of {longest['reply_words']} words")
    memory = own_memory(workspace)
    tokens = sum(estimate_tokens(memory.page_text(number)) for number in memory.readable)
    read = [row for row in rows if row["part"] == "read" and row["background"] and row.get("tokens_in")]
    print(f"\npages read: {tokens:,} tokens; computed for each: {new_tokens(read) / tokens:.2f}; ", end="")
    print(f"states {size_of(out / 'home' / STATES) >> 20} MB")
    for page, gist in zip(memory.pages, memory.gists, strict=True):
        if gist is not None:
            copied = "RULE" if gist.fallback else ""
            print(f"  page {page.number} ({page.words} words) {copied} {gist.marks}")
            print(f"    {gist.text}")


def main(model: str, out: str, part: str, *methods: str) -> None:
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    record(folder / "calls.jsonl", part)
    workspace = workspace_of(Path(model), folder)
    if part == "read":
        read(workspace, *methods)
    elif part == "ask":
        ask_some(workspace, methods)
    elif part == "choose":
        choose(workspace, methods)
    elif part == "tasks":
        every_task(workspace, methods)
    else:
        report(workspace, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
