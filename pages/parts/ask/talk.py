"""The conversation side of Ask: the exchanges, and the line to write in with what is said above it."""

from __future__ import annotations

import streamlit as st

from pages.parts.ask import answer_view, book_views, payload
from pages.parts.ask.acts import ask_or_keep, handle, let_in_and_ask
from pages.parts.ask.one_state import AskOneBook
from pages.parts.ask.several_state import Several
from pages.parts.ask.state import GONE, AskState
from pages.parts.read.start import act_on_line, estimate_of, line_to_make
from pages.parts.shared import polling, shell
from pages.parts.shared.component import Act
from readagent_core.answering import costs, suggesting
from readagent_core.errors import ReadAgentError
from readagent_core.jobs import JobState
from readagent_core.library.records import Exchange, Gisting
from readagent_core.model_names import short_name
from readagent_core.words import pages_up_to

SUGGEST_SECONDS = 0.7  # between two looks at the suggestions
QUOTED = "ask_quoted"  # in the session: the words selected in Read that wait in the line
MOST_IN_FIELD = 40  # characters of a title that the field has room for
GISTS_SECONDS = 2.0  # between two looks at gists that are being made
GISTS_ADD = "With gists an answer remembers the whole book, not only passages that share your words."


def draw(now: AskState) -> None:
    title, empty = "", "Ask about the book. The answer says which pages it rests on; a click shows the words."
    if isinstance(now, AskOneBook):
        title = "" if now.beside_text else now.book.title
    elif isinstance(now, Several):
        title = now.title
        empty = "Ask these books one question. The answer says which book and page every claim rests on."
        if now.kept_out and not now.shelf.books:
            empty = "An answer sees what you have read of stories. Let these books in below, or read in one first."
    if now.gone and not now.current:
        title, empty = GONE, "It was deleted, or the link is from another library."
    with st.container(key="ask_thread", height=480, autoscroll=False, border=False):  # scroll.js controls its position
        records = payload.finished_records(now)
        left_out = payload.left_out(now)
        answer_view.show_conversation(
            now.name,
            records,
            lambda act: handle(now, act),
            earlier=f"Show {left_out} earlier {'question' if left_out == 1 else 'questions'}" if left_out else "",
            title=title,
            empty=empty,
            questions=() if now.exchanges else _questions(now),
            language=_language(now),
        )
    with st.container(key="ask_line", gap="small"):
        _line(now, waits=isinstance(now, AskOneBook) and book_views.waiting_question(now) is not None)


def _line(now: AskState, *, waits: bool) -> None:
    label = "Ask about the book"
    if isinstance(now, AskOneBook) and not now.beside_text and len(now.book.title) <= MOST_IN_FIELD:
        label = f"Ask about {now.book.title}"
    if isinstance(now, Several):
        label = f"Ask {now.title}" if now.kept_out else f"Ask these {len(now.chosen.book_ids)} books"
    if quote := st.session_state.pop("ask_quote", ""):  # words selected in Read
        st.session_state["ask_input"] = f"{quote}\n"
        st.session_state[QUOTED] = quote
    if back := st.session_state.pop("ask_back", ""):  # a question that was not asked after all
        st.session_state["ask_input"] = back
    # always one container: if the field moved down, the browser would draw a new one and lose the typed words
    with st.container(key="ask_above", gap="small"):
        _say_above(now, waits=waits)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.chat_input(label, key="ask_input", max_chars=20_000, on_submit=_submit, args=(now,))
        field = _options_field()
        given = sum(bool(line.strip()) for line in st.session_state.get(field, "").splitlines())
        with st.popover(
            f"Choices: {given}" if given else "Choices",
            icon=":material/checklist:",
            help=f"{given} choices go with the question" if given else "Give answers to choose from",
            key="ask_options_open",
        ):
            st.text_area("Answers to choose from, one per line", key=field, height=140)
    # the answer needs the panel's room
    of_gists = isinstance(now, AskOneBook) and None in now.memory.gists and not (now.beside_text and now.exchanges)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="ask_foot"):
        if not of_gists:  # which has it in its line
            st.caption(shell.as_text(_price(now)))
        if isinstance(now, AskOneBook) and not now.running:
            _suggest(now)
    if isinstance(now, AskOneBook) and of_gists:
        _say_gists(now)
    elif isinstance(now, AskOneBook) and now.current and (price := payload.whole_memory_price(now, now.current)):
        _offer_whole_memory(now, now.current, price)
    trouble = st.session_state.pop("ask_trouble", None)
    if trouble:
        shell.error_box(trouble)


