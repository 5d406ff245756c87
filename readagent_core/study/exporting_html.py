"""The gist memory as one HTML page that looks like the app: gist beside text, the pauses, the map of the book.

Styles are the app's own (assets/tokens.css, assets/export.css), put into the file; there is no script and
nothing is loaded. Every text is escaped here, at the one place where it enters the page.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from readagent_core.memory import GistMemory
from readagent_core.study.exporting import facts, gist_text, pause

ASSETS = Path(__file__).resolve().parent.parent.parent / "assets"
CLOSING = "</body></html>"
_LONGEST = 44  # pixels of the longest page's cell in the map


def html(memory: GistMemory) -> bytes:
    """The whole page, UTF-8."""
    document = memory.document
    pages = "".join(_page(memory, page.number) for page in memory.pages)
    author = f'<p class="by">{_safe(document.author)}</p>' if document.author else ""
    body = (
        f'<header><h1 lang="{_safe(document.language)}">{_safe(document.title)}</h1>{author}'
        f'<p class="facts">{_safe(facts(memory))}</p></header>'
        f'<nav class="map" aria-label="Map of the book">{_map(memory)}</nav><main>{pages}</main>'
    )
    direction = "rtl" if document.right_to_left else "ltr"
    return page(document.title, body, language=document.language, direction=direction).encode("utf-8", "replace")


def page(title: str, body: str, *, language: str = "en", direction: str = "ltr") -> str:
    """An HTML file around ``body``, which the caller has escaped; the app's colours, light and dark."""
    return f"{opening(title, language=language, direction=direction)}{body}{CLOSING}"


def opening(title: str, *, language: str = "en", direction: str = "ltr") -> str:
    """All of the file that stands before its body; CLOSING ends it."""
    return (
        f'<!doctype html><html lang="{_safe(language)}" dir="{direction}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{_safe(title)}</title><style>{styles()}</style></head><body>"
    )


def styles() -> str:
    """The app's tokens, following the reader's own light or dark, and the page's own rules."""
    tokens = (ASSETS / "tokens.css").read_text(encoding="utf-8")
    dark = tokens.split('[data-theme="dark"]', 1)
    night = ""
    if len(dark) == 2 and "{" in dark[1]:
        rules = dark[1].split("{", 1)[1].split("}", 1)[0]
        night = f"@media (prefers-color-scheme: dark) {{ :root {{{rules}}} }}"
    return f"{tokens}\n{night}\n{(ASSETS / 'export.css').read_text(encoding='utf-8')}"


def _page(memory: GistMemory, number: int) -> str:
    document, here = memory.document, memory.page(number)
    gist = memory.gists[number - 1]
    heads = "".join(
        f'<h2 lang="{_safe(document.language)}">{_safe(section.title)}</h2>'
        for index in range(here.start, here.end)
        for section in document.headings(index)
    )
    marks = [
        text
        for text, shown in (
            ("by rule: the page's own first sentences", gist is not None and gist.fallback),
            ("changed by hand", gist is not None and gist.edited),
        )
        if shown
    ]
    note = f'<p class="mark">{_safe("; ".join(marks))}</p>' if marks else ""
    paused = pause(here) if number < len(memory.pages) else ""
    stroke = f'<p class="pause"><b>‖</b> {_safe(paused)}</p>' if paused else ""
    words = f"{gist.words:,} of {here.words:,} words" if gist is not None else f"{here.words:,} words, no gist yet"
    return (
        f'{heads}<article id="p{number}"><p class="head"><b>Page {number}</b> · {words}</p>'
        f'<p class="gist">{_safe(gist_text(memory, number))}</p>{note}'
        f'<details><summary>The page in full</summary><div class="text" lang="{_safe(document.language)}">'
        f"{_paragraphs(memory.page_text(number))}</div></details></article>{stroke}"
    )


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{_safe(piece)}</p>" for piece in text.split("\n\n") if piece.strip())


def _map(memory: GistMemory) -> str:
    longest = max((p.words for p in memory.pages), default=1) or 1
    cells = []
    for here in memory.pages:
        gist = memory.gists[here.number - 1]
        kept = gist.words / here.words if gist is not None and here.words else 0
        shade = 1 + sum(kept > limit for limit in (0.12, 0.18, 0.26))
        height = max(6, round(_LONGEST * here.words / longest))
        cells.append(
            f'<a class="m{shade}" href="#p{here.number}" style="height:{height}px" '
            f'title="Page {here.number}: {here.words:,} words"><span>Page {here.number}</span></a>'
        )
    return "".join(cells)


def _safe(text: str) -> str:
    return escape(text, quote=True)
