"""A hundred documents of many kinds whose text is known, made by code: ``known_documents`` yields the same each time.

The kinds are what went wrong in files that people have: the form of a format, and the language. Nothing of the text may
be lost or added without a word of it in the notices.
"""

from __future__ import annotations

import random
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from io import BytesIO
from itertools import product

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from pypdf import PdfWriter
from pypdf.annotations import FreeText
from pypdf.generic import ArrayObject, FloatObject, NameObject, NumberObject, StreamObject, TextStringObject
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from readagent_core.document import Document
from readagent_core.errors import DocumentError
from readagent_core.loaders import load
from tests.loaders.converting import MADE, Book, packed
from tests.loaders.fonts import page as pdf_page
from tests.loaders.fonts import type3_font, written
from tests.loaders.laid_out import broken, made_pages, prose
from tests.loaders.picturing import book, data_address, encode, line_art

BOOKS = {
    "en": Book(
        "A Winter at the Weir", "Mary Osgood", "The weir was mended twice that year.",
        {
            "The ice": ["By December the river had closed, and the miller walked across it to the other bank.",
                        "“It will not hold a cart,” she said; nobody asked her why."],
            "The thaw": ["In March the water rose by 4 feet and took the lower bridge with it.",
                         "They counted 17 barrels on the meadow, none of them ours."],
        },
    ),
    "de": Book(
        "Ein Winter am Wehr", "Jörg Müßig", "Das Wehr wurde in jenem Jahr zweimal ausgebessert.",
        {
            "Das Eis": ["Im Dezember war der Fluss zugefroren, und der Müller ging über ihn an das andere Ufer.",
                        "„Einen Wagen trägt es nicht“, sagte sie, und niemand fragte nach dem Grund."],
            "Das Tauwetter": ["Im März stieg das Wasser und nahm die untere Brücke mit.",
                              "Auf der Wiese zählten sie siebzehn Fässer; keines war von uns."],
        },
    ),
    "ru": Book(
        "Зима у запруды", "Мария Осипова", "Запруду в тот год чинили дважды.",
        {
            "Лёд": ["К декабрю река встала, и мельник перешёл по ней на другой берег.",
                    "«Телегу он не выдержит», — сказала она, и никто не спросил почему."],
            "Оттепель": ["В марте вода поднялась и унесла нижний мост.",
                         "На лугу насчитали семнадцать бочек, и все чужие."],
        },
    ),
    "ja": Book(
        "堰の冬", "小山 真理", "その年、堰は二度なおされた。",
        {
            "氷": ["十二月には川が凍り、粉屋はその上を歩いて向こう岸へ渡った。",
                   "「荷車はむりだよ」と彼女は言ったが、誰も理由をたずねなかった。"],
            "雪解け": ["三月に水かさが増し、下の橋が流された。",
                       "牧場で樽を十七かぞえたが、うちの樽は一つもなかった。"],
        },
    ),
}  # fmt: skip
ARABIC = "هذا كتاب عن الحارس الذي كان يضيء المصباح كل ليلة قبل أن تصل السفن إلى الميناء وكان البحر هادئا."
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_SPACED_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789")
# notices that say of words in the file that they are not in the text, or not certain
TELLING = frozenset(
    "undecodable encoding parts-missing part-dropped parts-left-out parts-outside order-guessed pages-without-text "  # noqa: SIM905
    "pages-unreadable pages-damaged pages-not-read mended no-pictures text-unreadable text-misread".split()
)


@dataclass(frozen=True)
class Known:
    """A file and the paragraphs and headings that it has, in order. ``language``, ``title``: '' where any will do.

    ``sections``: the titles of its sections; None where any will do. ``told``: it must not be opened as if it were
    whole; an error or a notice says so."""

    kind: str
    name: str
    data: bytes
    text: Sequence[str]
    title: str = ""
    language: str = ""
    sections: Sequence[str] | None = None
    told: bool = False


def words_of(text: str) -> list[str]:
    """Returns the words of ``text``; of Chinese and Japanese each character."""
    return _WORD.findall(unicodedata.normalize("NFC", text).translate(_SPACED_RAISED))


@dataclass(frozen=True)
class Opened:
    """What a program found in a file. ``words``: of headings and text in order. ``codes``: of the notices."""

    words: Sequence[str]
    title: str = ""
    language: str = ""
    sections: Sequence[str] = ()
    codes: Sequence[str] = ()

    @classmethod
    def of(cls, document: Document) -> Opened:
        parts: list[str] = []
        for index, paragraph in enumerate(document.paragraphs):
            parts += [section.title for section in document.headings(index)]
            parts.append(paragraph.text)
        titles = [section.title for section in document.sections]
        codes = [notice.code for notice in document.warnings]
        return cls(words_of("\n".join(parts)), document.title, document.language, titles, codes)


