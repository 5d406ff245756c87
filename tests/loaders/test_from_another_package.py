"""A loader from another installed package opens files like ours, with the same bounds; a broken one is told by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from readagent_core.resources import APP

CODE = """
import os
from readagent_core.document import Document, Paragraph

def load(data, title, *, limits):
    if b"crash" in data:
        os.abort()
    if b"odd" in data:
        return None
    return Document(title, tuple(Paragraph(line) for line in data.decode().splitlines()))
"""


def install(site: Path, name: str, code: str, *lines: str) -> None:
    """Put a package of one module into ``site``, as pip would install it."""
    data = site / f"{name}-1.0.dist-info"
    data.mkdir(parents=True)
    (site / f"{name}.py").write_text(code, encoding="utf-8")
    (data / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (data / "entry_points.txt").write_text("[readagent.loaders]\n" + "\n".join(lines), encoding="utf-8")


def test_it_is_found_everywhere_and_opens_in_the_bounded_process(tmp_path: Path) -> None:
    site, books = tmp_path / "site", tmp_path / "books"
    install(site, "lamp_loader", CODE, "lamp = lamp_loader:load", "txt = lamp_loader:load")
    install(site, "broken_loader", "import nothing_of_this_name", "dim = broken_loader:load")
    books.mkdir()
    files = {"The Lamp.lamp": "She lit it.\nThen she slept.", "a.lamp": "crash", "b.lamp": "odd", "c.dim": "x"}
    files |= {"d.lamp": "", "e.txt": "Plain words, opened as ever."}
    for name, text in files.items():
        (books / name).write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{APP}", "READAGENT_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "readagent_core", "inspect", "--all", str(books), "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    told = {one["file"]: one for one in json.loads(done.stdout)["files"]}
    assert set(told) == set(files)
    assert (told["The Lamp.lamp"]["title"], told["The Lamp.lamp"]["words"]) == ("The Lamp", 6)
    assert "crashed on this one" in told["a.lamp"]["error"]["message"]
    assert "a .lamp file, which the package lamp_loader opens, but it is damaged" in told["b.lamp"]["error"]["message"]
    assert "which the package broken_loader opens, but that package cannot be used" in told["c.dim"]["error"]["message"]
    assert "nothing_of_this_name" in told["c.dim"]["error"]["message"]
    assert "empty" in told["d.lamp"]["error"]["message"]
    assert told["e.txt"]["words"] == 5  # no package takes an ending of ours

    command = [
        sys.executable,
        "-c",
        "import sys; sys.argv=['x']; from pages.library import FORMATS_TAKEN as f; print(f)",
    ]
    shown = subprocess.run(command, env=environment, cwd=APP, capture_output=True, timeout=120, check=True, text=True)
    assert {".lamp", ".dim", ".txt"} <= set(shown.stdout.strip().splitlines()[-1].split(","))  # the upload filter
