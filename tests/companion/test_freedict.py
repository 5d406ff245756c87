"""Free dictionaries: which are offered first, and that what arrives is checked before it is unpacked."""

from __future__ import annotations

import hashlib
import json
import tarfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from readagent_core.companion import freedict, looking_up
from readagent_core.errors import DamagedDictionaryError, OfflineError
from readagent_core.incoming.links import open_pasted_text
from readagent_core.jobs import JobState
from readagent_core.settings import Settings
from readagent_core.workspace import Workspace
from tests.dictionaries.making import make_stardict
from tests.fakes.web import WebServer, reply


def archive(folder: Path) -> bytes:
    made = make_stardict(folder, [("Haus", b"house"), ("Hof", b"yard")], title="German to English")
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as tar:
        for file in made.iterdir():
            tar.add(file, f"deu-eng/{file.name}")
    return packed.getvalue()


def listed(server: WebServer, data: bytes, **changes: object) -> bytes:
    """The list as freedict.org writes it: three dictionaries, one without a file that is read, and its software."""

    def entry(name: str, words: int, platform: str = "stardict") -> dict[str, object]:
        release = {"platform": platform, "URL": server.at("/file"), "size": str(len(data)), "version": "1.9-fd1",
                   "date": "2024-10-10", "checksum": hashlib.sha512(data).hexdigest()}  # fmt: skip
        return {"name": name, "headwords": str(words), "edition": "1.9-fd1", "releases": [release | changes]}

    entries = [entry("eng-fra", 900), entry("deu-eng", 500), entry("deu-ita", 800, "dictd"), entry("deu-swe", 9, "src")]
    return json.dumps([*entries, {"software": {"tools": {}}}]).encode()


def offered(workspace: Workspace, reader: str = "en") -> list[freedict.Offer]:
    ended = freedict.start_listing(workspace, reader).join(30)
    assert ended.state == JobState.DONE, ended.error
    return ended.value


def test_one_for_the_books_here_is_offered_first_and_can_be_looked_up(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(looking_up, "known_folders", list)  # the machine may have dictionaries of its own
    data = archive(tmp_path / "made")
    with WebServer({"/file": reply(data)}) as server:
        server.pages["/list"] = reply(listed(server, data))
        workspace = Workspace(Settings(home=tmp_path / "home", dictionaries=server.at("/list")))
        open_pasted_text(workspace, "Das Haus steht auf dem Berg, und der Hof ist leer. Niemand ist da." * 9)
        found = offered(workspace)
        assert [(one.source, one.target) for one in found] == [("de", "en"), ("de", "it"), ("en", "fr")]
        assert [one.target for one in offered(workspace, "it")] == ["it", "en", "fr"]
        assert found[0].title() == "German to English, 500 words, 0.1 MB"
        assert freedict.start_getting(workspace, found[0]).join(30).error == ""
        indexing = looking_up.indexing(workspace)
        assert indexing is not None
        indexing.join(30)
        entries = looking_up.dictionaries_of(workspace).look_up("Haus", "de")
        assert [(one.dictionary, one.text) for one in entries] == [("German to English", "house")]
        for wrong in (replace(found[0], sha512="0" * 128), replace(found[0], size=len(data) - 1)):
            assert freedict.start_getting(workspace, wrong).join(30).error
        assert len(looking_up.dictionaries_of(workspace).all()) == 1, "what was there before is still there"


@pytest.mark.parametrize(
    ("list_", "links", "said"),
    [
        (b"[]", True, "no list of dictionaries"),
        (b"[" * 100_000, True, "no list of dictionaries"),
        (None, True, "did not send what was asked for. Try again later. Or fetch a dictionary on another computer"),
        (b"[]", False, "Links are turned off"),
    ],
)
def test_what_cannot_be_fetched_is_explained(tmp_path: Path, list_: bytes | None, links: bool, said: str) -> None:
    with WebServer({"/list": reply(list_)} if list_ is not None else {}) as server:
        workspace = Workspace(Settings(home=tmp_path, links=links, dictionaries=server.at("/list")))
        assert said in freedict.start_listing(workspace, "en").join(30).error
        assert bool(server.requests) == links


def test_without_the_internet_it_says_so_and_that_a_file_can_be_brought(tmp_path: Path) -> None:
    with WebServer({}) as server:
        address = server.at("/list")  # where nothing answers any more
    ended = freedict.start_listing(Workspace(Settings(home=tmp_path, dictionaries=address)), "en").join(30)
    assert isinstance(ended.failure, OfflineError)
    assert "add its file below" in ended.error


def test_a_dictionary_without_a_checksum_is_not_offered() -> None:
    with WebServer({}) as server, pytest.raises(DamagedDictionaryError):
        freedict._offers(listed(server, b"made", checksum=""))
