"""Every way out of the library at every page of a story: nothing tells what a later page tells.

The reader's own frames in a browser are in tests/browser/test_world.py.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import re
import threading
import zipfile
from dataclasses import replace
from typing import Any

import pytest

from pages.parts.read.chapter_questions import study_data
from pages.parts.read.series import series_data
from pages.parts.read.study import cards_of
from pages.parts.read.world import world_data
from readagent_core.answering.registry import all_methods
from readagent_core.answering.resources import short_cast
from readagent_core.companion.study import study_prompt
from readagent_core.export.gisting import export_gisting
from readagent_core.export.memory import MEMORY_FORMATS, export_memory
from readagent_core.export.study import STUDY_FORMATS, export_study
from readagent_core.library.marks import COLOURS, KINDS, Mark, Spot
from readagent_core.world.as_of import World
from readagent_core.world.notes import PageNotes
from readagent_core.world.storage import load_world
from readagent_core.world.telling import BY_RULE, title_of
from tests.fakes.model import FakeModel
from tests.world_story import FIRST_NAMED, SECRETS, add_story, notes, read_to, story

LAST = len(SECRETS)
NAMES = ("Hester Quill", "the stranger", "Captain Sorley", "Sorley", "Old Marn", "Constable Dray")


def leaks(told: str, page: int) -> list[str]:
    """What ``told`` has of pages after ``page``."""
    text = told.lower()
    found = [word for number, word in SECRETS.items() if number > page and word in text]
    return found + [name for name, first in FIRST_NAMED.items() if first > page and name in text]


def contents(data: bytes) -> str:
    """The text of a file; of every file in a ZIP archive."""
    if not data.startswith(b"PK"):
        return data.decode()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return "\n".join(archive.read(name).decode(errors="replace") for name in archive.namelist())


@pytest.fixture
def repeating() -> FakeModel:
    """A model that says all that it is shown."""
    return FakeModel(lambda prompt: prompt.text)


@pytest.fixture
def ferry(open_workspace, repeating):
    """A workspace and its story: questions about all its pages are stored."""
    workspace = open_workspace("http://localhost:1/v1", model=repeating)
    book = add_story(workspace.home, read=0)
    library = workspace.library
    (gisting,) = library.gistings(book)
    made = [{"question": f"What, with {word}?", "answer": "silver", "page": page} for page, word in SECRETS.items()]
    library.artifacts(gisting.document_id).save("study", f"{gisting.id} 1-7 {repeating.name}", made)
    return workspace, book, gisting


@pytest.mark.parametrize("format", MEMORY_FORMATS)
def test_gists_as_a_file(ferry, format):
    workspace, book, gisting = ferry
    for number, paragraph in enumerate(workspace.library.document(book).paragraphs):
        words, spot = paragraph.text[:20], (Spot(number, 0), Spot(number, 20))
        workspace.library.put_mark(Mark(f"m{number}", book, KINDS[0], COLOURS[0], words, "", "", *spot))
    for page in range(1, LAST + 1):
        read_to(workspace.library, book, page)
        told = contents(export_gisting(workspace, gisting, format, with_notes=True))
        assert not leaks(told, page), (page, leaks(told, page))
        assert SECRETS[page] in told
    read_to(workspace.library, book, 1)
    assert SECRETS[LAST] in contents(export_gisting(workspace, gisting, format, whole=True))


def test_names_found_by_rule_are_not_told_as_persons():
    memory = story()
    known = World(memory, {}).as_of(LAST)
    for format, heading in {"md": "### {}", "html": "<h3>{}</h3>", "epub": "<h3>{}</h3>"}.items():
        told = contents(export_memory(memory, format, known=known))
        assert heading.format("Names") in told
        assert heading.format("People") not in told
        assert told.count(BY_RULE) == 1
        assert "pages 5 to 7" in told
    assert len(re.findall(f"<h[12]>{title_of(known)}", told)) == 1  # of a chapter of the EPUB


def test_a_card_in_a_file_tells_each_thing_once_and_leads_to_its_page():
    memory = story()
    made = notes(memory)
    again = replace(made[1].notes[0], page=2, paragraph=2, start=0, end=6, known_from=2, says="Ferrykeeper, secretone!")
    known = World(memory, made | {2: PageNotes((*made[2].notes, again), model="a model")}).as_of(LAST)
    told = contents(export_memory(memory, "md", known=known))
    assert told.lower().count("ferrykeeper") == 1
    assert "secretsix" in told  # who two names are
    assert 'ferrykeeper, secretone [<a href="#p1">1</a>]' in contents(export_memory(memory, "html", known=known))
    book = contents(export_memory(memory, "epub", known=known))
    assert 'ferrykeeper, secretone [<a href="part0001.xhtml#p1">1</a>]' in book
    assert 'id="p1">Page 1</p>' in book


@pytest.mark.parametrize("format", MEMORY_FORMATS)
def test_private_notes_leave_with_the_gists_only_where_it_is_chosen(ferry, format):
    workspace, book, gisting = ferry
    note = "nobody else may see this"
    words = workspace.library.document(book).paragraphs[0].text[:20]
    mark = Mark("m", book, "note", COLOURS[0], words, "", "", Spot(0, 0), Spot(0, 20), note=note)
    workspace.library.put_mark(mark)
    assert note not in contents(export_gisting(workspace, gisting, format, whole=True))
    chosen = contents(export_gisting(workspace, gisting, format, whole=True, with_notes=True))
    assert (note in chosen) == (format in ("html", "epub"))


@pytest.mark.parametrize("format", STUDY_FORMATS)
def test_cards_to_learn_as_a_file(ferry, format):
    workspace, book, gisting = ferry
    for page in range(1, LAST + 1):
        read_to(workspace.library, book, page)
        kinds = cards_of(workspace, workspace.library.book(book), gisting)
        cards = [card for found in kinds.values() for card in found]
        told = contents(export_study(book, "The Ferry", cards, format))
        assert not leaks(told, page), (page, leaks(told, page))
        assert SECRETS[page] in told


def test_what_the_reader_sends(ferry):
    workspace, book, gisting = ferry
    library = workspace.library
    after = add_story(workspace.home, read=0, with_notes=False)
    library.put_in_order("The Ferry", [book, after])
    record, document = library.book(book), library.document(book)
    for page in range(1, LAST + 1):
        read_to(library, book, page)
        facts = world_data(workspace, record, gisting, document, last_in_view=2 * page - 1, running=False, away=9)
        earlier = series_data(workspace, library.book(after))
        told = json.dumps([*facts, study_data(workspace, record, gisting, document), earlier])
        assert not leaks(told, page), page
        assert told.lower().count(SECRETS[page]) > 1


def test_what_a_method_is_told_of_the_persons(ferry):
    workspace, book, gisting = ferry
    library, document_id = workspace.library, workspace.library.book(book).document_id
    for page in range(1, LAST + 1):
        told = short_cast(library, document_id, library.memory(gisting.id).up_to(page))
        assert not leaks(told, page), page
    assert "Hester Quill" in told
    without = library.book(add_story(workspace.home, read=0, with_notes=False))
    (other,) = library.gistings(without.id)
    assert short_cast(library, without.document_id, library.memory(other.id)) == ""


def test_questions_about_a_chapter_are_made_of_what_was_read(ferry):
    workspace, _, gisting = ferry
    world = load_world(workspace.library, gisting.id)
    for page in range(1, LAST + 1):
        prompt = study_prompt(world, tuple(range(1, page + 1))).text
        assert SECRETS[page] in prompt
        assert not leaks(prompt, page), page


def test_the_cast_on_the_command_line(ferry, monkeypatch):
    from typer.testing import CliRunner

    from readagent_core.cli.app import app

    command = importlib.import_module("readagent_core.cli.cast")

    workspace, book, _ = ferry
    monkeypatch.setattr(command, "open_book", lambda *_, **__: (workspace, workspace.library.book(book)))
    for page in range(1, LAST + 1):
        read_to(workspace.library, book, page)
        for options in ([], ["--json"], ["--page", str(LAST)]):
            told = CliRunner().invoke(app, ["cast", __file__, *options]).output
            assert not leaks(told, page), (page, leaks(told, page))
            assert SECRETS[page] in told


@pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="requirements-mcp.txt is not installed")
def test_every_tool_of_the_mcp_server(ferry, repeating):
    from mcp import MCPError

    from tests.mcp_server.test_mcp import make_server, with_client

    workspace, book, _ = ferry
    library = workspace.library
    unread = add_story(workspace.home, read=0, with_notes=False)
    methods = sorted(all_methods())

    async def told(client, tool: str, **arguments: Any) -> str:
        """What a tool says; a name that the call itself has is not told by it."""
        result = await client.call_tool(tool, arguments)
        text = json.dumps(result.structured_content) + "".join(getattr(part, "text", "") for part in result.content)
        return text.replace(arguments.get("name", "\0"), "") if result.is_error else text

    async def work(client) -> None:
        assert "Begun" in (begun := await told(client, "make_gists", book=unread)) or "gist" in begun
        for thread in threading.enumerate():
            if thread.name.startswith("call "):  # of the gisting, which sees all pages
                thread.join(20)
        for page in range(1, LAST + 1):
            read_to(library, book, page)
            read_to(library, unread, page)
            repeating.prompts.clear()
            asked = [
                ("list_books", {}),
                ("gist_memory", {"book": book}),
                ("gist_memory", {"book": book, "words": 20}),
                ("outline", {"book": book}),
                ("notes", {"book": book}),
                ("open_pages", {"book": book, "pages": list(range(1, LAST + 1))}),
                *(("find", {"book": book, "words": words}) for words in ("stranger", "Sorley", "Marn")),
                *(("search", {"query": words}) for words in ("stranger", "sorley", "marn", "constable")),
                *(("fetch", {"id": f"{book}/page/{n}"}) for n in range(1, LAST + 1)),
                *(("fetch", {"id": f"{book}/paragraph/{n}"}) for n in range(2 * LAST)),
                *(("cast", {"book": one}) for one in (book, unread)),
                *(("cast", {"book": book, "page": n}) for n in range(1, LAST + 1)),
                *(("card", {"book": one, "name": name}) for one in (book, unread) for name in NAMES),
                *(("card", {"book": book, "name": NAMES[2], "page": n}) for n in range(1, LAST + 1)),
                *(("timeline", {"book": book, "by_time": by_time}) for by_time in (False, True)),
                *(("ask", {"books": [book], "question": "Who came?", "method": method}) for method in methods),
                ("ask", {"books": [book, unread], "question": "Who came?"}),
            ]
            for tool, arguments in asked:
                text = await told(client, tool, **arguments)
                assert not leaks(text, page), (page, tool, arguments, leaks(text, page))
            for uri in (f"book://{book}", *(f"book://{book}/page/{n}" for n in range(1, LAST + 1))):
                try:
                    text = (await client.read_resource(uri)).model_dump_json()
                except MCPError as error:  # one that is not to be read yet
                    text = str(error)
                assert not leaks(text, page), (page, uri, leaks(text, page))
            shown = "\n".join(prompt.text for prompt in repeating.prompts)
            assert not leaks(shown, page), (page, leaks(shown, page))
            assert SECRETS[page] in shown
            same = await told(client, "card", book=book, name="the stranger")
            assert ("sorley" in same.lower()) == (page >= 6)
            for tool, arguments in (("timeline", {}), ("gist_memory", {}), ("open_pages", {"pages": [page]})):
                assert SECRETS[page] in await told(client, tool, book=book, **arguments)

    with_client(make_server(workspace, allow_changes=True), work)
