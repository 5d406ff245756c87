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


FAILED = """(modules) => Promise.all(modules.map((module) =>
  import(module).then(() => [], (error) => [`${module}: ${error}`]))).then((failed) => failed.flat())"""


def test_every_module_can_be_imported_as_it_is(page: Page, serve) -> None:
    serve(scripts.ASSETS)
    modules = [path.relative_to(scripts.ASSETS).as_posix() for path in scripts.ASSETS.rglob("*.js")]
    assert len(modules) > 25
    assert page.evaluate(FAILED, [f"{ADDRESS}/{module}" for module in modules]) == []


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


LAYER = """async (address) => {
  const { Layer } = await import(`${address}/memory_view/layer.js`);
  const { storePages } = await import(`${address}/memory_view/book_store.js`);
  const outline = { units: [[0, 9]], paragraphs: 3 };
  const reader = { root: document.body, book: { outline, text: [] }, units: { nodes: [] }, data: { count: 0 },
    layerChanged() {} };
  const layer = new Layer(reader);
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const numbers = (count) => { reader.data = { count }; layer.take(); return layer.pages.map((page) => page.n); };
  layer.change("l1");
  storePages({ scope: "l1", from: 1, pages: [1, 2, 3].map((n) => ({ n, s: n - 1, x: n })) });
  await frames();
  return [layer.pages.length, numbers(3), numbers(2), numbers(3)];
}"""


def test_pages_that_come_before_their_count_are_drawn_with_it(page: Page, serve) -> None:
    """A slow connection brings the pages of a reading a moment before the reader's own data."""
    serve(scripts.ASSETS)
    assert page.evaluate(LAYER, ADDRESS) == [0, [1, 2, 3], [1, 2], [1, 2]]  # 3 was given up: it is made again
