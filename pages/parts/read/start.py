"""Making gists: what they would cost, the options, one gist again, the choice among several readings, exports.

Plans come from the papers' presets; the cost of a choice is shown before it is made.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import streamlit as st

from pages.parts.read.veil import veil_of
from pages.parts.shared import gisting_status as state
from pages.parts.shared.book import open_settings
from pages.parts.shared.shell import FORMAT_NAMES, save_button
from readagent_core.answering.costs import price_of_words
from readagent_core.errors import ReadAgentError
from readagent_core.export.gisting import export_gisting, memory_to_export
from readagent_core.export.memory import MEMORY_FORMATS, memory_file_name
from readagent_core.gisting import costs as gisting_costs
from readagent_core.gisting import job as gisting
from readagent_core.gisting import regenerate_gist
from readagent_core.gisting.job import job_key, start_gisting
from readagent_core.jobs import Job, JobState
from readagent_core.library.records import Book, Gisting, GistingState
from readagent_core.memory import GistMemory
from readagent_core.models.builtin.reader import NAME
from readagent_core.plan import PRESETS, GistingPlan
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

PRESET_NAMES = {
    "article": "Short pages (stories, articles)",
    "meeting": "Meetings and transcripts",
    "script": "Film scripts",
    "book": "Long pages (whole books)",
}
PAGINATION_NAMES = {
    "pause": "The model picks each pause (the paper's way)",
    "many": "Several pauses a prompt (fewer words sent)",
    "one-pass": "Pauses and gists in one pass (fewest words sent)",
    "uniform": "Even pages by rule (no model for the pauses)",
}
USES = {  # of each file format
    "md": "the gists as text for notes and for editing",
    "html": "one page for any browser, with the text of the pages",
    "epub": "the gists as a book, for an e-reader",
    "json": "with the text of the pages; drop it into the library to open it again",
    "skill": "a folder for agents: an index, the gists and the text of the pages",
}
MADE_ALREADY = (
    "Gists were made with these options already; they are shown. Change an option to make others. "
    "'Make again from here', in the editor of a gist, makes the gists from that page on again."
)
BUILT_IN = "Connect a model, or use the built-in reader: a few seconds, free."


def options(book: Book, *, key: str) -> GistingPlan:
    """Draw the reading options and return the plan they make. Raises SettingsError for impossible sizes."""
    names = list(PRESET_NAMES)
    preset = st.selectbox(
        "Kind of text",
        names,
        index=names.index(gisting.default_plan(book.words).preset),
        format_func=PRESET_NAMES.__getitem__,
        key=f"{key}_kind",
    )
    most, least = PRESETS[preset]
    left, right = st.columns(2)
    max_words = left.number_input("Longest page, words", 50, 20_000, most, step=50, key=f"{key}_max_{preset}")
    min_words = right.number_input("Shortest page, words", 1, 20_000, least, step=20, key=f"{key}_min_{preset}")
    pagination = st.selectbox(
        "Pauses", list(PAGINATION_NAMES), format_func=PAGINATION_NAMES.__getitem__, key=f"{key}_pagination"
    )
    cross = st.toggle("A page may continue into the next chapter", value=True, key=f"{key}_cross")
    share = st.slider("Length of a gist, % of its page", 5, 40, 15, key=f"{key}_share")
    with st.expander("With a question in mind"):
        purpose = st.text_input("Question that the gists should help to answer", key=f"{key}_purpose")
        instructions = st.text_area("Instructions to add to the prompt", key=f"{key}_instructions", height=80)
    plan = GistingPlan.from_preset(
        preset,
        max_words=int(max_words),
        min_words=int(min_words),
        pagination=pagination,
        cross_sections=cross,
        purpose=purpose.strip(),
        instructions=instructions.strip(),
    )
    return plan if share == 15 else GistingPlan.from_dict({**plan.to_dict(), "gist_share": share / 100})


def none_line(workspace: Workspace, book: Book) -> dict[str, Any]:
    """The line of a book without gists: what making them takes, with the button."""
    make = ["make", "Make gists"]
    if not workspace.model.is_language_model:
        return state.gists_line("none", "None yet.", [BUILT_IN], actions=[["settings", "Connect a model"], make])
    return state.gists_line(
        "none",
        "None yet.",
        [f"{estimate_of(workspace, book)}. You can read meanwhile."],
        actions=[["options", "Options"], make],
    )


def line_of(workspace: Workspace, book: Book, gisting: Gisting | None, memory: GistMemory | None) -> dict[str, Any]:
    """What is said of the gists in every state, as the foot of the reader has it."""
    model = workspace.model
    if gisting is None or memory is None:
        by_rule = not model.is_language_model
        return none_line(workspace, book) | {"by": NAME if by_rule else ""}
    other = None if gisting.model == model.name else model.name if model.is_language_model else ""
    line = gist_line(workspace, gisting) or state.job_line(
        state.snapshot_of(workspace, gisting),
        gisting,
        memory,
        now=time.time(),
        budget=gisting_costs.exceeded_budget(workspace, gisting),
        slowed=model.limiter.notice if model.limiter else "",
        other_model=other,
    )
    line = line or state.ready_line(gisting, memory)
    return line | {"by": NAME if gisting.model == NAME else ""}


def line_to_make(workspace: Workspace, book: Book) -> tuple[Gisting | None, dict[str, Any]]:
    """The gists of ``book`` that are being made or can be continued, and the line about them.

    None, and the line of a book without gists, where another model began and made none.
    """
    running = [job.key for job in workspace.jobs.running()]
    gisting = state.pick_gisting(workspace.library.gistings(book.id), None, running)
    if gisting and not gisting.gists and gisting.model != workspace.model.name and job_key(gisting) not in running:
        gisting = None
    memory = state.memory_now(workspace, gisting, state.snapshot_of(workspace, gisting)) if gisting else None
    return gisting, line_of(workspace, book, gisting, memory)


def act_on_line(workspace: Workspace, book: Book, gisting: Gisting | None, do: str) -> None:
    """Carry out what was pressed in the line of the gists. Raises ReadAgentError."""
    job = workspace.jobs.get(job_key(gisting)) if gisting else None
    if do == "settings":
        open_settings(book.id)
    elif do in ("pause", "hurry") and job is not None:
        job.cancel() if do == "pause" else job.hurry()
        job.join(2 if do == "pause" else 0)
    else:
        if do == "raise":
            gisting_costs.raise_budget(workspace, book.id)
        make_gists(workspace, book, gisting.plan if gisting else None)


def estimate_of(workspace: Workspace, book: Book) -> str:
    """The short estimate with the usual plan, made once a session for each model at each price."""
    known, model = st.session_state.setdefault("estimates", {}), workspace.model
    key = (book.document_id, model.name, model.where, model.price, workspace.connections)
    if key not in known:
        document = workspace.library.document(book.id)
        known[key] = gisting_costs.short_estimate(workspace, document, gisting.usual_plan(workspace, book.words))
    return str(known[key])


def said_estimate(workspace: Workspace, book_id: str) -> str:
    """What the gists of a book would take, in a sentence; '' where that is not known."""
    if not workspace.model.is_language_model:
        return "The built-in reader makes them in seconds, free."
    try:
        return f"{estimate_of(workspace, workspace.library.book(book_id))}."
    except ReadAgentError:
        return ""


def gist_price(workspace: Workspace, memory: GistMemory | None) -> str:
    """What it costs to make one gist again; '' without a model."""
    if memory is None or not memory.pages or not workspace.model.is_language_model:
        return ""
    page = memory.words // len(memory.pages)
    return price_of_words(workspace.model, page, page // 5)


def make_gists(workspace: Workspace, book: Book, plan: GistingPlan | None = None) -> None:
    """Start making gists, or show those that were made with these options already. Raises ReadAgentError."""
    done = {r.id for r in workspace.library.gistings(book.id) if r.state == GistingState.DONE}
    job = start_gisting(workspace, book.id, plan)
    number = job.subject
    if number in done:
        job.join(5)  # it is complete: no model is asked
        st.session_state["made_already"] = number
    st.session_state[f"reading_{book.id}"] = number


@st.dialog("Make gists")
def options_dialog(workspace: Workspace, book: Book) -> None:
    """Offer the options with what they would cost, and start."""
    try:
        plan = options(book, key=f"options_{book.id}")
        cost = gisting_costs.estimate_sentence(workspace, workspace.library.document(book.id), plan)
        st.caption(cost.replace("$", "\\$"))
        if st.button("Make gists", type="primary", key=f"options_{book.id}_go"):
            make_gists(workspace, book, plan)
            st.rerun()
    except ReadAgentError as error:
        st.warning(str(error).replace("$", "\\$"), icon=":material/error:")


def which_gisting(workspace: Workspace, book: Book, gistings: list[Gisting], shown: Gisting) -> None:
    """Draw what the gists cost, the choice of others, and the button to make them again."""
    if st.session_state.pop("made_already", None) == shown.id:  # else the button would seem to do nothing
        st.toast(MADE_ALREADY, icon=":material/check:", duration="long")
    with st.container(key="which"):
        if shown.where and (spent := gisting_costs.gisting_cost(shown.usage)):
            st.caption(spent.replace("$", "\\$"))
        if smaller := gisting.smaller_pages_note(workspace, shown):
            st.caption(smaller)
        known = {r.id: r for r in gistings if r.pages or r.id == shown.id}
        if len(known) > 1:
            st.selectbox(
                "Gists",
                list(known),
                index=list(known).index(shown.id),
                format_func=lambda i: state.gisting_name(known[i]),
                key=f"choose_{book.id}_{shown.id}",
                on_change=lambda: st.session_state.update(
                    {f"reading_{book.id}": st.session_state[f"choose_{book.id}_{shown.id}"]}
                ),
            )
        running = workspace.jobs.get(job_key(shown))
        if (running is None or not running.running) and st.button("Make gists again", key=f"again_{book.id}"):
            options_dialog(workspace, book)


def gist_job_key(shown: Gisting) -> str:
    return f"gist again {shown.id}"


def gist_again(workspace: Workspace, shown: Gisting, page: int, *, instruction: str) -> Job:
    """Start a job that makes one gist again and replaces the old one."""
    memory = workspace.library.memory(shown.id)
    model = workspace.model

    def work(job: Job) -> Any:
        job.publish(value=page)
        gist = regenerate_gist(memory, page, model, instruction=instruction, cancel=job)
        workspace.library.store(shown.id).save_gist(page, gist)
        return page

    return workspace.jobs.start(gist_job_key(shown), work)


def gist_line(workspace: Workspace, shown: Gisting) -> dict[str, Any] | None:
    """The ``Job`` line of a gist that is made again; None without one. A failure is shown as a toast."""
    job = workspace.jobs.get(gist_job_key(shown))
    if job is None or job.snapshot.state in (JobState.DONE, JobState.CANCELLED):
        return None
    if not job.running:
        st.toast(job.snapshot.error, icon=":material/error:", duration="long")
        workspace.jobs.forget(gist_job_key(shown))
        return None
    line = f"Making the gist of page {job.snapshot.value} again"
    waiting = [job.snapshot.waiting] if job.snapshot.waiting else []
    return state.gists_line("running", line, waiting, running=True)


@st.dialog("Export the gists")
def export_dialog(workspace: Workspace, shown: Gisting) -> None:
    """Offer the gist memory as a file: to read (Markdown, HTML, EPUB) or to open here again (JSON)."""
    whole = memory_to_export(workspace, shown, whole=True)
    memory = memory_to_export(workspace, shown)
    if not whole.pages:
        st.text("No gist was made yet. Make gists first: then they can be saved as a file.")
        return
    if len(memory.pages) < len(whole.pages):
        read = count_of(len(memory.pages), "page")
        if not st.toggle(f"Only what I have read, {read}", value=True, key=f"export_read_{shown.id}"):
            memory = whole
    if not memory.pages:
        st.caption(
            "No page is read to its end yet. With the switch off the file has the gists of all pages: it tells the end."
        )
        return
    st.caption(f"{count_of(len(memory.pages), 'page')}, {memory.gist_words:,} words of gists.")
    text = workspace.library.document(shown.book_id, document_id=shown.document_id)
    if len(memory.pages) == len(whole.pages) and veil_of(workspace, shown, whole, text):
        st.caption("The file has the gists of all pages, also of those that you have not read: it tells the end.")
    with_notes = bool(workspace.library.marks(shown.book_id)) and st.toggle(
        "With my highlights and notes, in HTML and EPUB", key=f"export_notes_{shown.id}"
    )
    for kind, use in USES.items():
        save_button(
            f"**{FORMAT_NAMES[kind]}** {use}",
            partial(export_gisting, workspace, shown, kind, whole=memory is whole, with_notes=with_notes),
            memory_file_name(memory, kind),
            mime=MEMORY_FORMATS[kind],
            key=f"export_{kind}",
            width="stretch",
        )