def verdict(known: Known, opened: Opened | None) -> str:
    """Returns 'right', 'told' or 'silent' for a file that was opened, or not where ``opened`` is None."""
    if opened is None:
        return "right" if known.told else "told"
    told = bool(TELLING & set(opened.codes))
    if known.told:
        return "right" if told else "silent"
    wanted, title, found = words_of("\n".join(known.text)), words_of(opened.title), list(opened.words)
    same = found in (wanted, title + wanted) or title + found == wanted  # the title may be a heading of the text
    same = same and (not known.title or title == words_of(known.title))
    same = same and (not known.language or opened.language.split("-")[0] == known.language)
    titles = [one for one in opened.sections if one != "Notes"]
    same = same and (known.sections is None or list(map(words_of, titles)) == list(map(words_of, known.sections)))
    return "right" if same else "told" if told else "silent"


def judge(known: Known) -> tuple[str, str]:
    """Opens a file here and returns the verdict and what was found."""
    try:
        opened = Opened.of(load(known.data, known.name))
    except DocumentError as error:
        return verdict(known, None), str(error)
    return verdict(known, opened), " ".join(opened.words)


# --- formats that are turned into another -----------------------------------------------------------------------------


def _around(kind: str, made: Book) -> list[str]:
    """Returns the text that the maker of ``kind`` writes of a book."""
    chapters = [part for title, texts in made.chapters.items() for part in (title, *texts)]
    first = len(next(iter(made.chapters.values()))) + 1
    code = "```python lamp = 1 lit(lamp) ``` ```"
    texts = [text for texts in made.chapters.values() for text in texts]
    return {
        "doc": [*chapters, "So it was, by the sea.", "oil 3", "wick", "Notes", made.note],
        "fb2": [*chapters, "So.", "The end.", "Notes", made.note],
        "fb2.zip": [*chapters, "So.", "The end.", "Notes", made.note],
        "mobi": [*chapters, made.note],
        "odt": [*chapters, "So, it was.", "oil 3", "wick", "Notes", made.note],
        "rtf": [*chapters, "So it was, Мир.", "日本", "The end.", "Notes", made.note],
        "pptx": [*chapters[:first], f"Notes: {made.note}", *chapters[first:]],
        "mhtml": [*chapters, made.note],
        "webarchive": [*chapters, made.note],
        "eml": ["From: a@a.example To: b@b.example", *chapters, made.note],
        "mbox": [
            part
            for title, ps in made.chapters.items()
            for part in (title, "From: a@a.example To: b@b.example", *ps, made.note)
        ],
        "srt": [f"Keeper: {texts[0]}", texts[1], f"Иван: {texts[2]}", made.note],
        "vtt": [f"Keeper: {texts[0]}", texts[1], f"Иван: {texts[2]}", made.note],
        "ipynb": [*chapters, code, made.note],
    }[kind]


def converted() -> Iterator[Known]:
    for kind, make in MADE.items():
        for language, made in BOOKS.items():
            titles = None if kind in ("srt", "vtt") else list(made.chapters)
            text = _around(kind, made)
            yield Known(f"format {kind}", f"{language}.{kind}", make(made), text, sections=titles)


# --- PDF --------------------------------------------------------------------------------------------------------------


def _lines(canvas: Canvas, text: str, y: float, size: float = 10, width: float = 400, x: float = 80) -> float:
    for line in broken(text, width, "Times-Roman", size):
        canvas.setFont("Times-Roman", size)
        canvas.drawString(x, y, line)
        y -= 1.2 * size
    return y


def _sheet(draw: Callable[[Canvas], None], size: tuple[float, float] = A4, **facts: str) -> bytes:
    out = BytesIO()
    canvas = Canvas(out, pagesize=size, invariant=True)
    canvas.setTitle(facts.get("title", ""))
    canvas.setAuthor(facts.get("author", ""))
    draw(canvas)
    canvas.save()
    return out.getvalue()


def columns() -> Iterator[Known]:
    for made in made_pages():
        text = [*made.text, *(["arXiv:2601.01234v2 [cs.CL] 3 Jan 2026"] if made.name.startswith("paper") else [])]
        yield Known("pdf columns, forms, slides", f"{made.name}.pdf", made.data, text)


def small_glyphs() -> Iterator[Known]:
    for size in (0.12, 0.06):
        writer, text = PdfWriter(), prose(random.Random(str(size)), 160).encode("ascii", "ignore").decode()
        font = type3_font(writer, bytes(range(32, 127)))
        matrix = (0.1, 0, 0, 0.1, 0, 0) if size == 0.12 else (0.2, 0, 0, 0.2, 0, 0)
        font.get_object()[NameObject("/FontMatrix")] = ArrayObject(map(FloatObject, matrix))
        rows = [text[at : at + 60] for at in range(0, len(text), 60)]
        rows = broken(text, 60, "Courier", 1.66)
        shown = " ".join(f"<{row.encode().hex()}> Tj T*" for row in rows)
        pdf_page(writer, {"F": font}, f"BT /F {size} Tf 20 560 Td 12 TL {shown} ET")
        yield Known("pdf glyphs of a tiny size", f"{size}.pdf", written(writer), [text])


