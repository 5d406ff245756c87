"""The state of the Ask screen: conversation, exchange and step, and how it asks; about one book or about several.

What the address says (?book=…&exchange=…&step=…) comes first, so that a link to a replay works. ``one_state`` and
``several_state`` have what is different of one book and of several.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from readagent_core.answering import replay
from readagent_core.answering.ask import ONE_BOOK
from readagent_core.answering.asking import (
    AskProgress,
    exchange_state,
    is_recording,
    job_key,
)
from readagent_core.answering.base import (
    Answer,
    Answered,
    AnswerPart,
    AskSettings,
    Event,
    LookedUp,
    ModelCall,
    Question,
)
from readagent_core.answering.questions import parse_question
from readagent_core.citations import Checked
from readagent_core.jobs import Job, Snapshot
from readagent_core.library.records import Exchange, ExchangeState
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.workspace import Workspace

SHOWN = 12  # exchanges of a long conversation drawn at first
EVERY_METHOD = "ask_every_method"  # the switch that offers the methods of the papers
GONE = "This answer is not in this library any more."
ADDRESS_SECONDS = 2.0  # for which a run may still arrive with an older address
KEPT = "ask_kept"  # in the session, of a book or several: a question that waits for what a limit is to let in


@dataclass(kw_only=True)
class AskState(ABC):
    """What one run of the screen draws from: a ``AskOneBook`` is about one book, ``Several`` about several.

    ``still``: the records of exchanges that were sent and do not change any more. ``just_asked``: the question of this
    run. ``watched``: an answer was under way at the last update, and ``seen`` what there was of it; ``ended``: it has
    ended since, and only its last part was sent. ``gone``: the address names an answer that is not in the library.
    """

    workspace: Workspace
    conversation_id: str | None
    exchanges: list[Exchange]
    current: Exchange | None
    method: str = "read-agent-p"
    look_ups: int = 3
    still: dict[str, dict[str, Any]] = field(default_factory=dict)
    just_asked: Exchange | None = None
    watched: bool = False
    seen: Snapshot | None = None
    gone: bool = False
    ended: bool = False

    def reload_running(self) -> None:
        """Take what is stored of the exchanges under way: one that has ended, or failed with its reason."""
        stored = self.workspace.library.exchange
        self.exchanges = [stored(e.id) if e.state == ExchangeState.RUNNING else e for e in self.exchanges]

    @property
    def running(self) -> bool:
        return any(exchange_state(self.workspace, e) == ExchangeState.RUNNING for e in self.exchanges)

    @property
    def recording(self) -> bool:
        """Whether the conversation is one that came with a sample."""
        return is_recording(self.exchanges)

    @property
    @abstractmethod
    def book_ids(self) -> tuple[str, ...]:
        """The books that are asked."""

    @property
    def kept_key(self) -> str:
        """The name, in the session, of the question that waits until something is let in."""
        return f"{KEPT} {' '.join(self.book_ids)}"

    @property
    @abstractmethod
    def name(self) -> str:
        """By which the browser knows these conversations."""

    @abstractmethod
    def start(
        self, question: Question, settings: AskSettings, *, use_cache: bool, model: ChatModel | None, beside: str
    ) -> Exchange:
        """Start to answer, and remember the conversation for the next run. Raises ReadAgentError."""

    @abstractmethod
    def why_hidden(self, exchange: Exchange, events: Sequence[Event]) -> tuple[str, bool] | None:
        """Why a spoiler limit hides an answer, and whether it may be asked for again; None where it is shown."""

    @abstractmethod
    def memory_of(self, exchange: Exchange, book: int) -> GistMemory | None:
        """The memory that an exchange was answered from; of ``book`` of several, None where it has no gists."""

    @abstractmethod
    def check(self, exchange: Exchange, text: str, answer: Answer) -> Checked:
        """The ``text`` of an answer in pieces with its checked citations."""

    @abstractmethod
    def shows(self, exchange: Exchange) -> bool:
        """Whether the browser has the pages of the memory that an exchange was answered from."""

    @abstractmethod
    def name_in_address(self, exchange: Exchange, *, step: int | None = None) -> None: ...


def exchange_in_address() -> str | None:
    """The id of the exchange that the address names; None without one, or where that address is out of date."""
    wanted = st.query_params.get("exchange")
    left, when = st.session_state.get("ask_left", ("", 0.0))
    return None if wanted == left and time.monotonic() - when < ADDRESS_SECONDS else wanted


def choose_exchange(now: AskState, exchange: Exchange, *, step: int | None = None) -> None:
    """Make this exchange the one in the memory view and in the address."""
    _make_current(now, exchange, step)
    now.name_in_address(exchange, step=step)


def _make_current(now: AskState, exchange: Exchange, step: int | None = None) -> None:
    now.current = exchange
    st.session_state["ask_step"] = (exchange.id, step, time.monotonic())


def step_asked(exchange: Exchange, count: int) -> int:
    """The step that was just chosen, else the one in the address (1 is the first), else the last.

    A run requested before a click may arrive after it, with the address as it was.
    """
    of, step, gone = st.session_state.get("ask_step", ("", None, 0.0))
    if of == exchange.id and step is not None and time.monotonic() - gone < ADDRESS_SECONDS:
        return min(int(step), count - 1)
    text = st.query_params.get("step", "")
    return min(max(int(text), 1), count) - 1 if text.isdecimal() and len(text) < 4 else count - 1


def has_result(events: Sequence[Event]) -> bool:
    """Whether anything has come of a question that a spoiler limit may hide."""
    return any(isinstance(event, Answered | AnswerPart | LookedUp | ModelCall) for event in events)


def ask(
    now: AskState,
    text: str,
    *,
    options: str = "",
    whole: bool = False,
    like: Exchange | None = None,
    model: ChatModel | None = None,
    beside: bool = False,
    pages: str | None = None,
) -> None:
    """Start to answer, and update the state; ``like``: an exchange that is asked again, shown ``beside`` the new one.

    ``model``: another than the chosen one. ``pages``: '2,5', to open these and ask for no others.
    Raises ReadAgentError.
    """
    question = Question(text, like.options) if like else parse_question(text, options)
    extra = {} if pages is None else {"pages": pages}
    whole = whole or bool(like and like.settings.get("whole"))
    settings = AskSettings(look_ups=0 if whole else now.look_ups, whole=whole, may_decline=True, extra=extra)
    method = now.method
    if pages is not None:
        now.method = ONE_BOOK
    again = like is not None and now.method == like.method and not beside
    shown = like.id if like and beside else ""
    exchange = now.start(question, settings, use_cache=not again, model=model, beside=shown)
    now.method = method
    _make_current(now, exchange)  # the address follows when the question is shown: that takes the browser a while
    now.just_asked, now.ended = exchange, False
    now.conversation_id = exchange.conversation_id
    now.exchanges = now.workspace.library.exchanges(exchange.conversation_id)


def exchange_now(workspace: Workspace, exchange: Exchange) -> tuple[ExchangeState, Sequence[Event], str, Job | None]:
    """An exchange as it is now: state, events, the answer so far, and its job while it runs."""
    state = exchange_state(workspace, exchange)
    job = workspace.jobs.get(job_key(exchange.id)) if state == ExchangeState.RUNNING else None
    if job is not None and isinstance(job.snapshot.value, AskProgress):
        value = job.snapshot.value
        return state, value.events, value.text, job
    if exchange.state == ExchangeState.RUNNING:  # it has ended since, or another process works on it
        exchange = workspace.library.exchange(exchange.id)
    events = replay.events_of(exchange)
    return state, events, replay.answer_text(events), job
