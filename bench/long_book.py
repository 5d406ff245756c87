"""A book of 343,910 words read and asked about through a window of 8,000 tokens, every prompt measured at the server.

Real HTTP to a server on loopback; tokens are counted there, the careful way (``models.tokens``).

    python -m bench.long_book
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.reading import SlowModel, book
from readagent_core.cancel import CancelToken
from readagent_core.methods.base import AskSettings, Question
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.plan import ReadingPlan
from readagent_core.settings import Settings
from readagent_core.workspace import Workspace
from readagent_core.workspace.asking import ask
from readagent_core.workspace.reading import newest_memory, start_reading
from tests.fakes.sensible import sensible, understood
from tests.fakes.server import FakeServer, Reply

WINDOW = 8_000


def main() -> None:
    model = SlowModel(latency=0, per_word=0, asleep=False)
    longest: dict[str, int] = {}

    def reply(text: str) -> Reply:
        prompt = understood(text)
        task = prompt.task if prompt else "other"
        longest[task] = max(longest.get(task, 0), estimate_tokens(text))
        own = prompt is not None and task in ("paginate", "gist")
        return Reply(model.complete(prompt, CancelToken()).text if own and prompt else sensible(text))

    with FakeServer(reply, window=WINDOW) as server, TemporaryDirectory() as home:
        kept = {"window": WINDOW, "connections": 16}
        workspace = Workspace(Settings(Path(home), base_url=server.url, model="fake-model", saved=kept))
        document = book(343_910)
        added = workspace.library.add(document)
        began = time.monotonic()
        snapshot = start_reading(workspace, added.id, ReadingPlan.from_preset("book")).join()
        found = newest_memory(workspace, added.id)
        assert found is not None, snapshot.error
        reading, memory = found
        print(f"read: {snapshot.state} {snapshot.error}, {len(memory.pages)} pages of {reading.plan.min_words} to "
              f"{reading.plan.max_words} words, {memory.gist_words:,} words of gists, {time.monotonic() - began:.0f} s "
              f"(model window known: {workspace.model.window})")  # fmt: skip
        for name in ("read-agent-p", "read-agent-s"):
            began = time.monotonic()
            exchange, job = ask(
                workspace,
                added.id,
                Question("What comes after the baren?"),
                method=name,
                settings=AskSettings(look_ups=3),
            )
            job.join()
            done = workspace.library.exchange(exchange.id)
            print(f"\n{name}: {done.state} {done.error} in {time.monotonic() - began:.0f} s")
            for event in done.events:
                if event["kind"] == "LookedUp":
                    print(f"  looked up {event['pages']} {event['refused']}")
                if event["kind"] == "Noted":
                    print(f"  note: {event['text']}")
        workspace.library.close()
    print("\nlongest prompt at the server, tokens:", longest)
    assert max(longest.values()) <= WINDOW


if __name__ == "__main__":
    main()