def vertical() -> Iterator[Known]:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    text = "".join("".join(ps) for ps in BOOKS["ja"].chapters.values())
    for height in (9, 14, 21):
        lines = [text[at : at + height] for at in range(0, len(text), height)]

        def draw(canvas: Canvas, lines: list[str] = lines) -> None:
            canvas.setFont("HeiseiMin-W3", 12)
            for number, line in enumerate(lines):
                for at, character in enumerate(line):
                    canvas.drawString(500 - 21 * number, 760 - 12 * at, character)

        yield Known("pdf vertical Japanese", f"{height}.pdf", _sheet(draw), [text], language="ja")


def titled() -> Iterator[Known]:
    text = prose(random.Random("titled"), 180)
    claims = ("7", "final_v2_REALLY (1)", "Annual Report of the Canal Board", "Microsoft Word - weir.doc", "")
    for number, claimed in enumerate(claims):

        def draw(canvas: Canvas) -> None:
            canvas.saveState()
            canvas.translate(30, 300)
            canvas.rotate(90)
            canvas.setFont("Times-Roman", 20)
            canvas.drawString(0, 0, "arXiv:2611.00042v1 [cs.DL] 2 Nov 2026")
            canvas.restoreState()
            canvas.setFont("Times-Bold", 17)
            canvas.drawString(80, 780, "On Weirs and Their Winters")
            _lines(canvas, text, 740)

        data = _sheet(draw, title=claimed, author="ARRAY(0x2c7cf020)")
        stamp = "arXiv:2611.00042v1 [cs.DL] 2 Nov 2026"
        yield Known("pdf title as printed", f"t{number}.pdf", data, [text, stamp], title="On Weirs and Their Winters")


def languages() -> Iterator[Known]:
    for said, language in (("en-US", "de"), ("pt-BR", "en"), ("fr", "de")):
        text = " ".join(" ".join(ps) for ps in BOOKS[language].chapters.values()) + " " + BOOKS[language].note
        text = text.replace("„", '"').replace("“", '"').replace("”", '"')
        writer = PdfWriter(clone_from=BytesIO(_sheet(lambda canvas, text=text: _lines(canvas, text, 780) and None)))
        writer._root_object[NameObject("/Lang")] = TextStringObject(said)
        yield Known("pdf language of the text", f"{said}-{language}.pdf", written(writer), [text], language=language)


def outlines() -> Iterator[Known]:
    text = prose(random.Random("outline"), 120)
    for gone in (3, 400):
        writer = PdfWriter(clone_from=BytesIO(_sheet(lambda canvas: _lines(canvas, text, 780) and None)))
        for number in range(gone):
            item = writer.add_outline_item(f"Gone {number}", 0)
            item.get_object()[NameObject("/Dest")] = ArrayObject([NumberObject(number + 1), NameObject("/Fit")])
        yield Known("pdf outline of pages that are gone", f"o{gone}.pdf", written(writer), [text], sections=[])


def typed_over() -> Iterator[Known]:
    text, seen = prose(random.Random("typed"), 90), "Seen and approved by the board of the canal."
    writer = PdfWriter(clone_from=BytesIO(_sheet(lambda canvas: _lines(canvas, text, 780) and None)))
    writer.add_annotation(0, FreeText(text=seen, rect=(80, 100, 400, 120)))
    yield Known("pdf words typed over a page", "typed.pdf", written(writer), [text, seen])


