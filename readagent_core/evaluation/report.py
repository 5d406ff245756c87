"""An experiment's figures put together once, as tables of plain cells for every format and for the screen.

The tables have the shape of the paper's tables 1 to 3; its published figures stand beside ours, marked as
published and on which model. What is said is decided here; ``report_files`` only writes it down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.published import SOURCE, Published, Table, row_for, table_for
from readagent_core.evaluation.results import Reading
from readagent_core.evaluation.scores import Difference, Share
from readagent_core.evaluation.tally import Row, Tally

NO_MODEL = (
    "No language model was connected: the built-in reader answered by word statistics. "
    "These figures say how it does, and nothing of what the methods do with a language model."
)


@dataclass(frozen=True)
class Summary:
    """Everything a report says. ``chance``: percent right by guessing, None for free-form questions.

    ``baseline``: title of the arm the ``differences`` are taken against (arm key → difference).
    """

    record: Mapping[str, Any]
    rows: tuple[Row, ...]
    published: Mapping[str, Published]
    table: Table | None
    baseline: str
    differences: Mapping[str, Difference]
    chance: float | None
    readings: tuple[Reading, ...]
    wanted: int

    @property
    def choices(self) -> bool:
        return any(row.accuracy is not None for row in self.rows)

    @property
    def free(self) -> bool:
        return any(row.rouge for row in self.rows)

    @property
    def answers(self) -> int:
        return sum(row.answers for row in self.rows)

    @property
    def failed(self) -> int:
        return sum(row.failed for row in self.rows)


def summary(record: Mapping[str, Any], tally: Tally, *, wanted: int = 0) -> Summary:
    """The figures so far. ``wanted``: answers the whole experiment asks for, 0 where it is not known."""
    experiment = record["experiment"]
    arms = [Arm.from_dict(a) for a in experiment["arms"]]
    rows = [row for arm in arms if (row := tally.row(arm)) is not None]
    table = table_for(experiment["dataset"]["kind"], _preset(record, experiment))
    beside = {row.arm: found for row in rows if (found := row_for(table, row.method, row.look_up_limit)) is not None}
    shown = [arm for arm in arms if any(row.arm == arm.key for row in rows)]
    base = next((arm for arm in shown if arm.method == "full-text"), shown[0] if shown else None)
    differences = {
        arm.key: gap
        for arm in shown
        if base is not None and arm != base and (gap := tally.difference(base, arm)) is not None
    }
    return Summary(
        record=record,
        rows=tuple(rows),
        published=beside,
        table=table if beside else None,
        baseline=base.title if base else "",
        differences=differences,
        chance=tally.chance(),
        readings=tuple(tally.readings.values()),
        wanted=wanted,
    )


def _preset(record: Mapping[str, Any], experiment: Mapping[str, Any]) -> str:
    return str(experiment["preset"] or record.get("preset") or "article")


# --- what is said, in words and cells -------------------------------------------------------------------


def headline(found: Summary) -> list[str]:
    """What was run, in a few plain sentences."""
    record, experiment = found.record, found.record["experiment"]
    model = record["model"]
    where = f" at {model['where']}" if model["where"] else ""
    named = [name for name in model["reported"] if name != model["name"]]
    reported = f" (the server called it {', '.join(named)})" if named else ""
    documents = len({reading.document for reading in found.readings})
    lines = [
        f"{count_of(documents, 'document')} and {count_of(questions(found), 'question')} of "
        f"{dataset_name(experiment)}, "
        f"read and answered by {model['name']}{where}{reported}; {count_of(experiment['runs'], 'run')}, "
        f"begun {record['started'][:16].replace('T', ' ')}."
    ]
    if not model["is_language_model"]:
        lines.append(NO_MODEL)
    if found.wanted and found.answers < found.wanted:
        lines.append(f"Not finished: {found.answers:,} of {found.wanted:,} answers are in.")
    if found.failed:
        lines.append(f"{found.failed:,} answers could not be had; they count as wrong.")
    return lines


def count_of(number: int, noun: str) -> str:
    """'1 document', '2,086 questions'."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def questions(found: Summary) -> int:
    runs = found.record["experiment"]["runs"]
    return max((round(row.answers / runs) for row in found.rows), default=0)


def dataset_name(experiment: Mapping[str, Any]) -> str:
    data = experiment["dataset"]
    path = str(data["path"]).replace("\\", "/").rstrip("/")
    return path.rsplit("/", 1)[-1]


