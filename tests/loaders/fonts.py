"""PDF pages set in small fonts of our own, whose glyphs are boxes: only their numbers and names say what they show."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, NumberObject, PdfObject, StreamObject

BOX = (0, -200, 600, 800)


def _encrypted(data: bytes, key: int) -> bytes:
    """Returns ``data`` in the encryption of Type 1 fonts, after four bytes that readers skip."""
    out = bytearray()
    for byte in bytes(4) + data:
        out.append(byte ^ (key >> 8))
        key = ((out[-1] + key) * 52845 + 22719) & 0xFFFF
    return bytes(out)


def _number(value: int) -> bytes:
    """Returns a number as a charstring has it."""
    if -107 <= value <= 107:
        return bytes([value + 139])
    high, low = divmod(abs(value) - 108, 256)
    return bytes([(247 if value > 0 else 251) + high, low])


def _glyph() -> bytes:
    """Returns a box of 400 by 600 units in a width of 500."""
    steps = [
        (50, 500, b"\x0d"),
        (0, 0, b"\x15"),
        (400, b"\x06"),
        (600, b"\x07"),
        (-400, b"\x06"),
        (b"\x09",),
        (b"\x0e",),
    ]
    return b"".join(_number(part) if isinstance(part, int) else part for step in steps for part in step)


def type1(name: str, glyphs: Mapping[int, str]) -> tuple[bytes, bytes]:
    """Returns the clear and the encrypted part of a Type 1 font with the names of ``glyphs`` at their numbers."""
    encoding = "".join(f"dup {code} /{glyph} put\n" for code, glyph in glyphs.items())
    clear = (
        f"%!PS-AdobeFont-1.0: {name} 001.000\n11 dict begin\n/FontName /{name} def\n/PaintType 0 def\n/FontType 1 def\n"
        "/FontMatrix [0.001 0 0 0.001 0 0] readonly def\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\n"
        f"{encoding}readonly def\n/FontBBox {{{' '.join(map(str, BOX))}}} readonly def\ncurrentdict end\n"
        "currentfile eexec\n"
    )
    glyph = _encrypted(_glyph(), 4330)
    names = [".notdef", *dict.fromkeys(glyphs.values())]
    shapes = b"".join(f"/{each} {len(glyph)} RD ".encode() + glyph + b" ND\n" for each in names)
    private = (
        b"dup /Private 8 dict dup begin\n/RD {string currentfile exch readstring pop} executeonly def\n"
        b"/ND {noaccess def} executeonly def\n/NP {noaccess put} executeonly def\n/BlueValues [] def\n"
        b"/MinFeature {16 16} def\n/password 5839 def\n2 index /CharStrings %d dict dup begin\n"
        % len(names)
        + shapes
        + b"end\nend\nreadonly put\nnoaccess put\ndup /FontName get exch definefont pop\nmark currentfile closefile\n"
    )
    return clear.encode(), _encrypted(private, 55665)


def _dictionary(**entries: PdfObject | str | int) -> DictionaryObject:
    kinds = {str: NameObject, int: NumberObject}
    return DictionaryObject({NameObject(f"/{k}"): kinds.get(type(v), lambda v: v)(v) for k, v in entries.items()})


def _stream(data: bytes, **entries: int) -> StreamObject:
    made = StreamObject()
    made.set_data(data)
    made.update(_dictionary(**entries))
    return made


def type1_font(writer: PdfWriter, name: str, glyphs: Mapping[int, str]) -> PdfObject:
    """Adds an embedded font without a character map and returns it."""
    clear, private = type1(name, glyphs)
    file = writer._add_object(_stream(clear + private, Length1=len(clear), Length2=len(private), Length3=0))
    box = ArrayObject(map(NumberObject, BOX))
    measures = {"ItalicAngle": 0, "Ascent": 800, "Descent": -200, "CapHeight": 700, "StemV": 50, "Flags": 4}
    known = _dictionary(Type="/FontDescriptor", FontName=f"/ABCDEF+{name}", FontBBox=box, FontFile=file, **measures)
    widths = ArrayObject([NumberObject(500)] * 256)
    kind = {"Type": "/Font", "Subtype": "/Type1", "BaseFont": f"/ABCDEF+{name}", "FirstChar": 0, "LastChar": 255}
    return writer._add_object(_dictionary(**kind, Widths=widths, FontDescriptor=writer._add_object(known)))


def type3_font(writer: PdfWriter, codes: bytes) -> PdfObject:
    """Adds a bitmap font as TeX embeds it and returns it: no name, and glyphs that are named by their numbers."""
    shape = writer._add_object(_stream(b"500 0 0 0 400 600 d1 0 0 400 600 re f"))
    names = [f"/a{code}" for code in codes]
    shapes = DictionaryObject({NameObject(name): shape for name in names})
    at = [part for code, name in zip(codes, names, strict=True) for part in (NumberObject(code), NameObject(name))]
    matrix = ArrayObject(map(FloatObject, (0.001, 0, 0, 0.001, 0, 0)))
    encoding = _dictionary(Type="/Encoding", Differences=ArrayObject(at))
    return writer._add_object(
        _dictionary(
            Type="/Font",
            Subtype="/Type3",
            FontBBox=ArrayObject(map(NumberObject, BOX)),
            FontMatrix=matrix,
            CharProcs=shapes,
            Encoding=encoding,
            FirstChar=0,
            LastChar=255,
            Widths=ArrayObject([NumberObject(500)] * 256),
        )
    )


def page(writer: PdfWriter, fonts: Mapping[str, PdfObject], content: str) -> None:
    """Adds a page with these fonts and this content."""
    made = writer.add_blank_page(420, 595)
    named = DictionaryObject({NameObject(f"/{name}"): font for name, font in fonts.items()})
    made[NameObject("/Resources")] = _dictionary(Font=named)
    made[NameObject("/Contents")] = writer._add_object(_stream(content.encode("latin-1")))


def written(writer: PdfWriter) -> bytes:
    out = BytesIO()
    writer.write(out)
    return out.getvalue()
