"""The Model tab of Settings: the choice of the model and its server.

It only draws: ``readagent_core.connecting.connecting`` checks and stores what is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.parts.settings import local_model, model_limits, model_options, model_test
from pages.parts.settings.model_fields import (
    choose_model,
    draw_fields,
    forget_found_servers,
    lacks_key,
    trouble_of,
)
from pages.parts.shared import polling, shell
from readagent_core.connecting import connecting
from readagent_core.connecting.connecting import Candidate
from readagent_core.model_names import short_name
from readagent_core.models.connection import learnt_limits
from readagent_core.models.local.server import WHERE
from readagent_core.models.server import probe
from readagent_core.models.server.probe import PRESETS, Found
from readagent_core.secret import Secret
from readagent_core.settings import load_settings
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

TITLES = {
    "server": "This server's model",
    "own": "The model of this app",
    "local": "A server on this computer",
    "openai": "OpenAI",
    "other": "Another server",
    "builtin": "Built-in reader",
}
OPENAI = next(p for p in PRESETS if p.id == "openai")
ELSEWHERE = [p for p in PRESETS if not p.local and p.id != "openai"]
OWN = "own"
LEFT = "left_model"  # in the session: what is said once the built-in reader has taken a model's place
KEY_LACKS = "This server answers only with a key. Enter it below, at its address."
LOOKING = "servers on this computer"  # the job's key
LOOK_SECONDS = 0.25


def kinds(workspace: Workspace) -> list[str]:
    """The cards. On a server for several people its own computer is nobody's to look for models on."""
    if workspace.settings.team is None:
        own = ["own"] if workspace.settings.base_url == WHERE else []
        return [*own, "local", "openai", "other", "builtin"]
    return [*(["server"] if load_settings().connected else []), "openai", "other", "builtin"]


def current_kind(workspace: Workspace) -> str:
    """The card that is chosen when the screen opens."""
    settings = workspace.settings
    if settings.server:
        return "server"
    if not settings.connected and not settings.key_trouble:
        return "builtin"
    if settings.base_url == WHERE:
        return "own"
    preset = connecting.preset_of(settings.base_url) if settings.base_url else None
    if not settings.base_url or (preset and preset.id == "openai"):
        return "openai"
    return "local" if preset and preset.local else "other"


def captions(found: Sequence[Found] | None, *, team: bool) -> dict[str, str]:
    """A line under each card."""
    there = f"{count_of(len(found), 'server')} found." if found else "No server found yet."
    return {
        "server": "No key needed. There is a budget a month.",
        "own": "Free and private: nothing is sent.",
        "local": f"Free and private. {there}",
        "openai": "Needs a key. Text is sent to OpenAI.",
        "other": "Other providers. Needs a key." if team else "Any address that answers the way OpenAI does.",
        "builtin": "No model: word statistics. Always available.",
    }


def model_count(found: Found) -> str:
    where = found.address.split("//")[-1].split("/")[0]
    if found.locked:
        return f"{where} · asks for a key"
    return f"{where} · {count_of(len(found.models), 'model') if found.models else 'no model loaded'}"


def servers(workspace: Workspace) -> list[Found] | None:
    """The servers on this computer, looked for once in a session and when the person asks; None until that ends."""
    if "found_servers" not in st.session_state:
        job = st.session_state.setdefault("looking", None) or workspace.jobs.start(
            LOOKING, lambda _: probe.find_local()
        )
        st.session_state["looking"] = job
        if job.running:
            return None
        st.session_state["found_servers"] = job.snapshot.value or []
        st.session_state["looking"] = None
    found: list[Found] = st.session_state["found_servers"]
    return found


def wait_for_servers() -> None:
    """A fragment that runs the screen again when servers were found, or when the person waits for them."""
    job = st.session_state.get("looking")
    polling.rerun_after(LOOK_SECONDS if job and job.running else None, key="servers")
    if job and not job.running and (job.snapshot.value or st.session_state.get("model_kind") == "local"):
        st.rerun()


def model_tab(workspace: Workspace) -> None:
    left, right = st.columns([1.84, 1], gap="large")
    with left:
        chosen = form(workspace)
    with right, st.container(key="model_side"):  # stays in sight beside the button that starts a test
        model_test.card(workspace, chosen)
        model_options.switches(workspace)
        model_limits.budget_card(workspace)


