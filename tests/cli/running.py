"""Running the command line, in a process of its own or within this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from typer.testing import CliRunner

from readagent_core.cli.app import app
from readagent_core.models import connection

ROOT = Path(__file__).parents[2]
SMALL = ("--max-words", "150", "--min-words", "60", "--connections", "2")  # many pages, few calls at once


def start(*arguments, server=None):
    environment = dict(os.environ, PYTHONIOENCODING="utf-8", COLUMNS="100", NO_COLOR="1")
    if server is not None:
        environment |= {"READAGENT_BASE_URL": server.url, "READAGENT_MODEL": "fake-model"}
    return subprocess.Popen(
        [sys.executable, "-m", "readagent_core", *map(str, arguments)],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip


def run_here(*arguments, server=None, code=0):
    """Stdout and stderr of a command in this process, which afterwards knows no more of the server than a new one."""
    environment = {"READAGENT_BASE_URL": server.url, "READAGENT_MODEL": "fake-model"} if server else {}
    try:
        result = CliRunner().invoke(app, list(map(str, arguments)), env=environment)
    finally:
        connection.close_all()
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit | None)
    return result.stdout, result.stderr


def wait_until(happened, process):
    """Wait until the server has seen enough of ``process``; a process that ends before is a failure."""
    deadline = time.monotonic() + 60
    while not happened():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def run_json(*arguments, server=None, code=0):
    """The one JSON object on stdout: nothing may stand before or after it."""
    return json.loads(run_here(*arguments, "--json", server=server, code=code)[0])
