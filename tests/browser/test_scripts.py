"""The modules of assets are ES modules as they are, and what scripts.py makes of modules runs as they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route

from pages.parts.shared import scripts

ADDRESS = "http://assets.test"


@pytest.fixture
def serve(page: Page) -> Iterator[Callable[[Path], None]]:
    """``serve(folder)`` lets the page import the modules of a folder, without a server."""

    def start(folder: Path) -> None:
        def answer(route: Route) -> None:
            path = folder / route.request.url.removeprefix(ADDRESS).lstrip("/")
            kind, body = ("text/javascript", path.read_text(encoding="utf-8")) if path.is_file() else ("text/html", "")
            route.fulfill(content_type=kind, body=body)

        page.route(f"{ADDRESS}/**", answer)
        page.goto(f"{ADDRESS}/")

    yield start
    page.unroute(f"{ADDRESS}/**")


def test_a_bundle_does_what_its_modules_do(
    page: Page, serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    modules = {
        "main": 'import { a } from "./a.js";\nimport { b as other } from "./b.js";\nconst x = 3;\n'
        "/** A comment. */\nexport default [x, a(), other()].concat(4);\n",
        "a": "const x = 1;\nexport const a = () => x;\n",
        "b": 'import { a } from "./a.js";\nconst x = 2;\nexport function b() {\n  return x + a();\n}\n',
    }
    for name, text in modules.items():
        (tmp_path / f"{name}.js").write_text(text, encoding="utf-8")
    monkeypatch.setattr(scripts, "ASSETS", tmp_path)
    scripts.bundle.cache_clear()
    request.addfinalizer(scripts.bundle.cache_clear)
    text = scripts.bundle("main.js")
    assert text.count("const a = () => x") == 1  # imported twice, included once
    assert "A comment" not in text
    (tmp_path / "bundle.js").write_text(text, encoding="utf-8")
    serve(tmp_path)
    for module in ("main.js", "bundle.js"):
        assert page.evaluate("(module) => import(module).then((m) => m.default)", f"{ADDRESS}/{module}") == [3, 1, 3, 4]
