"""The app started again in its own place, once everything that it has open was closed."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Sequence

_STATE = "READAGENT_RESTART"  # an environment variable, as Streamlit may load this module twice: "can", then "now"
_SAID_SECONDS = 0.7


def offer_restart(command: Sequence[str]) -> None:
    """Have this process become ``command`` at its end, where ``restart`` was called.

    Call it before anything else is opened: functions for the end of a program run in the opposite order.
    """
    if sys.platform == "win32":
        return  # there the terminal would not wait for the new process
    os.environ[_STATE] = "can"
    atexit.register(_follow, list(command))


def _follow(command: list[str]) -> None:
    if os.environ.pop(_STATE, "") == "now":
        os.environ["STREAMLIT_SERVER_HEADLESS"] = "true"  # the page is open in the browser already
        os.execv(command[0], command)


def can_restart() -> bool:
    """Whether whoever started this process offers it."""
    return os.environ.get(_STATE) == "can"


def restart() -> None:
    """End this process as Ctrl-C does, once what was just said has reached the browser, and start it again."""
    os.environ[_STATE] = "now"
    threading.Timer(_SAID_SECONDS, os.kill, (os.getpid(), signal.SIGINT)).start()