def unreadable() -> Iterator[Known]:
    text = prose(random.Random("garbage"), 240)
    readable = prose(random.Random("good"), 120)
    for by in (5, -3):
        garbage = "".join(chr(ord(c) + by) if "!" <= c <= "~" else c for c in text)

        def draw(canvas: Canvas, garbage: str = garbage) -> None:
            _lines(canvas, readable, 780)
            canvas.showPage()
            _lines(canvas, garbage, 780)

        yield Known("unreadable letters are told", f"g{by}.pdf", _sheet(draw), [readable], told=True)

    lines = broken(prose(random.Random("half"), 200), 400, "Times-Roman", 10)
    shifted = ["".join(chr(ord(c) + 2) if c.islower() else c for c in line) for line in lines]
    mixed = " ".join(bad if at % 3 == 1 else good for at, (good, bad) in enumerate(zip(lines, shifted, strict=True)))
    yield Known("unreadable letters are told", "mixed.pdf", _sheet(partial(_lines, text=mixed, y=780)), [], told=True)

    def outlined(canvas: Canvas) -> None:
        for number in range(300):
            canvas.rect(50 + number % 40 * 10, 700 - number // 40 * 20, 6, 10, fill=1)

    yield Known("unreadable letters are told", "outlined.pdf", _sheet(outlined), [], told=True)
    for name, made in (("html", _web), ("txt", lambda body: body.encode())):
        garbage = "".join(chr(ord(c) + 5) if "!" <= c <= "~" else c for c in text).replace("<", "x").replace("&", "y")
        body = "\n\n".join(garbage[at : at + 300] for at in range(0, 1200, 300))
        data = made("".join(f"<p>{part}</p>" for part in body.split("\n\n")) if name == "html" else body)
        yield Known("unreadable letters are told", f"garbage.{name}", data, [], told=True)


def turned() -> Iterator[Known]:
    """Pages that lie on their side, with words drawn by themselves, as links are."""
    for degrees in (90, 270):
        before, link, after = "The river is described in", "the second report", "of the board, which nobody has read."
        text = prose(random.Random(f"turned {degrees}"), 60)

        parts = (before, link, after)

        def draw(canvas: Canvas, degrees: int = degrees, text: str = text, parts: Sequence[str] = parts) -> None:
            canvas.rotate(degrees)
            canvas.translate(*((0, -595) if degrees == 90 else (-842, 0)))
            canvas.setFont("Times-Roman", 11)
            x = 60.0
            for part in parts:
                canvas.setFillColorRGB(0, 0, float(part is parts[1]))
                canvas.drawString(x, 500, part)
                x += pdfmetrics.stringWidth(f"{part} ", "Times-Roman", 11)
            _lines(canvas, text, 470, x=60)

        writer = PdfWriter(clone_from=BytesIO(_sheet(draw)))
        writer.pages[0][NameObject("/Rotate")] = NumberObject(degrees)
        data = written(writer)
        yield Known("pdf pages on their side", f"{degrees}.pdf", data, [f"{before} {link} {after}", text])


def turned_every_way() -> Iterator[Known]:
    """Two columns drawn in each direction on pages that are shown in each direction, and set askew as by a scanner."""
    columns = [prose(random.Random(f"every way {n}"), 80) for n in range(2)]
    moved = {0: (0, 0), 90: (0, -595), 180: (-595, -842), 270: (-842, 0)}
    for drawn, shown in [*product(moved, moved), (1, 0), (5, 0)]:

        def draw(canvas: Canvas, drawn: int = drawn) -> None:
            canvas.rotate(drawn)
            canvas.translate(*moved.get(drawn, (0, 0)))
            for x, text in zip((40, 330 if drawn in (0, 180) else 450), columns, strict=True):
                _lines(canvas, text, 500, width=220, x=x)

        writer = PdfWriter(clone_from=BytesIO(_sheet(draw)))
        writer.pages[0][NameObject("/Rotate")] = NumberObject(shown)
        yield Known("pdf pages turned every way", f"{drawn}-{shown}.pdf", written(writer), columns)


def misread() -> Iterator[Known]:
    """Text as poor recognition leaves it: one letter in nine is another, a sign or gone."""
    confused = {"e": "c", "l": "1", "i": "l", "o": "0", "t": "f", "s": "5", "a": "n", "h": "b", "d": "cl", "m": "rn"}
    for language, text in (("en", prose(random.Random("misread"), 700)), ("de", " ".join(GERMAN * 12))):
        chance = random.Random(f"misread {language}")
        poor = "".join(
            chance.choice([confused.get(c, c), confused.get(c, "^"), chance.choice("^~|¬"), ""])
            if c.isalpha() and chance.random() < 0.16
            else c
            for c in text
        )
        parts = [poor[at : at + 700] for at in range(0, len(poor), 700)]
        kind = "poor recognition is told"
        yield Known(kind, f"{language}.txt", "\n\n".join(parts).encode(), parts, told=True)
        yield Known(kind, f"{language}.pdf", _sheet(partial(_lines, text=poor[:2500], y=780)), parts, told=True)
        yield Known(kind, f"{language}.epub", _epub(One="".join(f"<p>{part}</p>" for part in parts)), parts, told=True)


GERMAN = [text for paragraphs in BOOKS["de"].chapters.values() for text in paragraphs]


def seen_from_the_right() -> Iterator[Known]:
    """Arabic as a browser prints it: each glyph at its place, the words in the order of sight from the left."""
    for number, text in enumerate((ARABIC, f"{ARABIC[:60]} 1901 {ARABIC[60:]}")):
        writer = PdfWriter()
        letters = sorted(set(text) - {" "})
        font = type3_font(writer, bytes(range(33, 33 + len(letters))))
        pairs = "".join(f"<{33 + n:02x}> <{ord(c):04x}>\n" for n, c in enumerate(letters))
        cmap = StreamObject()
        cmap.set_data(
            b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
            b"1 begincodespacerange <00> <ff> endcodespacerange\n"
            + f"{len(letters)} beginbfchar\n{pairs}endbfchar endcmap end end".encode()
        )
        font.get_object()[NameObject("/ToUnicode")] = writer._add_object(cmap)
        drawn, x = [], 20.0
        for word in reversed(text.split()):  # the last word is the one on the left
            glyphs = word if word.isascii() else word[::-1]
            codes = "".join(f"{33 + letters.index(c):02x}" for c in glyphs)
            drawn.append(f"1 0 0 1 {x} 500 Tm <{codes}> Tj")
            x += 2 * len(word) + 2
        pdf_page(writer, {"F": font}, f"BT /F 4 Tf {' '.join(drawn)} ET")
        yield Known("pdf Arabic in the order of sight", f"a{number}.pdf", written(writer), [text], language="ar")


# --- web pages and EPUB -----------------------------------------------------------------------------------------------


def _web(body: str, head: str = "") -> bytes:
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'>{head}</head><body>{body}</body></html>".encode()
    )


