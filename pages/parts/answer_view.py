"""The component of the conversation side of Ask: the exchanges, the replay bar, and two small lists.

``tell`` sends what changes while an answer comes; the parts draw it in the browser, and so does the memory view.
Every other function draws a part and tells what the person did with it. Text reaches the page by ``textContent`` only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.sealed import sealed

ASSETS = Path(__file__).parents[2] / "assets"
SCRIPTS = (
    "memory_view/dom",
    "answer_view/told",
    "answer_view/thread",
    "answer_view/exchange",
    "answer_view/talk",
    "answer_view/replay",
    "answer_view/lists",
    "answer_view/main",
)


@dataclass(frozen=True)
class Act:
    """What the person did: ``do``, with a number (``page``), a ``text``, and the exchange it was done to (``of``)."""

    do: str
    page: int = 0
    text: str = ""
    of: str = ""


@cache
def _live() -> Any:
    # a component carries its script with every message, and this one is sent again and again
    js = "\n".join((ASSETS / "answer_view" / f"{name}.js").read_text(encoding="utf-8") for name in ("told", "live"))
    return st.components.v2.component("answer_live", html="", css="", js=js)


@cache
def _component() -> Any:
    js = "\n".join((ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    css = (ASSETS / "answer_view" / "answer_view.css").read_text(encoding="utf-8")
    return st.components.v2.component("answer_view", html='<div class="root"></div>', css=css, js=js)


def dress() -> None:
    """How Ask's native widgets stand: two columns that fill the screen, two tabs where it is narrow."""
    css = (ASSETS / "answer_view" / "ask.css").read_text(encoding="utf-8")
    st.html(f"<style>{css}</style>")


def _draw(data: Mapping[str, Any], key: str, on_act: Callable[[Act], None]) -> None:
    """``on_act`` is called before anything is drawn again."""

    def told() -> None:
        act = _act(st.session_state.get(key))
        if act:
            on_act(act)

    _component()(key=key, data=sealed(data), on_act_change=told)


def _act(result: Any) -> Act | None:
    act = getattr(result, "act", None)
    if not act:
        return None
    return Act(str(act["do"]), int(act.get("page") or 0), str(act.get("text") or ""), str(act.get("of") or ""))


def _nothing() -> None:
    """A trigger needs a callback to exist; what it carries is read from the result."""


def tell(talk: str, now: Mapping[str, Any]) -> None:
    """What every part of ``talk`` shows now; ``now``: from ``ask_told.told``."""
    with st.container(key="unseen_live"):
        _live()(key=f"live {talk}", data=sealed({"talk": talk, **now}))


def show_talk(
    talk: str, records: Sequence[Mapping[str, Any]], on_act: Callable[[Act], None], *, earlier: str, empty: str
) -> None:
    """The exchanges, ``records`` (``ask_record.exchange_record``) being those that stand still.

    ``earlier``: the button for those left out, ``empty``: what stands where there are none.
    Acts, of an exchange: again, method, stop, hurry, cite, replay. And: earlier.
    """
    data = {"kind": "talk", "talk": talk, "records": list(records), "earlier": earlier, "empty": empty}
    _draw(data, f"talk {talk}", on_act)


def show_replay(talk: str, on_step: Callable[[str, int], None]) -> Act | None:
    """The steps of the current answer. Act: prompt. ``on_step``: the exchange and the step chosen, which the browser
    shows already, before anything is drawn again."""

    def stepped() -> None:
        chosen = getattr(st.session_state.get("replay"), "step", None)
        if chosen:
            on_step(str(chosen["of"]), int(chosen["at"]))

    data = {"kind": "replay", "talk": talk}
    return _act(_component()(key="replay", data=sealed(data), on_act_change=_nothing, on_step_change=stepped))


def show_conversations(
    items: Sequence[Mapping[str, str]],
    on_act: Callable[[Act], None],
    *,
    now: str | None,
    language: str,
    key: str,
) -> None:
    """``items``: id, title, about. Act: conversation (``text`` is its id)."""
    data = {"kind": "conversations", "items": [dict(i) for i in items], "now": now, "language": language}
    _draw(data, key, on_act)


def show_suggestions(
    talk: str, items: Sequence[tuple[str, bool]], on_act: Callable[[Act], None], *, language: str
) -> None:
    """``items``: (question, whether it is about the whole). Act: ask (``page`` is 1 for the whole)."""
    data = {
        "kind": "suggestions",
        "talk": talk,
        "items": [{"text": text, "whole": whole} for text, whole in items],
        "language": language,
    }
    _draw(data, "suggestions", on_act)
