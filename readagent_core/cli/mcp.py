"""The command that serves the library to agents of other programs."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from readagent_core.cli.output import report_errors, say_aside
from readagent_core.cli.shared import open_workspace
from readagent_core.errors import SettingsError

TOKEN = "READAGENT_MCP_TOKEN"


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP with a token, not over stdio.")] = False,
    allow_changes: Annotated[
        bool, typer.Option("--allow-changes", help="Also offer add_book and make_gists; without it nothing is changed.")
    ] = False,
    host: Annotated[str, typer.Option(help="Over HTTP: the address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Over HTTP: the port.")] = 8502,
    token: Annotated[
        str, typer.Option(envvar=TOKEN, help="Over HTTP: what clients have to send; a random one by default.")
    ] = "",
    name: Annotated[list[str] | None, typer.Option(help="Over HTTP: another host name it is reached by.")] = None,
) -> None:
    """Serve the library by the Model Context Protocol, for agents of other programs."""
    with report_errors(as_json=False):
        try:
            import anyio

            from readagent_core.mcp_server.server import http_app, make_server
            from readagent_core.mcp_server.stdio import serve_stdio
        except ImportError:
            raise SettingsError("This needs the packages of 'readagent[mcp]': pip install 'readagent[mcp]'.") from None
        server = make_server(open_workspace(), allow_changes=allow_changes, local_files=not http)
        if not http:
            anyio.run(serve_stdio, server)
            return
        import uvicorn

        if not token:
            token = secrets.token_urlsafe(32)
            say_aside(f"Token for this run ({TOKEN} sets one that stays): {token}")
        say_aside(f"Serving at http://{host}:{port}/mcp")
        uvicorn.run(
            http_app(server, token, host=host, port=port, names=name or ()), host=host, port=port, log_level="warning"
        )
