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


def open_with(files: dict[str, bytes], *, body: str = "", limits: Limits | None = None) -> Document:
    """A book with these pictures, opened in the bounded process."""
    pictures = body or "".join(picture(name) for name in files)
    return load_in_child_process(
        book({"A": paragraphs(1) + pictures + paragraphs(1)}, files), "x.epub", limits=limits or Limits()
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_a_bomb_of_pixels_is_not_decoded():
    # 40 million pixels as colours with alpha take 160 MB and more; 400 million are refused unseen
    files = {"huge.png": png_bomb(20_000, 20_000), "good.png": encode(line_art(), "PNG")}
    document = open_with(files, limits=Limits(memory=200 * MEGABYTE))
    assert [bool(figure.picture) for figure in document.figures] == [False, True]
    assert "1 too large" in left_out(document)
    within = Image.new("RGBA", (6_300, 6_300), (200, 30, 30, 128))
    document = open_with({"a.png": encode(within, "PNG"), **files}, limits=Limits(memory=200 * MEGABYTE))
    assert "2 too large" in left_out(document)
    assert document.figures[-1].picture


def test_broken_truncated_and_false_pictures_are_counted():
    whole = encode(photo(), "JPEG")
    files = {
        "half.jpg": whole[: len(whole) // 2],
        "noise.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40,
        "page.png": b"<html><script>alert(1)</script></html>",
        "empty.png": b"",
        "drawing.png": SVG,
    }
    document = open_with(files)
    assert not document.pictures
    assert "1 in a drawing format" in left_out(document)
    assert "4 damaged" in left_out(document)


def test_what_follows_a_picture_in_its_file_is_not_passed_on():
    data = encode(photo(), "JPEG") + b"<script>window.harmed = true</script>"
    (found,) = open_with({"a.jpg": data}).pictures
    assert b"script" not in found.data


def test_ten_thousand_small_pictures():
    dot, small = data_address(encode(Image.new("L", (8, 8)), "PNG")), []
    for n in range(300):  # each its own file, large enough to be shown
        small.append(data_address(encode(Image.new("RGB", (40, 40), (n % 256, n // 256, 90)), "PNG")))
    page = "".join(f'<p>{n}<img src="{dot}"></p>' for n in range(10_000))
    page += "".join(f'<p>more <img src="{address}"></p>' for address in small)
    document = load_in_child_process(page.encode(), "x.html", limits=Limits(pictures=250))
    assert len(document.pictures) == len(document.figures) == 250
    assert "50 more than are shown of one book" in left_out(document)
    assert "10,000 very small" in left_out(document)


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
        document = open_with({}, body=pictures + svg)
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
    document = open_with({"a.png": encode(line_art(), "PNG")})
    assert len(document.paragraphs) == 2
    assert not document.pictures
    assert document.warnings[-1].code == "no-pictures"


def test_pictures_come_back_from_the_process_as_they_were_made():
    data = book({"A": paragraphs(1) + picture("a.png")}, {"a.png": encode(photo(), "PNG")})
    here, there = load(data, "x.epub"), load_in_child_process(data, "x.epub")
    assert here.pictures == there.pictures
    assert here.figures == there.figures
    assert Image.open(BytesIO(there.pictures[0].data)).size == (800, 600)
