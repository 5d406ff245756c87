"""Makes one small book in each of the further formats: two chapters, a note, a picture, letters of several scripts."""

from __future__ import annotations

import base64
import json
import plistlib
import struct
import zipfile
from dataclasses import dataclass
from html import escape
from io import BytesIO

from PIL import Image

from tests.loaders.old_words import made_doc


@dataclass(frozen=True)
class Book:
    """What a made file holds. ``chapters``: the paragraphs by the title; ``note``: of the second chapter."""

    title: str
    author: str
    note: str
    chapters: dict[str, list[str]]


TITLE, AUTHOR = "The Lamp of Süd", "Ada Береза"
NOTE = "Oil was dear in that year."
CHAPTERS = {
    "The fog": ["The fog came in over the café at dusk, and nobody saw the boats.", "“Light the lamp,” said Иван."],
    "The lamp": ["The keeper lit the lamp with the last of the oil.", "日本語の文章もここにある。"],
}
LAMP = Book(TITLE, AUTHOR, NOTE, CHAPTERS)


def picture() -> bytes:
    out = BytesIO()
    image = Image.linear_gradient("L").resize((120, 90)).convert("RGB")
    image.save(out, "PNG")
    return out.getvalue()


def packed(files: dict[str, bytes | str], kind: str = "") -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        if kind:
            archive.writestr("mimetype", kind, zipfile.ZIP_STORED)
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def fb2(book: Book = LAMP, head: str = '<?xml version="1.0" encoding="utf-8"?>') -> bytes:
    sections = "".join(
        f"<section><title><p>{title}</p></title>{''.join(f'<p>{text}</p>' for text in texts)}{more}</section>"
        for (title, texts), more in zip(
            book.chapters.items(),
            (*[""] * (len(book.chapters) - 1), '<p>So<a l:href="#n1" type="note">1</a>.</p>'),
            strict=True,
        )
    )
    return (
        f'{head}<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">'
        f"<description><title-info><author><first-name>{book.author}</first-name></author>"
        f"<book-title>{book.title}</book-title><lang>en</lang></title-info></description>"
        f'<body><title><p>{book.author}</p><p>{book.title}</p></title>{sections}<section><image l:href="#p.png"/>'
        f"<p>The end.</p></section></body>"
        f'<body name="notes"><section id="n1"><title><p>1</p></title><p>{book.note}</p></section></body>'
        f'<binary id="p.png" content-type="image/png">{base64.b64encode(picture()).decode()}</binary></FictionBook>'
    ).encode()


def fb2_zip(book: Book = LAMP) -> bytes:
    return packed({"book.fb2": fb2(book)})


def odt(book: Book = LAMP) -> bytes:
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    names = " ".join(
        f'xmlns:{n}="{space}{v}"'
        for n, v in {
            "office": "office:1.0",
            "text": "text:1.0",
            "draw": "drawing:1.0",
            "table": "table:1.0",
            "svg": "svg-compatible:1.0",
            "meta": "meta:1.0",
        }.items()
    )
    names += ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    body = "".join(
        f'<text:h text:outline-level="1">{title}</text:h>' + "".join(f"<text:p>{text}</text:p>" for text in texts)
        for title, texts in book.chapters.items()
    )
    note = f"<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>{book.note}</text:p></text:note-body></text:note>"  # noqa: E501
    image = '<draw:frame><draw:image xlink:href="Pictures/p.png"/><svg:desc>A lamp</svg:desc></draw:frame>'
    extra = (
        f"<text:p>So{note}, it<text:s text:c='2'/>was.</text:p><text:p>{image}</text:p><table:table><table:table-row>"
        "<table:table-cell><text:p>oil</text:p></table:table-cell><table:table-cell><text:p>3</text:p></table:table-cell>"
        "</table:table-row></table:table><text:list><text:list-item><text:p>wick</text:p></text:list-item></text:list>"
        "<text:tracked-changes><text:p>Deleted words.</text:p></text:tracked-changes>"
    )
    return packed(
        {
            "content.xml": f"<office:document-content {names}><office:body><office:text>{body}{extra}</office:text></office:body></office:document-content>",  # noqa: E501
            "meta.xml": f"<office:document-meta {names}><office:meta><dc:title>{book.title}</dc:title><dc:creator>{book.author}</dc:creator></office:meta></office:document-meta>",  # noqa: E501
            "Pictures/p.png": picture(),
        },
        "application/vnd.oasis.opendocument.text",
    )


