"""The Evaluate screen's form: which data, which methods, how many questions. It makes an ``Experiment``.

Uploaded files are stored in READAGENT_HOME, because an experiment that is resumed later needs them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.evaluate import own_questions
from pages.parts.shared.shell import FIRST_METHODS
from readagent_core.answering.base import AskSettings
from readagent_core.answering.registry import all_methods
from readagent_core.errors import DatasetError
from readagent_core.evaluation.arms import with_defaults
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment
from readagent_core.incoming.opening import check_room
from readagent_core.models.cost.prices import Price
from readagent_core.plan import PRESETS
from readagent_core.resources import ASSETS
from readagent_core.text_files import safe_file_name
from readagent_core.workspace import Workspace

SAMPLES = {
    "The Keeper of Harrow Light": "the-keeper-of-harrow-light",
    "Yuki no Eki, Japanese": "yuki-no-eki",
    "Harrow council minutes": "harrow-council-minutes",
}
READY, MINE = PARTS = ("Ready-made", "Your own questions")
OWN, PATH = "Upload a file", "A file or folder on this computer"
SPLITS = ("", "train", "valid", "test")  # of NarrativeQA
PAGES = {
    "": "as in the papers for this kind of text",
    **{name: f"{name}: {least:,} to {most:,} words" for name, (most, least) in PRESETS.items()},
}


def form(workspace: Workspace) -> Experiment | None:
    """The experiment that the form describes; None while something is missing. Raises ReadAgentError."""
    part = st.segmented_control(
        "Questions", PARTS, default=READY, key="evaluate_part", required=True, label_visibility="collapsed"
    )
    own = part == MINE
    path = own_questions.choose(workspace) if own else _ready_made(workspace)
    left, right = st.columns([3, 2], gap="large")
    with left:
        names = st.multiselect(
            "Methods",
            list(all_methods()),
            default=FIRST_METHODS,
            format_func=lambda name: all_methods()[name].title,
            key="evaluate_methods",
        )
    with right:
        look_ups = st.slider(
            "Pages to look up, at most",
            1,
            6,
            3,
            key="evaluate_look_ups",
            help="For each question, ReadAgent and the searches may read this many pages in full.",
        )
    limit = None if own else _limit()
    with st.expander("More settings"):
        drawn = {} if own else {"limit": limit, **_sampling(path)}
        more = _more(workspace)
    if path is None:
        st.caption("Give at least one question that can be asked first." if own else "Choose the questions first.")
        return None
    if not names:
        st.caption("Choose at least one method.")
        return None
    arms = tuple(with_defaults(name, AskSettings(look_ups=look_ups)) for name in names)
    return Experiment(open_dataset(path, books=more.pop("books"), **drawn), arms, **more)


def _ready_made(workspace: Workspace) -> Path | None:
    choices = [name for name, stem in SAMPLES.items() if _sample(stem).is_file()]
    chosen = st.selectbox(
        "Questions with known answers",
        [*choices, OWN, *([] if workspace.settings.team else [PATH])],
        key="evaluate_data",
        help="QuALITY, QMSum, NarrativeQA, SCROLLS, LongBench and others as downloaded, or a file with its text.",
    )
    if chosen == OWN:
        st.caption("Questions about a book of your library are easier to write under “Your own questions”.")
        file = st.file_uploader(
            "A downloaded dataset, or one JSON object with “title”, “text” and “questions”",
            key="evaluate_file",
        )
        return _store(workspace, file.name, file.getvalue()) if file is not None else None
    if chosen == PATH:
        if workspace.settings.team:
            raise DatasetError("On this server choose a sample, or upload a file.")
        text = st.text_input("Path", key="evaluate_path", placeholder="/data/QuALITY.v1.0.1.htmlstripped.dev")
        return Path(text).expanduser() if text.strip() else None
    return _sample(SAMPLES[chosen])


def _limit() -> int | None:
    limit = st.number_input(
        "Questions, at most", 1, 100_000, 20, key="evaluate_limit", width=180, help="Empty: all of them."
    )
    return limit and int(limit)


def _sampling(path: Path | None) -> dict[str, Any]:
    """Draw which questions of a dataset are used: arguments of ``open_dataset``."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="evaluate_sampling"):
        documents = st.number_input(
            "Documents, at most", 1, 100_000, None, key="evaluate_documents", placeholder="all", width=180
        )
        random = st.toggle(
            "Random sample",
            value=True,
            key="evaluate_random",
            help="Off: the first questions in the file. A higher limit keeps the questions drawn so far and adds more.",
        )
        seed = st.number_input(
            "Random seed",
            0,
            1_000_000,
            1,
            key="evaluate_seed",
            disabled=not random,
            width=140,
            help="The same number draws the same questions again.",
        )
        split = ""
        if path is not None and path.exists() and open_dataset(path).kind == "narrativeqa":
            split = st.selectbox(
                "Split",
                SPLITS,
                format_func=lambda name: name or "all",
                key="evaluate_split",
                width=140,
            )
    return {
        "documents": documents and int(documents),
        "seed": int(seed) if random else None,
        "split": split,
    }


def _sample(stem: str) -> Path:
    return ASSETS / "samples" / f"{stem}.questions.json"


def _store(workspace: Workspace, name: str, data: bytes) -> Path:
    """The dropped file in a folder named after its content, so that the same file is the same dataset."""
    safe = safe_file_name(Path(name).name) or "dataset.jsonl"
    path = workspace.home / "evaluations" / "data" / hashlib.sha256(data).hexdigest()[:12] / safe
    if not path.is_file():
        check_room(workspace, len(data))
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.write_bytes(data)
        except OSError as error:
            raise DatasetError(f"The file cannot be stored ({error.strerror}). Make room and try again.") from None
    return path


def _more(workspace: Workspace) -> dict[str, Any]:
    fields = st.grid(3)
    runs = fields.number_input(
        "Times each question is asked",
        1,
        10,
        1,
        key="evaluate_runs",
        help="A model may answer differently each time. Asked more than once, the table says by how much (± one "
        "standard deviation).",
    )
    preset = fields.selectbox("Length of a page", list(PAGES), format_func=PAGES.__getitem__, key="evaluate_preset")
    connections = fields.number_input("Model calls at once", 1, 64, 8, key="evaluate_connections")
    budget = fields.number_input(
        "Stop after this many words sent", 0, 1_000_000_000, 0, step=100_000, key="evaluate_budget", help="0: no limit."
    )
    price = workspace.model.price
    dollars = fields.number_input(
        "Stop after this many dollars spent",
        0.0,
        100_000.0,
        0.0,
        step=1.0,
        key="evaluate_dollars",
        disabled=price is None or not price.cost(1, 1),
        help=_about_money(price),
    )
    rate = fields.toggle(
        "Let the model judge answers in free words",
        value=True,
        key="evaluate_rate",
        disabled=not workspace.model.is_language_model,
        help="It is asked twice, strictly and permissively, whether an answer agrees with the known fields.",
    )
    books = fields.number_input(
        "Documents asked together",
        1,
        1000,
        1,
        key="evaluate_books",
        help="Puts this many documents at a time on one shelf. Zooming is asked about several books; "
        "to the other methods a shelf is one long text.",
    )
    return {
        "books": int(books),
        "runs": int(runs),
        "preset": preset,
        "connections": int(connections),
        "most_words": int(budget) or None,
        "most_dollars": float(dollars) or None,
        "rate": bool(rate),
    }


def _about_money(price: Price | None) -> str:
    if price is None:
        return "No price is known for this model. You can enter one in Settings."
    return "0: no limit." if price.cost(1, 1) else "This model costs nothing."
