"""The command line as a person runs it: a real server on loopback, stdout, stderr and exit codes.

Another process where its end, its signals or what outlives it count; the same ``main`` in this one where only what is
printed does: a new process spends two seconds on importing alone.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import zipfile
from itertools import pairwise

from PIL import Image
from pypdf import PdfWriter

from readagent_core import keyrings
from readagent_core.fetching.fetch import fetch
from readagent_core.incoming import links
from readagent_core.settings import Secret, home_folder, save_settings
from tests.cli.running import ROOT, SMALL, run_here, run_json, start, wait_until
from tests.fakes.keyrings import Locked
from tests.fakes.server import FakeServer, Reply, error
from tests.fakes.web import WebServer, reply
from tests.incoming.test_links import ARTICLE, HTML
from tests.loaders.scans import scanned_pdf

KEY = "sk-marker-0123456789abcdef"


def test_inspect(book):
    found = run_json("inspect", book)
    assert {"id", "title", "words", "sections", "warnings", "language", "format"} <= set(found)
    assert (found["title"], [s["title"] for s in found["sections"]][-2:]) == ("Fog", ["Chapter 1", "Chapter 2"])
    assert (found["minutes"], found["has_cover"]) == (max(1, round(found["words"] / 240)), False)
    out, _ = run_here("inspect", book)
    assert "Fog" in out
    assert "Chapter 2" in out


def test_a_web_address_is_read_as_a_file_is(monkeypatch):
    with WebServer({"/post": reply(ARTICLE, HTML)}) as web:
        monkeypatch.setattr(links, "fetch", lambda address, cancel, rules: fetch(address, cancel, rules=web.rules()))
        found = run_json("inspect", web.at("/post"))
        assert (found["title"], found["author"]) == ("A lamp goes out", "Mina Vale")
        assert "fetched" in [warning["code"] for warning in found["warnings"]]
        assert run_json("read", web.at("/post"))["document"]["title"] == "A lamp goes out"


def test_an_address_on_this_computer_is_an_explained_error():
    with WebServer({"/": reply(ARTICLE, HTML)}) as web:
        for command in ("inspect", "read"):
            assert "not a public web address" in run_here(command, "http://localhost/", code=1)[1]
            assert "does not lead to ordinary web pages" in run_here(command, web.at("/"), code=1)[1]
        assert web.connections == 0


def test_read_has_the_promised_shape_and_a_second_read_asks_nothing(book, server):
    found = run_json("read", book, server=server)
    assert {"document", "pages", "words", "gist_words", "compression_rate", "usage"} <= set(found)
    assert {"id", "title", "words", "sections"} <= set(found["document"])
    assert {"number", "start", "end", "words", "reason", "fallback", "gist", "gist_words"} <= set(found["pages"][0])
    usage = {"calls", "cached_calls", "words_in", "words_out", "tokens_in", "tokens_out", "seconds"}
    assert usage <= set(found["usage"])
    pages = found["pages"]
    assert [p["number"] for p in pages] == list(range(1, len(pages) + 1))
    assert all(a["end"] == b["start"] for a, b in pairwise(pages))
    assert found["words"] == sum(p["words"] for p in pages)
    assert found["usage"]["calls"] == len(server.chats) > 0
    before = len(server.chats)
    assert run_json("read", book, server=server)["pages"] == pages
    assert len(server.chats) == before
    assert (found["own_gists"], found["fallback_gists"]) == (len(pages), 0)


def test_gists_that_are_there_are_used_whoever_made_them(book, server):
    by_statistics = run_json("read", book)
    assert by_statistics["model"] == "built-in reader"
    first = run_json("read", book, server=server)  # by a model: others than those of word statistics
    assert first["model"] == "fake-model"
    out, aside = run_here("read", book)  # no model is connected any more
    assert "gists by fake-model" in out
    assert "The gists that fake-model made are used" in aside
    assert run_json("read", book, "--preset", "meeting")["model"] == "built-in reader"


def test_a_stopped_read_says_so_and_repeats_nothing_when_it_resumes(book, tmp_path, monkeypatch):
    """The usage counts the calls of both processes."""
    held = threading.Event()
    with FakeServer(before=lambda number, _: Reply(status=500) if number >= 6 and held.wait(60) else None) as server:
        process = start("read", book, *SMALL, "--json", server=server)
        wait_until(lambda: len(server.answered) >= 6, process)
        process.send_signal(signal.SIGINT)
        out, told = process.communicate(timeout=60)
        answered, made = set(server.answered), len(server.chats)
        held.set()
    assert process.returncode == 1
    assert json.loads(out)["error"]["kind"] == "Stopped"
    assert "the same command resumes" in told
    with FakeServer() as server:
        resumed = run_json("read", book, *SMALL, server=server)
        again = [request.text for request in server.chats]
    with FakeServer() as fresh:
        monkeypatch.setenv("READAGENT_HOME", str(tmp_path / "fresh"))
        whole = run_json("read", book, *SMALL, server=fresh)
        everything = len(fresh.chats)
    assert made < everything
    assert len(again) < everything
    assert len(answered & set(again)) <= 2  # at most what was on its way to the process
    assert 0 <= made + len(again) - resumed["usage"]["calls"] <= 4, "only calls under way at the stop may be missing"
    assert [p["gist"] for p in resumed["pages"]] == [p["gist"] for p in whole["pages"]]


def test_ask_has_the_promised_shape(book, server):
    found = run_json("ask", book, "What rang?", "--option", "a bell", "--option", "a dog", server=server)
    assert {"answer", "option", "looked_up", "steps", "memory_words", "compression_rate", "usage"} <= set(found)
    assert found["answered_by"].endswith("on this computer")
    assert found["option"] in (0, 1)
    assert found["method"] == "read-agent-p"
    server.chats.clear()
    free = run_json("ask", book, "What rang?", "--method", "gist-mem", server=server)
    assert free["option"] is None
    assert free["looked_up"] == []
    assert len(server.chats) == 1  # the reading is there already
    book.write_text(book.read_text().replace("Chapter 2", "Chapter 3") + "\n\nA new end.\n", encoding="utf-8")
    server.chats.clear()
    run_json("ask", book, "What rang?", server=server)
    assert "A new end." in "".join(str(chat) for chat in server.chats)  # a changed file is read again


def test_in_words_with_the_built_in_reader(book, tmp_path):
    out, told = run_here("ask", book, "Which bell rang first?", "--up-to", "1")
    assert "words" in out
    assert "No language model is connected" in told
    assert "Built-in reader: sentences that share your words; nothing was understood" in told
    for format in ("md", "html", "json", "epub"):
        target = tmp_path / f"out.{format}"
        run_here("export", book, "--format", format, "--output", target)
        assert target.stat().st_size > 500
    run_here("export", book, "--format", "skill", "--output", tmp_path / "skill.zip")
    with zipfile.ZipFile(tmp_path / "skill.zip") as skill:
        (index,) = [name for name in skill.namelist() if name.endswith("index.md")]
        about = skill.read(index).decode().removeprefix("# Index").partition("- 1: ")[0]
    assert len(about.split()) > 5  # the gist of the whole book
    assert run_here("export", book)[0].startswith("# Fog\n")  # nothing but the text is on stdout
    evil = tmp_path / "evil.txt"  # a book cannot steer the terminal
    evil.write_text("\x1b]0;owned\x07Title \x1b[31mred\n\n" + "Some words stand here. " * 30, encoding="utf-8")
    out, _ = run_here("inspect", evil)
    assert "words" in out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_errors_are_sentences_with_exit_code_1(tmp_path):
    out, told = run_here("inspect", tmp_path / "none.txt", code=1)
    assert out == ""
    assert told.startswith("Error: ")
    assert run_json("inspect", tmp_path / "none.txt", code=1)["error"]["kind"] == "DocumentError"
    book = tmp_path / "a.txt"
    book.write_text("The bell rang in the fog. " * 40, encoding="utf-8")
    with FakeServer(lambda _: Reply(status=401, error=error("no", code="invalid_api_key"))) as server:
        assert run_json("read", book, server=server, code=1)["error"]["kind"] == "KeyRefusedError"
    (tmp_path / "bad.jsonl").write_text("{", encoding="utf-8")
    assert "bad.jsonl, line 1" in run_here("evaluate", tmp_path / "bad.jsonl", code=1)[1]
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("heron-19", algorithm="AES-256")
    writer.write(tmp_path / "locked.pdf")
    assert "--password" in run_here("inspect", tmp_path / "locked.pdf", code=1)[1]
    (tmp_path / "scan.pdf").write_bytes(scanned_pdf([Image.new("L", (100, 140), 240)]))
    assert "Here: readagent recognise FILE" in run_here("inspect", tmp_path / "scan.pdf", code=1)[1]


def test_a_window_without_its_packages_is_explained(monkeypatch):
    monkeypatch.setitem(sys.modules, "webview", None)
    assert "readagent[window]" in run_here("app", "--window", code=1)[1]


def test_a_key_in_the_keyring_is_found_and_a_locked_one_is_told(book, in_keyring, own_home):
    ring = in_keyring(Locked())
    with FakeServer(key=KEY) as server:
        home = home_folder()
        save_settings(home, {"base_url": server.url, "model": "fake-model", "api_key_in": "keyring"})
        found = run_json("read", book, code=1)
        assert found["error"]["kind"] == "SettingsError"
        assert "keyring is locked" in found["error"]["message"]
        assert "READAGENT_API_KEY" in found["error"]["message"]
        assert server.requests == []
        ring.open = True
        keyrings.put(home, server.url, Secret(KEY))
        found = run_json("read", book, *SMALL)
    assert len(found["pages"]) > 1
    assert server.chats
    assert KEY not in json.dumps(found)
    assert not [path for path in own_home.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_wrong_usage_ends_with_2(book):
    out, told = run_here("read", "x.txt", "--max-words", "many", code=2)
    assert out == ""
    assert "Usage" in told
    for arguments in (["nothing"], ["read"], ["ask", "x.txt"], ["export", "x.txt", "--format", "docx"], ["evaluate"]):
        run_here(*arguments, code=2)
    for arguments in (
        ["read", book, "--preset", "novel"],
        ["read", book, "--max-words", "100", "--min-words", "200"],
        ["ask", book, "?", "--method", "nothing"],
        ["evaluate", book, "--method", "nothing"],
    ):
        assert "Choose" in run_json(*arguments, code=2)["error"]["message"], arguments
    assert "no method 'nothing'" in run_here("ask", book, "?", "--method", "nothing", code=2)[1]


def test_help_answers_at_once(own_home):
    """What a command needs is imported when it runs: no PDF, model or statistics library for --help.

    Nor for the built-in reader what speaks to servers, and the statistics of a method that was not asked for.
    """
    code = (
        "import sys, readagent_core.cli.app;"
        "bad = {'streamlit', 'openai', 'numpy', 'sklearn', 'pypdf', 'pypdfium2', 'ebooklib', 'diskcache',"
        "       'keyring'};"
        "bad &= set(sys.modules);"
        "from readagent_core.workspace import Workspace;"
        "from readagent_core.answering.registry import all_methods;"
        "from readagent_core.answering.resources import workspace_resources;"
        "from readagent_core.settings import load_settings;"
        "workspace = Workspace(load_settings()); workspace_resources(workspace, 'none'); all_methods();"
        "bad |= {'openai', 'httpx2', 'diskcache', 'bm25s', 'scipy', 'sklearn', 'keyring'} & set(sys.modules);"
        "print(*bad); sys.exit(len(bad))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
