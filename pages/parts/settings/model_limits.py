"""Limits, prices and the budget in Settings."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts.settings import said
from pages.parts.shared import shell
from readagent_core.connecting import connecting
from readagent_core.errors import ReadAgentError
from readagent_core.models.connection import open_spending_log
from readagent_core.models.cost.prices import FREE, Price, money, price_of
from readagent_core.workspace import CONNECTIONS, Workspace

MOST_WINDOW = 10_000_000
MOST_PRICE = 1000.0


def limits(workspace: Workspace, *, model: str, where: str, listed: Price | None = None) -> None:
    """Draw the limits and prices of a model. ``listed``: the price that the server lists, if it does."""
    saved = workspace.settings.saved
    with st.expander("Limits and prices"):
        grid = st.grid(2)
        set_before = min(saved.window_of(model) or 0, MOST_WINDOW)
        window = grid.number_input(
            "Context window in tokens (0: ask the server)", 0, MOST_WINDOW, set_before, step=1024, key=f"window_{model}"
        )
        numbers = {
            "timeout": grid.number_input(
                "Longest wait for a reply, 5 to 3600 seconds",
                5,
                3600,
                shell.clamp(int(saved.timeout) or 180, 5, 3600),
                step=30,
            ),
            "connections": grid.number_input(
                "Calls at once while making gists, 1 to 32",
                1,
                32,
                shell.clamp(saved.connections or CONNECTIONS, 1, 32),
                step=1,
            ),
        }
        embedding = grid.text_input(
            "Embedding model (empty: built in)", value=saved.embedding_model, placeholder="built in"
        )
        price = price_of(model, where, saved.prices)
        price = listed if listed is not None and (price is None or price.as_of) else price
        read = grid.number_input(
            "Dollars per million tokens read, up to 1,000",
            0.0,
            MOST_PRICE,
            shell.clamp(price.read, 0.0, MOST_PRICE) if price else 0.0,
            step=0.1,
        )
        written = grid.number_input(
            "Dollars per million tokens written, up to 1,000",
            0.0,
            MOST_PRICE,
            shell.clamp(price.written, 0.0, MOST_PRICE) if price else 0.0,
            step=0.1,
        )
        if price is None:
            st.caption("No price is known for this model, so its cost is not counted and no budget applies.")
        elif price.as_of:
            who = "the server" if listed is price else "the maker"
            st.caption(f"As listed by {who} on {price.as_of}; correct it if it has changed.")
        if st.button("Save", key="save_numbers_limits"):
            changes: dict[str, Any] = {**numbers, "embedding_model": embedding.strip() or None}
            if window != set_before:  # replaces the one for all models that an earlier version set
                changes |= {"windows": {model: int(window) or None}, "window": None}
            if (
                model
                and (price is None or (read, written) != (price.read, price.written))
                and (read or written or price)
            ):
                changes["prices"] = {model: [read, written]}
            shell.guarded(lambda: said.save(workspace, changes))


def budget_card(workspace: Workspace) -> None:
    saved = workspace.settings.saved

    def changed() -> None:
        changes = {
            "budget_book": st.session_state["budget_book"] or None,
            "budget_month": st.session_state["budget_month"] or None,
        }
        try:
            connecting.change_settings(workspace, changes)
        except ReadAgentError as error:
            st.session_state["budget_error"] = str(error)

    with st.container(border=True, key="budget"):
        st.markdown("**Budget**")
        free = workspace.settings.connected and workspace.model.price == FREE
        st.caption(
            "This server pays for its model, up to a limit for each person and month. You can set lower limits."
            " 0 is none."
            if workspace.settings.server
            else "The model in use costs nothing. These limits apply to paid models; 0 is no limit."
            if free
            else "0 is no limit. The limits apply to models whose price is known."
        )
        grid = st.grid(2)
        for name, most, step in (("book", 10_000.0, 0.5), ("month", 100_000.0, 1.0)):
            grid.number_input(
                f"At most for a {name}, up to {most:,.0f}",
                0.0,
                most,
                shell.clamp(saved.budget_book if name == "book" else saved.budget_month, 0.0, most),
                step,
                key=f"budget_{name}",
                icon=":material/attach_money:",
                on_change=changed,
            )
        if error := st.session_state.pop("budget_error", ""):
            st.caption(f":red[{error}]")
        try:
            spent = open_spending_log(workspace.settings.spending_folder).month()
        except ReadAgentError as failure:
            shell.error_box(failure)
            return
        limit = saved.budget_month
        if workspace.settings.server and workspace.settings.team and workspace.settings.team.budget is not None:
            limit = min(limit or workspace.settings.team.budget, workspace.settings.team.budget)
        with st.container(horizontal=True, horizontal_alignment="distribute", key="month"):
            st.caption("This month", width="content")
            st.caption(
                (f"{money(spent)} of {money(limit)}" if limit else money(spent)).replace("$", "\\$"), width="content"
            )
        if limit:
            st.progress(min(1.0, spent / limit))
        st.caption("Making gists pauses at a limit and asks you.")
