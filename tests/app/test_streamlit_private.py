"""Streamlit's private names that the project uses exist in the installed Streamlit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import streamlit
from streamlit.runtime.pages_manager import PagesManager

from tests.app.conftest import ROOT

STATIC = Path(streamlit.__file__).parent / "static" / "static"
PRIVATE = ("assets/streamlit.css", "assets/shared/streamlit.js")  # the files that may use such names
ATTRIBUTE = re.compile(r"\[(data-(?!theme|kind|i|n|key|state|mode|stale)[\w-]+)")


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


def test_the_theme_is_stored_under_the_name_that_the_script_writes(frontend: str) -> None:
    script = (ROOT / PRIVATE[1]).read_text(encoding="utf-8")
    assert "`stActiveTheme-${base}${screen}-v2`" in script
    assert "`stActiveTheme-${window.location.pathname}`" in frontend
    key = re.search(
        r"(\w+)=2,\w+=`stActiveTheme-\$\{window\.location\.pathname\}`,\w+=\{CACHED_THEME_VERSION:\1", frontend
    )
    assert key, "another version of the stored theme"
    assert PagesManager.uses_pages_directory in (None, True, False)


def test_only_the_named_files_use_private_names() -> None:
    known = {*PRIVATE, "pages/parts/shared/streamlit_private.py"}
    names = ATTRIBUTE.pattern + r"|data-testid|stActiveTheme|streamlit\.runtime|streamlit\.web"
    for path in [*(ROOT / "assets").rglob("*.js"), *(ROOT / "assets").rglob("*.css"), *(ROOT / "pages").rglob("*.py")]:
        if (name := path.relative_to(ROOT).as_posix()) not in known:
            assert not (found := re.search(names, path.read_text(encoding="utf-8"))), f"{name} uses {found}"
