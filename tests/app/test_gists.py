"""The screen of books that wait for their gists: its list, its hours and its pause."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

from pages.parts.read.start import USES
from pages.parts.shared.cached import get_workspace
from readagent_core.export.memory import export_memory
from readagent_core.gisting.queue import load_queue, pause_queue, put_in_queue
from tests.answering.test_library_shelf import add, tale
from tests.app.test_protocol import check, sent  # noqa: F401
from tests.recordings import make_memory


def test_books_wait_with_their_hours_and_are_paused_and_gone_on_with(app, sent) -> None:  # noqa: F811
    app()
    workspace = get_workspace()
    pause_queue(workspace)
    books = add(workspace, tale(1), tale(2))
    put_in_queue(workspace, books)
    at = app("pages/gists.py")
    assert not at.exception
    check(sent, "gists queue")
    (first, second) = sent["gists queue"][-1]["rows"]
    assert (first["id"], first["state"], second["id"]) == (books[0], "waiting", books[1])
    at.selectbox(key="queue_until").set_value("07:00").run()
    assert load_queue(workspace).until == "07:00"
    at.toggle(key="queue_mains").set_value(False).run()
    assert not load_queue(workspace).mains
    at.button(key="pause_queue").click().run()
    assert not load_queue(workspace).paused
    workspace.jobs.get("make the gists of a queue").join(20)
    at.run()
    assert [row["state"] for row in sent["gists queue"][-1]["rows"]] == ["done", "done"]
    assert not load_queue(workspace).books


def test_a_form_of_the_gists_that_has_the_text_of_the_pages_says_so():
    memory = make_memory(["Here stands pageword."], ["A gist."])
    for kind, use in USES.items():
        data = export_memory(memory, kind)
        with_text = b"pageword" in data
        if kind in ("epub", "skill"):
            with ZipFile(BytesIO(data)) as packed:
                with_text = any(b"pageword" in packed.read(name) for name in packed.namelist())
        assert with_text == ("the text of the pages" in use), kind
