"""The first card of Settings: a model on this computer. What fits, installing it, models that are already here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from pages.parts.settings import said
from pages.parts.shared import polling, shell
from readagent_core.connecting import local_models
from readagent_core.connecting.local_models import INSTALL_KEY, Choice, Fit, Installing
from readagent_core.errors import LocalModelError, ReadAgentError
from readagent_core.gisting.costs import NOVEL_WORDS
from readagent_core.jobs import Job
from readagent_core.models.local import engine, files, states
from readagent_core.models.local.download import Step
from readagent_core.models.local.gguf import read_head
from readagent_core.models.local.server import WHERE
from readagent_core.workspace import Workspace

POLL_SECONDS = 1.0
GRAPHICS_KEY, GRAPHICS_SECONDS = "graphics cards", 0.3  # for which the screen waits
STEPS = ("Get", "Check that it is the published file", "Try it on one page")


def gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB"


def time_line(choice: Choice) -> str:
    """'A novel of 60,000 words takes about 1 h 10 min here.'"""
    hours, minutes = divmod(round(choice.minutes), 60)
    spoken = " ".join([f"{hours} h"] * bool(hours) + [f"{minutes} min"] * (hours < 10))
    return f"A novel of {NOVEL_WORDS:,} words takes {'' if choice.measured else 'about '}{spoken} here."


def draw(workspace: Workspace) -> None:
    st.subheader("A model on this computer", anchor=False)
    st.caption("No account, no key, nothing sent. After the one download it works without a network.")
    if not engine.is_installed():
        st.caption(
            ":material/info: The engine for it has no package for this computer. Install Ollama (ollama.com) and "
            "choose “A server on this computer” below."
        )
        return
    here = local_models.computer(workspace.settings)
    facts = (
        f"{gigabytes(here.memory)} memory, {gigabytes(here.free)} free · {here.cores} cores · "
        f"{_graphics(workspace)}{gigabytes(here.disk)} disk free"
    )
    st.caption(f":material/computer: {facts}".replace(" · ", "\u00a0· "))  # no line begins with the dot
    if st.session_state.pop("install_model", ""):  # asked for on the first screen
        pick = local_models.best(local_models.choices(workspace))
        if pick is not None:
            local_models.start_install(workspace, pick.offer.name)
    st.fragment(_offers)(workspace)
    _already_here(workspace)


def _graphics(workspace: Workspace) -> str:
    """The graphics cards, as the engine reports them; '' until it has answered."""
    job = workspace.jobs.start(GRAPHICS_KEY, lambda _: engine.graphics_cards())
    cards = job.join(GRAPHICS_SECONDS).value
    return "" if cards is None else f"{shell.as_text(', '.join(cards)) or 'no graphics card in use'} · "


def _offers(workspace: Workspace) -> None:
    job = workspace.jobs.get(INSTALL_KEY)
    running = job is not None and job.running
    polling.rerun_after(POLL_SECONDS if running else None, key="local_model")
    try:
        choices = local_models.choices(workspace)
    except LocalModelError as error:
        shell.error_box(error)
        return
    best = local_models.best(choices)
    with st.container(border=True, key="local_models"):
        for number, choice in enumerate(choices):
            with st.container(key=f"model_row_{number}"):
                if running and job and job.subject == choice.offer.name:
                    _installing(choice, job)
                else:
                    _offer(workspace, choice, filled=choice is best, busy=running)
    if running and job and job.subject not in [choice.offer.name for choice in choices]:
        st.caption(job.snapshot.waiting or "Trying it on one page.")
    if job and not running and job.snapshot.error and job.snapshot.state == "failed":
        shell.error_box(job.snapshot.failure)
    if st.session_state.pop("was_installing", False) and not running:
        st.session_state["model_changed"] = True
        st.rerun()
    if running:
        st.session_state["was_installing"] = True


def _head(choice: Choice) -> None:
    offer = choice.offer
    facts = f"{shell.as_text(offer.title)} · {shell.as_text(offer.licence)}"
    st.markdown(
        f"**{shell.as_text(offer.size)}** &nbsp; :gray-badge[{choice.fit.value}]  \n"
        f":small[:gray[{facts}]]  \n:small[:gray[{shell.as_text(offer.languages)}]]"
    )


def _offer(workspace: Workspace, choice: Choice, *, filled: bool, busy: bool) -> None:
    offer, settings = choice.offer, workspace.settings
    left, middle, right = st.columns([1.1, 1.7, 0.7], gap="small")
    with left:
        _head(choice)
    with middle:
        free = local_models.computer(settings).free
        needs = f"Needs {gigabytes(choice.needed)} of memory; {gigabytes(free)} is free."
        st.markdown(shell.as_text(offer.says))
        st.caption(needs if choice.fit is Fit.NOT else time_line(choice))
    in_use = settings.base_url == WHERE and settings.model == offer.name
    with right, st.container(key=f"local_{offer.name}"):
        st.caption(gigabytes(offer.bytes))
        if in_use:
            st.caption(":green[:material/check:] In use")
        elif choice.installed:
            st.button(
                "Use",
                key=f"use_{offer.name}",
                on_click=_use,
                args=(workspace, offer.name),
                disabled=busy,
                width="stretch",
            )
        else:
            label = "Go on" if choice.fetched else "Install"
            st.button(
                label,
                key=f"install_{offer.name}",
                type="primary" if filled else "secondary",
                disabled=busy or choice.fit is Fit.NOT,
                width="stretch",
                on_click=_install,
                args=(workspace, offer.name),
            )
        if choice.fetched:
            st.caption(f"Paused at {choice.fetched / 1e9:.1f} of {gigabytes(offer.bytes)}.")
        if choice.installed or choice.fetched:
            with st.popover("Remove", type="tertiary", disabled=busy):
                st.caption("What was fetched is deleted. To use the model again, install it again.")
                st.button(
                    "Remove it",
                    key=f"remove_{offer.name}",
                    type="primary",
                    on_click=_remove,
                    args=(workspace, offer.name),
                )


def _installing(choice: Choice, job: Job) -> None:
    snapshot = job.snapshot
    now = snapshot.value if isinstance(snapshot.value, Installing) else None
    progress = now.progress if now else None
    step = 2 if now and progress is None else 1 if progress and progress.step is Step.CHECK else 0
    left, middle, right = st.columns([1.1, 1.7, 0.7], gap="small")
    with left:
        _head(choice)
    with middle:
        st.markdown("**Getting it from its publisher.** Read on meanwhile.")
        if progress:
            speed, rest = progress.speed, progress.total - progress.done
            left_over = f"about {max(1, round(rest / speed / 60))} min left" if speed else ""
            pace = f" · {speed / 1e6:.0f} MB a second · {left_over}" if speed else ""
            st.progress(progress.done / max(1, progress.total))
            st.caption(f"{progress.done / 1e9:.1f} of {gigabytes(progress.total)}{pace}")
        elif snapshot.waiting:
            st.caption(snapshot.waiting)
        st.caption(" &nbsp; ".join(f"**● {name}**" if at == step else f"○ {name}" for at, name in enumerate(STEPS)))
    with right:
        # in the place of the button that began it, whose key it has: the focus stays there
        st.button("Pause", key=f"install_{choice.offer.name}", on_click=job.cancel, width="stretch")


def _already_here(workspace: Workspace) -> None:
    """Draw the models of other programs, and the field for a file of one's own."""
    if "local_found" not in st.session_state:
        st.session_state["local_found"] = files.find()
    found: list[files.Found] = st.session_state["local_found"]
    job = workspace.jobs.get(INSTALL_KEY)
    busy = job is not None and job.running  # one is being got or tried
    with st.expander(f"Already on this computer: {len(found)}" if found else "A model file of your own"):
        for number, model in enumerate(found):
            name, button = st.columns([3, 1], vertical_alignment="center")
            name.markdown(f"{shell.as_text(model.name)} &nbsp; :gray[{gigabytes(model.bytes)} · used where it lies]")
            button.button("Use", key=f"use_found_{number}", on_click=_use, args=(workspace, model.name), disabled=busy)
        path = st.text_input("A file of your own", placeholder="/path/to/model.gguf", key="own_model_file").strip()
        if wrong := _why_no_model(path) if path else "":
            st.caption(f":material/info: {shell.as_text(wrong)}")
        elif path:
            st.button("Use this file", key="use_own_file", on_click=_use, args=(workspace, path), disabled=busy)
        else:
            st.caption("A model in a GGUF file, as LM Studio and Hugging Face have them. It is used where it lies.")
    if stored := states.size_of(workspace.home / files.STATES):
        _kept_states(workspace, stored)
    if error := st.session_state.pop("local_model_error", None):
        shell.error_box(error)


