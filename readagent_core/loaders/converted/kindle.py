"""Opens Kindle books without DRM (.mobi, .azw, .azw3, .prc) as the EPUB or the HTML that the package mobi unpacks.

The text of a Palm book (PalmDoc, also .pdb) is unpacked by the same package.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from struct import iter_unpack
from zipfile import ZipFile

from readagent_core.document import Document
from readagent_core.errors import DamagedDocumentError, ProtectedDocumentError
from readagent_core.loaders.base import Limits
from readagent_core.loaders.epub import loader as epub
from readagent_core.loaders.text import plain

_PALM = b"TEXtREAd"
_DAMAGED = "This Kindle book is damaged. Download or copy it again."
_MOST_FACTS = 10_000  # of a book about itself; the package reads as many as the file names, if need be for ever


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the Kindle book ``data``. Raises DocumentError."""
    records = min(int.from_bytes(data[76:78], "big"), (len(data) - 78) // 8)
    starts = [at for at, _ in iter_unpack(">II", data[78 : 78 + 8 * records])] or [0]
    if data[60:68] == _PALM:
        return plain.load(_palm_text(data, starts), name, limits=limits)
    record = starts[0]
    if int.from_bytes(data[record + 12 : record + 14], "big"):
        raise ProtectedDocumentError(
            "This Kindle book is locked by Amazon (DRM), so its text cannot be read here. Read it "
            "in the Kindle app, or get an edition without DRM from the publisher."
        )
    if any(_count_facts(data, at) > _MOST_FACTS for at in starts):
        raise DamagedDocumentError(_DAMAGED)
    with tempfile.TemporaryDirectory(prefix="readagent-kindle-") as folder:
        file, out = Path(folder) / "book.mobi", Path(folder) / "out"
        file.write_bytes(data)
        try:
            # what it prints would be taken for the reply of the child process
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                from mobi.kindleunpack import unpackBook

                unpackBook(str(file), str(out), epubver="A")
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:
            raise DamagedDocumentError(_DAMAGED) from error
        packed = next(out.rglob("*.epub"), None)
        if packed is not None:
            return epub.load(packed.read_bytes(), name, limits=limits)
        pages = out / "mobi7"
        made = io.BytesIO()
        with ZipFile(made, "w") as archive:
            for path in sorted(path for path in pages.rglob("*") if path.is_file() and not path.is_symlink()):
                archive.write(path, path.relative_to(pages).as_posix())
        return epub.load(made.getvalue(), name, limits=limits)


def _palm_text(data: bytes, starts: Sequence[int]) -> bytes:
    """Returns the text of a Palm book, whose records begin at ``starts``; the first says how they are packed."""
    from mobi.mobi_uncompress import PalmdocReader, UncompressedReader

    readers = {1: UncompressedReader, 2: PalmdocReader}
    head = data[starts[0] :][:10]
    packed, count = int.from_bytes(head[:2], "big"), int.from_bytes(head[8:], "big")
    if packed not in readers:
        raise DamagedDocumentError(_DAMAGED)
    ends = zip(starts[1 : count + 1], [*starts[2:], len(data)], strict=False)
    return b"".join(readers[packed]().unpack(data[start:end]) for start, end in ends)


def _count_facts(data: bytes, record: int) -> int:
    """Returns how many facts of a book a record says that it has; 0 for one that is no header."""
    header = data[record : record + 132]
    if header[16:20] != b"MOBI" or not int.from_bytes(header[128:], "big") & 0x40:
        return 0
    at = record + 24 + int.from_bytes(header[20:24], "big")
    return int.from_bytes(data[at : at + 4], "big")
