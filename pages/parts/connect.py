"""The Model tab of Settings: who reads, where, with which key; the test; limits and prices; the budget.

It draws and hands on; what is decided stands in ``readagent_core.study.connecting``. A key goes from its field
into memory and is never put back on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.parts import shell
from readagent_core.errors import ModelError, ReadAgentError
from readagent_core.models import probe
from readagent_core.models.prices import AS_OF, is_local, money, price_of
from readagent_core.models.probe import PRESETS, Check, Found
from readagent_core.models.spending import Ledger
from readagent_core.settings import Secret
from readagent_core.study import Study, connecting

WHO = ("local", "openai", "other", "builtin")
TITLES = {
    "local": "A model on this computer",
    "openai": "OpenAI",
    "other": "Another server",
    "builtin": "Built-in reader",
}
ELSEWHERE = [p for p in PRESETS if not p.local and p.id != "openai"]
OWN = "own"
ICONS = {"good": ":green[:material/check:]", "weak": ":orange[:material/warning:]", "failed": ":red[:material/close:]"}
NUMBERS = {1: "One", 2: "Two", 3: "Three", 4: "Four"}


def who_reads(study: Study) -> str:
    """Which card is chosen when the screen opens."""
    settings = study.settings
    if not settings.connected:
        return "builtin"
    preset = connecting.preset_of(settings.base_url) if settings.base_url else None
    if not settings.base_url or (preset and preset.id == "openai"):
        return "openai"
    return "local" if preset and preset.local else "other"


def captions(found: Sequence[Found]) -> list[str]:
    """A line under each card."""
    there = len(found)
    some = f"{NUMBERS.get(there, there)} server{'' if there == 1 else 's'} found."
    local = f"Free and private. {some if there else 'No server found yet.'}"
    return [
        local,
        "Needs a key. Text is sent to OpenAI.",
        "Any address that answers the way OpenAI does.",
        "No model: word statistics. Always here.",
    ]


def model_count(found: Found) -> str:
    models = len(found.models)
    where = found.address.split("//")[-1].split("/")[0]
    return f"{where} · {'no model loaded' if not models else '1 model' if models == 1 else f'{models} models'}"


def servers(*, again: bool = False) -> list[Found]:
    """The servers on this computer, looked for once a session."""
    if again or "found_servers" not in st.session_state:
        with st.spinner("Looking for models on this computer"):
            st.session_state["found_servers"] = probe.find_local()
    found: list[Found] = st.session_state["found_servers"]
    return found


def model_tab(study: Study) -> None:
    left, right = st.columns([1.84, 1], gap="large")
    with left:
        form(study)
    with right:
        test_card(study)
        budget_card(study)


def form(study: Study) -> None:
    found = servers()
    st.subheader("Who reads", anchor=False)
    with st.container(key="who"):
        chosen = st.radio(
            "Who reads",
            WHO,
            index=WHO.index(who_reads(study)),
            format_func=TITLES.__getitem__,
            captions=captions(found),
            label_visibility="collapsed",
            key="who_reads",
        )
    in_force(study)
    if chosen == "builtin":
        built_in(study)
    elif chosen == "local":
        local_form(study, found)
    elif chosen == "openai":
        fields(study, scope="openai", address=probe.PRESETS[4].address, key_page=probe.PRESETS[4].key_page)
    else:
        other_form(study)


def in_force(study: Study) -> None:
    """Which model is used now, and what is known of its peculiarities."""
    model = study.model
    if model.is_language_model:
        st.text(f"In use now: {model.name} at {model.where.split('//')[-1]}")
        for notice in getattr(model, "notices", []):
            st.caption(f":material/info: {notice}")
    told = connecting.overruled(study.settings)
    if told:
        st.caption(f":material/info: {told}")


def built_in(study: Study) -> None:
    st.caption(
        "It finds pauses where the words change, keeps each page's most telling sentences, and looks pages up by the "
        "words of your question. It is quick and private, and understands nothing: a language model reads far better."
    )
    if study.model.is_language_model and st.button("Use the built-in reader", type="primary", key="use_builtin"):
        guarded(lambda: connecting.use_built_in(study))


def local_form(study: Study, found: list[Found]) -> None:
    st.subheader("Found on this computer", anchor=False)
    if not found:
        st.caption(
            "No server answers here yet. Start Ollama, LM Studio, llama.cpp or vLLM, then look again. "
            "One that runs at another address goes under “Another server”."
        )
        st.button("Look for servers again", key="look_again", type="tertiary", on_click=lambda: servers(again=True))
        return
    with st.container(border=True, key="found"):
        rows, picked = st.columns([1.6, 1], vertical_alignment="center")
        titles = [f.preset.title for f in found]
        at = next((i for i, f in enumerate(found) if f.address == study.settings.base_url), 0)
        row = rows.radio(
            "Server",
            range(len(found)),
            index=at,
            format_func=titles.__getitem__,
            captions=[model_count(f) for f in found],
            label_visibility="collapsed",
            key="local_server",
        )
        server = found[row]
        model = choose_model(study, server.models, scope=f"local_{server.preset.id}", place=picked)
    fields(study, scope=f"local_{server.preset.id}", address=server.address, model=model, key_needed=False)


def other_form(study: Study) -> None:
    ids = [*[p.id for p in ELSEWHERE], OWN]
    preset = connecting.preset_of(study.settings.base_url)
    now = preset.id if preset in ELSEWHERE and preset else OWN
    titles = {p.id: p.title for p in ELSEWHERE} | {OWN: "Another address"}
    chosen = st.selectbox("Server", ids, index=ids.index(now), format_func=titles.__getitem__, key="other_server")
    known = next((p for p in ELSEWHERE if p.id == chosen), None)
    address = known.address if known else study.settings.base_url if who_reads(study) == "other" else ""
    fields(
        study,
        scope=f"other_{chosen}",
        address=address,
        key_page=known.key_page if known else "",
        key_needed=known is not None,
    )


def choose_model(study: Study, names: Sequence[str], *, scope: str, place: Any = st) -> str:
    """The select box of models; a name that is not listed may be typed."""
    options = list(names)
    now = study.settings.model
    if now and now not in options and connecting.preset_of(study.settings.base_url) is not None and not options:
        options = [now]
    chosen = place.selectbox(
        "Model",
        options,
        index=options.index(now) if now in options else (0 if options else None),
        accept_new_options=True,
        placeholder="Choose, or type its name",
        key=f"{scope}_model_{len(options)}",
    )
    return str(chosen or "")


def fields(
    study: Study, *, scope: str, address: str, model: str | None = None, key_page: str = "", key_needed: bool = True
) -> None:
    """Address, key, model where it is not chosen yet, and what can be done with them."""
    left, right = st.columns(2)
    where = left.text_input("Address", value=address, placeholder="http://localhost:1234/v1", key=f"{scope}_address")
    same = study.settings.base_url.rstrip("/") == where.strip().rstrip("/") or (
        not study.settings.base_url and scope == "openai"
    )
    held = study.settings.api_key if same else Secret()
    hint = f"{held.masked()} is in use" if held else "Paste it here" if key_needed else "Not needed here"
    field = f"{scope}_key_{st.session_state.get('keys_taken', 0)}"
    typed = right.text_input("Key", type="password", placeholder=hint, autocomplete="off", key=field)
    key = Secret(typed.strip()) if typed.strip() else held
    keep_key = False
    if key or key_needed:
        keep_key = st.checkbox(
            "Keep the key on this computer",
            value=study.settings.origin.get("api_key") == "settings" and same,
            key=f"{scope}_keep",
        )
        made = f" Keys are made at {key_page}." if key_page else ""
        st.caption(
            ":material/lock: Kept, it stands in a file only you can read; else it is forgotten when the app stops. "
            f"It is never shown again, logged or exported.{made}"
        )
    if model is None:
        model = choose_model(study, listed(where, key, needs_key=key_needed), scope=scope)
    acts(study, where=where, model=model, key=key, keep_key=keep_key, scope=scope)


def listed(where: str, key: Secret, *, needs_key: bool) -> tuple[str, ...]:
    """The server's models, asked once for each address and key; none while either is missing."""
    if not where.strip() or (needs_key and not key):
        return ()
    cache = st.session_state.setdefault("listed_models", {})
    at = (where, hash(key))
    if at not in cache:
        try:
            cache[at] = probe.list_models(connecting.address_of(where), key)
        except ModelError as error:
            st.text(str(error))
            return ()
    names: tuple[str, ...] = cache[at]
    return names