def _say_above(now: AskState, *, waits: bool) -> None:
    """What answers may see, and questions to ask by a press."""
    if isinstance(now, Several) and now.kept_out and not now.shelf.books:
        _say_kept_out(now)
    if isinstance(now, AskOneBook):
        if now.beside_text and QUOTED in st.session_state:
            st.caption("Add a question, or send to ask what this means.")
        if now.limit is not None and not now.beside_text:  # which the panel says above
            nothing = f"{book_views.why_no_page(now)} You choose with the question what an answer may see."
            st.caption(f"Answers see {pages_up_to(now.limit)} only." if now.limit else nothing)
        if now.exchanges and not (waits or now.beside_text):  # before the first question they are in the middle
            answer_view.show_suggestions(
                now.name, _questions(now), lambda act: handle(now, act), language=_language(now)
            )


def _say_kept_out(now: Several) -> None:
    """That none of the books is let in, and the way to let them all in; the memory has one for each."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ask_kept_out"):
        one, waits = len(now.kept_out) == 1, now.kept_key in st.session_state
        st.caption(f"{'Your question waits. ' * waits}No page is let in yet.", width="stretch")
        label = f"Let {'it' if one else 'them'} in{' and ask' * waits}"
        st.button(
            label, key="ask_let_in", type="primary" if waits else "secondary", on_click=let_in_and_ask, args=(now,)
        )


def _questions(now: AskState) -> list[tuple[str, bool]]:
    """The questions to ask by a press, each with whether it is about the whole text."""
    if isinstance(now, AskOneBook):
        return _suggestions(now)
    if not isinstance(now, Several) or len(now.shelf.books) < 2:
        return []
    names = suggesting.people_in([line for book in now.shelf.books for line in book.opening.splitlines()])
    by_model = now.workspace.model.is_language_model
    return [(text, False) for text in suggesting.questions_about_several(names, _language(now), by_model=by_model)]


def _language(now: AskState) -> str:
    return now.book.language if isinstance(now, AskOneBook) else "en"


def _price(now: AskState) -> str:
    """Who answers, what a question costs, and what is made before the first one."""
    model = now.workspace.model
    who = short_name(model.name) if model.is_language_model else "Built-in reader"
    price = payload.price_of_question_now(now, now.method)
    if isinstance(now, Several):
        first = costs.shelf_gists_sentence(model, now.shelf.books)
    else:
        assert isinstance(now, AskOneBook)
        memory = now.memory if now.limit is None else now.memory.up_to(now.limit)
        store = now.workspace.library.artifacts(now.gisting.document_id)
        first = costs.parts_sentence(model, memory, now.method, store, look_ups=now.look_ups)
    return f"{who}: {price}{'' if price == 'free' else ' a question'}. {first}".strip()


def _say_gists(now: AskOneBook) -> None:
    """What gists would add and what they take, or how far they are; asks for the whole screen when they are made."""
    gisting, line = line_to_make(now.workspace, now.book)
    running = bool(line["running"])
    polling.rerun_after(GISTS_SECONDS if running else None, key="ask_gists")
    if not running and st.session_state.pop("ask_gisting", False):
        st.rerun(scope="app")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ask_gists"):
        if running:
            st.session_state["ask_gisting"] = True
        if line["state"] not in ("none", "ready", "recording"):
            told = " · ".join(part for part in (f"Gists: {line['line'].lower()}", line["rest"]) if part)
            st.caption(shell.as_text(f"{_price(now)} {told}. Answers use what is there and search the rest."))
            for do, label in dict(line["actions"]).items():
                if do == "settings":
                    st.page_link("pages/settings.py", label=label)
                else:
                    st.button(label, key=f"ask_gists_{do}", on_click=_act_on_gists, args=(now, gisting, do))
            return
        if not now.memory.readable and line["state"] in ("ready", "recording"):  # see one_state
            st.caption(shell.as_text(f"{_price(now)} The gist of page 1 goes past your limit: the text is searched."))
            return
        takes = "a few seconds, free"
        if now.workspace.model.is_language_model:
            takes = estimate_of(now.workspace, now.book)
        said = f"Gists take {takes}." if now.exchanges else f"{GISTS_ADD} {takes[0].upper()}{takes[1:]}."
        st.caption(shell.as_text(f"{_price(now)} {said}"))
        st.button("Make gists", key="ask_make", on_click=_act_on_gists, args=(now, None, "make"))


def _offer_whole_memory(now: AskOneBook, exchange: Exchange, price: str) -> None:
    """The gists are complete since the answer that is shown: ask again, where they were made."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ask_ready"):
        st.caption(shell.as_text(f"The gists are ready: {price}."))
        again = Act("whole-memory", of=exchange.id)
        st.button("Ask again with gists", key="ask_whole_memory", on_click=handle, args=(now, again))


