"""Scanned books: our own texts drawn as pictures of pages, slightly turned and noisy, in a PDF without text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont
from pypdf import PdfReader, PdfWriter

from tests.loaders.making import Press, sample

CHINESE = (
    "河边的小镇有一座老图书馆，馆里只有一位管理员。每天清晨，她打开木门，先把昨天归还的书放回书架，再给窗台上的花浇水。",
    "镇上的孩子放学以后常来这里看书。他们最喜欢靠窗的那张长桌，因为从那里可以看见河上的船慢慢经过。冬天下雪的时候，"
    "管理员会在炉子上烧一壶热茶，谁来都可以喝一杯。",
    "有一年春天，河水涨得很高，淹没了码头和两条街道。人们把书一本一本搬到二楼，从下午一直搬到半夜，没有一本书被水打湿。",
    "后来大家在门口立了一块小石碑，上面只刻着那一天的日期。管理员说，书和人一样，需要的不是纪念，而是有人记得来看它们。",
)
_CJK = "/usr/share/fonts/opentype/noto/NotoSerifCJK-Regular.ttc"
_SERIF = (
    "/usr/share/fonts/truetype/liberation/LiberationSerif-Regular.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf",
)
_FACES = {"ja": 0, "zh": 2}  # in the collection of fonts
_PAGE = (874, 1240)  # pixels: A5 at 150 dots an inch
_MARGIN, _TOP, _FOOT = 95, 120, 130
_LEADING = 1.45


def has_font(language: str) -> bool:
    return language not in _FACES or Path(_CJK).exists()


def _font(language: str, size: int) -> ImageFont.FreeTypeFont:
    if language in _FACES:
        return ImageFont.truetype(_CJK, size, index=_FACES[language])
    found = next((path for path in _SERIF if Path(path).exists()), None)
    return ImageFont.truetype(found, size) if found else ImageFont.load_default(size)


def _wrap(
    text: str, font: ImageFont.FreeTypeFont, width: float, indent: float, spaced: bool
) -> list[tuple[float, str]]:
    """Returns the lines of a paragraph, each with its indent."""
    lines: list[tuple[float, str]] = []
    line, left = "", indent
    for word in text.split(" ") if spaced else text:
        longer = f"{line} {word}" if line and spaced else line + word
        if line and left + font.getlength(longer) > width and word not in "，。、」）":
            lines.append((left, line))
            line, left = word, 0.0
        else:
            line = longer
    return [*lines, (left, line)]


def draw_pages(
    paragraphs: Sequence[str], language: str = "en", *, header: str = "", size: int = 26, most: int = 1000
) -> tuple[list[Image.Image], list[str]]:
    """Returns the pictures of at most ``most`` pages, and the paragraphs that are wholly on them.

    A paragraph of '# ' and words is a heading. ``header``: a running header; pages then have numbers too."""
    font, large = _font(language, size), _font(language, round(size * 1.5))
    width, leading = _PAGE[0] - 2 * _MARGIN, size * _LEADING
    pages: list[Image.Image] = []
    drawn: list[str] = []
    y = _PAGE[1]
    pen: ImageDraw.ImageDraw | None = None

    def next_line(height: float) -> bool:
        """Moves down by a line, to a new page where this one is full; returns False after the last page."""
        nonlocal y, pen
        if y + height > _PAGE[1] - _FOOT:
            if len(pages) == most:
                return False
            pages.append(Image.new("L", _PAGE, 246))
            pen = ImageDraw.Draw(pages[-1])
            if header:
                small = _font(language, round(size * 0.8))
                pen.text((_PAGE[0] / 2, 50), header, 60, small, anchor="ma")
                pen.text((_PAGE[0] / 2, _PAGE[1] - 80), str(len(pages)), 60, small, anchor="ma")
            y = _TOP
        return True

    for paragraph in paragraphs:
        heading = paragraph.startswith("# ")
        if heading:
            lines, used, height = [(0.0, paragraph[2:])], large, 3 * leading
        else:
            lines, used, height = _wrap(paragraph, font, width, 1.2 * size, language == "en"), font, leading
        for left, line in lines:
            if not next_line(height):
                return pages, drawn
            assert pen is not None
            pen.text((_MARGIN + left, y + (leading if heading else 0)), line, 25, used)
            y += height
        drawn.append(paragraph.removeprefix("# "))
    return pages, drawn


def age(page: Image.Image, seed: int) -> Image.Image:
    """Returns a page as a scanner gives it: turned by up to 0.7 degrees, a little blurred, with noise and specks."""
    chance = random.Random(seed)
    turned = page.rotate(chance.uniform(-0.7, 0.7), Image.Resampling.BICUBIC, fillcolor=246)
    soft = turned.filter(ImageFilter.GaussianBlur(0.6))
    noise = Image.frombytes("L", page.size, chance.randbytes(page.width * page.height)).point(lambda v: v // 9)
    soft = ImageChops.subtract(soft, noise)
    pen = ImageDraw.Draw(soft)
    for _ in range(60):
        x, y = chance.randrange(page.width), chance.randrange(page.height)
        pen.ellipse((x, y, x + 1, y + 1), fill=90)
    return soft


def scanned_pdf(pages: Sequence[Image.Image], *, seed: int = 1) -> bytes:
    """Returns a PDF of aged pages, which are pictures without text."""
    first, *others = [age(page, seed + n) for n, page in enumerate(pages)]
    out = BytesIO()
    first.save(out, "PDF", save_all=True, append_images=others, resolution=150, quality=80)
    return out.getvalue()


@cache
def partly_scanned() -> bytes:
    """Returns a PDF of four pages, of which the second and third are empty pictures."""
    whole = PdfReader(BytesIO(Press()(sample("harrow-council-minutes"))))
    writer = PdfWriter()
    writer.add_page(whole.pages[0])
    writer.append(BytesIO(scanned_pdf([Image.new("L", _PAGE, 240)] * 2)))
    writer.add_page(whole.pages[1])
    out = BytesIO()
    writer.write(out)
    return out.getvalue()