def _why_no_model(path: str) -> str:
    """What is wrong with a path of a file of one's own; '' where its head is that of a model."""
    file = Path(path).expanduser()
    if file.is_dir():
        return "This is a folder. Give the path of a file in it."
    if not file.is_file():
        return "There is no file of this name. Give its whole path."
    try:
        read_head(file)
    except LocalModelError as error:
        return str(error)
    return ""


def _kept_states(workspace: Workspace, stored: int) -> None:
    """Draw how much of the books that were asked about is kept as the model's state, and the most that may be."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="kept_states"):
        most = st.number_input(
            "Disk space for faster answers, at most MB",
            0,
            1_000_000,
            workspace.settings.saved.state_megabytes or states.MEGABYTES,
            step=512,
            help="A book that was asked about is kept as the model's own state, so that the next question need not "
            "read its gists again. The oldest goes first.",
            key="state_megabytes",
        )
        if st.button("Save", key="save_numbers_state"):
            shell.guarded(lambda: said.save(workspace, {"state_megabytes": int(most)}))
    st.caption(f"{gigabytes(stored)} in use.")


def _install(workspace: Workspace, name: str) -> None:
    _keep_error(workspace, lambda: local_models.start_install(workspace, name))


def _use(workspace: Workspace, name: str) -> None:
    _keep_error(workspace, lambda: local_models.start_use(workspace, name))


def _remove(workspace: Workspace, name: str) -> None:
    _keep_error(workspace, lambda: local_models.remove(workspace, name))


def _keep_error(workspace: Workspace, act: Callable[[], object]) -> None:
    """Call ``act`` before the run that shows its error, in place of the last one's."""
    workspace.jobs.forget(INSTALL_KEY)
    try:
        act()
    except ReadAgentError as error:
        st.session_state["local_model_error"] = error
    st.session_state["model_changed"] = True
