"""The MCP server through the SDK's own client: in process, over stdio and over HTTP."""

from __future__ import annotations

import importlib.util
import os
import re
import socket
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest

from readagent_core.citations import FROM_PAGE
from readagent_core.incoming.links import open_pasted_text
from readagent_core.incoming.samples import add_samples
from readagent_core.prompts import render_fragment
from readagent_core.settings.saved import ModelOptions
from tests.fakes.model import FakeModel
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer, Reply

if importlib.util.find_spec("mcp") is None:  # the SDK is imported by what uses it: collecting the tests is quicker
    pytest.skip("requirements-mcp.txt is not installed", allow_module_level=True)

ROOT = Path(__file__).parents[2]
QUESTION = "Who keeps the light?"
TOOLS = {"list_books", "search", "fetch", "outline", "gist_memory", "open_pages", "find", "notes", "ask"} | {
    "cast",
    "card",
    "timeline",
}


def make_server(workspace, **options):
    from readagent_core.mcp_server import server

    return server.make_server(workspace, **options)


def ask_directly(workspace, book_id, **options):
    """Ask without a client, so that the whole answer is seen."""
    from readagent_core.mcp_server.tools import Tools

    return Tools(workspace).ask([book_id], QUESTION, **options)


def with_client(server, work):
    """Run ``work`` with a client of ``server``, which is an MCPServer, a transport or parameters for stdio."""

    from mcp import Client

    async def run():
        async with Client(server) as client:
            return await work(client)

    return anyio.run(run)


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refused(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error, tool
    return result.content[0].text


@pytest.fixture
def library(open_workspace):
    workspace = open_workspace()
    add_samples(workspace)
    return workspace


async def use_every_tool(client):
    assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
    assert all(t.output_schema and t.annotations.read_only_hint for t in (await client.list_tools()).tools)
    books = await call(client, "list_books", query="harrow light")
    (book,) = books["books"]
    assert (books["total"], books["next"], book["gists"]) == (1, None, "ready")
    name = book["id"]
    outline = await call(client, "outline", book=name)
    assert outline["sections"][0]["page"] == 1
    memory = await call(client, "gist_memory", book=name)
    assert memory["pages"] == book["pages"]
    assert memory["text"].startswith("<Page 1>")
    short = await call(client, "gist_memory", book=name, words=300, about="oil")
    assert short["words"] < memory["words"] / 2
    assert "view of" in short["note"]
    opened = await call(client, "open_pages", book=name, pages=[14, 2, 99])
    assert [page["number"] for page in opened["pages"]] == [14, 2]
    assert opened["left_out"] == [f"page 99: this book has pages 1 to {book['pages']} that may be seen"]
    assert "count it right" in opened["pages"][0]["text"]
    places = await call(client, "find", book=name, words="count it right")
    assert {place["page"] for place in places["places"]} == {14}
    hits = await call(client, "search", query='"count it right"')
    assert hits["results"][0]["id"] == f"{name}/page/14"
    fetched = await call(client, "fetch", id=hits["results"][0]["id"])
    assert fetched["text"] == opened["pages"][0]["text"]
    assert (await call(client, "notes", book=name))["marks"] == []
    answer = await call(client, "ask", books=[name], question=QUESTION)
    assert "Built-in reader" in answer["answered_by"]
    assert {c["book"] for c in answer["citations"]} <= {name}
    everywhere = [b["id"] for b in (await call(client, "list_books"))["books"]]
    several = await call(client, "ask", books=everywhere, question="Who counts the oil of the light?")
    assert (several["method"], bool(several["answer"])) == ("zoom", True)
    text = await client.read_resource(f"book://{name}/page/14")
    assert text.contents[0].text == opened["pages"][0]["text"]

    for tool, arguments, words in (
        ("outline", {"book": "nothing"}, "list_books"),
        ("open_pages", {"book": name, "pages": [77]}, "pages 1 to"),
        ("fetch", {"id": "x"}, "no id of `search`"),
        ("ask", {"books": [], "question": QUESTION}, "list_books"),
        ("ask", {"books": [name], "question": " "}, "Write a question"),
        ("ask", {"books": [name], "question": "?", "method": "guess"}, "guess"),
        ("add_book", {"text": "A text."}, "add_book"),  # not offered
    ):
        assert words in await refused(client, tool, **arguments)


def test_every_tool_in_process_and_nothing_is_saved(library):
    with_client(make_server(library), use_every_tool)
    assert all(
        exchange.facts.recorded  # no conversation but the recordings
        for book in library.library.books()
        for conversation in library.library.conversations(book.id)
        for exchange in library.library.exchanges(conversation.id)
    )


def test_every_tool_over_stdio(library):
    from mcp import StdioServerParameters

    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "readagent_core", "mcp"],
        cwd=ROOT,
        env={**os.environ, "READAGENT_HOME": str(library.home), "PYTHONPATH": str(ROOT)},
    )
    with_client(parameters, use_every_tool)