def acts(study: Study, *, where: str, model: str, key: Secret, keep_key: bool, scope: str) -> None:
    tested = study.jobs.get(connecting.TEST_KEY) is not None
    with st.container(horizontal=True):
        use = st.button("Use this model", type="primary", key=f"{scope}_use")
        test = st.button("Test again" if tested else "Test", key=f"{scope}_test")
        if scope.startswith("local"):
            st.button("Look for servers again", key="look_again", type="tertiary", on_click=lambda: servers(again=True))
        back = study.model.is_language_model and st.button(
            "Back to the built-in reader", type="tertiary", key="use_builtin"
        )
    if use:
        guarded(lambda: take(study, where=where, model=model, key=key, keep_key=keep_key))
    if test:
        guarded(lambda: connecting.start_test(study, address=where, model=model, key=key))
    if back:
        guarded(lambda: connecting.use_built_in(study))
    limits(study, model=model, where=where)


def take(study: Study, *, where: str, model: str, key: Secret, keep_key: bool) -> None:
    """Use the model; the key's field is emptied by becoming another one."""
    connecting.use_model(study, address=where, model=model, key=key, keep_key=keep_key)
    st.session_state["keys_taken"] = st.session_state.get("keys_taken", 0) + 1


def guarded(act: Callable[[], Any]) -> None:
    """Do it and draw the screen anew; what went wrong is shown in its place."""
    try:
        act()
    except ReadAgentError as error:
        shell.error_box(error)
    else:
        st.rerun()


# --- the test -------------------------------------------------------------------------------------