def _epub(**chapters: str) -> bytes:
    return book({name.replace("_", " "): body for name, body in chapters.items()}, {}, "The Weir")


def _mathml(inner: str) -> str:
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML">{inner}</math>'


FORMULAS = [
    ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "½"),
    ("<msup><mn>10</mn><mn>6</mn></msup>", "10⁶"),
    ("<mn>3</mn><mo>+</mo><mn>4</mn><mo>=</mo><mn>7</mn>", "3 + 4 = 7"),
    ("<msqrt><mn>16</mn></msqrt>", "√16"),
    ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", "(a+b)/c"),
]


def formulas() -> Iterator[Known]:
    lines = [f"Take {line} of it." for _, line in FORMULAS]
    body = "".join(f"<p>Take {_mathml(inner)} of it.</p>" for inner, _ in FORMULAS)
    yield Known("formulas", "mathml.epub", _epub(One=body), ["One", *lines])
    yield Known("formulas", "mathml.html", _web(body), lines)
    alt = "".join(
        f'<p>Take <span style="display:none">{_mathml(inner)}</span><img class="mwe-math-fallback-image-inline" '
        f'src="x.svg" alt="Alternative text not available"/> of it.</p>'
        for inner, _ in FORMULAS
    )
    yield Known("formulas", "hidden.html", _web(alt), lines)
    tex = r"<p>Take \(\frac{1}{2}\) of it.</p><p>Take \[10^6\] of it.</p>"
    yield Known("formulas", "tex.html", _web(tex), lines[:2])
    yield Known("formulas", "dollars.md", b"Take $\\frac{1}{2}$ of it.\n\nTake $10^6$ of it.\n", lines[:2])


def web_rules() -> Iterator[Known]:
    text = prose(random.Random("web"), 60)
    for name in ("related-work", "social-effects", "share-of-votes", "comments-on-method"):
        body = f'<h1>A</h1><p>{text}</p><section id="{name}"><h2>B</h2><p>{text}</p></section>'
        yield Known("web sections with an unlucky name", f"{name}.html", _web(body), ["A", text, "B", text])
    rules = {
        "edit": ('<h2>The weir<span class="mw-editsection">[<a href="e">edit</a>]</span></h2>', ["The weir"]),
        "button": ("<h2><button>The weir</button></h2>", ["The weir"]),
        "del": ("<p>It rose by <del>three</del> 4 feet.</p>", ["It rose by 4 feet."]),
        "list": ('<ol start="3" reversed><li>c<li>b<li value="9">a</ol>', ["3. c", "2. b", "9. a"]),
        "table": (
            '<table><tr><td rowspan="2">a<td>b<tr><td>c<tr><td>d<td>e</table>',
            ["a b", "c", "d e"],
        ),
        "comment": ("<!-- a remark --><p>Words.</p>", ["Words."]),
    }
    for name, (body, found) in rules.items():
        yield Known("web elements", f"{name}.html", _web(f"<p>{text}</p>{body}<p>{text}</p>"), [text, *found, text])
    thread = "".join(f'<div class="comment"><p>{prose(random.Random(f"c{n}"), 30)}</p></div>' for n in range(9))
    said = [prose(random.Random(f"c{n}"), 30) for n in range(9)]
    yield Known("web threads of comments", "thread.html", _web(f"<h1>Why?</h1>{thread}"), ["Why?", *said])


class _Unflagged(zipfile.ZipInfo):
    """An entry whose name is in UTF-8 and does not say so."""

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self.filename.encode(), self.flag_bits & ~0x800


def names() -> Iterator[Known]:
    forms = [
        ("fluß%20eins.xhtml", "O/" + unicodedata.normalize("NFD", "fluß eins.xhtml")),
        ("été.xhtml", "O/" + unicodedata.normalize("NFD", "été.xhtml")),
        ("a%20b.xhtml", "O/a%20b.xhtml"),
        ("text/z.xhtml", "O\\text\\z.xhtml"),
    ]
    for number, (href, stored) in enumerate(forms):
        out = BytesIO()
        opf = (
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest>'
            f'<item id="a" href="first.xhtml" media-type="application/xhtml+xml"/>'
            f'<item id="b" href="{href}" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="b"/><itemref idref="a"/></spine></package>'
        )
        container = '<container><rootfiles><rootfile full-path="O/b.opf"/></rootfiles></container>'
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("META-INF/container.xml", container)
            archive.writestr("O/b.opf", opf)
            archive.writestr("O/first.xhtml", "<html><body><p>Told last.</p></body></html>")
            archive.writestr(_Unflagged(stored), "<html><body><p>Told first.</p></body></html>")
        yield Known("epub names in the archive", f"n{number}.epub", out.getvalue(), ["Told first.", "Told last."])