def test_what_the_person_has_not_read_is_in_no_result(library):
    (book,) = [b for b in library.library.books() if "Harrow Light" in b.title]
    memory = library.library.memory(library.library.gistings(book.id)[0].id)
    library.library.set_limit(book.id, on=True, paragraph=memory.page(10).end)

    async def work(client):
        shown = await call(client, "gist_memory", book=book.id)
        assert (shown["pages"], "only what they have read" in shown["note"]) == (10, True)
        assert (await call(client, "find", book=book.id, words="count it right"))["places"] == []
        assert (await call(client, "search", query='"count it right"'))["results"] == []
        for tool, arguments in (
            ("open_pages", {"pages": [14]}),
            ("fetch", {"id": f"{book.id}/page/14"}),
            ("fetch", {"id": f"{book.id}/paragraph/{memory.page(14).start}"}),
        ):
            if tool == "open_pages":
                arguments = {**arguments, "book": book.id}
            assert "may be seen" in await refused(client, tool, **arguments)
        answer = await call(client, "ask", books=[book.id], question="Who counts the oil?")
        assert max(answer["looked_up"].get(book.id, [0])) <= 10
        closed = [b.id for b in library.library.books()][:2]
        for book_id in closed:
            library.library.set_limit(book_id, on=True, paragraph=0)
        why = await refused(client, "ask", books=closed, question="Who counts the oil?")
        assert "None of these books has gists that the spoiler limits let in" in why

    with_client(make_server(library), work)


def test_a_question_is_asked_as_the_model_needs_it(open_workspace):
    model = FakeModel(lambda prompt: "Page []" if prompt.task.startswith("look_up") else "Answer: (B)")
    model.options = ModelOptions(reason_first=True)
    workspace = open_workspace("http://localhost:1/v1", model=model)
    add_samples(workspace)
    (book,) = [b for b in workspace.library.books() if "Harrow Light" in b.title]
    answer = ask_directly(workspace, book.id, options=["Nora", "Tilda"])
    assert answer.option == "Tilda"
    assert render_fragment("choose.reason_first", "en") in model.prompts[-1].text


def test_a_quotation_of_a_page_in_the_prompt_is_from_that_page(open_workspace):
    reply = 'Nora counts [14].\n\nEvidence:\n[14] "count it right"'
    workspace = open_workspace("http://localhost:1/v1", model=FakeModel(lambda prompt: reply))
    add_samples(workspace)
    (book,) = [b for b in workspace.library.books() if "Harrow Light" in b.title]
    answer = ask_directly(workspace, book.id, method="full-text")
    assert [citation.state for citation in answer.citations] == [FROM_PAGE]