def _act_on_gists(now: AskOneBook, gisting: Gisting | None, do: str) -> None:
    try:
        act_on_line(now.workspace, now.book, gisting, do)
    except ReadAgentError as error:
        st.session_state["ask_trouble"] = error
    st.rerun("app")


def _options_field() -> str:
    """The key of the options' field: a new one a question, for a closed popover would send the old text again."""
    return f"ask_options_{st.session_state.get('ask_options_used', 0)}"


def _submit(now: AskState) -> None:
    """Ask the question that was submitted."""
    text, options = st.session_state["ask_input"], st.session_state.get(_options_field(), "")
    if text and text.strip():
        if text.strip() == st.session_state.pop(QUOTED, ""):
            text = f"{text.strip()}\nWhat does this mean?"
        if options.strip():
            st.session_state["ask_options_used"] = st.session_state.get("ask_options_used", 0) + 1
        ask_or_keep(now, text, options=options)


def _suggestions(now: AskOneBook) -> list[tuple[str, bool]]:
    """At most four questions: those that always fit, then some about this text."""
    memory = now.memory if now.limit is None else now.memory.up_to(now.limit)
    asked = {e.question for e in now.exchanges}
    finished = now.limit is None and memory.complete
    cache = st.session_state.setdefault("always_asked", {})  # finding names reads every gist: once, not at every run
    name = (now.gisting.id, now.limit, len(memory.readable), now.workspace.model.is_language_model)
    if name not in cache:
        found = (
            suggesting.standard_questions(memory, finished=finished)
            if memory.readable
            else suggesting.questions_without_gists(
                memory, limited=now.limit is not None, by_model=now.workspace.model.is_language_model
            )
        )
        cache[name] = [(s.text, s.whole) for s in found]
    always = cache[name]
    if not memory.readable:
        return [pair for pair in always if pair[0] not in asked]
    saved = suggesting.saved_suggestions(now.workspace, now.gisting.id, up_to=now.limit)
    if saved is None and not now.workspace.model.is_language_model:
        saved = cache.setdefault(("by rule", *name), suggesting.suggest_by_rule(memory))
    return [pair for pair in [*((t, False) for t in (saved or [])[:2]), *always] if pair[0] not in asked][:4]


def _suggest(now: AskOneBook) -> None:
    """A button that asks the model for questions, where none were suggested for this reading yet, and its progress."""
    memory = now.memory if now.limit is None else now.memory.up_to(now.limit)
    fresh = suggesting.saved_suggestions(now.workspace, now.gisting.id, up_to=now.limit) is None
    job = suggesting.suggesting_job(now.workspace, now.gisting.id, up_to=now.limit)
    running = job is not None and job.running
    polling.rerun_after(SUGGEST_SECONDS if running else None, key="ask_suggesting")
    if not (fresh and now.workspace.model.is_language_model and memory.readable):
        return
    if job is not None and running:
        with st.container(horizontal=True, vertical_alignment="center", key="ask_suggesting"):
            st.caption("Thinking of questions")
            st.button("Stop", key="ask_suggest_stop", disabled=job.cancelled, on_click=job.cancel)
        return
    if job is not None and job.snapshot.state == JobState.FAILED:
        st.caption(shell.as_text(job.snapshot.error))
    price = costs.price_of_words(now.workspace.model, memory.gist_words)
    if st.button(
        shell.as_text(f"Suggest questions, {price}"), icon=":material/lightbulb:", type="tertiary", key="ask_suggest"
    ):
        suggesting.start_suggesting(now.workspace, now.gisting.id, memory, up_to=now.limit)
        st.rerun(scope="fragment")
