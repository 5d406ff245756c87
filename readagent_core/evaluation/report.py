"""The figures of an experiment, put together once for the screen and every file, and sentences about them.

``tables`` arranges the figures; ``formats`` and ``html`` write them. Two arms are compared on the questions both have
answered, by each question's mean over runs: with McNemar's test where every value is right or wrong, else with a
paired randomization test. So a difference is always that of the table's own figures, on these questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from readagent_core.answering.registry import Family, family_of
from readagent_core.answering.signature import sign
from readagent_core.evaluation.arms import Arm, recorded_arms
from readagent_core.evaluation.published import Benchmark, PublishedFigure, find_published
from readagent_core.evaluation.results import GistingFigures
from readagent_core.evaluation.score_table import Row, Score, ScoreTable
from readagent_core.evaluation.scores import Difference, average, mcnemar, randomization
from readagent_core.model_names import short_name
from readagent_core.models.cost.prices import money
from readagent_core.words import count_of

NO_MODEL = (
    "No language model was connected: the built-in reader answered by word statistics. "
    "These figures say how it does, and nothing of what the methods do with a language model."
)
ACCURACY, LLM_RATING_1, ROUGE_L, STEP = "Accuracy", "LLM-Rating-1", "ROUGE-L", "Step success"


@dataclass(frozen=True)
class Summary:
    """Everything a report says. ``chance``: percent right by guessing, None for free-form questions.

    ``published``: what the papers printed for the same arm, the best known first. ``baseline``: title of the arm that
    the ``differences`` are taken against (arm key → measure → difference). ``wanted``: answers the whole experiment
    asks for, 0 where that is not known. ``questions``: those with an answer. ``more``: answers to come of what was
    asked for since the experiment was finished; the figures are without any of that.
    """

    record: Mapping[str, Any]
    rows: tuple[Row, ...]
    published: Mapping[str, tuple[PublishedFigure, ...]]
    baseline: str
    differences: Mapping[str, Mapping[str, Difference]]
    chance: float | None
    gistings: tuple[GistingFigures, ...]
    wanted: int
    questions: int
    runs: int
    more: int = 0

    @property
    def choices(self) -> bool:
        return any(row.accuracy is not None for row in self.rows)

    @property
    def free(self) -> bool:
        return any(row.rouge for row in self.rows)

    @property
    def web(self) -> bool:
        """Whether the questions are steps on web pages."""
        return any(row.element_accuracy is not None for row in self.rows)

    @property
    def measure(self) -> str:
        """The papers' first measure that there is: ACCURACY, STEP, LLM_RATING_1 or ROUGE_L."""
        if self.choices or self.web:
            return ACCURACY if self.choices else STEP
        return LLM_RATING_1 if any(row.rating_1 for row in self.rows) else ROUGE_L

    @property
    def answers(self) -> int:
        return sum(row.answers for row in self.rows)

    def published_figure(self, arm: str) -> PublishedFigure | None:
        """Return the best known published figure for the arm in the measure of our own table."""
        wanted = "accuracy" if self.choices else "web" if self.web else "ratings"
        return next((found for found in self.published.get(arm, ()) if found.table.measure == wanted), None)

    @property
    def failed(self) -> int:
        return sum(row.failed for row in self.rows)


def summarise(record: Mapping[str, Any], table: ScoreTable, *, wanted: int = 0) -> Summary:
    """Return the figures so far. ``wanted``: answers the whole experiment asks for, 0 where it is not known."""
    experiment = record["experiment"]
    arms = recorded_arms(record)
    rows = [row for arm in arms if (row := table.row(arm)) is not None]
    benchmark = _benchmark_of(record, experiment)
    shown = [arm for arm in arms if any(row.arm == arm.key for row in rows)]
    base = next((arm for arm in shown if arm.method == "full-text"), shown[0] if shown else None)
    bases = {arm.key: _base_at_equal_words(arm, base, shown) for arm in shown} if base is not None else {}
    gaps = {
        arm.key: gap for arm in shown if arm != bases[arm.key] and (gap := find_differences(table, bases[arm.key], arm))
    }
    questions, runs = table.count_questions()
    return Summary(
        record=record,
        rows=tuple(rows),
        published={arm.key: found for arm in shown if (found := find_published(arm, benchmark))},
        baseline=_base_title(base, shown) if base else "",
        differences=gaps,
        chance=table.chance(),
        gistings=tuple(table.gistings.values()),
        wanted=wanted,
        questions=questions,
        runs=max(runs, experiment["runs"]),
    )


