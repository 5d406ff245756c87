"""An archive with a dictionary, as it is downloaded: its files put into a folder of their own."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from io import BufferedIOBase, BytesIO
from pathlib import Path, PurePosixPath

from readagent_core.dictionaries.files import PARTS, find_dictionaries
from readagent_core.errors import DamagedDictionaryError, DocumentError
from readagent_core.loaders import DEFAULT
from readagent_core.loaders.archive import Archive

_ENDINGS = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz")
_OPENERS: dict[bytes, Callable[[BytesIO], BufferedIOBase]] = {
    b"\x1f\x8b": lambda data: gzip.GzipFile(fileobj=data),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}


def unpack_dictionary(data: bytes, name: str, folder: Path) -> Path:
    """Put the files of the dictionary in the archive ``data`` into a new folder in ``folder``, and return that.

    Only files of dictionaries, by their own names: nothing is written anywhere else. Raises DamagedDictionaryError.
    """
    if name.lower().endswith(PARTS):
        raise DamagedDictionaryError(
            f"{name} is one of the files of a dictionary. Nothing was added. Put here the archive that it came in, or "
            "name the folder that has all its files."
        )
    try:
        found = dict(_zipped(data) if data.startswith(b"PK") else _in_tar(data))
    except DocumentError as error:
        raise DamagedDictionaryError(str(error)) from None
    except (tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError, ValueError):
        what, remedy = " and cannot be read", "Take a dictionary for StarDict or dictd, in the archive that it came in."
        if name.lower().endswith(_ENDINGS):
            what, remedy = ", or it is damaged", "Download it again."
        raise DamagedDictionaryError(f"{name} is no ZIP or tar archive{what}. Nothing was added. {remedy}") from None
    if not any(one.lower().endswith((".ifo", ".index")) for one in found):
        raise DamagedDictionaryError(
            f"No dictionary is in {name}: StarDict's has a file that ends in .ifo, dictd's one in .index. Nothing was "
            "added. Take the download for StarDict."
        )
    target = folder / (PurePosixPath(name.replace("\\", "/")).name.split(".")[0].strip() or "dictionary")
    try:
        with tempfile.TemporaryDirectory() as made:
            for one, content in found.items():
                Path(made, one).write_bytes(content)
            for files in find_dictionaries(Path(made)):
                files.check()
            shutil.rmtree(target, ignore_errors=True)  # the same one again, perhaps a newer version
            shutil.copytree(made, target)
    except DamagedDictionaryError as error:
        raise DamagedDictionaryError(f"The dictionary in {name} cannot be used. {error} Nothing was added.") from None
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise DamagedDictionaryError(f"The dictionary cannot be stored ({error.strerror}). Free some space.") from None
    return target


def _zipped(data: bytes) -> Iterator[tuple[str, bytes]]:
    archive = Archive(data, DEFAULT)
    for name in archive.names:
        if part := _part_of(name):
            yield part, archive.read(name, DEFAULT.unpacked)


def _in_tar(data: bytes) -> Iterator[tuple[str, bytes]]:
    opener = next((opener for start, opener in _OPENERS.items() if data.startswith(start)), None)
    plain = opener(BytesIO(data)).read(DEFAULT.unpacked + 1) if opener else data
    if len(plain) > DEFAULT.unpacked:
        raise DamagedDictionaryError(
            f"Unpacked, this archive is larger than {DEFAULT.unpacked >> 20} MB. Nothing was added. Unpack it yourself."
        )
    with tarfile.open(fileobj=BytesIO(plain), mode="r:") as archive:
        for member in archive:
            held = member.isfile() and not member.issparse()  # a sparse one may be larger than the archive
            part, content = _part_of(member.name), archive.extractfile(member) if held else None
            if part and content:
                yield part, content.read()


def _part_of(path: str) -> str:
    """Return the bare name of a file of a dictionary; '' of any other."""
    name = PurePosixPath(path.replace("\\", "/")).name
    return name if name.lower().endswith(PARTS) and ":" not in name and not name.startswith(".") else ""
