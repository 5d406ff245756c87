"""The component of the conversation side of Ask: an exchange, the replay bar, and two small lists.

Every function draws one and tells what the person did with it. Text reaches the page by ``textContent`` only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

ASSETS = Path(__file__).parents[2] / "assets"
SCRIPTS = (
    "memory_view/dom",
    "answer_view/thread",
    "answer_view/exchange",
    "answer_view/replay",
    "answer_view/lists",
    "answer_view/main",
)


@dataclass(frozen=True)
class Act:
    """What the person did: ``do``, with a number (``page``) and a ``text`` where it needs them."""

    do: str
    page: int = 0
    text: str = ""


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

    _component()(key=key, data=dict(data), on_act_change=told)


def _act(result: Any) -> Act | None:
    act = getattr(result, "act", None)
    return Act(str(act["do"]), int(act.get("page") or 0), str(act.get("text") or "")) if act else None


def _nothing() -> None:
    """A trigger needs a callback to exist; what it carries is read from the result."""


def show_exchange(record: Mapping[str, Any], on_act: Callable[[Act], None]) -> None:
    """``record``: from ``ask_record.exchange_record``. Acts: again, method, stop, cite, replay."""
    _draw(record, f"exchange_{record['id']}", on_act)


def show_replay(steps: Sequence[str], *, exchange_id: str, at: int, link: str) -> tuple[Act | None, int | None]:
    """The steps of the current answer. Act: prompt. And the step chosen, None unless one was chosen just now."""
    data = {"kind": "replay", "id": exchange_id, "steps": list(steps), "at": at, "link": link}
    result = _component()(key="replay", data=data, on_act_change=_nothing, on_step_change=_nothing)
    chosen = getattr(result, "step", None) or {}
    new = chosen.get("id") == exchange_id and chosen.get("turn") != st.session_state.get("replay_turn")
    if new:
        st.session_state["replay_turn"] = chosen["turn"]
    return _act(result), min(int(chosen["at"]), len(steps) - 1) if new else None


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
    items: Sequence[tuple[str, bool]], on_act: Callable[[Act], None], *, language: str, key: str
) -> None:
    """``items``: (question, whether it is about the whole). Act: ask (``page`` is 1 for the whole)."""
    data = {
        "kind": "suggestions",
        "items": [{"text": text, "whole": whole} for text, whole in items],
        "language": language,
    }
    _draw(data, key, on_act)