def _base_at_equal_words(arm: Arm, base: Arm, arms: Sequence[Arm]) -> Arm:
    """Return the baseline with as many words a question as ``arm``; ``base`` where there is none."""
    return next((other for other in arms if other == replace(base, words=arm.words)), base)


def _base_title(base: Arm, arms: Sequence[Arm]) -> str:
    paired = base.words is not None and all(_base_at_equal_words(a, base, arms).words == a.words for a in arms)
    return f"{replace(base, words=None).title} at equal words" if paired else base.title


def _benchmark_of(record: Mapping[str, Any], experiment: Mapping[str, Any]) -> Benchmark:
    data = experiment["dataset"]
    preset = str(experiment["preset"] or record.get("preset") or "article")
    name = Path(dataset_name(experiment)).stem
    return Benchmark(data["kind"], preset, data.get("split", ""), name, experiment.get("plan", {}))


def score_of(row: Row, measure: str) -> tuple[float, float | None, float | None] | None:
    """Return a row's score by ``measure`` in percent and its interval, which ROUGE has none of; None without one."""
    if measure == ROUGE_L:
        rouge = row.rouge.get("rougeL")
        return (rouge.value, None, None) if rouge is not None else None
    share = {ACCURACY: row.accuracy, STEP: row.step_success, LLM_RATING_1: row.rating_1}[measure]
    return (100 * share.value, 100 * share.low, 100 * share.high) if share is not None else None


# --- differences between two arms -----------------------------------------------------------------------


def find_differences(table: ScoreTable, first: Arm, second: Arm) -> dict[str, Difference]:
    """Return second minus first, by measure; a measure without pairs, or with too few for its test, is left out."""
    arms = [dict(table.scores.get(arm.key, {})) for arm in (first, second)]
    rated = all(any(score.rating for score in scores.values()) for scores in arms)
    found = {}
    for measure, pick in _MEASURES.items():
        if measure == LLM_RATING_1 and not rated:
            continue
        one, two = (_by_question(scores, pick) for scores in arms)
        both = sorted(one.keys() & two.keys())
        if both:
            before, after = [one[q] for q in both], [two[q] for q in both]
            if measure != ROUGE_L and {*before, *after} <= {0.0, 1.0}:
                found[measure] = mcnemar([value == 1 for value in before], [value == 1 for value in after])
            elif difference := randomization(before, after):
                found[measure] = difference
    return found


def _by_question(
    scores: Mapping[tuple[int, int, int], Score], pick: Callable[[Score], float | None]
) -> dict[tuple[int, int], float]:
    """Return each question's mean over its runs, where it has a value."""
    values: dict[tuple[int, int], list[float]] = {}
    for (case, item, _), score in scores.items():
        if (value := pick(score)) is not None:
            values.setdefault((case, item), []).append(value)
    return {question: average(found) for question, found in values.items()}


_MEASURES: Mapping[str, Callable[[Score], float | None]] = {
    ACCURACY: lambda score: score.correct,
    LLM_RATING_1: lambda score: score.rated("exact"),
    ROUGE_L: lambda score: score.rouge[2] if score.rouge else None,
    STEP: lambda score: score.step,
}


# --- sentences ------------------------------------------------------------------------------------------