def rtf(book: Book = LAMP) -> bytes:
    def coded(text: str) -> str:
        units = text.encode("utf-16-le")
        return "".join(
            chr(u) if u < 128 else f"\\u{u - 65536 if u > 32767 else u}?" for (u,) in struct.iter_unpack("<H", units)
        )

    body = "".join(
        rf"\pard\s1 {coded(title)}\par" + "".join(rf"\pard {coded(text)}\par" for text in texts)
        for title, texts in book.chapters.items()
    )
    return (
        r"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset128 Mincho;}}"
        r"{\stylesheet{\s0 Normal;}{\s1 heading 1;}}{\info{\title "
        + coded(book.title)
        + r"}{\author "
        + coded(book.author)
        + "}}"
        rf"{body}\pard So{{\footnote \pard {coded(book.note)}}} it was, \'cc\'e8\'f0.\par {{\f1 \'93\'fa\'96\'7b}} \u-10179?\u-8704?\par"  # noqa: E501
        r"{\pict\pngblip 89504e470d0a}{\field{\*\fldinst HYPERLINK x}{\fldrslt The end.}}\par}"
    ).encode("ascii")


def pptx(book: Book = LAMP) -> bytes:
    p = 'xmlns:p="http://p" xmlns:a="http://a" xmlns:r="http://r"'

    def shape(kind: str, lines: list[str]) -> str:
        texts = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
        return f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody>{texts}</p:txBody></p:sp>'

    def rels(*targets: str) -> str:
        one = '<Relationship Id="rId{0}" Type="http://t/{2}" Target="{1}"/>'
        kinds = ("notesSlide" if "notes" in target else "x" for target in targets)
        found = (one.format(n, *both) for n, both in enumerate(zip(targets, kinds, strict=True), 1))
        return f"<Relationships>{''.join(found)}</Relationships>"

    files: dict[str, bytes | str] = {
        "ppt/presentation.xml": f'<p:presentation {p}><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>',  # noqa: E501
        "_rels/.rels": '<R><Relationship Id="a" Type="http://t/core-properties" Target="docProps/core.xml"/></R>',
        "ppt/_rels/presentation.xml.rels": rels("slides/slide1.xml", "slides/slide2.xml"),
        "ppt/slides/_rels/slide2.xml.rels": rels("../notesSlides/n.xml", "../media/p.png"),
        "ppt/notesSlides/n.xml": f"<p:notes {p}>{shape('body', [book.note])}{shape('sldNum', ['7'])}</p:notes>",
        "ppt/media/p.png": picture(),
        "docProps/core.xml": f'<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{book.title}</dc:title><dc:creator>{book.author}</dc:creator></c>',
    }
    image = '<p:pic><p:nvPicPr><p:cNvPr descr="A lamp"/></p:nvPicPr><a:blip r:embed="rId2"/></p:pic>'
    for number, (title, texts) in zip((2, 1), book.chapters.items(), strict=True):
        shapes = (
            shape("body", texts) + shape("sldNum", ["7"]) + (image if number == 2 else "") + shape("title", [title])
        )
        files[f"ppt/slides/slide{number}.xml"] = f"<p:sld {p}><p:spTree>{shapes}</p:spTree></p:sld>"
    return packed(files)


def page(source: str, book: Book) -> str:
    chapters = "".join(f"<h2>{t}</h2>" + "".join(f"<p>{p}</p>" for p in ps) for t, ps in book.chapters.items())
    return (
        f'<html><head><title>{book.title}</title><meta name="author" content="{book.author}">'
        "<script>evil()</script></head><body>"
        f'<h1>{book.title}</h1>{chapters}<img src="{source}"><img src="http://127.0.0.1:9/far.png"><p>{book.note}</p></body></html>'
    )


def _mail(head: str, source: str, named: str, book: Book) -> bytes:
    text, image = (base64.encodebytes(data).decode() for data in (page(source, book).encode(), picture()))
    return (
        f'{head}MIME-Version: 1.0\nContent-Type: multipart/related; boundary="b"\n\n--b\n'
        "Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\nContent-Location: http://a.example/b/\n\n"
        f"{text}\n--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n{named}\n\n{image}\n--b\n"
        'Content-Type: application/pdf\nContent-Disposition: attachment; filename="other.pdf"\n\nx\n--b--\n'
    ).encode()


def mhtml(book: Book = LAMP) -> bytes:
    head = "From: <Saved by Blink>\nSnapshot-Content-Location: http://a.example/b/\nSubject: x\n"
    return _mail(head, "p.png", "Content-Location: http://a.example/b/p.png", book)


def eml(book: Book = LAMP) -> bytes:
    return _mail(f"From: a@a.example\nTo: b@b.example\nSubject: {book.title}\n", "cid:one", "Content-ID: <one>", book)


def mbox(book: Book = LAMP) -> bytes:
    messages = (
        f"From a@a.example Mon Jan  1 00:00:00 2024\nFrom: a@a.example\nTo: b@b.example\nMessage-ID: <{n}>\nSubject: {title}\n"  # noqa: E501
        f"Content-Type: text/plain; charset=utf-8\n\n" + "\n\n".join(texts) + f"\n\n{book.note}\n\n"
        for n, (title, texts) in enumerate(book.chapters.items())
    )
    return "".join(messages).encode()


