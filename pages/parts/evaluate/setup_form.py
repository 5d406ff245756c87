"""The Evaluate screen's form: which data, which methods, how many questions. It makes an ``Experiment``.

Uploaded files are stored in READAGENT_HOME, because an experiment that is resumed later needs them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.shared.scripts import ASSETS
from pages.parts.shared.shell import FIRST_METHODS
from readagent_core.errors import DatasetError
from readagent_core.evaluation.arms import with_defaults
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment
from readagent_core.export.text_files import safe_file_name
from readagent_core.methods import all_methods
from readagent_core.methods.base import AskSettings
from readagent_core.models.cost.prices import Price
from readagent_core.plan import PRESETS
from readagent_core.workspace import Workspace

SAMPLES = {
    "The Keeper of Harrow Light": "the-keeper-of-harrow-light",
    "Yuki no Eki, Japanese": "yuki-no-eki",
    "Harrow council minutes": "harrow-council-minutes",
}
OWN, PATH = "A file of mine", "A file or folder on this computer"
SUFFIXES = ["jsonl", "json", "train", "dev"]  # the last two are QuALITY's own


def form(workspace: Workspace) -> Experiment | None:
    """The experiment that the form describes; None while something is missing. Raises ReadAgentError."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        path = _data(workspace)
        names = st.multiselect(
            "Methods",
            list(all_methods()),
            default=FIRST_METHODS,
            format_func=lambda name: all_methods()[name].title,
            key="evaluate_methods",
        )
    with right:
        limit = st.number_input("Most questions", 1, 100_000, 20, key="evaluate_limit")
        look_ups = st.slider("Most pages to look up", 1, 6, 3, key="evaluate_look_ups")
    with st.expander("More settings"):
        more = _more(workspace)
    if path is None:
        return None
    if not names:
        st.caption("Choose at least one method.")
        return None
    arms = tuple(with_defaults(name, AskSettings(look_ups=look_ups)) for name in names)
    dataset = open_dataset(path, limit=int(limit))
    return Experiment(dataset, arms, **more)


def _data(workspace: Workspace) -> Path | None:
    choices = [name for name, stem in SAMPLES.items() if _sample(stem).is_file()]
    chosen = st.selectbox(
        "Questions with known answers",
        [*choices, OWN, PATH],
        key="evaluate_data",
        help="QuALITY, QMSum, NarrativeQA, SCROLLS and LongBench as they are downloaded, or questions of your own.",
    )
    if chosen == OWN:
        file = st.file_uploader("A file of JSON or JSON lines", type=SUFFIXES, key="evaluate_file")
        return _keep(workspace, file.name, file.getvalue()) if file is not None else None
    if chosen == PATH:
        text = st.text_input("Where it is", key="evaluate_path", placeholder="/data/QuALITY.v1.0.1.htmlstripped.dev")
        return Path(text).expanduser() if text.strip() else None
    return _sample(SAMPLES[chosen])


def _sample(stem: str) -> Path:
    return ASSETS / "samples" / f"{stem}.questions.json"


def _keep(workspace: Workspace, name: str, data: bytes) -> Path:
    """The dropped file in a folder named after its content, so that the same file is the same dataset."""
    safe = safe_file_name(Path(name).name) or "dataset.jsonl"
    path = workspace.home / "evaluations" / "data" / hashlib.sha256(data).hexdigest()[:12] / safe
    if not path.is_file():
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.write_bytes(data)
        except OSError as error:
            raise DatasetError(f"The file cannot be stored ({error.strerror}). Make room and try again.") from None
    return path


def _more(workspace: Workspace) -> dict[str, Any]:
    one, two, three = st.columns(3)
    runs = one.number_input(
        "Runs of every question", 1, 10, 1, key="evaluate_runs", help="More than one gives a standard deviation."
    )
    preset = two.selectbox(
        "Pages", ["", *PRESETS], format_func=lambda p: p or "as the papers do for the data", key="evaluate_preset"
    )
    connections = three.number_input("Model calls at once", 1, 64, 8, key="evaluate_connections")
    budget = one.number_input(
        "Stop after this many words sent", 0, 1_000_000_000, 0, step=100_000, key="evaluate_budget", help="0: no limit."
    )
    price = workspace.model.price
    dollars = two.number_input(
        "Stop after this many dollars spent",
        0.0,
        100_000.0,
        0.0,
        step=1.0,
        key="evaluate_dollars",
        disabled=price is None or not price.cost(1, 1),
        help=_about_money(price),
    )
    rate = three.toggle(
        "Have free answers rated by the model",
        value=True,
        key="evaluate_rate",
        disabled=not workspace.model.is_language_model,
        help="Two raters, strict and permissive, compare each answer with the references.",
    )
    return {
        "runs": int(runs),
        "preset": preset,
        "connections": int(connections),
        "most_words": int(budget) or None,
        "most_dollars": float(dollars) or None,
        "rate": bool(rate),
    }


def _about_money(price: Price | None) -> str:
    if price is None:
        return "No price is known for who answers. One can be entered in Settings."
    return "0: no limit." if price.cost(1, 1) else "This model costs nothing."
