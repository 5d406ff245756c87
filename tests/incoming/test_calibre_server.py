"""Catalogues over Calibre's own content server, started on loopback with a library made here."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from readagent_core.errors import LoginError
from readagent_core.incoming import catalogues as kept
from readagent_core.incoming.opds import Offer
from readagent_core.secret import Secret
from tests.loaders.picturing import encode, photo
from tests.sharing.test_progress import epub

pytestmark = pytest.mark.skipif(
    shutil.which("calibre-server") is None or shutil.which("calibredb") is None,
    reason="Calibre's server is not installed (Debian's package calibre has it)",
)
TALE = "The keeper wrote the log. It rained all night, and no ship came past the rocks of Harrow.\n"
USER, PASSWORD = "mara", "open sesame"


class Calibre:
    """A library of two books, and a user."""

    def __init__(self, folder: Path) -> None:
        self.library, self.users = folder / "books", folder / "users.sqlite"
        self._log = folder / "calibre.log"
        settings = {
            "HOME": str(folder),
            "CALIBRE_CONFIG_DIRECTORY": str(folder / "settings"),
            "XDG_RUNTIME_DIR": str(folder),
        }
        self._environment = os.environ | settings
        (folder / "The log.epub").write_bytes(epub())
        (folder / "A tale.txt").write_text(TALE * 3)
        (folder / "cover.png").write_bytes(encode(photo(60, 90), "PNG"))
        self.library.mkdir()
        books = [folder / "The log.epub", folder / "A tale.txt"]
        self._run("calibredb", "add", "--with-library", self.library, "--cover", folder / "cover.png", *books)
        self._run("calibre-server", "--userdb", self.users, "--manage-users", "--", "add", USER, PASSWORD)

    def _run(self, *command: str | Path) -> None:
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=120)
        if "Another calibre program" in done.stdout + done.stderr:
            pytest.skip("Calibre is open on this computer, and lets no other program have a library")
        assert done.returncode == 0, done.stderr

    @contextmanager
    def running(self, *options: str) -> Iterator[str]:
        """The address of its catalogue while it runs."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = ["calibre-server", "--port", str(port), "--listen-on", "127.0.0.1", "--disable-use-bonjour"]
        with self._log.open("wb") as log:
            server = subprocess.Popen(
                [*command, *options, str(self.library)], env=self._environment, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            self._wait_for(port, server)
            yield f"127.0.0.1:{port}/opds"
        finally:
            server.terminate()
            server.wait(20)

    def _wait_for(self, port: int, server: subprocess.Popen[bytes]) -> None:
        for _ in range(600):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    return
            assert server.poll() is None, self._log.read_text()
            time.sleep(0.1)
        raise AssertionError(self._log.read_text())


@pytest.fixture(scope="module")
def calibre(tmp_path_factory: pytest.TempPathFactory) -> Calibre:
    return Calibre(tmp_path_factory.mktemp("calibre"))


def test_a_library_of_calibre_is_browsed_searched_and_added(calibre, workspace):
    with calibre.running("--max-opds-items", "1") as address:
        found, first = kept.try_catalogue(workspace, address)
        assert (found.home, found.name) == (True, "calibre Library")
        lists = {entry.title: entry for entry in first.entries}
        assert {"By Newest", "By Title", "By Authors"} <= set(lists)
        titles, page = [], kept.open_page(workspace, found, lists["By Title"].address)
        for _ in range(3):
            titles += [(entry.title, entry.offer) for entry in page.entries]
            if not page.next:
                break
            page = kept.open_page(workspace, found, page.next)
        assert titles == [("The log", Offer.FREE), ("A tale", Offer.FREE)]  # it sorts without the article
        log = kept.search(workspace, found, page, "the log").entries[0]
        assert kept.fetch_cover(workspace, found, log.cover).startswith(b"\xff\xd8")
        book = kept.add_from_catalogue(workspace, found, log)
        assert (book.title, book.format, book.author) == ("The log", "epub", log.author)
        tale = kept.search(workspace, found, first, "tale").entries[0]
        assert kept.add_from_catalogue(workspace, found, tale).title == "A tale"
        for words in ("nowhere in it", "a/b", '"', "AND", "50%", "grün"):  # Calibre says 404 where it finds nothing
            assert kept.search(workspace, found, page, words).entries == ()


@pytest.mark.parametrize("way", ["digest", "basic"])
def test_calibre_asks_for_user_and_password(calibre, workspace, way):
    options = ("--enable-auth", "--auth-mode", way, "--userdb", str(calibre.users))
    with calibre.running(*options) as address:
        with pytest.raises(LoginError, match="asks for a user and password"):
            kept.try_catalogue(workspace, address)
        with pytest.raises(LoginError, match="It refused “mara”"):
            kept.try_catalogue(workspace, address, USER, Secret("wrong"))
        found, page = kept.try_catalogue(workspace, address, USER, Secret(PASSWORD), "At home")
        kept.keep_catalogue(workspace, found, Secret(PASSWORD))
        again = kept.catalogues(workspace)[-1]
        log = kept.search(workspace, again, page, "the log").entries[0]
        assert kept.fetch_cover(workspace, again, log.cover).startswith(b"\xff\xd8")
        assert kept.add_from_catalogue(workspace, again, log).title == "The log"