def test_card(study: Study) -> None:
    job = study.jobs.get(connecting.TEST_KEY)
    if job is None:
        with st.container(border=True, key="test_card"):
            st.markdown("**Test a model**")
            st.caption(
                "Sixteen short questions find out whether a model answers, streams, names pause points and pages in "
                "the asked form, and quotes exactly."
            )
        return
    if job.running:
        st.fragment(lambda: _test(study), run_every=0.5)()
    else:
        _test(study)


def _test(study: Study) -> None:
    job = study.jobs.get(connecting.TEST_KEY)
    if job is None:
        return
    snapshot = job.snapshot
    checks: tuple[Check, ...] = snapshot.value or ()
    running = snapshot.state == "running"
    with st.container(border=True, key="test_card"):
        if running:
            st.markdown("**Testing**")
            st.progress(min(1.0, snapshot.done / 6))
            st.caption(snapshot.waiting or "This takes some seconds; a slow model some minutes.")
        elif snapshot.state == "done":
            st.markdown(f"**{connecting.verdict(checks)}**")
        draw_checks(checks)
    if snapshot.error:
        shell.error_box(snapshot.error, kind=snapshot.error_kind)
    if not running and st.session_state.pop("test_was_running", False):
        st.rerun()
    if running:
        st.session_state["test_was_running"] = True


def draw_checks(checks: Sequence[Check]) -> None:
    """Our own names and figures only: nothing a model said."""
    with st.container(key="checks"):
        for number, check in enumerate(checks):
            with st.container(horizontal=True, horizontal_alignment="distribute", key=f"check_{number}"):
                st.markdown(f"{ICONS[check.state]} &nbsp; {check.name}", width="content")
                st.caption(check.figure, width="content")
        for check in checks:
            if check.advice:
                st.caption(check.advice)


# --- limits, prices, budget -----------------------------------------------------------------------


def limits(study: Study, *, model: str, where: str) -> None:
    kept = study.settings.kept
    with st.expander("Limits and prices"):
        left, right = st.columns(2)
        numbers = {
            "window": left.number_input(
                "Takes in at once, tokens (0: ask the server)", 0, 10_000_000, int(kept.get("window") or 0), step=1024
            ),
            "timeout": right.number_input(
                "Longest silence, seconds", 5, 3600, int(kept.get("timeout") or 180), step=30
            ),
            "connections": left.number_input(
                "Calls at once for a reading", 1, 32, int(kept.get("connections") or 8), step=1
            ),
        }
        embedding = right.text_input(
            "Embedding model (empty: built in)", value=str(kept.get("embedding_model") or ""), placeholder="built in"
        )
        price = price_of(model, where, kept.get("prices"))
        read = left.number_input("Dollars a million tokens read", 0.0, 1000.0, price.read if price else 0.0, step=0.1)
        written = right.number_input("… written", 0.0, 1000.0, price.written if price else 0.0, step=0.1)
        if price is None:
            st.caption("No price is known for this model. Without one, cost is not counted and no budget holds.")
        elif price.as_of:
            st.caption(f"As listed by the maker on {price.as_of or AS_OF}; change it if it has changed.")
        if st.button("Keep these", key="keep_limits"):
            changes = {**numbers, "window": numbers["window"] or None, "embedding_model": embedding.strip() or None}
            if (
                model
                and (price is None or (read, written) != (price.read, price.written))
                and (read or written or price)
            ):
                changes["prices"] = {**kept.get("prices", {}), model: [read, written]}
            guarded(lambda: connecting.change(study, changes))


def budget_card(study: Study) -> None:
    kept = study.settings.kept

    def changed() -> None:
        changes = {
            "budget_book": st.session_state["budget_book"] or None,
            "budget_month": st.session_state["budget_month"] or None,
        }
        try:
            connecting.change(study, changes)
        except ReadAgentError as error:
            st.session_state["budget_error"] = str(error)

    with st.container(border=True, key="budget"):
        st.markdown("**Budget**")
        free = study.settings.connected and is_local(study.settings.base_url)
        st.caption(
            "A model on this computer costs nothing. These limits apply to paid models."
            if free
            else "In dollars; 0 is no limit. They apply to models whose price is known."
        )
        left, right = st.columns(2)
        left.number_input(
            "At most for a book",
            0.0,
            10_000.0,
            float(kept.get("budget_book") or 0),
            0.5,
            key="budget_book",
            on_change=changed,
        )
        right.number_input(
            "At most for a month",
            0.0,
            100_000.0,
            float(kept.get("budget_month") or 0),
            1.0,
            key="budget_month",
            on_change=changed,
        )
        told = st.session_state.pop("budget_error", "")
        if told:
            st.caption(f":red[{told}]")
        try:
            spent = Ledger(study.home).month()
        except ReadAgentError as error:
            shell.error_box(error)
            return
        limit = float(kept.get("budget_month") or 0)
        with st.container(horizontal=True, horizontal_alignment="distribute", key="month"):
            st.caption("This month", width="content")
            st.caption(
                f"\\${spent:,.2f} of \\${limit:,.2f}" if limit else money(spent).replace("$", "\\$"), width="content"
            )
        if limit:
            st.progress(min(1.0, spent / limit))
        st.caption("Reading pauses at a limit, and asks you.")
