"""Pictures of every kind, made by code, and a book that shows some of them."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from html import escape
from io import BytesIO
from typing import Any

from ebooklib import epub
from PIL import Image, ImageDraw

PARAGRAPH = "The fog came in over the sound, and the keeper wrote the hour in the log. " * 9


def encode(image: Image.Image, kind: str, **more: Any) -> bytes:
    out = BytesIO()
    image.save(out, kind, **more)
    return out.getvalue()


def line_art(width: int = 900, height: int = 600) -> Image.Image:
    """A chart: black lines on white."""
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((8, 8, width - 9, height - 9), outline="black", width=3)
    for step in range(0, width, 18):
        draw.line((step, 10, step // 2, height // 2), fill="#333333")
    draw.ellipse((width // 2, height // 3, width // 2 + 120, height // 3 + 90), outline="black", width=4)
    return image


def photo(width: int = 800, height: int = 600) -> Image.Image:
    """Colours that run into each other."""
    red = Image.linear_gradient("L").resize((width, height))
    green = Image.radial_gradient("L").resize((width, height))
    return Image.merge("RGB", (red, green, red.rotate(180)))


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png_bomb(width: int, height: int) -> bytes:
    """A small PNG file that says it has so many pixels, and has them: all black."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    rows = zlib.compressobj(9)
    body = b"".join(rows.compress(bytes(1 + (width + 7) // 8)) for _ in range(height)) + rows.flush()
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", body) + chunk(b"IEND", b"")


SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90" onload="window.harmed = true">'
    b'<script>window.harmed = true; fetch("http://192.0.2.1/x")</script><rect width="90" height="90"/></svg>'
)


def data_address(data: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{b64encode(data).decode()}"


def book(
    chapters: dict[str, str],
    files: dict[str, bytes],
    title: str = "The Harrow Pilot",
    *,
    author: str = "",
    language: str = "en",
) -> bytes:
    """An EPUB with a chapter for each title, whose body is given, and pictures by their names."""
    made = epub.EpubBook()
    made.set_identifier("made-for-tests")
    made.set_title(title)
    made.set_language(language)
    if author:
        made.add_author(author)
    items = []
    for number, (name, body) in enumerate(chapters.items()):
        item = epub.EpubHtml(uid=f"c{number}", title=name, file_name=f"text/c{number}.xhtml")
        item.content = f"<h2>{escape(name)}</h2>{body}"
        made.add_item(item)
        items.append(item)
    for number, (name, data) in enumerate(files.items()):
        made.add_item(epub.EpubItem(f"p{number}", f"images/{name}", "image/png", data))
    made.toc = [epub.Link(item.file_name, item.title, item.id) for item in items]
    for item in (epub.EpubNcx(), epub.EpubNav()):
        made.add_item(item)
    made.spine = ["nav", *items]
    out = BytesIO()
    epub.write_epub(out, made)
    return out.getvalue()


def paragraphs(count: int) -> str:
    return f"<p>{PARAGRAPH}</p>" * count


def picture(name: str, alt: str = "", caption: str = "") -> str:
    image = f'<img src="../images/{name}" alt="{alt}"/>'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>" if caption else f"<p>{image}</p>"


def illustrated() -> bytes:
    """A book with a chart, a photograph, a small drawing with transparent ground, and a broken picture."""
    lamp = Image.new("RGBA", (240, 240), (0, 0, 0, 0))
    ImageDraw.Draw(lamp).ellipse((30, 30, 210, 210), outline=(20, 20, 20, 255), width=6)
    chapters = {
        "The Chart": paragraphs(2)
        + picture("chart.png", "A chart of Harrow Sound", "Figure 1. Harrow Sound, with both bearings.")
        + paragraphs(4),
        "The Tower": picture("photo.jpg", "The tower at dusk") + paragraphs(5) + picture("lamp.png") + paragraphs(2),
        "The Boat": paragraphs(1) + picture("broken.png", "The boat at her mooring") + paragraphs(6),
    }
    files = {
        "chart.png": encode(line_art(), "PNG"),
        "photo.jpg": encode(photo(), "JPEG"),
        "lamp.png": encode(lamp, "PNG"),
        "broken.png": encode(photo(300, 200), "PNG")[:2000],
    }
    return book(chapters, files)
