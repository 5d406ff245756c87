"""Question by question: what was asked, what each method answered, and the replay of any that was not right.

Everything a dataset or a model wrote goes through ``st.text``.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from readagent_core.errors import DatasetError
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.results import Lines, Result
from readagent_core.methods.base import LETTERS
from readagent_core.study.comparing_told import parted

_SHOWN = 500  # questions in the list; more is asked for by narrowing it


def browse(folder: Path, arms: list[Arm]) -> None:
    """The list of questions, narrowed as wished, and the chosen one in full."""
    file = folder / "results.jsonl"
    found = _index(str(folder), file.stat().st_size if file.is_file() else 0)
    if not found:
        st.caption("No question is answered yet.")
        return
    titles = {arm.key: arm.title for arm in arms}
    narrow = st.segmented_control(
        "Show",
        ["All", "Not right", "Methods disagree"],
        default="All",
        key="evaluate_narrow",
        label_visibility="collapsed",
    )
    questions = [q for q in found if _wanted(found[q], narrow or "All")]
    if not questions:
        st.caption("No question is like that.")
        return
    if len(questions) > _SHOWN:
        st.caption(f"The first {_SHOWN:,} of {len(questions):,}.")
    chosen = st.selectbox(
        "Question",
        questions[:_SHOWN],
        format_func=lambda q: f"{_marks(found[q])}: {found[q][0]['question'][:110]}",
        key="evaluate_question",
    )
    lines = Lines(file, mend=False)
    results = [Result.from_dict(lines.at(entry["place"])) for entry in found[chosen]]
    order = list(titles)
    results.sort(key=lambda r: (order.index(r.arm) if r.arm in titles else len(order), r.run))
    _question(results[0])
    for at in range(0, len(results), 2):
        for column, result in zip(st.columns(2), results[at : at + 2], strict=False):
            with column:
                _answer(folder, result, titles.get(result.arm, result.arm))


@st.cache_data(show_spinner=False, max_entries=4)
def _index(folder: str, size: int) -> dict[str, list[dict[str, Any]]]:
    """Question → its answers (place in the file, right or not), in the dataset's order; ``size`` keeps it fresh."""
    found: dict[tuple[int, int], dict[tuple[str, int], dict[str, Any]]] = {}
    for place, line in Lines(Path(folder) / "results.jsonl", mend=False).placed():
        result = Result.from_dict(line)
        entry = {"place": place, "right": result.right, "question": result.question, "failed": bool(result.error)}
        found.setdefault((result.case, result.item), {})[(result.arm, result.run)] = entry
    return {f"{case}-{item}": list(found[case, item].values()) for case, item in sorted(found)}


def _wanted(answers: list[dict[str, Any]], narrow: str) -> bool:
    right = {a["right"] for a in answers}
    return narrow == "All" or (narrow == "Not right" and False in right) or (narrow != "Not right" and len(right) > 1)


def _marks(answers: list[dict[str, Any]]) -> str:
    right = sum(a["right"] for a in answers)
    return f"{right} of {len(answers)} right"


def _question(result: Result) -> None:
    with st.container(border=True, key="evaluate_asked"):
        st.text(result.question)
        lines = [
            f"({LETTERS[at]}) {option}{'   ← right' if at == result.gold else ''}"
            for at, option in enumerate(result.options)
        ]
        lines += [f"Known answer: {reference}" for reference in result.references]
        st.text("\n".join(lines))
        st.text(f"From {result.title}")


def _answer(folder: Path, result: Result, title: str) -> None:
    verdict = "no answer" if result.error else "right" if result.right else "not right"
    if result.rating:
        verdict = {"exact": "agrees", "partial": "agrees in part", "wrong": "does not agree"}[result.rating]
    run = f", run {result.run}" if result.run > 1 else ""
    with st.container(border=True, key=f"evaluate_answer_{result.arm}_{result.run}".replace(":", "_")):
        _head(f"{title}{run}", verdict, good=result.right)
        if result.option is not None:
            st.text(f"({LETTERS[result.option]}) {result.options[result.option]}")
        text, evidence = parted(result.answer)
        st.text(result.error or text)
        if evidence:
            st.caption("Evidence")
            st.text(evidence)
        figures = [
            _looked_up(result.looked_up),
            f"{result.memory_words:,} of {result.document_words:,} words in context",
        ]
        if result.rouge:
            figures.append(f"ROUGE-L {100 * result.rouge['rougeL']:.1f}")
        st.caption(" · ".join(figures))
        for note in result.notes:
            st.text(f"Note: {note}")
        if result.replay is not None and st.toggle(
            "Replay", key=f"evaluate_replay_{result.case}_{result.item}_{result.arm}_{result.run}"
        ):
            _replay(folder, result)


def _head(title: str, verdict: str, *, good: bool) -> None:
    """Who answered and how it was judged; a sign and a word besides the colour."""
    sign, kind = ("✓", "good") if good else ("✗", "bad")
    st.html(
        f'<p class="ev-head"><strong>{escape(title)}</strong>'
        f'<span class="{kind}"><span aria-hidden="true">{sign}</span> {escape(verdict)}</span></p>'
    )


def _looked_up(pages: tuple[int, ...]) -> str:
    if not pages:
        return "No page looked up"
    return f"Looked up {'page' if len(pages) == 1 else 'pages'} {', '.join(map(str, pages))}"


def _replay(folder: Path, result: Result) -> None:
    """Every prompt and reply of the run, in order."""
    try:
        kept = Lines(folder / "replays.jsonl", mend=False).at(result.replay or 0)
        events = kept["events"] if kept["key"] == list(result.key) else []
    except (DatasetError, OSError, KeyError):
        events = []
    if not events:
        st.caption("The replay of this answer is not there any more.")
        return
    step = 0
    for event in events:
        if event["kind"] == "Asked":
            step += 1
            with st.expander(f"Step {step}: {event['task'].replace('_', ' ')}"):
                st.caption("Sent")
                st.text(event["prompt"])
                st.caption("Reply")
                st.text(event["reply"])
        elif event["kind"] == "LookedUp":
            st.text(_looked_up(tuple(event["pages"])))
        elif event["kind"] == "Noted":
            st.text(event["text"])
