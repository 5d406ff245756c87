"""The commands that install optional packages."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def how_to_install(extra: str) -> str:
    """Returns the command that installs an extra for this Python, as one types it."""
    return shlex.join(install_command(extra))


def install_command(extra: str) -> list[str]:
    """Returns the command that installs an extra for this Python: from a checkout, else as the package's extra."""
    file = _ROOT / f"requirements-{extra}.txt"
    what = ["-r", str(file)] if file.exists() else [f"readagent[{extra}]"]
    return [sys.executable, "-m", "pip", "install", *what]
