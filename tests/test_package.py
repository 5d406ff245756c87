"""The package installs outside the checkout, with its screens, styles, prompts and samples, and its command works."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = "_app/assets/samples/the-keeper-of-harrow-light.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder into which a wheel of this checkout is installed; its dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("package")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    target = folder / "installed"
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", str(target), str(wheel)], check=True)
    return target


@pytest.fixture
def command(installed, own_home, tmp_path):
    """Start ``readagent`` with some arguments in an empty folder."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "READAGENT_HOME": str(own_home)}

    def start(*arguments: str) -> subprocess.Popen[str]:
        code = "from readagent_core.__main__ import main; main()"
        run = [sys.executable, "-c", code, *arguments]
        return subprocess.Popen(run, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)

    return start


def test_a_sample_is_read_and_asked_about(command, installed):
    sample = str(installed / "readagent_core" / SAMPLE)
    reading = command("read", sample, "--json")
    memory = json.loads(reading.communicate(timeout=60)[0])
    assert memory["document"]["title"] == "The Keeper of Harrow Light"
    assert len(memory["pages"]) > 10
    asking = command("ask", sample, "Who keeps the light?", "--json")
    assert json.loads(asking.communicate(timeout=60)[0])["answer"]


def test_the_app_is_served(command):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = command("app", "--port", str(port))
    try:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=5) as reply:
                    assert reply.read() == b"ok"
                    break
            except OSError:
                assert app.poll() is None, "the app ended"
                time.sleep(0.1)
        else:
            raise AssertionError("the app did not answer within 30 s")
    finally:
        app.terminate()
        app.communicate(timeout=30)


def test_the_pinned_versions_are_those_the_package_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {Requirement(text).name.lower(): Requirement(text) for text in project["dependencies"]}
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split()
    pinned = {
        found[1].lower(): found[2] for line in lines if (found := re.match(r"([\w.-]+)(?:\[\w+\])?==(\S+)", line))
    }
    assert set(pinned) == set(wanted)
    assert [name for name, version in pinned.items() if version not in wanted[name].specifier] == []
