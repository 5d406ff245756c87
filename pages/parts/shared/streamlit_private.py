"""Everything of Streamlit's Python code that is not part of its public interface and may change with a release.

assets/shared/streamlit.js and assets/streamlit.css have the browser's side; tests/app/test_streamlit_private.py fails
when the installed Streamlit no longer has what they name.
"""

import re
from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

STATIC = Path(st.__file__).parent / "static"
_IMPORT = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')


def require_navigation() -> None:
    """Make every screen run inside screens.py, also the first one that a new server is asked for.

    Because the folder ``pages`` is beside it, Streamlit runs a page alone until ``st.navigation`` was called once.
    """
    PagesManager.uses_pages_directory = False


def index_page() -> str:
    """The page in which Streamlit's scripts draw the app."""
    return (STATIC / "index.html").read_text(encoding="utf-8")


def chunks(*elements: str) -> list[str]:
    """The script files of these elements and what they import, without those that the index page names.

    Streamlit loads them when an element is first drawn, which shows an empty box in its place meanwhile.
    """
    folder, found, first = STATIC / "static" / "js", list[str](), index_page()
    waiting = [path.name for name in elements for path in folder.glob(f"{name}.*.js")]
    while waiting:
        name = waiting.pop()
        if name not in found and name not in first:
            found.append(name)
            waiting.extend(_IMPORT.findall((folder / name).read_text(encoding="utf-8")))
    return found
