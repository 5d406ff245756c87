"""What the Dockerfile does, step by step in a clean folder: Docker itself is not needed, and not tested.

Also the versions that it installs: those that the package asks for.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
PORT = "8501"


def instructions(name):
    return [line.split(maxsplit=1)[1] for line in DOCKERFILE.splitlines() if line.startswith(f"{name} ")]


def copied_files(folder):
    """Copy what the first stage copies, and nothing else, as a build without the rest of the checkout has it."""
    for line in instructions("COPY"):
        if line.startswith("--from"):
            continue
        *sources, target = line.split()
        for pattern in sources:
            found = list(ROOT.glob(pattern))
            assert found, pattern
            for source in found:
                if source.is_dir():
                    shutil.copytree(source, folder / target, ignore=shutil.ignore_patterns("__pycache__"))
                elif target == "./":
                    shutil.copy(source, folder)
                else:
                    (folder / target).parent.mkdir(exist_ok=True)
                    shutil.copy(source, folder / target)


def answers(port):
    """Whether something listens there: each check of the image's own is a process."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="the script is for sh")
def test_the_image_would_have_all_files_and_serve_the_app(tmp_path):
    source, target, home = tmp_path / "src", tmp_path / "opt", tmp_path / "data"
    source.mkdir()
    copied_files(source)
    # the packages are those of the tests, which are there with all that they need: no network
    packages = target / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "tests.pth").write_text(sysconfig.get_paths()["purelib"], encoding="utf-8")
    build = next(line for line in instructions("RUN") if "install.sh" in line)
    command = [str(target) if word == "/opt/readagent" else word for word in shlex.split(build) if word != "$MORE"]
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@" --without-pip\n', encoding="utf-8")  # pip is one of them
    python.chmod(0o700)
    clean = {"PATH": os.environ["PATH"], "PYTHON": str(python), "PIP_NO_INDEX": "1", "HOME": str(tmp_path)}
    clean["PIP_NO_DEPS"] = "1"
    subprocess.run(command, cwd=source, env=clean, check=True, capture_output=True, timeout=120)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    set_in_image = dict(re.findall(r"(\w+)=(\S+)", instructions("ENV")[0]))
    environment = {**clean, **set_in_image, "READAGENT_HOME": str(home), "HOME": str(tmp_path)}
    environment["PATH"] = f"{target / 'bin'}:{clean['PATH']}"
    run = [port if word == PORT else word for word in json.loads(instructions("CMD")[-1])]
    installed = packages / "readagent_core"
    for folder, there in (("readagent_core", installed), ("pages", installed / "_app"), ("assets", installed / "_app")):
        for file in (source / folder).rglob("*.*"):
            path = file.relative_to(source / "readagent_core" if there == installed else source)
            assert (there / path).exists(), path
    shutil.rmtree(source)  # nothing of the checkout is in the image
    _, check = instructions("HEALTHCHECK")[0].split(" CMD ")
    healthy = [word.replace(PORT, port) for word in json.loads(check)]
    app = subprocess.Popen(run, cwd="/", env=environment, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while not answers(int(port)) or subprocess.run(healthy, env=environment, capture_output=True).returncode:
            assert app.poll() is None, "the app ended"
            assert time.monotonic() < end, "the app did not answer"
            time.sleep(0.2)
    finally:
        app.terminate()
        app.wait(30)


def test_nothing_of_a_reader_gets_into_the_image_and_it_runs_without_rights():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert ignored[0] == "*"
    assert not any("secrets" in line for line in ignored)
    assert instructions("USER") == ["10001:10001"]
    assert instructions("VOLUME") == ["/data"]


def test_the_pinned_versions_are_those_the_package_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {Requirement(text).name.lower(): Requirement(text) for text in project["dependencies"]}
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split()
    pinned = {
        found[1].lower(): found[2] for line in lines if (found := re.match(r"([\w.-]+)(?:\[\w+\])?==([^\s;]+)", line))
    }
    assert set(pinned) == set(wanted)
    assert [name for name, version in pinned.items() if version not in wanted[name].specifier] == []
