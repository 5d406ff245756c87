"""Pictures that are built to do harm: memory and time stay bounded, the text opens, nothing is asked of a server."""

from __future__ import annotations

import socket
import sys
import threading
from io import BytesIO

import pytest
from PIL import Image

from readagent_core.document import Document
from readagent_core.loaders import Limits, load
from readagent_core.loaders.child_process import load_in_child_process
from tests.loaders.picturing import SVG, book, data_address, encode, line_art, paragraphs, photo, picture, png_bomb

MEGABYTE = 1 << 20


def left_out(document: Document) -> str:
    return next((notice.message for notice in document.warnings if notice.code == "pictures-left-out"), "")


def book_of(files: dict[str, bytes], body: str = "") -> bytes:
    """A book with these pictures."""
    pictures = body or "".join(picture(name) for name in files)
    return book({"A": paragraphs(1) + pictures + paragraphs(1)}, files)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_a_bomb_of_pixels_is_not_decoded():
    # 40 million pixels as colours with alpha take 160 MB and more; 400 million are refused unseen
    within = encode(Image.new("RGBA", (6_300, 6_300), (200, 30, 30, 128)), "PNG", compress_level=1)
    files = {"a.png": within, "huge.png": png_bomb(20_000, 20_000), "good.png": encode(line_art(), "PNG")}
    document = load_in_child_process(book_of(files), "x.epub", limits=Limits(memory=200 * MEGABYTE))
    assert [bool(figure.picture) for figure in document.figures] == [False, False, True]
    assert "2 too large" in left_out(document)


def test_broken_truncated_and_false_pictures_are_counted():
    whole = encode(photo(), "JPEG")
    files = {
        "half.jpg": whole[: len(whole) // 2],
        "noise.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40,
        "page.png": b"<html><script>alert(1)</script></html>",
        "empty.png": b"",
        "drawing.png": SVG,
    }
    document = load(book_of(files), "x.epub")
    assert not document.pictures
    assert "1 in a drawing format" in left_out(document)
    assert "4 damaged" in left_out(document)


def test_what_follows_a_picture_in_its_file_is_not_passed_on():
    data = encode(photo(), "JPEG") + b"<script>window.harmed = true</script>"
    (found,) = load(book_of({"a.jpg": data}), "x.epub").pictures
    assert b"script" not in found.data


def test_thousands_of_small_pictures():
    dot, small = data_address(encode(Image.new("L", (8, 8)), "PNG")), []
    for n in range(30):  # each its own file, large enough to be shown
        small.append(data_address(encode(Image.new("RGB", (40, 40), (n, 0, 90)), "PNG")))
    page = "".join(f'<p>{n}<img src="{dot}"></p>' for n in range(2_000))
    page += "".join(f'<p>more <img src="{address}"></p>' for address in small)
    document = load_in_child_process(page.encode(), "x.html", limits=Limits(pictures=20))
    assert len(document.pictures) == len(document.figures) == 20
    assert "10 more than are shown of one book" in left_out(document)
    assert "2,000 very small" in left_out(document)


def test_no_address_is_asked():
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                asked.append(connection.recv(100))
                connection.close()

        threading.Thread(target=answer, daemon=True).start()
        port = server.getsockname()[1]
        pictures = "".join(
            f'<p><img src="{address}" srcset="http://127.0.0.1:{port}/2x 2x" alt="The far light"/></p>'
            for address in (f"http://127.0.0.1:{port}/a.png", f"//127.0.0.1:{port}/b.png", "file:///etc/hostname")
        )
        svg = f'<svg><image xlink:href="http://127.0.0.1:{port}/c.png"/></svg>'
        document = load(book_of({}, pictures + svg), "x.epub")
        assert "4 in other files or on other servers" in left_out(document)
        with socket.create_connection(("127.0.0.1", port)) as own:
            own.sendall(b"own")
            own.recv(1)
    assert asked == [b"own"]


def test_a_picture_that_brings_the_process_down_does_not_take_the_text(monkeypatch, tmp_path):
    # the child imports this in place of Pillow's decoder, which a file may crash
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nfrom PIL import ImageFile\nImageFile.ImageFile.load = lambda self: os.abort()\n", encoding="utf-8"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    document = load_in_child_process(book_of({"a.png": encode(line_art(), "PNG")}), "x.epub")
    assert len(document.paragraphs) == 2
    assert not document.pictures
    assert document.warnings[-1].code == "no-pictures"


def test_pictures_come_back_from_the_process_as_they_were_made():
    data = book({"A": paragraphs(1) + picture("a.png")}, {"a.png": encode(photo(), "PNG")})
    here, there = load(data, "x.epub"), load_in_child_process(data, "x.epub")
    assert here.pictures == there.pictures
    assert here.figures == there.figures
    assert Image.open(BytesIO(there.pictures[0].data)).size == (800, 600)
