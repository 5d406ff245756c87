"""``readagent app`` opens the browser; the server sends the frame and the scripts of the components."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from readagent_core.document import Document, Paragraph, Picture
from readagent_core.library import Library
from tests.app.conftest import ROOT


def get(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_the_app_opens_in_the_browser_with_its_frame_and_the_theme_that_was_chosen(tmp_path: Path) -> None:
    opened, browser, home = tmp_path / "opened", tmp_path / "browser", tmp_path / "home"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n', encoding="utf-8")
    browser.chmod(0o700)
    library = Library(home)
    library.set_preference("look", {"theme": "sepia"})
    picture, html = Picture("0" * 32, "image/png", b"\x89PNG"), Picture("1" * 32, "text/html", b"<script>")
    fog = library.add(Document("Fog", (Paragraph("Fog."),), pictures=(picture, html))).document_id
    library.close()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {"BROWSER": f"{browser} %s", "STREAMLIT_SERVER_HEADLESS": "false", "READAGENT_HOME": str(home)}
    command = [sys.executable, "-m", "readagent_core", "app", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while not opened.exists() and time.monotonic() < end:
            assert process.poll() is None
            time.sleep(0.1)
        url = f"http://localhost:{port}"
        assert opened.read_text(encoding="utf-8").strip() == url
        for screen in ("", "settings", "read"):
            status, page = get(f"{url}/{screen}")
            assert status == 200
            assert '<html lang="en" data-theme="sepia"' in page
            assert '<nav class="bar"' in page
        status, nothing = get(f"{url}/nosuchpage/deeper")
        assert status == 404
        assert "Open the library" in nothing
        assert 'href="/ask"' in nothing
        (typeface,) = re.findall(r'"Source Serif".*?url\("/(.*?)"', nothing)
        with urllib.request.urlopen(f"{url}/{typeface}", timeout=20) as answer:
            assert answer.read(4) == b"wOF2"
        script = re.search(r'"\./(bundle/\w+/memory_view/main\.js)"', page)
        assert script is not None
        status, text = get(f"{url}/{script[1]}")
        assert status == 200
        assert "export default" in text
        for other in ("memory_view/other.js", "../../pages/read.py", "%2e%2e/%2e%2e/app.py"):
            assert get(f"{url}/bundle/0/{other}")[0] in (400, 404)
        with urllib.request.urlopen(f"{url}/picture/{fog}/{picture.id}", timeout=20) as answer:
            assert answer.read() == picture.data
            sent = answer.headers
        assert sent["Content-Type"] == "image/png"
        assert sent["X-Content-Type-Options"] == "nosniff"
        assert sent["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert "immutable" in sent["Cache-Control"]
        for other in (f"{fog}/{html.id}", f"{fog}/{'2' * 32}", f"other/{picture.id}", f"{fog}/..%2f..%2fapp.py"):
            assert get(f"{url}/picture/{other}")[0] in (400, 404)
    finally:
        process.terminate()
        process.wait(20)
