"""Python's search for objects that only hold one another, made seldom while an experiment runs.

A run makes and drops objects by the million, next to none of them in such rings, and what it keeps only grows: at
Python's own pace the search takes a twelfth of a run's time, and holds up every call under way for a tenth of a second
now and then.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 10_000  # between two searches, in place of 700

_lock = threading.Lock()
_runs = 0
_before = (0, 0, 0)


@contextmanager
def seldom() -> Iterator[None]:
    """While any such block is under way, what was there before is not searched and what is new seldom."""
    global _runs, _before
    with _lock:
        if not _runs:
            _before = gc.get_threshold()
            gc.freeze()
            gc.set_threshold(max(_NEW_OBJECTS, _before[0]), *_before[1:])
        _runs += 1
    try:
        yield
    finally:
        with _lock:
            _runs -= 1
            if not _runs:
                gc.unfreeze()
                gc.set_threshold(*_before)