def score_table(found: Summary) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the main table (paper, tables 1–3), ours and, where there are any, the published."""
    beside = found.table is not None
    header = ["Method", "CR (# LU)"]
    if found.choices:
        header.append("Accuracy (95 %)")
        if any(row.hard for row in found.rows):
            header.append("Hard subset")
    if found.free:
        if any(row.rating_1 for row in found.rows):
            header += ["LLM-Rating-1", "LLM-Rating-2"]
        header += ["ROUGE-1", "ROUGE-2", "ROUGE-L", "Resp. length"]
    if beside and found.table is not None:
        header += [f"Published on {found.table.model}: CR (# LU)", "score"]
    rows = [_score_row(found, row, header, beside) for row in found.rows]
    if found.chance is not None:
        rows.append(["Chance", "", f"{found.chance:.2f} %", *[""] * (len(header) - 3)])
    return header, rows


def _score_row(found: Summary, row: Row, header: Sequence[str], beside: bool) -> list[str]:
    cells = [_label(row), f"{row.compression_rate:.2f} % ({row.look_ups:.1f})"]
    if "Accuracy (95 %)" in header:
        cells.append(shared(row.accuracy, row.accuracy_sd))
    if "Hard subset" in header:
        cells.append(shared(row.hard))
    if "LLM-Rating-1" in header:
        cells += [shared(row.rating_1, row.rating_1_sd), shared(row.rating_2)]
    if "ROUGE-1" in header:
        for name in ("rouge1", "rouge2", "rougeL"):
            value = row.rouge.get(name)
            cells.append(f"{value.value:.2f}{_plus_minus(value.sd)}" if value else "")
        cells.append(f"{row.answer_words:.1f}" if row.rouge else "")
    if beside:
        theirs = found.published.get(row.arm)
        if theirs is None:
            cells += ["", ""]
        else:
            cells += [f"{theirs.compression_rate:.2f} % ({theirs.pages:g})", _their_score(theirs)]
    return cells


def _their_score(theirs: Published) -> str:
    text = f"{theirs.score:.2f} %{_plus_minus(theirs.sd)}"
    if theirs.rouge is not None:
        text = f"LR-1 {text}, LR-2 {theirs.rating_2:.2f} %, R-L {theirs.rouge[2]:.2f}"
    return text


def _label(row: Row) -> str:
    failed = f", {row.failed} failed" if row.failed else ""
    limit = f", up to {row.look_up_limit}" if row.look_ups and row.strays is None else ""  # a walk has no such limit
    return f"{row.title}{limit}{failed}"


def shared(value: Share | None, sd: float | None = None) -> str:
    """'84.13 % ± 0.10 (82.5–85.6)'; '' for none."""
    if value is None:
        return ""
    return f"{100 * value.value:.2f} %{_plus_minus(sd)} ({100 * value.low:.1f}–{100 * value.high:.1f})"


def _plus_minus(sd: float | None) -> str:
    return f" ± {sd:.2f}" if sd is not None else ""


def words_table(found: Summary) -> tuple[list[str], list[list[str]]]:
    """Words sent: a question, for all questions, for reading, and all of it as a share of sending the full text."""
    header = ["Method", "Words a question", "Words, all questions", "Words, reading once", "Of full text"]
    rows = [
        [_label(r), f"{r.words_each:,.0f}", f"{r.words:,}", f"{r.reading_words:,}", f"{100 * r.of_full_text:.1f} %"]
        for r in found.rows
    ]
    return header, rows


def difference_table(found: Summary) -> tuple[list[str], list[list[str]]]:
    """Each arm against the baseline on the same questions."""
    header = ["Method", f"Against {found.baseline}", "95 %", "p", "Questions", "Test"]
    titles = {row.arm: _label(row) for row in found.rows}
    rows = [
        [
            titles[arm],
            f"{100 * d.value:+.2f}",
            f"{100 * d.low:+.1f} to {100 * d.high:+.1f}",
            "< 0.001" if d.p < 0.001 else f"{d.p:.3f}",
            f"{d.n:,}",
            d.test,
        ]
        for arm, d in found.differences.items()
        if arm in titles
    ]
    return header, rows


def walk_table(found: Summary) -> tuple[list[str], list[list[str]]]:
    """MemWalker: walks that turned back, those that still answered right, share of the text read."""
    header = ["Method", "Stray ratio", "Recovery rate", "Text read"]
    rows = [
        [_label(r), shared(r.strays), shared(r.recoveries), f"{100 * r.read_share:.1f} %" if r.read_share else ""]
        for r in found.rows
        if r.strays is not None
    ]
    return header, rows


def reading_facts(found: Summary) -> list[str]:
    """How the documents were read: words, pages, gists."""
    if not found.readings:
        return []
    words = [r.words for r in found.readings]
    gists = [sum(r.gist_words) for r in found.readings]
    pages = [n for r in found.readings for n in r.page_words]
    kept = sum(gists) / sum(pages) if pages else 0
    fallbacks = sum(r.fallbacks for r in found.readings)
    return [
        f"Documents: {len(words):,}, {_mean(words):,.0f} words on average, at most {max(words):,}.",
        f"Gist memories: {_mean(gists):,.0f} words on average, at most {max(gists):,}; compression rate "
        f"{100 * (1 - kept):.2f} %.",
        f"Pages: {len(pages):,}, {_mean(pages):,.0f} words on average ({min(pages, default=0):,} to "
        f"{max(pages, default=0):,}); {fallbacks:,} pauses or gists taken by rule.",
    ]


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0


def sections(found: Summary) -> list[tuple[str, tuple[list[str], list[list[str]]], str]]:
    """(title, table, note) of every table that has rows."""
    note = ""
    if found.table is not None:
        note = (
            f"Published: {SOURCE}, {found.table.name}, {found.table.about}, on {found.table.model}. "
            f"Other documents, another model: beside ours for the shape, not as a race."
        )
    cr = "CR: words not in context at the final answer, percent of the document. # LU: pages looked up."
    walk = "Stray: the walk turned back at least once. Recovery: it turned back and still answered right."
    pairs = "Percentage points of accuracy, or ROUGE-L × 100, on the questions both answered."
    found_sections = [
        ("Scores", score_table(found), f"{cr} {note}".strip()),
        ("Words sent", words_table(found), "Cached replies are counted as if they had been sent."),
        ("Differences", difference_table(found), pairs),
        ("Walks", walk_table(found), walk),
    ]
    return [entry for entry in found_sections if entry[1][1]]
