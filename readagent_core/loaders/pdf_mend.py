"""A PDF whose table of objects is broken or cut off: a new table, made from the objects that can still be seen."""

from __future__ import annotations

import re

_OBJECT = re.compile(rb"(?:^|[\r\n\s])(\d{1,7})\s+(\d{1,5})\s+obj\b")
_ROOT = re.compile(rb"/Root\s+(\d+)\s+(\d+)\s+R")
_CATALOG = re.compile(rb"(\d{1,7})\s+(\d{1,5})\s+obj\s*<<(?:(?!endobj).){0,2000}?/Type\s*/Catalog", re.DOTALL)
_MOST = 200_000


def mended(data: bytes) -> bytes | None:
    """``data`` with a new cross-reference table behind it; None where no catalog of pages can be seen."""
    places: dict[int, tuple[int, int]] = {}
    for found in _OBJECT.finditer(data):
        places[int(found.group(1))] = (found.start(1), int(found.group(2)))  # the last one said counts
        if len(places) > _MOST:
            return None
    roots = [r for r in _ROOT.findall(data) if int(r[0]) in places]
    catalog = _CATALOG.search(data)
    root = roots[-1] if roots else catalog.groups() if catalog else None
    if root is None or int(root[0]) not in places:
        return None
    rows = [b"0 1\n0000000000 65535 f \n"]
    rows += [b"%d 1\n%010d %05d n \n" % (n, place, generation) for n, (place, generation) in sorted(places.items())]
    trailer = b"trailer\n<< /Size %d /Root %d %d R >>\n" % (max(places) + 1, int(root[0]), int(root[1]))
    start = len(data) + 1
    return data + b"\nxref\n" + b"".join(rows) + trailer + b"startxref\n%d\n%%%%EOF\n" % start
