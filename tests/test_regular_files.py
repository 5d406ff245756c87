"""Every door that opens a path refuses what is no regular file, or too large, at once and in clear words."""

from __future__ import annotations

import os
import socket
import threading
from functools import partial
from pathlib import Path

import pytest

import readagent_core as ra
from readagent_core.cancel import CancelToken
from readagent_core.errors import ReadAgentError
from readagent_core.regular_files import read_lines, read_regular
from tests.cli.running import run_here


def within(seconds, call):
    """What ``call`` raises, which must be soon: a pipe that is opened would be waited for without end."""
    raised = []

    def work():
        try:
            call()
        except BaseException as error:  # noqa: BLE001
            raised.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "it waits"
    return raised[0] if raised else None


@pytest.fixture
def unfit(tmp_path, monkeypatch):
    """``unfit(kind, suffix)``: the path of something that must not be opened."""
    opened = []

    def make(kind, suffix):
        path = tmp_path / f"{kind}{suffix}"
        if kind == "device":
            path.symlink_to("/dev/zero")
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "larger":
            with path.open("wb") as file:
                file.truncate(9 << 30)  # without blocks on the disk
        else:
            monkeypatch.chdir(tmp_path)  # the path of a socket has at most 108 characters
            opened.append(socket.socket(socket.AF_UNIX))
            opened[0].bind(path.name)
        return path

    yield make
    for one in opened:
        one.close()


WORDS = {"device": "device", "pipe": "pipe", "folder": "folder", "socket": "socket", "larger": "larger than"}


@pytest.mark.parametrize("kind", WORDS)
def test_a_document_is_a_regular_file(kind, unfit):
    path = unfit(kind, ".txt")
    error = within(5, lambda: ra.open_document(path))
    assert isinstance(error, ReadAgentError)
    assert WORDS[kind] in str(error)
    assert str(path) in str(error)


COMMANDS = {
    "read": (["read", "{}"], ".md"),
    "act": (["act", "{}", "--task", "Search"], ".html"),
    "questions": (["questions", "{book}", "--import", "{}"], ".csv"),
    "notes": (["notes", "{book}", "--import", "{}"], ".json"),
    "restore": (["restore", "{}"], ".zip"),
    "evaluate": (["evaluate", "{}"], ".jsonl"),
    "evaluate without its kind": (["evaluate", "{}"], ".dev"),
    "evaluate of a kind": (["evaluate", "{}", "--kind", "quality"], ".jsonl"),
}


@pytest.mark.parametrize("kind", ["device", "pipe"])
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_open_regular_files_only(name, kind, unfit, tmp_path):
    arguments, suffix = COMMANDS[name]
    path = unfit(kind, suffix)
    (tmp_path / "book.md").write_text("# Fog\n\nThe keeper rang the bell.", encoding="utf-8")
    filled = [part.format(path, book=tmp_path / "book.md") for part in arguments]
    printed = []
    error = within(20, lambda: printed.extend(run_here(*filled, code=1)))
    assert error is None, error
    assert WORDS[kind] in printed[0] + printed[1]


@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_agents_and_a_corpus_open_regular_files_only(kind, unfit, workspace, tmp_path):
    from readagent_core.corpus.store import BOOKS, CorpusFolder, SourceFile
    from readagent_core.mcp_server.tools import Tools

    path = unfit(kind, ".txt")
    (tmp_path / "out" / BOOKS).mkdir(parents=True)
    (tmp_path / "out" / BOOKS / "fog.json").symlink_to(path)
    doors = [
        lambda: Tools(workspace).add_book(str(path), "", local_files=True, cancel=CancelToken()),
        lambda: SourceFile(path.name, str(path)).read(),
        lambda: CorpusFolder(str(tmp_path / "out")).book("fog"),
        lambda: list(CorpusFolder(str(tmp_path / "out")).load_all(BOOKS)),
    ]
    for door in doors:
        error = within(5, door)
        assert isinstance(error, ReadAgentError), error
        assert WORDS[kind] in str(error)


