"""A program that reads or asks by ``ra`` until it gets Ctrl-C: ``stopped_program.py ADDRESS WHAT``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import readagent_core as ra

TEXT = "\n\n".join(f"On day {i} the keeper lit lamp {i}. She wrote the weather in the log. " * 3 for i in range(400))


def main(address: str, what: str, ready: str) -> None:
    book = ra.open_document(TEXT.encode(), name="lamp.md")
    memory = None
    if what == "ask zoom":
        from tests.methods.test_zoom import long_memory

        memory = long_memory(300)  # more gists than a view shows: those of parts are made first
    elif what.startswith("ask"):
        memory = ra.read(book, ra.get_model())  # by the built-in reader
    model = ra.get_model("fake-model", base_url=address)
    Path(ready).touch()
    try:
        if memory is None:
            ra.read(book, model, library="" if what == "read" else None, connections=4)
        else:
            ra.ask(memory, "Who lit lamp 7?", model, method=what.partition(" ")[2])
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        time.sleep(8)  # as a notebook lives on


if __name__ == "__main__":
    main(*sys.argv[1:])
