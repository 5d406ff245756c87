"""Ask: the gist memory on one side, the conversation on the other; looked-up pages open in place as they are read.

Of several books their maps are beside it, and one memory has them all.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.ask import acts, answer_view, live, sidebar, talk
from pages.parts.ask.acts import LIVE, STAGE
from pages.parts.ask.book_views import scope_of
from pages.parts.ask.one_state import AskOneBook, read_ahead, scene
from pages.parts.ask.several_state import Several, several
from pages.parts.ask.shelf_views import opened_books
from pages.parts.ask.state import GONE, AskState, exchange_now
from pages.parts.ask.wording import prompts_hold
from pages.parts.shared import book as current
from pages.parts.shared import shell
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.chosen_books import open_cited
from pages.parts.shared.memory_view import send_pages, show_memory, show_shelf
from readagent_core.answering import replay
from readagent_core.answering.limits import last_page_sent
from readagent_core.answering.rebuilding import has_prompts, rebuild_exchange
from readagent_core.answering.replay import GISTS, MEMORY, QUESTION, Step
from readagent_core.export.replay import export_replay
from readagent_core.library.records import Exchange
from readagent_core.models.builtin import reader as builtin
from readagent_core.text_files import slug
from readagent_core.usage import Usage
from readagent_core.words import count_of

NEW = "A new conversation. Answers name the page of every claim."
NEW_SEVERAL = "Every claim names its book and page."
NO_CALL = {  # of each kind of step
    QUESTION: "The question, before anything was sent.",
    GISTS: "The gist memory is part of every prompt of the next steps.",
    MEMORY: "This is the memory in the answer's prompt; see the next step.",
}
NOTHING_SENT = "The prompt that a model would get; the built-in reader got it here, nothing was sent."
REBUILT = "Rebuilt from the template and the gists: the recording stored its replies, not its prompts."


def screen() -> None:
    workspace = get_workspace()
    now: AskState | None = several(workspace)
    if now is None:
        chosen = current.current(workspace)
        if chosen is None:
            shell.no_book("Ask")
            return
        shell.set_title("Ask", chosen.title, chosen.author)
        now = scene(workspace, chosen)
        if "book" in st.query_params:  # an address without a book stays so: another one would stand in the way of Back
            current.set_address(book=chosen.id)
    elif isinstance(now, Several):
        shell.set_title("Ask", now.chosen.name)
    sidebar.draw(now)
    if isinstance(now, Several):
        with st.container(key="batches_several", gap=None):  # what comes after it stays drawn however many are sent
            for scope, memory in opened_books(now).values():
                send_pages(memory, scope=scope)
                now.sent.add(scope)
    elif isinstance(now, AskOneBook):
        send_pages(now.shown_memory, scope=scope_of(now), limit=now.last_shown)
        read_ahead(now)
    st.fragment(_stage, key=STAGE)(now)


def _stage(now: AskState) -> None:
    """Everything but the sidebar: the parts, which show what ``_live`` tells them."""
    tabs = ("Answer", "Shelf", "Memory") if isinstance(now, Several) else ("Conversation", "Memory")
    tabs_key = f"ask_tabs_{len(tabs)}"
    if leave := st.session_state.pop("ask_leave", None):
        st.session_state["ask_left_tab"] = (now.name, st.session_state.get(tabs_key))
        way_back = {"from": "ask"} | ({"exchange": now.current.id} if now.current else {})
        book_id, page = leave
        open_cited(book_id, page, way_back)
    if st.session_state.pop("ask_connect", False):
        st.switch_page("pages/settings.py")
    now.reload_running()
    empty = GONE if now.gone else f"Asking {now.title}. {NEW_SEVERAL}" if isinstance(now, Several) else NEW
    with st.container(key="ask_bar"):
        act = answer_view.show_replay(now.name, lambda of, step: acts.stepped(now, of, step), empty=empty)
    if act and act.do == "address":
        acts.follow_address(now, act.text)
    if act and act.do == "save" and now.current and isinstance(now, AskOneBook):
        save_replay(now)
    if act and act.do == "prompt" and now.current:
        show_prompts_of(now, now.current, act.page)
    of, left = st.session_state.pop("ask_left_tab", ("", None))
    if of == now.name and left:  # back from the page that was opened there
        st.session_state[tabs_key] = left
    with st.container(key="ask_tabs"):
        st.segmented_control("Show", tabs, default=tabs[0], key=tabs_key, required=True,
                             label_visibility="collapsed", width="stretch")  # fmt: skip
    with st.container(key="ask_two"):
        if isinstance(now, Several):
            maps, memory, right = st.columns([0.42, 1, 1.1], gap=None)
            with maps, st.container(key="ask_shelf"):
                show_shelf("maps", now.name, lambda act: acts.act_on_book(now, act))
            with memory, st.container(key="ask_memory"):
                show_shelf("shelf", now.name, lambda act: acts.act_on_book(now, act))
        elif isinstance(now, AskOneBook):
            memory, right = st.columns([1.18, 1], gap=None)
            with memory, st.container(key="ask_memory"):
                show_memory(book=now.name, key="memory", on_act=lambda act: acts.act_in_memory(now, act))
        with right, st.container(key="ask_talk", gap=None):
            talk.draw(now)
    st.fragment(live.draw, key=LIVE)(now)


@st.dialog("Save the replay")
def save_replay(now: AskOneBook) -> None:
    """Offer the replay of the current answer as one HTML file."""
    exchange = now.current
    if exchange is None or now.why_hidden(exchange, exchange_now(now.workspace, exchange)[1]):
        st.text("This answer is hidden by your limit.")
        return
    st.caption(
        "One file that plays by itself, for a class: the gists, the pages that were sent in full, and the answer."
    )
    last, all_prompts = now.last_shown, False
    if last is not None:
        st.caption(f"With the gists up to page {last} only.")
    prompts = st.toggle("With every prompt and reply", key="ask_save_prompts")
    events = exchange_now(now.workspace, exchange)[1]
    if prompts and last is not None and now.prompts_beyond(exchange, events):
        st.caption("The prompts of this answer hold pages that you have not read. They are left out.")
        all_prompts = st.toggle("Put these prompts in: the file then tells the end", key="ask_save_all_prompts")
    # made now: a button that waits loses the focus
    data = export_replay(now.workspace, exchange.id, prompts=prompts, up_to=last, prompts_of_all=all_prompts)
    name = f"{slug(now.book.title)}-{slug(exchange.question)}.html"
    shell.save_button("Save as HTML", data, name, mime="text/html", type="primary")


def show_prompts_of(now: AskState, exchange: Exchange, at: int) -> None:
    """Open the prompts of a step of an exchange, where the limit does not hide the exchange itself."""
    events, rebuilt, beyond = exchange_now(now.workspace, exchange)[1], False, ""
    if now.why_hidden(exchange, events):
        return
    if isinstance(now, AskOneBook):
        memory = now.memory_of(exchange)
        if not has_prompts(events):
            made = rebuild_exchange(now.workspace.library, exchange, memory)
            events, rebuilt = (made, True) if made else (events, False)
        if now.prompts_beyond(exchange, events):
            beyond = prompts_hold(exchange, last_page_sent(exchange, events, memory), len(memory.pages))
    steps = replay.steps(events)
    by_reader = exchange.facts.model == builtin.NAME
    show_prompts(steps, min(at, len(steps) - 1), rebuilt=rebuilt, beyond=beyond, by_reader=by_reader)


@st.dialog("Prompt and reply", width="large")
def show_prompts(
    steps: Sequence[Step], at: int, *, rebuilt: bool = False, beyond: str = "", by_reader: bool = False
) -> None:
    """Every prompt of step ``at`` with its reply. ``rebuilt``: the prompts were not stored.

    ``beyond``: what they tell of pages past the spoiler limit, for which a press is waited. ``by_reader``: the built-in
    reader answered, to which nothing is sent.
    """
    step = steps[at]
    st.caption(f"Step {at + 1} of {len(steps)}: {step.title}")
    if beyond and (step.calls or step.said):
        kept = st.empty()
        with kept.container(key="ask_beyond"):
            st.text(beyond)
            pressed = st.button("Show it all the same", key="ask_show_beyond")
        if not pressed:
            return
        kept.empty()
    if rebuilt and step.calls:
        st.caption(REBUILT)
    if not step.calls:
        st.text(NO_CALL.get(step.kind, "Nothing was sent in this step."))
        if step.said:
            st.code(step.said, language=None, wrap_lines=True)
    for call in step.calls:
        sent, received = (NOTHING_SENT, "Reply") if by_reader else _figures(call.usage, rebuilt=rebuilt)
        st.caption(sent)
        st.code(call.prompt, language=None, wrap_lines=True, height=360)
        st.caption(received)
        st.code(call.reply, language=None, wrap_lines=True)


def _figures(usage: Usage, *, rebuilt: bool) -> tuple[str, str]:
    """'Sent: 2,409 words, 120 of them for the first time' and 'Received: 36 words, after 2.1 s'."""
    if not usage.words_in:
        return "Prompt" if rebuilt else "Sent (answered from the cache)", "Received"
    new = 0 if rebuilt or usage.words_new is None else usage.words_new
    first = f", {new:,} of them for the first time" if 0 < new < usage.words_in else ""
    after = f", after {usage.seconds:.1f} s" if usage.seconds >= 0.05 and not rebuilt else ""
    return f"Sent: {count_of(usage.words_in, 'word')}{first}", f"Received: {count_of(usage.words_out, 'word')}{after}"


shell.draw(screen)