OUTPUTS = {
    "export": ["export", "{book}", "--format", "md", "--output", "{}"],
    "notes": ["notes", "{book}", "--format", "md", "--output", "{}"],
    "backup": ["backup", "{}"],
}


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_commands_write_at_once_or_say_why_not(name, kind, unfit, tmp_path):
    path = unfit(kind, ".out")
    (tmp_path / "book.md").write_text("# Fog\n\nThe keeper rang the bell.", encoding="utf-8")
    run_here("read", tmp_path / "book.md")
    filled = [part.format(path, book=tmp_path / "book.md") for part in OUTPUTS[name]]
    printed = []
    error = within(20, lambda: printed.extend(run_here(*filled, code=1)))
    assert error is None, error
    assert f"{path} cannot be written" in printed[1]


def test_a_backup_takes_no_place_of_a_device(unfit, tmp_path):
    """A superuser who backs up to /dev/null would have a file there afterwards."""
    path = unfit("device", ".zip")
    (tmp_path / "book.md").write_text("# Fog\n\nThe keeper rang the bell.", encoding="utf-8")
    run_here("read", tmp_path / "book.md")
    assert "it is a device, not a file" in run_here("backup", path, code=1)[1]
    assert path.is_char_device()


def test_a_pipe_that_is_read_gets_all(unfit, tmp_path):
    path = unfit("pipe", ".md")
    (tmp_path / "book.md").write_text("# Fog\n\n" + "The keeper rang the bell. " * 8000, encoding="utf-8")
    run_here("read", tmp_path / "book.md")
    reader = os.open(path, os.O_RDWR)
    got = bytearray()

    def read():
        while not got.endswith(b"\0"):
            got.extend(os.read(reader, 1 << 16))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    export = ["export", tmp_path / "book.md", "--format", "json", "--output"]
    run_here(*export, path)
    os.write(reader, b"\0")
    thread.join(20)
    os.close(reader)
    run_here(*export, tmp_path / "plain.json")
    assert got[:-1] == (tmp_path / "plain.json").read_bytes()
    assert len(got) > 1 << 17  # more than a pipe holds


def test_a_folder_import_leaves_pipes_alone(tmp_path, workspace):
    """Also those that are named like a catalogue or a cover."""
    from readagent_core.incoming.folders import start_import

    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "fog.md").write_text("# Fog\n\nThe keeper rang the bell.", encoding="utf-8")
    (tmp_path / "books" / "metadata.opf").write_text(
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>Fog</dc:title></metadata></package>",
        encoding="utf-8",
    )
    os.mkfifo(tmp_path / "books" / "cover.jpg")
    os.mkfifo(tmp_path / "books" / "other.txt")
    job = start_import(workspace, tmp_path / "books")
    assert job.join(120).state == "done"
    assert [item.name for item in job.snapshot.value.imported] == ["fog.md"]


def test_a_file_that_grows_is_read_up_to_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "log.txt"
    path.write_bytes(b"line\n" * 10)
    whole = os.fstat(os.open(path, os.O_RDONLY))
    path.write_bytes(b"line\n" * 1000)
    monkeypatch.setattr(os, "fstat", lambda file: whole)
    monkeypatch.setattr(os, "stat", lambda path: whole)
    with pytest.raises(OSError, match="larger than"):
        read_regular(Path(path), most=100)
    with pytest.raises(OSError, match="larger than"):
        list(read_lines(Path(path), most=100, most_in_line=50))


def test_a_name_that_no_file_can_have_is_told():
    error = within(5, lambda: ra.open_document("a\0b.txt"))
    assert isinstance(error, ReadAgentError)
    assert "no file has such a name" in str(error)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_commands_say_what_a_path_is_in_place_of_a_file(tmp_path, own_home):
    from readagent_core.corpus.store import list_sources
    from readagent_core.models.local.files import file_of
    from readagent_core.settings import load_settings

    os.mkfifo(tmp_path / "pipe.gguf")
    for opened in (list_sources, partial(file_of, load_settings())):
        with pytest.raises(ReadAgentError, match="it is a pipe, not a file"):
            opened(str(tmp_path / "pipe.gguf"))
