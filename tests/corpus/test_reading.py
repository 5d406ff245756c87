"""``readagent corpus``: every book as ``readagent read`` reads it, nothing twice, failures told, budgets held."""

from __future__ import annotations

import json

import pyarrow.parquet as pq

from readagent_core.corpus.importing import start_import
from tests.cli.running import run_here, run_json
from tests.fakes.server import FakeServer, Reply, error


def books_of(out):
    """Pages, gists and plan of every book by its file."""
    found = {}
    for path in sorted((out / "books").glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        found[data["file"]] = {
            name: data["memory"][name] for name in ("pages", "gists", "plan", "document_id", "complete")
        }
    return found


def exported(file, server):
    """The same of one book that ``readagent export`` reads."""
    data = json.loads(run_here("export", file, "--format", "json", server=server)[0])
    return {name: data["memory"][name] for name in ("pages", "gists", "plan", "document_id", "complete")}


def test_each_book_is_as_read_reads_it_and_nothing_is_done_twice(shelf, tmp_path):
    folder, out = shelf(5), tmp_path / "out"
    with FakeServer() as one, FakeServer() as two:
        servers = ("--server", one.url, "--server", two.url)
        found = run_json("corpus", "read", folder, "--out", out, *servers, "--connections", "4", server=one)
        assert (found["read"], found["left"], found["failed"]) == (5, 0, [])
        assert one.chats
        assert two.chats
        calls = len(one.chats) + len(two.chats)
        assert found["usage"]["calls"] == calls
        read = books_of(out)
        assert read == {file.name: exported(file, one) for file in sorted(folder.iterdir())}
        before = len(one.chats)
        again = run_json("corpus", "read", folder, "--out", out, *servers, server=one)
        assert again == found
        assert len(one.chats) == before
        assert list((out / "drafts").iterdir()) == []
    tables = {name: pq.read_table(out / "tables" / f"{name}.parquet") for name in ("books", "pages", "gists", "usage")}
    assert tables["books"].num_rows == tables["usage"].num_rows == 5
    assert tables["pages"].num_rows == tables["gists"].num_rows == sum(len(book["pages"]) for book in read.values())
    assert sum(tables["usage"]["calls"].to_pylist()) == calls
    imported = run_json("corpus", "import", out)
    assert (imported["imported"], imported["present"]) == (0, 5)  # exported above, so the library had read them


def test_a_changed_file_is_read_again_and_a_touched_one_is_not(shelf, tmp_path, server):
    folder, out = shelf(3), tmp_path / "out"
    found = run_json("corpus", "read", folder, "--out", out, server=server)
    first, second, *_ = sorted(folder.iterdir())
    first.write_text(first.read_text(encoding="utf-8").replace("bell", "horn"), encoding="utf-8")
    second.touch()
    before, calls = books_of(out), len(server.chats)
    again = run_json("corpus", "read", folder, "--out", out, server=server)
    assert (again["read"], again["left"], again["failed"]) == (3, 0, [])
    changed = [name for name, book in books_of(out).items() if book != before[name]]
    assert changed == [first.name]
    assert again["usage"]["calls"] - found["usage"]["calls"] == len(server.chats) - calls > 0
    calls = len(server.chats)
    assert run_json("corpus", "read", folder, "--out", out, server=server) == again
    assert len(server.chats) == calls


def test_a_book_that_fails_is_told_and_can_be_read_alone(shelf, tmp_path, server):
    folder, out = shelf(2), tmp_path / "out"
    (folder / "empty.md").write_text("\n", encoding="utf-8")
    found = run_json("corpus", "read", folder, "--out", out, server=server)
    assert (found["read"], found["left"]) == (2, 0)
    assert [failure["file"] for failure in found["failed"]] == ["empty.md"]
    told = run_here("corpus", "status", out, server=server)[0]
    assert "Failed: empty.md: " in told
    calls = len(server.chats)
    text = (folder / "book 000.md").read_text(encoding="utf-8")
    (folder / "empty.md").write_text(text.replace("bell", "horn"), encoding="utf-8")
    assert run_json("corpus", "read", folder, "--out", out, server=server) == found
    assert len(server.chats) == calls
    again = run_json("corpus", "read", folder, "--out", out, "--failed", server=server)
    assert (again["read"], again["left"], again["failed"]) == (3, 0, [])


def test_a_budget_stops_the_corpus_and_a_larger_one_goes_on(shelf, tmp_path, server):
    folder, out = shelf(8), tmp_path / "out"
    arguments = ("corpus", "read", folder, "--out", out, "--connections", "1")
    expected = run_json(*arguments, "--estimate", server=server)["estimate"]
    assert expected["books"] == 8
    assert server.chats == []
    assert not out.exists()
    most = (expected["words"] + expected["words_back"]) // 2
    stopped = run_json(*arguments, "--budget", most, server=server, code=1)
    assert "leaves no room for another book" in stopped["error"]["message"]
    usage = run_json("corpus", "status", out)["usage"]
    assert 0 < usage["words_in"] + usage["words_out"] <= most
    assert 0 < len(books_of(out)) < 8, usage
    done = len(server.chats)
    assert run_json(*arguments, server=server)["read"] == 8
    assert len(server.answered) == len(set(server.answered)), "a prompt was sent twice"
    assert len(server.chats) > done


def test_a_refused_key_stops_the_run_and_marks_no_book_as_failed(shelf, tmp_path):
    with FakeServer(key="secret-key") as server:
        stopped = run_json("corpus", "read", shelf(3), "--out", tmp_path / "out", server=server, code=1)
    assert stopped["error"]["kind"] == "KeyRefusedError", stopped
    assert not (tmp_path / "out" / "failed").exists()


def test_a_manifest_names_the_books_and_may_grow(shelf, tmp_path, server):
    folder, out = shelf(3), tmp_path / "out"
    (folder / "list.txt").write_text(f"# mine\nbook 000.md\n\n{folder / 'book 001.md'}\n", encoding="utf-8")
    found = run_json("corpus", "read", folder / "list.txt", "--out", out, server=server)
    assert (found["books"], found["read"]) == (2, 2)
    with (folder / "list.txt").open("a", encoding="utf-8") as manifest:
        manifest.write('{"file": "book 002.md"}\n')
    more = run_json("corpus", "read", folder / "list.txt", "--out", out, server=server)
    assert (more["books"], more["read"]) == (3, 3)
    other = run_json("corpus", "read", folder, "--out", out, "--max-words", "500", server=server, code=1)
    assert "begun with other settings; changed: plan." in other["error"]["message"]


def test_other_servers_answer_while_one_is_down_and_it_is_told(shelf, tmp_path):
    down = Reply(status=503, error=error("overloaded", kind="server_error"))
    with FakeServer(latency=0.15) as good, FakeServer(before=lambda n, text: down if n < 1 else None) as bad:
        servers = ("--server", bad.url, "--server", good.url, "--connections", "2")
        out, told = run_here("corpus", "read", shelf(8), "--out", tmp_path / "out", *servers, server=good)
    assert "8 of 8 books read" in out
    assert "answers again" in told
    assert "is left out for 1 s: ServerFailedError" in told
    assert len(bad.chats) > 1, "it was not asked again"


def test_results_may_be_at_any_address(shelf, server):
    """A file system that is no disk, as an object store is none."""
    folder, out = shelf(3), "memory://corpus"
    found = run_json("corpus", "read", folder, "--out", out, server=server)
    assert (found["read"], found["left"]) == (3, 0)
    calls = len(server.chats)
    assert run_json("corpus", "status", out) == found
    assert run_json("corpus", "read", folder, "--out", out, server=server) == found
    assert len(server.chats) == calls
    assert run_json("corpus", "import", out)["imported"] == 3


def test_an_import_that_is_cancelled_adds_no_more_books(open_workspace):
    workspace = open_workspace()

    class Folder:
        def keys(self, kind):
            return ["a"]

        def load_all(self, kind):
            workspace.jobs.get("import corpus").cancel()
            yield "a", b"no book"

    job = start_import(workspace, Folder())
    assert job.join(20).state == "cancelled"
    assert job.snapshot.value.refused == ()
