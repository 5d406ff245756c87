"""The frame of every exported HTML page: the app's own styles in the file, no script, and nothing that is loaded."""

from __future__ import annotations

from html import escape

from readagent_core.resources import ASSETS

CLOSING = "</body></html>"


def page(title: str, body: str, *, language: str = "en", direction: str = "ltr") -> str:
    """Return an HTML file around ``body``, which the caller has escaped; in the app's colours, light and dark."""
    return f"{opening(title, language=language, direction=direction)}{body}{CLOSING}"


def opening(title: str, *, language: str = "en", direction: str = "ltr") -> str:
    """Return everything in the file before its body; CLOSING ends it."""
    return (
        f'<!doctype html><html lang="{escape(language)}" dir="{direction}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{_styles()}</style></head><body>"
    )


def _styles() -> str:
    """Return the app's tokens, following the reader's own light or dark setting, and the rules of exported pages."""
    tokens = (ASSETS / "tokens.css").read_text(encoding="utf-8")
    dark = tokens.split('[data-theme="dark"]', 1)
    night = ""
    if len(dark) == 2 and "{" in dark[1]:
        rules = dark[1].split("{", 1)[1].split("}", 1)[0]
        night = f"@media (prefers-color-scheme: dark) {{ :root {{{rules}}} }}"
    return f"{tokens}\n{night}\n{(ASSETS / 'export.css').read_text(encoding='utf-8')}"