def initials() -> Iterator[Known]:
    image = data_address(encode(line_art(90, 90), "PNG"))
    text = "The river froze in the night, and the mill stood still."
    for name, begin in (
        ("picture", f'<p><img src="{image}" alt="T"/>he river froze in the night, and the mill stood still.</p>'),
        ("block", "<div>T</div><p>he river froze in the night, and the mill stood still.</p>"),
        ("span", '<p><span class="dropcap">T</span> he river froze in the night, and the mill stood still.</p>'),
    ):
        yield Known("drop caps", f"{name}.epub", _epub(One=begin), ["One", text])
    made = docx.Document()
    frame = f'<w:p {nsdecls("w")}><w:pPr><w:framePr w:dropCap="drop"/></w:pPr><w:r><w:t>T</w:t></w:r></w:p>'
    rest = f"<w:p {nsdecls('w')}><w:r><w:t>he river froze in the night, and the mill stood still.</w:t></w:r></w:p>"
    yield Known("drop caps", "cap.docx", _docx(made, frame, rest), [text])


def notes() -> Iterator[Known]:
    body = (
        '<p>It froze<a epub:type="noteref" href="#n1">1</a> early.</p><p>All saw it.</p>'
        '<aside epub:type="footnote" id="n1"><p>In November.</p></aside>'
    )
    text = ["It froze early.", "All saw it.", "Notes", "In November."]
    yield Known("notes", "notes.epub", _epub(One=body), ["One", *text])
    web = body.replace('epub:type="noteref"', 'class="footnote-ref"').replace(
        '<aside epub:type="footnote" id="n1">', '<aside role="doc-footnote" id="n1">'
    )
    yield Known("notes", "notes.html", _web(web.replace(">1<", "><sup>1</sup><")), text)
    yield Known("notes", "notes.md", b"It froze[^1] early.\n\nAll saw it.\n\n[^1]: In November.\n", text)


def ornaments() -> Iterator[Known]:
    body = "".join(f'<p>Day {n} <img src="o.png" alt="picto"/> was cold.</p>' for n in range(5))
    yield Known("ornaments", "ornaments.epub", _epub(One=body), ["One", *(f"Day {n} was cold." for n in range(5))])


# --- Word -------------------------------------------------------------------------------------------------------------


def _docx(made: docx.document.Document, *inner: str) -> bytes:
    body = made.element.body
    for xml in inner:
        body.insert(len(body) - 1, parse_xml(xml))
    out = BytesIO()
    made.save(out)
    return out.getvalue()


STRICT = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "http://purl.oclc.org/ooxml/wordprocessingml/main",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships": (
        "http://purl.oclc.org/ooxml/officeDocument/relationships"
    ),
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "http://purl.oclc.org/ooxml/officeDocument/math",
}


def strict(data: bytes) -> bytes:
    """Returns a Word file as Word saves it in the form Strict Open XML."""
    files = {}
    with zipfile.ZipFile(BytesIO(data)) as archive:
        for name in archive.namelist():
            part = archive.read(name)
            for loose, tight in STRICT.items():
                part = part.replace(loose.encode(), tight.encode()) if name.endswith((".xml", ".rels")) else part
            files[name] = part
    return packed(files)


