"""People: who uses this server, what each one has and spends, and what runs. Only for its administrators.

It shows no title, question or text of anybody.
"""

from __future__ import annotations

import time

import streamlit as st

from pages.parts.shared import shell
from pages.parts.shared.cached import get_workspace, open_workspaces
from pages.parts.shared.signed_in import person_of_session
from readagent_core.errors import SignInError
from readagent_core.models.cost.prices import money
from readagent_core.settings import home_folder
from readagent_core.team import audit
from readagent_core.team.people import Account, Person, accounts, block
from readagent_core.words import count_of


def screen() -> None:
    person = person_of_session()
    if person is None or not person.admin:
        raise SignInError("This screen is for administrators of this server.")
    team, found, open_now = get_workspace().settings.team, accounts(home_folder()), open_workspaces()
    running = {one: len(workspace.jobs.running()) for one, workspace in open_now.items()}
    shell.header("People", about="Nobody's titles, questions or texts are shown here.")
    if team:
        budget = "any amount" if team.budget is None else f"{money(team.budget)} a month"
        st.text(
            f"Each person may store {team.megabytes:,} MB, run {count_of(team.jobs, 'job')} at once, and spend "
            f"{budget} with this server's model. READAGENT_TEAM_… in its environment sets these."
        )
    st.dataframe(
        [
            {
                "Name": one.person.name,
                "E-mail": one.person.email,
                "Last seen": time.strftime("%Y-%m-%d %H:%M", time.localtime(one.seen)),
                "Stored": shell.file_size(one.bytes),
                "Spent this month": money(one.spent),
                "Jobs running": running.get(one.person.id, 0),
                "State": "blocked" if one.blocked else "administrator" if one.person.admin else "",
            }
            for one in found
        ],
        hide_index=True,
    )
    spent, stored = sum(one.spent for one in found), sum(one.bytes for one in found)
    st.caption(
        f"{count_of(len(found), 'account')}, {shell.file_size(stored)}, {money(spent)} this month".replace("$", "\\$")
    )
    others = {one.person.id: one for one in found if one.person.id != person.id}
    if others:
        _act(person, others, running)


def _act(person: Person, others: dict[str, Account], running: dict[str, int]) -> None:
    """Draw what can be done about one person."""
    st.subheader("One person", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            "Person",
            list(others),
            format_func=lambda one: f"{others[one].person.name}, {others[one].person.email}",
            key="people_person",
            width=380,
        )
        blocked = others[chosen].blocked
        if st.button("Admit again" if blocked else "Block", key="people_block"):
            shell.guarded(lambda: _block(person, chosen, blocked=not blocked))
        if st.button("Stop their jobs", key="people_stop", disabled=not running.get(chosen)):
            shell.guarded(lambda: _stop_jobs(person, chosen))
    st.caption(
        "A blocked person is refused from the next click on; the library stays. Gists that were made stay when "
        "their job is stopped, and it can be continued."
    )


def _block(person: Person, other: str, *, blocked: bool) -> None:
    block(other, home_folder(), blocked=blocked)
    audit.record(home_folder(), person.id, "blocked" if blocked else "admitted", other)
    if blocked:
        _stop_jobs(person, other)


def _stop_jobs(person: Person, other: str) -> None:
    workspace = open_workspaces().get(other)
    for job in workspace.jobs.running() if workspace else []:
        job.cancel()
    audit.record(home_folder(), person.id, "stopped jobs", other)


shell.draw(screen)
