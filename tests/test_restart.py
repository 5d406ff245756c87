"""A process that is started again: in its own place, after what it has open was closed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from readagent_core.restart import can_restart

PROGRAM = """
import atexit, sys
from readagent_core import restart
restart.offer_restart([sys.executable, "-c", "import os; print('again', os.environ.get('READAGENT_RESTART'))"])
atexit.register(lambda: print("closed", flush=True))
assert restart.can_restart()
if sys.argv[1] == "yes":
    try:
        restart.restart()
        import time; time.sleep(9)
    except KeyboardInterrupt:
        pass
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no restart is offered there")
@pytest.mark.parametrize(("asked", "said"), [("yes", ["closed", "again None"]), ("no", ["closed"])])
def test_the_process_starts_again_only_when_asked_and_after_the_rest_was_closed(asked, said):
    ran = subprocess.run([sys.executable, "-c", PROGRAM, asked], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.splitlines() == said
    assert not can_restart()