def headline(summary: Summary) -> list[str]:
    """Return a few sentences that say what was run."""
    record, experiment = summary.record, summary.record["experiment"]
    model = record["model"]
    who = sign(model["name"], model["where"], "").line if model["is_language_model"] else model["name"]
    named = [name for name in map(short_name, model["reported"]) if name != short_name(model["name"])]
    reported = f" (the server called it {', '.join(named)})" if named else ""
    documents = len({gisting.document for gisting in summary.gistings})
    asked, title = count_of(summary.questions, "question"), title_of(summary)
    own = title != dataset_name(experiment)
    about = f"{asked} about {title}" if own else f"{count_of(documents, 'document')} and {asked} of {title}"
    runs = "" if summary.runs == 1 else f"{count_of(summary.runs, 'run')}, "
    lines = [f"{about}, answered by {who}{reported}; {runs}begun {record['started'][:16].replace('T', ' ')}."]
    if record.get("recorded"):
        lines.insert(0, f"A recording of {record['recorded']}, made with {short_name(model['name'])}.")
    if not model["is_language_model"]:
        lines.append(NO_MODEL)
    if model.get("sampling", {}).get("json_replies"):
        lines.append("Labels, pages and letters were asked for in JSON, in a form that the server enforces.")
    if summary.wanted and summary.answers < summary.wanted:
        lines.append(f"Not finished: {summary.answers:,} of {summary.wanted:,} answers are in.")
    if summary.more:
        lines.append(
            f"Finished with {count_of(summary.answers, 'answer')}, of which these figures are. More was asked for "
            f"since: it counts once {count_of(summary.more, 'answer')} more {'is' if summary.more == 1 else 'are'} in."
        )
    if summary.failed:
        lines.append(f"{count_of(summary.failed, 'answer')} failed: counted as wrong.")
    unrated = sum(  # of the free-form answers: multiple choice needs no rating
        row.answers - (row.accuracy.total if row.accuracy else 0) - row.rating_1.total
        for row in summary.rows
        if row.rating_1 is not None
    )
    if unrated:
        lines.append(f"{count_of(unrated, 'answer')} without a rating, left out of both LLM-Ratings.")
    return lines


FEW = 30  # questions, below which a report says that they are few
# words that a title has in small letters
_SMALL = frozenset(
    {"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"}
)  # in titles
CHANCE = 0.05  # a difference with a greater p may be chance


