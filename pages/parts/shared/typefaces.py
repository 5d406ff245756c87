"""The typefaces of packages, sent from where they are installed: Caladea (Apache-2.0) and Lato (OFL-1.1)."""

from __future__ import annotations

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PACKAGES = {"Caladea": "font_caladea", "Lato": "font_lato"}
STYLES = ("Regular", "Bold", "Italic", "BoldItalic")
HEADERS = {"Cache-Control": "public, immutable, max-age=31536000", "X-Content-Type-Options": "nosniff"}


def typeface_routes(prefix: str) -> list[Route]:
    return [Route(f"{prefix}/typeface/{{name}}-{{style}}.ttf", _typeface)]


def _typeface(request: Request) -> Response:
    package, style = PACKAGES.get(request.path_params["name"]), request.path_params["style"]
    try:
        if package is None or style not in STYLES:
            raise FileNotFoundError
        font = (files(package) / "files" / f"{request.path_params['name']}-{style}.ttf").read_bytes()
    except (FileNotFoundError, ModuleNotFoundError):
        return Response("There is no such typeface.", status_code=404)
    return Response(font, media_type="font/ttf", headers=HEADERS)
