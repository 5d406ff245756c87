"""How the model in use is asked, in Settings: the settings that suit a weak model, chosen by its test or by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts.shared import shell
from readagent_core.connecting import connecting
from readagent_core.connecting.checking.suitable_options import IN_ONE_CALL, ONE_AT_A_TIME
from readagent_core.settings.saved import ModelOptions
from readagent_core.workspace import Workspace

SWITCHES = {
    "reason_first": ("Reasons before the letter", "In multiple choice the model compares the options first."),
    "json_replies": ("Fixed reply forms", "The server makes the model reply in JSON where a reply has a form."),
    "opened_after": (
        "Opened pages after the gists",
        "In prompts, not on the screen, and not as in the paper. Prompts about a book then begin alike, and a server "
        "that reuses their beginnings has less to compute.",
    ),
    "notes_apart": (
        "Notes in calls of their own",
        "What a page says of people is not asked for together with its gist. It sends each page once more.",
    ),
    "plain_answers": (
        "Plain answers",
        "It is asked to answer in a few words, without page marks and quotations. Small models copy the examples of "
        "those in place of an answer.",
    ),
    "small_pages": ("Pages half as long", "For books that are read from now on."),
}
METHODS = {
    "": "All it needs at once",
    ONE_AT_A_TIME: "One page at a time",
    IN_ONE_CALL: "From one prompt, asking for nothing",
}
PAGINATIONS = {"": "It picks each pause", "many": "Several pauses a prompt", "uniform": "Even pages by rule"}


def offer(workspace: Workspace, test: connecting.ModelTest, *, failed: bool, scope: str) -> None:
    """Draw the settings that a test found to suit its model, with the button that saves them.

    ``failed``: the model failed at what reading and answering need. ``scope``: ends the button's key.
    """
    model, options = test.model, test.options
    if failed and test.quick:
        st.caption("That is one task of each kind. “Test everything” shows more.")
    if options == workspace.settings.saved.options_of(model):
        if options.why:
            st.caption("It has the settings that suit it.")
        elif not failed:
            st.caption("The usual settings suit it.")
        elif not test.quick:
            st.caption("No setting makes up for it: a larger model does better.")
        return
    st.markdown("**Settings that suit it**")
    for line in options.why or ("The usual settings.",):
        st.text(line)
    if st.button("Use these settings", key=f"use_options{scope}"):
        shell.guarded(lambda: _save(workspace, model, options))
        st.rerun()


def switches(workspace: Workspace) -> None:
    """Draw the switches of the model in use."""
    if not workspace.model.is_language_model:
        return
    model = workspace.model.name
    now = workspace.settings.saved.options_of(model)
    with st.expander("How this model is asked"):
        shown = f"{model}_{st.session_state.get('options_saved', 0)}"
        chosen: dict[str, Any] = {
            name: st.toggle(title, value=getattr(now, name), help=about, key=f"{name}_{shown}")
            for name, (title, about) in SWITCHES.items()
        }
        method = st.selectbox(
            "Pages for an answer",
            list(METHODS),
            index=list(METHODS).index(now.method) if now.method in METHODS else 0,
            format_func=METHODS.__getitem__,
            help="How Ask has the model look up what an answer needs.",
            key=f"method_{shown}",
        )
        pagination = st.selectbox(
            "Pauses",
            list(PAGINATIONS),
            index=list(PAGINATIONS).index(now.pagination) if now.pagination in PAGINATIONS else 0,
            format_func=PAGINATIONS.__getitem__,
            key=f"pagination_{shown}",
        )
        wanted = replace(now, **chosen, method=method, pagination=pagination)
        if wanted != now:
            shell.guarded(lambda: connecting.save_model_options(workspace, model, wanted))


def _save(workspace: Workspace, model: str, options: ModelOptions) -> None:
    """Save, and give the switches new keys, so that they show what is saved."""
    connecting.save_model_options(workspace, model, options)
    st.session_state["options_saved"] = st.session_state.get("options_saved", 0) + 1