def form(workspace: Workspace) -> Candidate | None:
    """Draw what is used now and what may be chosen; return the model that is chosen where it may be tested."""
    team = workspace.settings.team is not None
    found = None if team else servers(workspace)
    now = st.container(key="model_now")  # whatever is drawn in it, what is below stays the same
    if not team:
        local_model.draw(workspace)
    if found is None and not team:
        st.fragment(wait_for_servers)()
    offered, lines = kinds(workspace), captions(found, team=team)
    if st.session_state.pop("model_changed", False) or st.session_state.get("model_kind") not in offered:
        st.session_state["model_kind"] = current_kind(workspace)  # the browser still has the card chosen before
    used = current_kind(workspace)
    st.subheader("Choose a model" if team else "Or another reader", anchor=False)
    with st.container(key="who"):
        chosen = st.radio(
            "Choose a model",
            offered,
            format_func=TITLES.__getitem__,
            captions=[f"{lines[kind]} **In\u00a0use\u00a0now.**" if kind == used else lines[kind] for kind in offered],
            label_visibility="collapsed",
            key="model_kind",
        )
    line = st.container()  # above the form, which says whether what is chosen in it is in use
    with st.container(key="model_form"):
        candidate = form_of(workspace, chosen, found)
    model = workspace.model
    reader = shell.as_text(short_name(model.name)) if model.is_language_model else "the built-in reader"
    # either line is as high, so that the button that was pressed stays where it is
    if chosen == used and is_used(workspace, chosen, candidate):
        line.caption(f"In use: {reader} {'does not work.' if model.trouble else 'reads and answers.'}")
    elif model.trouble:
        line.caption(f"Not in use yet: {reader} is, but it does not work.")
    else:
        line.caption(f"Not in use yet: {reader} reads and answers until you use this one.")
    with now:
        current_model(workspace)
    return candidate


def is_used(workspace: Workspace, kind: str, candidate: Candidate | None) -> bool:
    """Whether the form of the card in use has the server and the model in use."""
    if candidate is None:
        return kind not in ("openai", "other")  # what is typed there is no address
    used = connecting.is_in_use(workspace, candidate.address) and candidate.model == workspace.settings.model
    return used or kind == "own"


def form_of(workspace: Workspace, chosen: str, found: list[Found] | None) -> Candidate | None:
    """Draw the form of a card; return the model that is chosen in it where it may be tested."""
    if chosen == "own":
        return own_model(workspace)
    if chosen == "local":
        return local_form(workspace, found)
    if chosen == "openai":
        return draw_fields(workspace, scope="openai", address=OPENAI.address, key_page=OPENAI.key_page)
    if chosen == "other":
        return other_form(workspace)
    if chosen == "builtin":
        with st.container(key="built_in"):
            built_in(workspace)
    else:
        server_model(workspace)
    return None


def own_model(workspace: Workspace) -> Candidate:
    """Draw the test of the model that runs in this app; it is chosen, added and removed above."""
    model = workspace.settings.model
    if current_kind(workspace) == "own" and st.button("Test", key="own_test"):
        test = partial(connecting.start_model_test, workspace, address=WHERE, model=model, key=Secret(), quick=True)
        shell.guarded(test)
    st.caption("Models that run in this app are added, used and removed above, under “A model on this computer”.")
    return Candidate(WHERE, model, Secret())


def current_model(workspace: Workspace) -> None:
    """Draw which model is used now, and the notices about it."""
    model = workspace.model
    if model.is_language_model:
        where = model_test.name_of_place(model.where)
        if workspace.settings.server:
            where = "on this server's account"
        st.text(f"In use now: {short_name(model.name)} {where}")
        if model.trouble:
            with st.container(border=True, key="error_alert_now"):
                said = shell.as_text(trouble_of(workspace))
                st.markdown(f":red[:material/power_off:] &nbsp; **Not working. When last asked: {said}**")
                st.text(KEY_LACKS if lacks_key(workspace) else shell.words_of(model.trouble))
        for notice in model.notices:
            st.caption(f":material/info: {shell.as_text(notice)}")
        learnt = learnt_limits(workspace.settings)
        for name, limit, how in learnt:
            st.caption(f"{name}: {limit} ({how}).")
        if learnt and workspace.settings.server is None:
            st.button(
                "Forget this and find out again",
                key="forget_limits",
                type="tertiary",
                on_click=lambda: connecting.forget_learnt_limits(workspace),
            )
    else:
        st.text(st.session_state.get(LEFT, "") or "In use now: the built-in reader")
    if workspace.settings.key_trouble:
        with st.container(border=True, key="error_calm_key"):
            st.markdown(":orange[:material/lock:] &nbsp; **The keyring does not give the key**")
            st.text(workspace.settings.key_trouble)
    elif missing := shell.missing_setting():
        st.caption(f":orange[:material/warning:] {missing}")
    if overruled := connecting.override_notice(workspace.settings):
        st.caption(f":material/info: {overruled}")
    chosen = model.is_language_model or workspace.settings.key_trouble
    if chosen and st.button("Back to the built-in reader", key="use_builtin"):
        st.session_state["model_changed"] = True
        leave_model(workspace)


