"""The voices of this computer for reading aloud: which there are, the sound of a sentence, and the voice one chose."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.parts.shared.cached import workspace_of_request
from pages.parts.shared.json_routes import answer, posted
from readagent_core.loaders.extras import how_to_install
from readagent_core.speech.speaking import SPEAKER
from readagent_core.speech.voices import (
    FETCH_KEY,
    is_installed,
    offers,
    start_fetch,
    start_install,
    voice_named,
    voices,
)
from readagent_core.workspace import Workspace

_CHOSEN = "listening"  # the preference: the voice and the speed


def voice_routes(prefix: str) -> list[Route]:
    """The addresses of the voices, below ``prefix``."""
    return [
        Route(f"{prefix}/voice/list", _list),
        Route(f"{prefix}/voice/say", _say, methods=["POST"]),
        Route(f"{prefix}/voice/fetch", _fetch, methods=["POST"]),
        Route(f"{prefix}/voice/install", _install, methods=["POST"]),
        Route(f"{prefix}/voice/choose", _choose, methods=["POST"]),
    ]


def _list(request: Request) -> Response:
    return answer(lambda: voices_for(workspace_of_request(request)))


def voices_for(workspace: Workspace) -> dict[str, Any]:
    """What the panel of reading aloud needs: ``Voices`` in protocol.d.ts."""
    here = voices(workspace.settings) if is_installed() else []
    job = workspace.jobs.get(FETCH_KEY)
    now = job.snapshot if job else None
    offered = {} if workspace.settings.team else offers()
    return {
        "here": [{"name": voice.name, "title": voice.title, "language": voice.language} for voice in here],
        "offers": [
            {"name": name, "title": offer.title, "language": offer.language, "licence": offer.licence,
             "bytes": offer.model.bytes}
            for name, offer in offered.items()
            if name not in {voice.name for voice in here}
        ],
        "install": "" if is_installed() else how_to_install("voice"),
        "installs": workspace.settings.team is None,
        "fetching": {"name": job.subject, "done": now.done} if job and now and job.running else None,
        "failed": now.error if now else "",
        "chosen": workspace.library.preference(_CHOSEN, {}),
    }  # fmt: skip


async def _say(request: Request) -> Response:
    def say(asked: dict[str, Any]) -> bytes:
        _check(asked, "voice", "text")
        return SPEAKER.say(voice_named(workspace_of_request(request).settings, asked["voice"]), asked["text"])

    return await posted(request, say)


async def _fetch(request: Request) -> Response:
    def fetch(asked: dict[str, Any]) -> dict[str, Any]:
        _check(asked, "name")
        workspace = workspace_of_request(request)
        start_fetch(workspace, asked["name"])
        return voices_for(workspace)

    return await posted(request, fetch)


async def _install(request: Request) -> Response:
    def install(_: dict[str, Any]) -> dict[str, Any]:
        workspace = workspace_of_request(request)
        start_install(workspace)
        return voices_for(workspace)

    return await posted(request, install)


async def _choose(request: Request) -> Response:
    def choose(asked: dict[str, Any]) -> dict[str, Any]:
        _check(asked, "voice")
        chosen = {"voice": asked["voice"][:200], "rate": min(4.0, max(0.25, float(asked["rate"])))}
        workspace_of_request(request).library.set_preference(_CHOSEN, chosen)
        return {}

    return await posted(request, choose)


def _check(asked: dict[str, Any], *names: str) -> None:
    if not all(isinstance(asked[name], str) for name in names):
        raise TypeError