def test_a_long_result_comes_in_parts(open_workspace):
    from bench.rendering import big_book

    workspace = open_workspace()
    memory = big_book(300, 700)
    book = workspace.library.add(memory.document)
    workspace.library.add_memory(book.id, memory)

    async def work(client):
        pieces, start = [], 0
        while start is not None and len(pieces) < 100:
            part = await call(client, "gist_memory", book=book.id, start=start)
            assert len(part["text"]) <= 40_000
            pieces.append(part["text"])
            start = part["next"]
        assert len(pieces) > 2
        assert "".join(pieces) == memory.gist_text
        opened = await call(client, "open_pages", book=book.id, pages=list(range(1, 40)))
        assert len(opened["pages"]) <= 20
        assert sum(len(page["text"]) + len(page["gist"]) for page in opened["pages"][:-1]) < 40_000
        assert len(opened["pages"]) + len(opened["left_out"]) == 39

    with_client(make_server(workspace), work)


def test_books_are_added_and_read_where_that_is_allowed_with_progress_and_cancel(open_workspace, tmp_path):
    file = tmp_path / "fog.txt"
    times = [[f"The bell number {n} rang {k} times in the fog." for k in range(30)] for n in range(20)]
    file.write_text("\n\n".join(map(" ".join, times)), encoding="utf-8")
    slow = threading.Event()

    def reply(text):
        return Reply(sensible(text), delay=30.0 if slow.is_set() else 0.0)

    with FakeServer(reply) as fake:
        workspace = open_workspace(fake.url, connections=2)

        async def work(client):
            added = await call(client, "add_book", source=str(file))
            name = added["book"]["id"]
            assert "make_gists" in await refused(client, "gist_memory", book=name)
            assert (await call(client, "find", book=name, words="number 7 rang"))["places"]
            lines = []

            async def heard(done, total, line):
                lines.append((done, total, line))

            result = await client.call_tool("make_gists", {"book": name}, progress_callback=heard)
            assert result.structured_content["book"]["gists"] == "ready"
            assert lines
            assert len(set(lines)) == len(lines)
            again = await call(client, "add_book", text="A second text. " * 400)
            slow.set()
            asked = len(fake.chats)
            with anyio.fail_after(20.0):
                async with anyio.create_task_group() as group:
                    group.start_soon(client.call_tool, "make_gists", {"book": again["book"]["id"]})
                    while len(fake.chats) == asked:
                        await anyio.sleep(0.02)
                    group.cancel_scope.cancel()
            with anyio.fail_after(5.0):
                while workspace.jobs.running():
                    await anyio.sleep(0.02)
            return again["book"]["id"]

        name = with_client(make_server(workspace, allow_changes=True), work)
        slow.clear()
        (gisting,) = workspace.library.gistings(name)
        assert gisting.state == "paused"

        async def far_away(client):
            assert "Over HTTP" in await refused(client, "add_book", source=str(file))
            assert (await call(client, "add_book", text="A third text."))["book"]["title"]

        with_client(make_server(workspace, allow_changes=True, local_files=False), far_away)


