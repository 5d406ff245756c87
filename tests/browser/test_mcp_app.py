"""The memory as an app in an agent's window: a host as MCP Apps of 2026-01-26 has it, in a browser, over our server.

The host asks our MCP server for the view and for the tools' results, and puts the view into a sandboxed frame. It
answers what the view sends; anything else that the page asks for fails the test.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from readagent_core.incoming.samples import add_samples
from readagent_core.mcp_server.server import MEMORY_APP, make_server
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.mcp_server.test_mcp import with_client

HOST = """
<!doctype html><title>Host</title><iframe sandbox="allow-scripts" style="width: 600px; height: 500px"></iframe>
<script>
  const frame = document.querySelector("iframe"), heard = [];
  addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow || data.jsonrpc !== "2.0") return;
    heard.push(data);
    const post = (message) => source.postMessage({ jsonrpc: "2.0", ...message }, "*");
    if (data.method === "ui/initialize")
      post({ id: data.id, result: { protocolVersion: data.params.protocolVersion,
             hostInfo: { name: "host", version: "1" },
             hostCapabilities: { serverTools: {} }, hostContext: { theme: "light", displayMode: "inline" } } });
    else if (data.method === "ui/notifications/initialized") {
      post({ method: "ui/notifications/tool-input", params: { arguments: {} } });
      post({ method: "ui/notifications/tool-result", params: first });
    } else if (data.method === "tools/call") {
      const answer = await callTool(JSON.stringify(data.params));
      post(answer ? { id: data.id, result: JSON.parse(answer) }
        : { id: data.id, error: { code: -32000, message: "no" } });
    } else if (data.id !== undefined && data.method) post({ id: data.id, error: { code: -32601, message: "unknown" } });
  });
  const show = (html) => { frame.srcdoc = html; };
</script>
"""


def test_a_host_shows_the_memory_and_opens_a_page_of_it(new_page: Page, tmp_path: Path) -> None:
    workspace = Workspace(load_settings({"READAGENT_HOME": str(tmp_path / "home")}))
    add_samples(workspace)
    book = next(b for b in workspace.library.books() if b.title == "The Keeper of Harrow Light")
    workspace.library.set_limit(book.id, on=False)

    def ask(work: Callable[[Any], Any]) -> Any:
        with ThreadPoolExecutor(1) as other:  # this thread has the browser's event loop
            return other.submit(with_client, make_server(workspace), work).result(60)

    def call(name: str, arguments: dict[str, Any]) -> str:
        result = ask(lambda client: client.call_tool(name, arguments))
        return str(result.model_dump_json(by_alias=True, exclude_none=True))

    async def view_and_memory(client: Any) -> tuple[str, Any]:
        (view,) = (await client.read_resource(MEMORY_APP)).contents
        return view.text, await client.call_tool("gist_memory", {"book": book.id})

    view, memory = ask(view_and_memory)
    calls: list[dict[str, Any]] = []
    asked: list[str] = []

    def call_tool(text: str) -> str:
        calls.append(json.loads(text))
        return call(calls[-1]["name"], calls[-1]["arguments"]) if len(calls) == 1 else ""

    page = new_page
    page.expose_function("callTool", call_tool)
    page.on("request", lambda request: asked.append(request.url))
    page.set_content(HOST)
    page.evaluate(f"globalThis.first = {memory.model_dump_json(by_alias=True, exclude_none=True)}")
    page.evaluate("(html) => show(html)", view)
    shown = page.frame_locator("iframe")
    expect(shown.get_by_role("heading")).to_have_text("The Keeper of Harrow Light")
    gists = workspace.library.memory(workspace.library.gistings(book.id)[0].id).gists
    expect(shown.locator("li")).to_have_count(len(gists))
    expect(shown.locator("li").nth(6)).to_contain_text(gists[6].text[:60])
    shown.get_by_role("button", name="Open page 7").click()
    opened = shown.locator("li.open")
    expect(opened).to_have_count(1)
    assert len(opened.inner_text()) > 2 * len(gists[6].text)
    assert calls == [{"name": "open_pages", "arguments": {"book": book.id, "pages": [7]}}]
    shown.get_by_role("button", name="Close page 7").click()
    expect(shown.locator("li").nth(6)).to_contain_text(gists[6].text[:60])
    shown.get_by_role("button", name="Open page 8").click()  # which the host refuses
    expect(shown.get_by_role("status")).to_have_text("This page could not be opened here.")
    methods = page.evaluate("heard.map(({ method }) => method)")
    assert methods == ["ui/initialize", "ui/notifications/initialized", "tools/call", "tools/call"]
    assert [url for url in asked if not url.startswith(("about:", "data:"))] == []
    workspace.library.close()
