"""A backup of the library is downloaded from Settings."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from readagent_core.library import Library
from readagent_core.library.backup import restore


def test_a_backup_from_settings_is_the_library(page: Page, app_url: str, keeper: str, tmp_path: Path) -> None:
    page.goto(f"{app_url}/settings")
    page.get_by_role("tab", name="Storage").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download a backup").click()
    download.value.save_as(tmp_path / "backup.zip")
    (tmp_path / "home").mkdir()
    restore(tmp_path / "backup.zip", tmp_path / "home")
    library = Library(tmp_path / "home")
    assert keeper in {book.id for book in library.books()}
    library.close()