def word() -> Iterator[Known]:
    w = nsdecls("w")
    m = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'

    def run(text: str) -> str:
        return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'

    half = "<m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>"
    power = (
        "<m:oMath><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>6</m:t></m:r></m:sup></m:sSup></m:oMath>"
    )
    forms = {
        "half": (f"<w:p {w} {m}>{run('Add ')}{half}{run(' cup.')}</w:p>", ["Add ½ cup."]),
        "power": (f"<w:p {w} {m}>{run('About ')}{power}{run(' drops.')}</w:p>", ["About 10⁶ drops."]),
        "symbol": (
            f'<w:p {w}>{run("Fever is ")}<w:r><w:sym w:font="Symbol" w:char="F0B3"/></w:r>{run(" 39 degrees.")}</w:p>',
            ["Fever is ≥ 39 degrees."],
        ),
        "break": (f'<w:p {w}>{run("before")}<w:r><w:br w:type="page"/></w:r>{run("after")}</w:p>', ["before", "after"]),
        "blank": (f"<w:p {w}>{run('   ')}</w:p><w:p {w}>{run('Words.')}</w:p>", ["Words."]),
        "tab": (f"<w:p {w}>{run('one')}<w:r><w:tab/></w:r>{run('two')}</w:p>", ["one two"]),
    }
    for name, (xml, text) in forms.items():
        pieces = [part + "</w:p>" for part in xml.split("</w:p>")[:-1]]
        data = _docx(docx.Document(), *pieces)
        yield Known("word forms", f"{name}.docx", data, text)
        if name in ("half", "symbol", "break"):
            yield Known("word strict", f"strict-{name}.docx", strict(data), text)
    same = docx.Document()
    for text in ("Same", "Same", "It froze."):
        same.add_paragraph(text)
    yield Known("word forms", "Same.docx", _docx(same), ["Same", "Same", "It froze."])
    headed = docx.Document()
    headed.add_heading("The ice", 1)
    headed.add_paragraph("It held.")
    yield Known(
        "word strict", "strict-headed.docx", strict(_docx(headed)), ["The ice", "It held."], sections=["The ice"]
    )
    whole = _docx(headed)
    with zipfile.ZipFile(BytesIO(whole)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    relation = b'<Relationship Id="rIdX" Type="http://x/image" Target="media/gone.gif"/></Relationships>'
    name = "word/_rels/document.xml.rels"
    files[name] = files[name].replace(b"</Relationships>", relation)
    yield Known("word parts that are gone", "gone.docx", packed(files), ["The ice", "It held."])


# --- plain text -------------------------------------------------------------------------------------------------------

CHINESE = "他沿着结冰的河走到对岸，在磨坊里写下了水位，雪一直下到天亮。"
KOREAN = "그는 언 강을 건너 방앗간에 수위를 적었다. 눈은 새벽까지 내렸다."


def chapters() -> Iterator[Known]:
    english = prose(random.Random("chapters"), 50)
    forms = [
        (["第1章 堰", "第2章 冰", "第3章 春"], CHINESE), (["第 1 章", "第 2 章", "第 3 章"], CHINESE),
        (["【第一章】堰", "【第二章】冰", "【第三章】春"], CHINESE), (["卷一", "卷二", "卷三"], CHINESE),
        (["序言", "第一章 冰", "番外一"], CHINESE), (["제1장 보", "제2장 얼음", "제3장 봄"], KOREAN),
        (["Chapter 1: The Weir", "Chapter 2: The Ice", "Chapter 3: Spring"], english),
        (["CHAPTER I", "CHAPTER II", "CHAPTER III"], english),
    ]  # fmt: skip
    for number, (heads, body) in enumerate(forms):
        text = [part for head in heads for part in (head, body, body)]
        data = "\n".join(text).encode()
        yield Known("text chapters without blank lines", f"c{number}.txt", data, text, sections=heads)


def encodings() -> Iterator[Known]:
    for encoding in ("utf-16-le", "utf-16-be"):
        yield Known("text encodings", f"{encoding}.txt", "\n\n".join([CHINESE] * 3).encode(encoding), [CHINESE] * 3)
    russian = [text for ps in BOOKS["ru"].chapters.values() for text in ps] * 3
    yield Known("text encodings", "cp1251.txt", "\n\n".join(russian).encode("cp1251", "ignore"), russian)
    data = bytearray("\n\n".join([CHINESE] * 120).encode("gb18030"))
    data[len(CHINESE.encode("gb18030")) * 40] = 0xFF
    yield Known("text encodings", "bad-byte.txt", bytes(data), [CHINESE] * 120, told=True)
    text = prose(random.Random("zeros"), 60)
    yield Known("text encodings", "zeros.txt", f"{text}\n\n{text}".encode() + bytes(300), [text, text])
    lines = f"{text}\r\r\n\r\r\n{text}\r\r\n".encode()
    yield Known("text encodings", "returns.txt", lines, [text, text])


def lines() -> Iterator[Known]:
    said = ["is it frozen?", "since monday", "and the mill?", "it stands", "then we wait", "good night"]
    for number, form in enumerate(("[12/01/26, 10:{n}:32] {who}: {said}", "<{who}> {said}", "10:{n} {who}: {said}")):
        text = [form.format(n=10 + n, who=("ann", "Ben")[n % 2], said=one) for n, one in enumerate(said)]
        yield Known("text chats", f"chat{number}.txt", "\n".join(text).encode(), text)
    stanza = ["The weir that held the water back till spring", "Was silent in the frost, and every boat",
              "Lay fast along the bank and could not swing", "Nor any of the miller's barrels float"]  # fmt: skip
    verse = "\n\n".join("\n".join(stanza) for _ in range(5))
    yield Known("text verse", "verse.txt", verse.encode(), stanza * 5)
    ruby = (
        f"題\n作者\n\n{'-' * 55}\n【テキスト中に現れる記号について】\n《》：ルビ\n{'-' * 55}\n"
        "　川《かわ》が凍《こお》った。\n\n　｜粉屋《こなや》は渡った。\n\n底本：「本」\n"
    )
    yield Known("ruby", "ruby.txt", ruby.encode(), ["川が凍った。", "粉屋は渡った。"], title="題")
    body = "<p><ruby>川<rt>かわ</rt></ruby>が<ruby>凍<rp>(</rp><rt>こお</rt><rp>)</rp></ruby>った。</p>"
    yield Known("ruby", "ruby.epub", _epub(One=body), ["One", "川が凍った。"])


def public_files() -> Iterator[Known]:
    """Forms that some of a thousand public files have."""
    kind = "forms of public files"

    def rtf(body: str, fonts: str = "") -> bytes:
        return (r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Times;}" + fonts + "}" + body + "}").encode()

    item = r"{\listtext\tab \u8226 \tab}"
    yield Known(kind, "list.rtf", rtf(rf"\pard {item}First.\par {item}Second.\par"), ["First.", "Second."])
    nested = r"\intbl Outer\cell{\itap2 a\nestcell b\nestcell\nestrow}c\nestcell\nestrow\row\pard Below.\par"
    yield Known(kind, "nested.rtf", rtf(nested), ["Outer a b", "c", "Below."])
    cell = r"\trowd\pard\intbl Oil\par and wick\cell\pard\intbl 3\cell\row\pard Below.\par"
    yield Known(kind, "cells.rtf", rtf(cell), ["Oil and wick 3", "Below."])
    symbols = r"\pard{\f1\'b7 }One.\par{\f1 \'61}-rays.\par"
    yield Known(kind, "symbol.rtf", rtf(symbols, r"{\f1\fcharset2 Symbol;}"), ["One.", "α-rays."])
    shape = r"{\shp{\*\shpinst{\shptxt\pard In a box.\par}}}{\object{\*\objdata 00}{\result Shown.}}\par"
    yield Known(kind, "shape.rtf", rtf(shape), ["In a box.", "Shown."])
    late = r"\pard{\i0\*\cs7\f0 Words after a destination.}\par"
    yield Known(kind, "destination.rtf", rtf(late), ["Words after a destination."])
    czech = r"{\f1 \'e8l\'e1nek}\par"
    yield Known(kind, "czech.rtf", rtf(czech, r"{\f1\fcharset238 Times CE;}"), ["článek"])

    odt = MADE["odt"](BOOKS["en"])
    with zipfile.ZipFile(BytesIO(odt)) as archive:
        files: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist() if name != "mimetype"}
    head, _ = bytes(files["content.xml"]).split(b"<office:body>", 1)
    items = "<text:list-item><text:p>{}</text:p>{}</text:list-item>"
    inner = "<text:list>" + items.format("inner", "") * 2 + "</text:list>"
    text = (
        '<text:list text:style-name="N">' + items.format("one", inner) + items.format("two", "") + "</text:list>"
        '<text:list text:style-name="N" text:continue-numbering="true">' + items.format("three", "") + "</text:list>"
    )
    files["content.xml"] = head + f"<office:body><office:text>{text}</office:text></office:body>".encode()
    files["content.xml"] += b"</office:document-content>"
    level = '<t:list-level-style-number t:level="{}" s:num-format="{}" t:start-value="{}"/>'
    files["styles.xml"] = (
        '<x xmlns:t="t" xmlns:s="s"><t:list-style s:name="N">' + level.format(1, "1", 4) + level.format(2, "a", 1)
        + "</t:list-style></x>"
    )  # fmt: skip
    found = ["4. one", "a. inner", "b. inner", "5. two", "6. three"]
    yield Known(kind, "numbers.odt", packed(files, "application/vnd.oasis.opendocument.text"), found)

    titles = ["The ice", "The thaw", "Spring"]
    only = Book("The Weir", "", "", {"The ice": [], "The thaw": [], "Spring": []})
    bare = MADE["pptx"](replace(only, chapters={title: [] for title in titles[:2]}))
    yield Known(kind, "titles.pptx", bare, ["The ice", "The thaw"], title="The Weir")
    mail = "MIME-Version: 1.0\nFrom: a@a.example\nTo: b@b.example\nSubject: Ice\nMessage-ID: <1>\n\nIt held.\n"
    known = ["From: a@a.example To: b@b.example", "It held."]
    yield Known(kind, "utf-16.eml", b"\xff\xfe" + mail.encode("utf-16-le"), known, title="Ice")


