"""Components whose script and style are files of ``assets``."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from pages.parts.shared.scripts import bundle
from readagent_core.resources import ASSETS

served: set[str] = set()  # the scripts that have an address
ROOT = '<div class="root"></div>'


@cache
def component(name: str, script: str, *, style: str = "", html: str = ROOT) -> Callable[..., Any]:
    """A function that mounts the component: ``mount(key=…, data={…}, on_NAME_change=…)``.

    ``script``: a path within ``assets``; ``style``: one or several, separated by spaces. A component without anything
    to show takes ``html=""``.
    """
    mount = st.components.v2.component(name, html=html, css="".join(map(read, style.split())), js=loader(script))

    def show(*, key: str, data: Mapping[str, Any], **options: Any) -> Any:
        return mount(key=key, data=wrap_in_list(data), **options)

    return show


def address(script: str) -> str:
    """Where first_page.py serves the bundle of ``script``, relative to the page; another text has another address."""
    served.add(script)
    return f"bundle/{zlib.crc32(bundle(script).encode()):08x}/{script}"


def loader(script: str) -> str:
    """A module that loads the bundle of ``script``: Streamlit sends a component's script with every element."""
    return f'const part = await import(new URL("{address(script)}", document.baseURI));\nexport default part.default;\n'


def wrap_in_list(data: Mapping[str, Any]) -> list[Any]:
    """``data`` in a list of one, which every script unpacks.

    Streamlit looks for data frames among the values of a mapping and loads pandas to recognise them: half a second
    of the first visit. It does not look into a list.
    """
    return [data]


def read(path: str) -> str:
    return (ASSETS / path).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Act:
    """What the person did: ``do``, with a ``page``, a ``text``, and the exchange it was done to (``of``)."""

    do: str
    page: int = 0
    text: str = ""
    of: str = ""


def act_of(result: Any) -> Act | None:
    """The act that a component reported with its ``result``; None without one."""
    act = getattr(result, "act", None)
    if not act:
        return None
    return Act(str(act["do"]), int(act.get("page") or 0), str(act.get("text") or ""), str(act.get("of") or ""))


def call_with_act(on_act: Callable[[Act], None], key: str) -> Callable[[], None]:
    """A callback for the component ``key``, which calls ``on_act`` before the next run."""

    def report() -> None:
        if act := act_of(st.session_state.get(key)):
            on_act(act)

    return report


def no_callback() -> None:
    """A trigger or state value exists only with a callback; its value is read from the component's result."""