def test_over_http_with_a_token_only(library):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    import httpx2
    import uvicorn
    from mcp import Client, MCPError
    from mcp.client.streamable_http import streamable_http_client

    from readagent_core.mcp_server.server import http_app

    app = http_app(make_server(library), "the-token", host="127.0.0.1", port=port)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + 20
        while not server.started and time.monotonic() < until:
            time.sleep(0.02)
        url = f"http://127.0.0.1:{port}/mcp"
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "the-token"}):
            reply = httpx2.post(url, headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
            assert reply.status_code == 401
            assert "the-token" not in reply.text
        right = {"Authorization": "Bearer the-token"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert httpx2.post(url, headers={**right, "Host": "evil.example"}, json=body).status_code == 421
        assert httpx2.post(url, headers={**right, "Origin": "https://evil.example"}, json=body).status_code == 403

        async def run():
            async with (
                httpx2.AsyncClient(headers=right, timeout=30) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                assert (await call(client, "list_books", query="harrow light"))["total"] == 1

        anyio.run(run)
        with pytest.raises((MCPError, BaseExceptionGroup, httpx2.HTTPError)):
            with_client(url, lambda client: client.list_tools())
    finally:
        server.should_exit = True
        thread.join(20)


ODD = [
    ("list_books", {"query": None, "shelf": None, "tag": "", "start": None}, ""),
    ("list_books", {"start": "0", "query": 1984}, ""),
    ("list_books", {"start": -3}, "at least 0"),
    ("list_books", {"start": 10**5000}, ""),
    ("list_books", {"start": "9" * 5000}, "whole number"),
    ("list_books", {"start": 1.5}, "whole number"),
    ("list_books", {"start": True}, "whole number"),
    ("list_books", {"query": "x" * 1_200_000}, "1,200,000 characters"),
    ("search", {"query": "oil", "most": None}, ""),
    ("search", {"query": "oil", "most": 10**9}, ""),
    ("search", {"query": "oil", "most": 0}, "at least 1"),
    ("fetch", {"id": "BOOK/page/" + "1" * 5000}, "at most 1,000"),
    ("fetch", {"id": "BOOK/page/" + "1" * 500}, "no id of `search`"),
    ("fetch", {"id": "BOOK/page/1", "start": -3}, "at least 0"),
    ("fetch", {"id": "BOOK/page/1", "start": 10**9}, ""),
    ("fetch", {"id": "\ud800"}, "no id of `search`"),
    ("outline", {"book": "BOOK", "start": -1}, "at least 0"),
    ("outline", {"book": "n" * 900}, "There is no book"),
    ("gist_memory", {"book": "BOOK", "words": "", "about": None}, ""),
    ("gist_memory", {"book": "BOOK", "words": -5}, "at least 1"),
    ("open_pages", {"book": "BOOK", "pages": 3}, ""),
    ("open_pages", {"book": "BOOK", "pages": "3"}, ""),
    ("open_pages", {"book": "BOOK", "pages": "pages 1, 2"}, ""),
    ("open_pages", {"book": "BOOK", "pages": "undefined"}, "Name at least one page"),
    ("search", {"query": "oil", "most": "None"}, ""),
    ("gist_memory", {"book": "BOOK", "words": {}, "about": []}, ""),
    ("open_pages", {"book": "BOOK", "pages": None}, "Name at least one page"),
    ("open_pages", {"book": "BOOK", "pages": ["x"] * 90}, "whole number"),
    ("open_pages", {"book": "BOOK", "pages": list(range(50_000))}, "50,000 items"),
    ("open_pages", {"book": "BOOK", "pages": [10**5000]}, "pages 1 to"),
    ("find", {"book": "BOOK", "words": "oil", "most": None}, ""),
    ("find", {"book": "BOOK", "words": ["oil"]}, "a text is meant"),
    ("notes", {"book": "BOOK", "start": None}, ""),
    ("ask", {"books": "BOOK", "question": QUESTION, "options": None, "method": None, "look_ups": None}, ""),
    ("ask", {"books": ["BOOK"], "question": QUESTION, "options": ["a"] * 40}, "at most 26 options"),
    ("ask", {"books": ["BOOK", "nobody"], "question": QUESTION}, "no book 'nobody'"),
    ("ask", {"books": ["BOOK"], "question": QUESTION, "look_ups": -1}, "at least 0"),
    ("ask", {"books": ["BOOK"], "question": "why " * 300_000}, "1,200,000 characters"),
]  # fmt: skip


def test_odd_arguments_are_understood_or_refused_in_short_words(library):
    """``words``: what the refusal says; '' where the call is answered."""
    (book,) = [b for b in library.library.books() if "Harrow Light" in b.title]

    def filled(value):
        return value.replace("BOOK", book.id) if isinstance(value, str) else value

    async def work(client):
        for tool, arguments, words in ODD:
            sent = {
                name: [filled(item) for item in value] if isinstance(value, list) else filled(value)
                for name, value in arguments.items()
            }
            result = await client.call_tool(tool, sent)
            told = result.content[0].text if result.is_error else ""
            assert words in told, (tool, str(arguments)[:80], told[:500])
            assert result.is_error == bool(words), (tool, str(arguments)[:80], told[:500])
            assert len(told) < 3_000, (tool, len(told))

    with_client(make_server(library), work)


def test_no_result_is_larger_than_what_is_promised(open_workspace):
    from readagent_core.document import Document, Paragraph, Section
    from readagent_core.library.marks import COLOURS, KINDS, Mark, Spot

    workspace = open_workspace()
    long = "The keeper counts the oil. " * 800
    paragraphs = tuple(Paragraph(f"Oil {n}. {long}") for n in range(60))
    sections = tuple(Section(f"{n} {long}", n) for n in range(60))
    book = workspace.library.add(Document(long, paragraphs, sections, author=long))
    for number in range(40):
        mark = Mark(
            f"m{number}", book.id, KINDS[0], COLOURS[0], long, "", "", Spot(number, 0), Spot(number, 9), note=long
        )
        workspace.library.put_mark(mark)

    async def work(client):
        for tool, arguments in (
            ("list_books", {}),
            ("search", {"query": "oil", "most": 100}),
            ("outline", {"book": book.id}),
            ("find", {"book": book.id, "words": "oil", "most": 100}),
            ("notes", {"book": book.id}),
        ):
            found = await call(client, tool, **arguments)
            assert len(str(found)) < 60_000, tool
        listed, start = [], 0
        while start is not None:
            part = await call(client, "notes", book=book.id, start=start)
            listed += part["marks"]
            start = part["next"]
        assert len(listed) == 40

    with_client(make_server(workspace), work)


def test_the_server_says_its_version(library):
    import readagent_core as ra

    async def work(client):
        return client.server_info.version

    assert with_client(make_server(library), work) == ra.__version__


def test_a_client_that_has_left_pays_for_nothing_more(open_workspace, tmp_path):
    """Its connection is broken, without a word, while a book is read for it."""
    import httpx2
    import uvicorn

    from readagent_core.document import Document, Paragraph
    from readagent_core.mcp_server.server import http_app

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with FakeServer(lambda text: Reply(sensible(text), delay=0.3)) as fake:
        workspace = open_workspace(fake.url, connections=1)
        texts = [f"The bell number {n} rang in the fog. " * 30 for n in range(40)]
        book = workspace.library.add(Document("Fog", tuple(map(Paragraph, texts))))
        app = http_app(make_server(workspace, allow_changes=True), "t", host="127.0.0.1", port=port)
        server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        url, headers = f"http://127.0.0.1:{port}/mcp", {"Authorization": "Bearer t"}
        try:
            until = time.monotonic() + 20
            while not server.started and time.monotonic() < until:
                time.sleep(0.02)

            def post(number, method, **more):
                body = {"jsonrpc": "2.0", "id": number, "method": method, "params": more}
                return http.build_request("POST", url, headers=headers, json=body)

            headers["Accept"] = "application/json, text/event-stream"
            with httpx2.Client(timeout=30) as http:
                about = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "t", "version": "1"},
                }
                began = http.send(post(1, "initialize", **about))
                headers["Mcp-Session-Id"] = began.headers["mcp-session-id"]
                http.send(post(2, "tools/call", name="make_gists", arguments={"book": book.id}), stream=True)
                while len(fake.chats) < 3:
                    time.sleep(0.02)
            until = time.monotonic() + 10
            while workspace.jobs.running() and time.monotonic() < until:
                time.sleep(0.05)
            assert not workspace.jobs.running()
            (gisting,) = workspace.library.gistings(book.id)
            assert gisting.state == "paused"
        finally:
            server.should_exit = True
            thread.join(20)


class Remote:
    """What a client of the revision of 2026-07-28 gets for a task: polled until it has ended."""

    def __init__(self, *, cancels: bool = False) -> None:
        self.cancels, self.seen = cancels, []

    def extension(self):
        from typing import Literal

        from mcp.client.extension import ClientExtension, ResultClaim
        from mcp_types import CallToolResult, Request, RequestParams, Result

        class Made(Result):
            result_type: Literal["task"] = "task"
            task_id: str
            status: str

        class Params(RequestParams):
            task_id: str

        class Answer(Result):
            status: str = ""
            status_message: str = ""
            result: dict | None = None

        async def send(context, method, task_id):
            request = Request[Params, str](method=method, params=Params(task_id=task_id))
            return await context.session.send_request(request, Answer)

        async def follow(made, context):
            while True:
                now = await send(context, "tasks/get", made.task_id)
                self.seen.append((now.status, now.status_message))
                if now.status == "cancelled":
                    return CallToolResult(content=[], is_error=True)
                if now.status == "completed":
                    return CallToolResult.model_validate(now.result)
                if self.cancels:
                    await send(context, "tasks/cancel", made.task_id)
                await anyio.sleep(0.05)

        class Tasks(ClientExtension):
            identifier = "io.modelcontextprotocol/tasks"

            def claims(self):
                return [ResultClaim(result_type="task", model=Made, resolve=follow)]

        return Tasks()


def with_modern_client(server, work, **options):
    from mcp import Client

    async def run():
        async with Client(server, **options) as client:
            return await work(client)

    return anyio.run(run)


def priced(open_workspace, fake):
    workspace = open_workspace(fake.url, connections=2, prices={"fake-model": [1.0, 2.0]})
    lines = [" ".join(f"The bell number {n} rang {k} times in the fog." for k in range(30)) for n in range(20)]
    return workspace, open_pasted_text(workspace, "\n\n".join(lines))


@pytest.mark.parametrize("cancels", [False, True])
def test_gists_are_made_as_a_task_that_is_seen_and_cancelled(open_workspace, cancels):
    with FakeServer(lambda text: Reply(sensible(text), delay=0.3 if cancels else 0.0)) as fake:
        workspace, book = priced(open_workspace, fake)
        remote = Remote(cancels=cancels)

        async def work(client):
            return await client.call_tool("make_gists", {"book": book.id})

        server = make_server(workspace, allow_changes=True)
        result = with_modern_client(server, work, extensions=[remote.extension()])
    assert remote.seen[-1][0] == ("cancelled" if cancels else "completed")
    if not cancels:
        assert result.structured_content["book"]["gists"] == "ready"
    assert not workspace.jobs.running()


@pytest.mark.parametrize("answer", ["accept", "decline", "unable"])
def test_what_costs_money_is_asked_first(open_workspace, answer):
    from mcp_types import ElicitResult

    asked = []

    async def said(context, params):
        asked.append(params.message)
        return ElicitResult(action=answer, content={"make_gists": True} if answer == "accept" else None)

    with FakeServer(sensible) as fake:
        workspace, book = priced(open_workspace, fake)

        async def work(client):
            return await client.call_tool("make_gists", {"book": book.id})

        options = {} if answer == "unable" else {"elicitation_callback": said}
        result = with_modern_client(make_server(workspace, allow_changes=True), work, **options)
        paid = len(fake.chats)
    assert result.is_error == (answer == "decline")
    assert answer != "decline" or result.content[0].text.endswith("The person does not want these gists to be made.")
    assert bool(paid) == (answer != "decline")
    assert len(asked) == (0 if answer == "unable" else 1)
    assert answer == "unable" or "Make the gists?" in asked[0]


def test_the_memory_is_an_app_without_a_network(library):
    async def work(client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        shown = {name for name, tool in tools.items() if (tool.meta or {}).get("ui")}
        assert shown == {"gist_memory", "open_pages"}
        (page,) = (await client.read_resource("ui://readagent/memory.html")).contents
        return page

    page = with_client(make_server(library), work)
    assert page.mime_type == "text/html;profile=mcp-app"
    assert "default-src 'none'" in page.text
    assert not re.search(r"https?://|innerHTML|eval\(|fetch\(", page.text)