# --- what is not read -------------------------------------------------------------------------------------------------


def told() -> Iterator[Known]:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    odt, pptx = MADE["odt"](BOOKS["en"]), MADE["pptx"](BOOKS["en"])
    files = {
        "cut.odt": odt[: len(odt) * 2 // 3],
        "cut.pptx": pptx[: len(pptx) * 2 // 3],
        "a.pages": packed({"Index/Document.iwa": "", "preview.jpg": ""}),
        "a.hwp": ole + "HwpSummaryInformation".encode("utf-16-le"),
        "a.ppt": ole + "PowerPoint Document".encode("utf-16-le"),
        "a.msg": ole + "__substg1.0_".encode("utf-16-le"),
        "a.opml": b'<?xml version="1.0"?><opml version="2.0"><body/></opml>',
        "a.kfx": b"\xeaDRMION\xee" + bytes(99),
        "a.cbz": packed({f"{n:02}.png": encode(line_art(200, 300), "PNG") for n in range(4)}),
    }
    for name, data in files.items():
        yield Known("what is not read is told", name, data, [], told=True)


KINDS: Sequence[Callable[[], Iterator[Known]]] = (
    columns, small_glyphs, vertical, titled, languages, outlines, typed_over, unreadable, turned, turned_every_way,
    misread, seen_from_the_right, formulas, web_rules,
    names, initials, notes, ornaments, word, chapters, encodings, lines, converted, public_files, told,
)  # fmt: skip


@cache
def known_documents() -> tuple[Known, ...]:
    return tuple(replace(one, text=tuple(one.text)) for make in KINDS for one in make())
