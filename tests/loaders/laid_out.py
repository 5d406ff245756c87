"""Pages whose text and order are known: columns that change, forms, slides, boxes, papers with a stamp at the margin.

``made_pages`` returns the same forty each time. Their lines are drawn column by column, row by row across the columns,
or in no order, as programs do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO

from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from tests.loaders.making import sample

WIDTH, HEIGHT = A4
ROMAN, BOLD = "Times-Roman", "Times-Bold"


@dataclass(frozen=True)
class Made:
    """A PDF. ``text``: its paragraphs and headings in reading order. ``sections``: the titles of its slides."""

    name: str
    data: bytes
    text: Sequence[str]
    sections: Sequence[str] = ()


@dataclass
class Sheet:
    """The lines of one page before they are drawn: x, baseline, text, font, size, word space."""

    chance: random.Random
    lines: list[tuple[float, float, str, str, float, float]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def line(self, x: float, y: float, text: str, font: str = ROMAN, size: float = 10, spread: float = 0) -> None:
        self.lines.append((x, y, text, font, size, spread))

    def heading(self, x: float, y: float, text: str, size: float = 16) -> None:
        self.line(x, y, text, BOLD, size)
        self.text.append(text)

    def draw(self, canvas: Canvas, order: str) -> None:
        lines = list(self.lines)
        if order == "rows":
            lines.sort(key=lambda line: (-line[1], line[0]))
        elif order == "any":
            self.chance.shuffle(lines)
        for x, y, text, font, size, spread in lines:
            canvas.setFont(font, size)
            canvas.drawString(x, y, text, wordSpace=spread)


def prose(chance: random.Random, words: int) -> str:
    """Returns about so many words of running text that ends with a full stop."""
    paragraphs = [p.text for p in sample("the-keeper-of-harrow-light").paragraphs if "\n" not in p.text]
    text = " ".join(paragraphs).replace("*", "").replace("—", ", ").split()
    start = chance.randrange(len(text) - words)
    found = " ".join(text[start : start + words]).strip(" ,;:.!?-“”\"'")
    return found[0].upper() + found[1:] + "."


def broken(text: str, width: float, font: str, size: float, indent: float = 0) -> list[str]:
    lines = [""]
    for word in text.split():
        room = width - (indent if len(lines) == 1 else 0)
        longer = f"{lines[-1]} {word}".strip()
        if stringWidth(longer, font, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def columns(
    sheet: Sheet,
    top: float,
    count: int,
    *,
    left: float = 50,
    right: float = WIDTH - 50,
    gutter: float = 14,
    size: float = 9,
    words: int = 60,
    each: int = 3,
    indent: float = 10,
    justified: bool = True,
    heads: bool = False,
) -> float:
    """Sets ``count`` columns of ``each`` paragraphs that are filled evenly. Returns the height below them."""
    width = (right - left - (count - 1) * gutter) / count
    rows: list[tuple[float, str, str, float]] = []
    for number in range(each * count):
        if heads and number % each == 0:
            title = " ".join(prose(sheet.chance, 3).rstrip(".").split()[:3]).title()
            rows.append((0, title, BOLD, 0))
            sheet.text.append(title)
        text = prose(sheet.chance, words + sheet.chance.randrange(-10, 11))
        sheet.text.append(text)
        lines = broken(text, width, ROMAN, size, indent)
        for at, line in enumerate(lines):
            start = 0 if at else indent
            room, spaces = width - start - stringWidth(line, ROMAN, size), line.count(" ")
            spread = room / spaces if justified and spaces and at + 1 < len(lines) else 0
            rows.append((start, line, ROMAN, spread))
    leading, per = 1.2 * size, -(-len(rows) // count)
    for number, (start, line, font, spread) in enumerate(rows):
        column, row = divmod(number, per)
        sheet.line(left + column * (width + gutter) + start, top - row * leading, line, font, size, spread)
    return top - per * leading


def three(sheet: Sheet, number: int) -> None:
    sheet.heading(50, 780, prose(sheet.chance, 5).rstrip("."))
    columns(sheet, 750, 3, gutter=(11, 14, 20)[number % 3], heads=number > 2, each=4, justified=number % 2 == 0)


def four(sheet: Sheet, number: int) -> None:
    sheet.heading(50, 780, prose(sheet.chance, 5).rstrip("."))
    columns(sheet, 750, 4, gutter=(10, 12, 16)[number % 3], size=8, words=45, each=4, justified=number % 2 == 0)


def changing(sheet: Sheet, number: int) -> None:
    counts = [(1, 2, 3), (2, 3, 2), (3, 1, 2), (1, 3, 4), (2, 1, 2), (3, 2, 1), (1, 2, 1), (4, 2, 3)][number]
    y = 790.0
    for band, count in enumerate(counts):
        if band and number % 2:
            sheet.heading(50, y - 14, prose(sheet.chance, 4).rstrip("."), 14)
            y -= 24
        y = columns(sheet, y - 12, count, words=50, each=2, indent=0 if number % 3 == 0 else 10) - 2


def form(sheet: Sheet, number: int) -> None:
    """Instructions in three narrow columns under a line across, with bold heads."""
    sheet.heading(40, 800, f"Instructions for Form {1040 + number}", 18)
    sheet.line(40, 782, opening := prose(sheet.chance, 14), ROMAN, 9)
    sheet.text.append(opening)
    columns(sheet, 766, 3, left=40, right=WIDTH - 40, gutter=(9, 10, 12)[number % 3], each=4, heads=True,
            indent=0 if number % 2 else 9, words=55, justified=number % 2 == 0)  # fmt: skip


def boxes(sheet: Sheet, number: int) -> None:
    """Two columns, a box across below them, and two more below the box."""
    y = columns(sheet, 790, 2, each=2, words=70)
    text = prose(sheet.chance, 70)
    sheet.text.append(text)
    for row, line in enumerate(broken(text, WIDTH - 140, BOLD, 10)):
        sheet.line(70, y - 16 - 12 * row, line, BOLD, 10)
    columns(sheet, y - 30 - 12 * (row + 1), 2 + number % 2, each=3, words=60)


def paper(sheet: Sheet, number: int) -> None:
    """Two columns on the same baselines below title, authors and abstract."""
    sheet.heading(120, 770, "How a Lamp is Kept: Notes on " + prose(sheet.chance, 2).rstrip("."), 17)
    sheet.line(220, 748, "Ada Keeper and Ben Harrow", ROMAN, 11)
    sheet.text.append("Ada Keeper and Ben Harrow")
    abstract = prose(sheet.chance, 60)
    sheet.text.append(abstract)
    for row, line in enumerate(broken(abstract, 360, ROMAN, 9)):
        sheet.line(118, 722 - 11 * row, line, ROMAN, 9)
    columns(sheet, 722 - 11 * (row + 2) - 10, 2, size=10, gutter=16, each=5, words=55, heads=number % 2 == 0)


_DRAWN = ("columns", "rows", "any")


def _page(make: Callable[[Sheet, int], None], number: int, order: str) -> Made:
    sheet = Sheet(random.Random(f"{make.__name__} {number}"))
    make(sheet, number)
    out = BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=True)
    if make is paper:  # a stamp at the margin, before the text
        canvas.saveState()
        canvas.translate(30, 300)
        canvas.rotate(90)
        canvas.setFont(ROMAN, 20)
        canvas.drawString(0, 0, "arXiv:2601.01234v2 [cs.CL] 3 Jan 2026")
        canvas.restoreState()
    sheet.draw(canvas, order)
    canvas.save()
    return Made(f"{make.__name__}-{number}-{order}", out.getvalue(), sheet.text)


def slides(number: int) -> Made:
    """Six slides: a title, bullets in two sizes, a number at the foot; on some a column beside."""
    chance = random.Random(f"slides {number}")
    out, text, sections = BytesIO(), [], []
    width, height = landscape((540, 720)) if number % 2 else (960, 540)
    canvas = Canvas(out, pagesize=(width, height), invariant=True)
    for slide in range(6):
        title = " ".join(prose(chance, 4).rstrip(".").split()).title()
        canvas.setFont(BOLD if number % 3 else ROMAN, 36)
        canvas.drawString(50, height - 70, title)
        text.append(title)
        sections.append(title)
        y = height - 130
        for bullet in range(4):
            size = 18 if bullet % 2 and number > 1 else 24
            words = prose(chance, 9 if size == 24 else 12).rstrip(".")
            mark = ("•", "–", "•", "•", "•")[number]
            text.append(f"{mark} {words}")
            for row, line in enumerate(broken(words, width - 160, ROMAN, size)):
                canvas.setFont(BOLD if number == 3 and not row and bullet == 1 else ROMAN, size)
                indent = 50 if size == 24 else 80
                if not row:
                    canvas.drawString(indent, y, mark)
                canvas.drawString(indent + 22, y, line)
                y -= 1.2 * size
            y -= 8
        canvas.setFont(ROMAN, 11)
        canvas.drawString(50, 20, "Keepers of the Light, 2026")
        canvas.drawRightString(width - 50, 20, str(slide + 1))
        canvas.showPage()
    canvas.save()
    return Made(f"slides-{number}", out.getvalue(), text, sections)


def made_pages() -> Iterator[Made]:
    for make, count in ((three, 6), (four, 6), (changing, 8), (form, 6), (boxes, 4), (paper, 5)):
        for number in range(count):
            yield _page(make, number, _DRAWN[number % 3])
    for number in range(5):
        yield slides(number)
