"""Streamlit's private names that the project uses exist in the installed Streamlit."""

from __future__ import annotations

import asyncio
import re
import socket
from pathlib import Path

import pytest
import streamlit
from streamlit.runtime.pages_manager import PagesManager

from pages.parts.shared import first_page
from pages.parts.shared.streamlit_private import chunks
from tests.app.conftest import ROOT

STATIC = Path(streamlit.__file__).parent / "static" / "static"
PRIVATE = ("assets/streamlit.css", "assets/shared/streamlit.js")  # the files that may use such names
ATTRIBUTE = re.compile(
    r"\[(data-(?!theme|kind|page|i|n|key|state|mode|stale|arriving|bar|screen|at|words|sheet|world|beside|drop|do|method)[\w-]+)"
)


@pytest.fixture(scope="module")
def frontend() -> str:
    """All scripts and style sheets of Streamlit's frontend."""
    files = [*STATIC.rglob("*.js"), *STATIC.rglob("*.css")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def used(folder: str, pattern: str) -> set[str]:
    """What ``pattern`` finds in the sources of a folder."""
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".js", ".css")]
    return {name for path in files for name in re.findall(pattern, path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("folder", ["assets", "tests", "bench"])
def test_every_test_id_is_one_of_the_frontend(frontend: str, folder: str) -> None:
    names = used(folder, r"""data-testid="?(\w+)""") | used(folder, r'get_by_test_id\("(\w+)"\)')
    assert names
    assert {name for name in names if name not in frontend} == set()


def test_every_attribute_and_class_is_one_of_the_frontend(frontend: str) -> None:
    css = (ROOT / PRIVATE[0]).read_text(encoding="utf-8")
    names = set(ATTRIBUTE.findall(css)) | used("assets", r"\.(st[A-Z]\w+)")
    assert {"data-testid", "data-rac", "stApp", "stBidiComponent"} <= names
    assert {name for name in names if name not in frontend} == set()


def test_the_theme_and_the_start_of_the_connection_are_taken_as_the_first_page_gives_them(frontend: str) -> None:
    assert "window.matchMedia(`(prefers-color-scheme: dark)`).matches" in frontend
    assert "`stActiveTheme-${window.location.pathname}`" in frontend
    assert "`stSidebarCollapsed-${" in frontend
    ours = ("window.__streamlit", "BACKEND_BASE_URL", "HOST_CONFIG", "blockErrorDialogs")
    told = ("stCommVersion", "`CLIENT_ERROR_DIALOG`", "`WEBSOCKET_CONNECTED`", "showError(`Connection error`")
    for name in (*ours, *told):
        assert name in frontend


def test_the_index_page_has_the_places_for_the_frame() -> None:
    text = first_page.page("read", "sepia")
    assert text.count("<title>ReadAgent</title>") == text.count('<html lang="en" data-theme="sepia" data-in-read>') == 1
    assert text.index("<script type") < text.index('src="./static/js/index.')  # ours runs first
    assert text.index("<body><style>") < text.index('<div id="root"></div><a class="brand"')
    for parts in (first_page.EVERYWHERE, *first_page.SCREENS.values()):
        elements = {part for part in parts if not part.endswith(".js")}
        assert elements <= {name.split(".")[0] for name in chunks(*elements)}


def test_the_pages_manager_has_the_switch() -> None:
    assert PagesManager.uses_pages_directory in (None, True, False)


def test_only_the_named_files_use_private_names() -> None:
    known = {*PRIVATE, "pages/parts/shared/streamlit_private.py"}
    names = ATTRIBUTE.pattern + r"|data-testid|stActiveTheme|streamlit\.runtime|streamlit\.web"
    for path in [*(ROOT / "assets").rglob("*.js"), *(ROOT / "assets").rglob("*.css"), *(ROOT / "pages").rglob("*.py")]:
        if (name := path.relative_to(ROOT).as_posix()) not in known:
            assert not (found := re.search(names, path.read_text(encoding="utf-8"))), f"{name} uses {found}"


def test_an_answer_is_sent_whole_at_once() -> None:
    """On a socket that names no protocol, as Streamlit and uvicorn bind them."""

    async def option() -> int:
        found: asyncio.Queue[int] = asyncio.Queue()

        async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = writer.get_extra_info("socket")
            await found.put(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = socket.socket(socket.AF_INET)
        listening.bind(("127.0.0.1", 0))
        async with await asyncio.start_server(answer, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            writer.close()
            return await asyncio.wait_for(found.get(), 10)

    assert asyncio.run(option()) == 1
