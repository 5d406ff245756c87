"""Opens a comic or a scanned book (.cbz) as a PDF: a page for each of its pictures, in the order of their names."""

from __future__ import annotations

from io import BytesIO

from PIL import Image
from pypdfium2 import PdfDocument, PdfImage, PdfMatrix

from readagent_core.errors import DocumentError
from readagent_core.loaders.archive import Archive, natural_sort_key
from readagent_core.loaders.base import Limits
from readagent_core.loaders.file_types import PICTURE_NAME

_UNKNOWN = (600, 800)  # the size of the page of a picture that cannot be read


def open_comic(data: bytes, limits: Limits) -> PdfDocument:
    """Returns the pictures in the archive ``data`` as a PDF. Raises DocumentError."""
    archive, document = Archive(data, limits), PdfDocument.new()
    names = [n for n in archive.names if PICTURE_NAME.search(n) and not n.startswith("__MACOSX/")]
    for name in sorted(names, key=natural_sort_key)[: limits.source_pages + 1]:
        try:
            data = _as_jpeg(archive.read(name, limits.picture_bytes), limits)
        except Exception:  # noqa: BLE001  Pillow may fail in any way; the page is then a picture without ink
            data = _encoded(Image.new("RGB", _UNKNOWN, "white"))
        image = PdfImage.new(document)
        image.load_jpeg(BytesIO(data), inline=True)
        width, height = image.get_px_size()
        page = document.new_page(width, height)
        image.set_matrix(PdfMatrix().scale(width, height))
        page.insert_obj(image)
        page.gen_content()
        page.close()
    return document


def _as_jpeg(data: bytes, limits: Limits) -> bytes:
    with Image.open(BytesIO(data)) as image:
        if image.width * image.height > limits.pixels:
            raise DocumentError("This picture is too large.")
        return data if image.format == "JPEG" else _encoded(image.convert("RGB"))


def _encoded(image: Image.Image) -> bytes:
    image.save(out := BytesIO(), "JPEG", quality=85)
    return out.getvalue()