def leave_model(workspace: Workspace) -> None:
    """Use the built-in reader, and have the next run say what became of the key and how to come back."""
    settings, used = workspace.settings, current_kind(workspace)
    away = "Its key was deleted here, so enter it again there." if settings.api_key and not settings.server else ""
    card = "it in the list below" if used == "own" else f"“{TITLES[used]}” below"
    back = f"To come back, choose {card}."
    st.session_state[LEFT] = " ".join(filter(None, ["The built-in reader reads and answers from now on.", back, away]))
    shell.guarded(lambda: connecting.use_built_in(workspace))


def server_model(workspace: Workspace) -> None:
    st.caption("Who runs this server connected it and pays for it. Its key is not shown to anybody.")
    if workspace.settings.server is None and st.button("Use this server's model", type="primary", key="use_server"):
        shell.guarded(lambda: connecting.use_server_model(workspace))


def built_in(workspace: Workspace) -> None:
    st.caption(
        "It finds pauses where the words change, takes each page's most typical sentences as its gist, and looks pages "
        "up by the words of your question. It is quick and private, but does not understand the text: a language "
        "model reads far better."
    )
    chosen = workspace.model.is_language_model or workspace.settings.key_trouble
    if chosen and st.button("Use the built-in reader", type="primary", key="use_builtin_card"):
        leave_model(workspace)


def local_form(workspace: Workspace, found: list[Found] | None) -> Candidate | None:
    st.subheader("Found on this computer", anchor=False)
    if found is None:
        st.caption("Looking for models on this computer.")
        return None
    if not found:
        st.caption(
            "No server answers here yet. Start Ollama, LM Studio, llama.cpp or vLLM, then look again. "
            "For a server at another address choose “Another server”."
        )
        st.button("Look for servers again", key="look_again", on_click=forget_found_servers)
        return None
    with st.container(border=True, key="found"):
        rows, picked = st.columns([1.6, 1], vertical_alignment="center")
        titles = [f.preset.title for f in found]
        at = next((i for i, f in enumerate(found) if f.address == workspace.settings.base_url), 0)
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
        scope, model = f"local_{server.preset.id}", None
        if not server.locked:
            same = server.address == workspace.settings.base_url
            model = choose_model(
                workspace, server.models, scope=scope, where=server.address, same=same, container=picked
            )
    return draw_fields(
        workspace, scope=scope, address=server.address, model=model, names=server.models, key_needed=server.locked
    )


def other_form(workspace: Workspace) -> Candidate | None:
    ids = [p.id for p in ELSEWHERE] + ([OWN] if workspace.settings.team is None else [])
    preset = connecting.preset_of(workspace.settings.base_url)
    now = preset.id if preset in ELSEWHERE and preset else ids[-1]
    titles = {p.id: p.title for p in ELSEWHERE} | {OWN: "Another address"}
    chosen = st.selectbox("Server", ids, index=ids.index(now), format_func=titles.__getitem__, key="other_server")
    known = next((p for p in ELSEWHERE if p.id == chosen), None)
    settings = workspace.settings  # an address that was left for the built-in reader is remembered
    own = settings.base_url if current_kind(workspace) == "other" else "" if settings.team else settings.saved.base_url
    address = known.address if known else "" if connecting.preset_of(own) else own
    return draw_fields(
        workspace,
        scope=f"other_{chosen}",
        address=address,
        key_page=known.key_page if known else "",
        key_needed=known is not None,
    )