def results_in_words(summary: Summary) -> list[str]:
    """Return the results as plain sentences: what was right, for how many words, and what may be chance.

    The words of every other method are compared with those of ReadAgent, or of the first method where it is not there.
    """
    rows = summary.rows
    if not rows:
        return []
    base = next((row for row in rows if family_of(row.method) is Family.READ_AGENT), rows[0])
    said = [f"{row.title}: {_score_in_words(row)}, {_words_in_words(row, base)}{_cost_in_words(row)}." for row in rows]
    if (spent := max(row.reading_words for row in rows)) and any(row.reading_words < spent for row in rows):
        said.append(f"What is made of the text beforehand took {spent:,} words once; not every method needs it.")
    elif spent:
        said.append(f"What is made of the text beforehand took {spent:,} words once.")
    unjudged = [row for row in rows if row.rating_1 is None and _without_options(row)]
    if unjudged:
        count = count_of(max(map(_without_options, unjudged)) // summary.runs, "answer")
        said.append(f"In free words: {count} of each method, not judged.")
    share = base.accuracy or base.rating_1 or base.step_success
    asked = round(share.total / summary.runs) if share is not None else summary.questions
    if asked < FEW:
        here = f"{share.hits:,} of {share.total:,}" if share is not None else "these figures"
        low, high = (share.low, share.high) if share is not None else (0.0, 1.0)
        often = f": {here} right may mean a true rate of anything from {100 * low:.0f} to {100 * high:.0f} %"
        said.append(f"{count_of(asked, 'question')} {'is' if asked == 1 else 'are'} few{often if share else ''}.")
    if summary.answers < summary.wanted:
        return [*said, "Answers are missing, so these figures may change."]
    return said + _differences_in_words(summary)


def _score_in_words(row: Row) -> str:
    parts = []
    if row.accuracy is not None:
        parts.append(f"{row.accuracy.hits:,} of {row.accuracy.total:,} right")
    if row.step_success is not None:
        parts.append(f"{row.step_success.hits:,} of {count_of(row.step_success.total, 'step')} right")
    if row.rating_1 is not None and row.rating_1.total:
        whole, rating = "answers agree with the known ones", row.rating_1
        parts.append(f"{rating.hits:,} of {rating.total:,} {whole if row.accuracy is None else 'free ' + whole}")
    if not parts and "rougeL" in row.rouge:
        parts.append(f"{row.rouge['rougeL'].value:.0f} % overlap in words with the known answers (ROUGE-L)")
    return " and ".join(parts) or "no answer judged"


def _words_in_words(row: Row, base: Row) -> str:
    if row is base or not base.words_each:
        return f"with {row.words_each:,.0f} words sent per question"
    times = row.words_each / base.words_each
    if 0.95 <= times <= 1.05:
        return "for about as many words"
    if times > 1:
        return f"for {times:,.1f} times the words"
    return f"for {100 * times:.0f} % of the words"


def _cost_in_words(row: Row) -> str:
    return f" ({money(100 * row.cost_each)} for 100 questions)" if row.cost_each else ""


def _without_options(row: Row) -> int:
    """Return how many answers are in free words; a step on a web page is none."""
    if row.step_success is not None:
        return 0
    return row.answers - row.failed - (row.accuracy.total if row.accuracy is not None else 0)


def _differences_in_words(summary: Summary) -> list[str]:
    """Return which methods differ from the baseline by more than chance, or that none does."""
    titles = {row.arm: row.title for row in summary.rows}
    first = {arm: next(iter(found.values())) for arm, found in summary.differences.items()}
    clear = {arm: found for arm, found in first.items() if found.p < CHANCE}
    said = [
        f"{titles[arm]} is {'better' if found.value > 0 else 'worse'} than {summary.baseline} by more than chance."
        for arm, found in clear.items()
    ]
    if first and not clear:
        said.append(f"No method differs from {summary.baseline} by more than chance.")
    return said


def file_name_of(experiment: Mapping[str, Any]) -> str:
    """The name of the dataset's file or folder, which another system may have recorded."""
    return str(experiment["dataset"]["path"]).replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def dataset_name(experiment: Mapping[str, Any]) -> str:
    return file_name_of(experiment).removesuffix(".questions.json")  # of a book


def dataset_title(record: Mapping[str, Any], titles: Iterable[str]) -> str:
    """Return the one title of ``titles``, of the documents asked about by a person's own questions; else the name.

    Before a document was read, the title that the questions come with, or its file's name as a title is written.
    """
    name = dataset_name(record["experiment"])
    if record["experiment"]["dataset"]["kind"] != "plain":
        return name
    found = set(titles)
    if not found and "." not in name:
        words = [word if n and word in _SMALL else word.capitalize() for n, word in enumerate(name.split("-"))]
        return record.get("title") or " ".join(words)
    return found.pop() if len(found) == 1 else name


def title_of(summary: Summary) -> str:
    return dataset_title(summary.record, (gisting.title for gisting in summary.gistings))


def reading_facts(summary: Summary) -> list[str]:
    """Return sentences on how the documents were read: words, pages, gists."""
    if not summary.gistings:
        return []
    words = list({r.document: r.words for r in summary.gistings}.values())  # several plans may read one document
    gists = [sum(r.gist_words) for r in summary.gistings]
    pages = [n for r in summary.gistings for n in r.page_words]
    share = sum(gists) / sum(pages) if pages else 0
    fallbacks = sum(r.fallbacks for r in summary.gistings)
    about = f"{count_of(len(words), 'document')}, {_on_average(words)}."
    if not any(gists):
        return [
            about,
            f"{count_of(len(pages), 'page')}, cut by rule. No method needed gists, so no model read the documents.",
        ]
    return [
        about,
        f"Gists: {_on_average(gists)}, {100 * (1 - share):.0f} % fewer than the text.",
        f"{count_of(len(pages), 'page')}, {average(pages):,.0f} words on average ({min(pages, default=0):,} to "
        f"{max(pages, default=0):,}); {fallbacks:,} pause points or gists chosen by rule, "
        f"{sum(r.marked for r in summary.gistings):,} gists marked by the audit.",
    ]


def _on_average(words: Sequence[int]) -> str:
    if len(words) == 1:
        return count_of(words[0], "word")
    return f"{average(words):,.0f} words on average, at most {max(words):,}"
