"""The components of the conversation side of Ask: the exchanges, the replay bar, and two small lists.

``send_state`` sends what changes while an answer comes; the parts draw it in the browser, and so does the memory view.
Every other function draws one part and reports what the person did with it. The types of what is sent and received
are in ``assets/protocol.d.ts``. Text reaches the page by ``textContent`` only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts.shared.component import Act, act_of, call_with_act, component, no_callback


def _view() -> Callable[..., Any]:
    return component("answer_view", "answer_view/main.js", style="answer_view/answer_view.css")


def send_state(book: str, state: Mapping[str, Any]) -> None:
    """Send what every part of Ask shows of ``book`` now, made by ``payload.ask_state``."""
    # a script goes along with every message of its component, so this one has a small script of its own
    send = component("answer_live", "answer_view/receive_state.js", html="")
    with st.container(key="unseen_live"):
        send(key=f"live {book}", data={"book": book, **state})


def show_conversation(
    book: str,
    records: Sequence[Mapping[str, Any]],
    on_act: Callable[[Act], None],
    *,
    earlier: str,
    title: str,
    empty: str,
    questions: Sequence[tuple[str, bool]],
    language: str,
) -> None:
    """Draw the exchanges; ``records``: those that do not change any more, made by ``record.exchange_record``.

    ``earlier``: the label of the button for exchanges left out. ``title``, ``empty``, ``questions`` (see
    ``show_suggestions``): shown where there are none. Acts, of an exchange: again, method, let-in, stop, hurry, cite,
    replay, keep, release. And: earlier, ask, ask-kept (see ``WaitingQuestion``).
    """
    data: dict[str, Any] = {"kind": "conversation", "book": book, "records": list(records), "earlier": earlier}
    data |= {"title": title, "empty": empty, "questions": _questions(questions), "language": language}
    key = f"exchanges {book}"
    _view()(key=key, data=data, on_act_change=call_with_act(on_act, key))


def show_replay(book: str, on_step: Callable[[str, int], None], *, empty: str) -> Act | None:
    """Draw the steps of the current answer, or ``empty`` before any question. Act: prompt.

    ``on_step`` is called before the next run with the exchange and the step chosen; the browser shows it already.
    """

    def report() -> None:
        chosen = getattr(st.session_state.get("replay"), "step", None)
        if chosen:
            on_step(str(chosen["of"]), int(chosen["at"]))

    data = {"kind": "replay", "book": book, "empty": empty}
    return act_of(_view()(key="replay", data=data, on_act_change=no_callback, on_step_change=report))


def show_conversations(
    items: Sequence[Mapping[str, str]],
    on_act: Callable[[Act], None],
    *,
    now: str | None,
    language: str,
    key: str,
) -> None:
    """Draw the list of conversations, each with id, title and about. Act: conversation (``text`` is its id)."""
    data = {"kind": "conversations", "items": [dict(i) for i in items], "now": now, "language": language}
    _view()(key=key, data=data, on_act_change=call_with_act(on_act, key))


def _questions(items: Sequence[tuple[str, bool]]) -> list[dict[str, Any]]:
    return [{"text": text, "whole": whole} for text, whole in items]


def show_suggestions(
    book: str, items: Sequence[tuple[str, bool]], on_act: Callable[[Act], None], *, language: str
) -> None:
    """Draw questions to ask, each with whether it is about the whole book. Act: ask (``page`` is 1 for the whole)."""
    data = {
        "kind": "suggestions",
        "book": book,
        "items": _questions(items),
        "language": language,
    }
    _view()(key="suggestions", data=data, on_act_change=call_with_act(on_act, "suggestions"))