def webarchive(book: Book = LAMP) -> bytes:
    main = {
        "WebResourceData": page("p.png", book).encode(),
        "WebResourceMIMEType": "text/html",
        "WebResourceURL": "http://a.example/b/",
        "WebResourceTextEncodingName": "UTF-8",
    }
    image = {
        "WebResourceData": picture(),
        "WebResourceMIMEType": "image/png",
        "WebResourceURL": "http://a.example/b/p.png",
    }
    return plistlib.dumps({"WebMainResource": main, "WebSubresources": [image]}, fmt=plistlib.FMT_BINARY)


def cues(book: Book = LAMP) -> list[tuple[str, str]]:
    texts = [text for texts in book.chapters.values() for text in texts]
    return list(zip(("Keeper", "", "Иван", ""), [*texts[:3], book.note], strict=True))


def srt(book: Book = LAMP) -> bytes:
    return "\r\n\r\n".join(
        f"{n}\r\n00:0{n}:05,000 --> 00:0{n}:09,500\r\n{f'{who}: ' if who else ''}<i>{text}</i>"
        for n, (who, text) in enumerate(cues(book), 1)
    ).encode("utf-8-sig")


def vtt(book: Book = LAMP) -> bytes:
    return (
        "WEBVTT\n\nNOTE by nobody\n\n"
        + "\n\n".join(
            f"cue {n}\n0{n}:05.000 --> 0{n}:09.500 align:start\n{f'<v {who}>' if who else ''}{text}"
            for n, (who, text) in enumerate(cues(book), 1)
        )
    ).encode()


def ipynb(book: Book = LAMP) -> bytes:
    cells = [
        {"cell_type": "markdown", "source": [f"# {t}\n", "\n", "\n\n".join(ps)]} for t, ps in book.chapters.items()
    ]
    outputs = [
        {"output_type": "stream", "text": [f"{book.note}\n"]},
        {"output_type": "display_data", "data": {"image/png": "x", "text/plain": "<Figure>"}},
    ]
    cells.append({"cell_type": "code", "source": "lamp = 1\nlit(lamp)", "outputs": outputs})
    return json.dumps({"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": cells}).encode()


def mobi(book: Book = LAMP, *, locked: bool = False) -> bytes:
    """A Kindle book of version 6, not compressed: two records and a picture."""
    chapters = "".join(f"<h1>{t}</h1>" + "".join(f"<p>{p}</p>" for p in ps) for t, ps in book.chapters.items())
    text = f'<html><body>{chapters}<p><img recindex="00001"/></p><p>{book.note}</p></body></html>'.encode()
    pieces = [text[at : at + 4096] for at in range(0, len(text), 4096)]
    author = book.author.encode()
    exth = struct.pack(">4sIIII", b"EXTH", 0, 1, 100, 8 + len(author)) + author
    exth += b"\0" * (-len(exth) % 4)
    exth = exth[:4] + struct.pack(">I", len(exth)) + exth[8:]
    title = book.title.encode()
    header = bytearray(232)
    struct.pack_into(">4sIIIII", header, 0, b"MOBI", 232, 2, 65001, 1, 6)
    header[24:64] = b"\xff" * 40
    struct.pack_into(">III", header, 64, len(pieces) + 1, 16 + 232 + len(exth), len(title))
    struct.pack_into(">IIII", header, 76, 9, 0, 0, 6)
    struct.pack_into(">I", header, 92, len(pieces) + 1)
    struct.pack_into(">I", header, 112, 0x40)
    for at in (148, 152, 156, 160, 164, 168, 172, 176, 180, 184, 188, 192, 196, 200, 204, 208, 212, 216, 220, 228):
        struct.pack_into(">I", header, at, 0xFFFFFFFF)
    first = struct.pack(">HHIHHHH", 1, 0, len(text), len(pieces), 4096, 2 if locked else 0, 0)
    first += bytes(header) + exth + title + b"\0" * 8
    records = [first, *pieces, picture(), b"\xe9\x8e\r\n"]
    at, index = 78 + 8 * len(records) + 2, b""
    for number, record in enumerate(records):
        index += struct.pack(">II", at, number)
        at += len(record)
    name = b"The_Lamp".ljust(32, b"\0")
    head = name + struct.pack(">HHIIIIII4s4sIIH", 0, 0, 0, 0, 0, 0, 0, 0, b"BOOK", b"MOBI", 0, 0, len(records))
    return head + index + b"\0\0" + b"".join(records)


def doc(book: Book = LAMP) -> bytes:
    return made_doc(book)


MADE = {
    "doc": doc, "fb2": fb2, "fb2.zip": fb2_zip, "mobi": mobi, "odt": odt, "rtf": rtf, "pptx": pptx,
    "mhtml": mhtml, "webarchive": webarchive, "eml": eml, "mbox": mbox, "srt": srt, "vtt": vtt, "ipynb": ipynb,
}  # fmt: skip
