"""Decodes the pictures of a book with Pillow, within limits, and encodes each again as JPEG or PNG.

Nothing of the original file is kept: no metadata, no second frame, no profile, no bytes after the end. SVG and other
drawing formats are never passed on, and no address is ever fetched. Every picture that is not shown is counted.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from io import BytesIO
from urllib.parse import unquote, unquote_to_bytes

from PIL import Image, ImageOps

from readagent_core.document import Document, Figure, Notice, Picture
from readagent_core.errors import DocumentError, TooLargeError
from readagent_core.loaders.base import Limits
from readagent_core.loaders.descriptions import describe_picture
from readagent_core.words import count_of

LONGEST_SIDE = 1600  # pixels of a picture as it is shown
SMALLEST_SIDE = 32  # pixels; a smaller one is an ornament, a bullet or a tracking pixel
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF")
_DRAWING = re.compile(
    rb"\s*(?:<\?xml|<!--|<!DOCTYPE svg|<svg|\xd7\xcd\xc6\x9a|\x01\x00\x09\x00|\x01\x00\x00\x00.{36} EMF)", re.S | re.I
)
_ELSEWHERE = re.compile(r"(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)
_REPEATS = 3  # a picture without words that occurs so often is an ornament
_LIGHT = 232  # of 255, from where a pixel counts as white
_MOSTLY = 0.45  # the share of white pixels in line art
_MOST_COLOURS = 4096  # of a picture that PNG may suit
_REASONS = {
    "drawing": "in a drawing format (SVG, WMF or EMF)",
    "elsewhere": "in other files or on other servers, which are not asked",
    "missing": "not in the file",
    "damaged": "damaged",
    "large": "too large",
    "many": "more than are shown of one book",
    "small": "very small, or repeated as an ornament",
}


class _LeftOut(Exception):
    """A picture is not shown. The argument is a key of ``_REASONS``."""


class Pictures:
    """The pictures of one book. ``find`` makes figures; ``add_to`` gives the document those that it shows.

    ``read`` returns a file of the book by its name. ``cover``: the name of its cover, which is not shown in the text.
    """

    def __init__(self, limits: Limits, read: Callable[[str], bytes] | None = None, cover: str = "") -> None:
        self.limits = limits
        self.read = read
        self.cover = cover
        self.left_out: Counter[str] = Counter()
        self._stored: dict[str, Picture] = {}
        self._decoded: dict[str, tuple[str, Figure | None]] = {}  # by source, with the reason why one is not shown
        self._bytes = 0
        self._seconds = 0.0

    def find(self, source: str, alt: str, resolve: Callable[[str], str] = lambda path: "") -> Figure | None:
        """Returns the figure for ``source``, an address in the book; None where its alternative text is to be shown.

        ``resolve`` gives the name of a file of the book, '' where it has no such file. A picture that is in the book
        and cannot be decoded is a figure without a picture.
        """
        source = source.strip()
        if source[:5].lower() == "data:":
            return self.add(hashlib.sha256(source.encode()).hexdigest(), lambda: _read_data_address(source), alt)
        is_drawing, is_elsewhere = source.startswith("#"), bool(_ELSEWHERE.match(source))
        name = "" if is_drawing or is_elsewhere else resolve(unquote(re.split(r"[?#]", source, maxsplit=1)[0]))
        if name and name == self.cover:
            return None
        if name and self.read is not None:
            return self.add(name, partial(self.read, name), alt)
        self.leave_out("drawing" if is_drawing else "elsewhere" if is_elsewhere else "missing")
        return None

    def add(self, key: str, read: Callable[[], bytes | Image.Image], alt: str = "") -> Figure | None:
        """Returns the figure for the picture that ``read`` gives; see ``find``. ``key``: the same for the same one."""
        if key not in self._decoded:
            start = time.process_time()
            self._decoded[key] = self._decode(read)
            self._seconds += time.process_time() - start
        reason, figure = self._decoded[key]
        if reason:
            self.leave_out(reason)
        return replace(figure, alt=describe_picture(alt)) if figure else None

    def _decode(self, read: Callable[[], bytes | Image.Image]) -> tuple[str, Figure | None]:
        """Returns the figure and '', or the reason why there is none, with an empty figure for a damaged picture."""
        full = len(self._stored) >= self.limits.pictures or self._bytes >= self.limits.pictures_bytes
        if full or self._seconds > self.limits.seconds:
            return "many", None
        width = height = 0
        try:
            image = read()
            if isinstance(image, bytes):
                image = _open(image, self.limits)
                width, height = image.size
                image = _flatten(image)
            return "", self._store(image)
        except _LeftOut as error:
            return str(error), Figure(0) if str(error) == "large" else None
        except (MemoryError, TooLargeError, Image.DecompressionBombError, Image.DecompressionBombWarning):
            return "large", Figure(0, width=width, height=height)
        except Exception:  # noqa: BLE001  Pillow may fail in any way on a broken file; it is counted
            return "damaged", Figure(0, width=width, height=height)

    def leave_out(self, reason: str) -> None:
        """Counts a picture that is not shown. ``reason``: a key of ``_REASONS``."""
        self.left_out[reason] += 1

    def add_to(self, document: Document) -> Document:
        """Returns ``document`` with the pictures of its figures, without ornaments, and with notices of both."""
        times = Counter(figure.picture for figure in document.figures)
        figures = []
        for figure in document.figures:
            described = figure.alt or figure.caption is not None
            if figure.picture and not described and times[figure.picture] >= _REPEATS:
                self.leave_out("small")
            else:
                figures.append(figure)
        shown = list(dict.fromkeys(figure.picture for figure in figures if figure.picture))
        pictures = tuple(self._stored[name] for name in shown)
        warnings = (*document.warnings, *self._notices(sum(1 for figure in figures if figure.picture)))
        return replace(document, figures=tuple(figures), pictures=pictures, warnings=warnings)

    def _notices(self, shown: int) -> list[Notice]:
        notices = []
        if shown:
            verb = "is shown at its place" if shown == 1 else "are shown at their places"
            notices.append(Notice("pictures", f"{count_of(shown, 'picture')} {verb} in the text.", shown))
        count = sum(self.left_out.values())
        if count:
            named = "; ".join(f"{self.left_out[why]:,} {text}" for why, text in _REASONS.items() if self.left_out[why])
            notices.append(Notice("pictures-left-out", f"Not shown: {count_of(count, 'picture')} ({named}).", count))
        return notices

    def _store(self, image: Image.Image) -> Figure:
        """Encodes a picture and returns its figure."""
        light = _is_light(image)
        data, kind = _encode(image, light=light)
        name = hashlib.sha256(data).hexdigest()[:32]
        if name not in self._stored:
            self._stored[name] = Picture(name, kind, data)
            self._bytes += len(data)
        return Figure(0, picture=name, width=image.width, height=image.height, light=light)


def _open(data: bytes, limits: Limits) -> Image.Image:
    """Returns a picture of which only the size and the mode were read. Raises _LeftOut, and what Pillow raises."""
    if len(data) > limits.picture_bytes:
        raise _LeftOut("large")
    if _DRAWING.match(data):
        raise _LeftOut("drawing")
    image = Image.open(BytesIO(data), formats=_FORMATS)
    if min(image.size) < SMALLEST_SIDE:
        raise _LeftOut("small")
    if image.width * image.height > limits.pixels:
        raise _LeftOut("large")
    return image


def _flatten(image: Image.Image) -> Image.Image:
    """Returns the first frame of a picture, upright, in RGB or shades of grey, at most LONGEST_SIDE wide and high."""
    if image.mode.startswith(("I", "F")):  # 16 bits for a shade
        image = image.convert("F").point(lambda value: value * (1 / 256) + 0).convert("L")
    elif image.mode in ("1", "P", "PA") or image.has_transparency_data:
        image = image.convert("RGBA" if image.has_transparency_data else "L" if image.mode == "1" else "RGB")
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE), reducing_gap=2.0)  # a large JPEG is decoded at a smaller size
    image = ImageOps.exif_transpose(image)
    if image.mode in ("RGBA", "LA"):
        image = _on_ground(image.convert("RGBA"))
    return image if image.mode in ("L", "RGB") else image.convert("RGB")


def _on_ground(image: Image.Image) -> Image.Image:
    """Returns ``image`` on a white ground, or on a dark one where what can be seen of it is light."""
    alpha = image.getchannel("A")
    shades = image.convert("L").histogram(mask=alpha.point(lambda value: 255 if value > 127 else 0))
    seen = sum(shades)
    is_light = seen and sum(shades[_LIGHT:]) > 0.9 * seen and seen < 0.9 * image.width * image.height
    ground = Image.new("RGB", image.size, "#20242a" if is_light else "white")
    ground.paste(image, mask=alpha)
    return ground


def _is_light(image: Image.Image) -> bool:
    shades = image.convert("L").histogram()
    return sum(shades[_LIGHT:]) > _MOSTLY * sum(shades)


def _encode(image: Image.Image, *, light: bool) -> tuple[bytes, str]:
    """Returns the picture as PNG where it has few colours and that is not much larger, else as JPEG."""
    image.info = {}  # else the encoders copy comments and profiles
    jpeg, png = BytesIO(), BytesIO()
    image.save(jpeg, "JPEG", quality=85)
    if image.getcolors(_MOST_COLOURS) is not None:
        image.save(png, "PNG")
        if png.tell() <= jpeg.tell() * (3 if light else 1):
            return png.getvalue(), "image/png"
    return jpeg.getvalue(), "image/jpeg"


def _read_data_address(address: str) -> bytes:
    """Returns the bytes within a ``data:`` address."""
    head, _, body = address.partition(",")
    if "svg" in head.lower():
        raise _LeftOut("drawing")
    if not head.lower().endswith(";base64"):
        return unquote_to_bytes(body)
    try:
        return base64.b64decode(re.sub(r"\s+", "", unquote(body)), validate=True)
    except binascii.Error:
        raise DocumentError("The picture is not in base64.") from None
