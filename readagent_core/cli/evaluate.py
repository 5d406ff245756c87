"""``evaluate``: asks many questions with known answers of every method; prints a table or one JSON object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagent_core.cli import options
from readagent_core.cli.output import (
    WrongUsage,
    needs_packages,
    print_json,
    report_errors,
    say,
    say_aside,
    usage_errors,
    wait_for,
)
from readagent_core.cli.shared import open_workspace
from readagent_core.errors import SettingsError
from readagent_core.words import count_of

if TYPE_CHECKING:
    from readagent_core.evaluation.arms import Arm
    from readagent_core.evaluation.experiment import Experiment
    from readagent_core.evaluation.report import Summary
    from readagent_core.jobs import Snapshot

WEB_METHODS = ("full-text", "bm25:1", "bm25:5", "neural:1", "neural:5", "gist-mem", "read-agent-p:1", "read-agent-p:5")
METHODS = ("read-agent-p", "read-agent-s", "gist-mem", "full-text")


def evaluate(
    dataset: Annotated[
        Path | None,
        typer.Argument(help="A published dataset (docs/formats.md) or questions in JSON.", show_default=False),
    ] = None,
    method: options.Methods = None,
    limit: options.Limit = None,
    documents: Annotated[int | None, typer.Option(min=1, help="Most documents.")] = None,
    books: Annotated[int, typer.Option(min=1, help="How many documents to ask about together, on one shelf.")] = 1,
    seed: Annotated[
        int | None, typer.Option(help="Draw these questions and documents at random; else the first ones in the file.")
    ] = None,
    runs: options.Runs = 1,
    look_ups: options.LookUps = 3,
    words: Annotated[
        list[int] | None,
        typer.Option(
            min=100, help="Most words sent for a question; repeat for a row of each method at each.", show_default=False
        ),
    ] = None,
    preset: Annotated[str, typer.Option(help="Preset of pages and gists; by default the papers' for the data.")] = "",
    max_words: options.MaxWords = None,
    min_words: options.MinWords = None,
    pagination: options.Pagination = None,
    rate: options.Rate = True,
    connections: Annotated[int, typer.Option(min=1, help="Model calls at once.")] = 8,
    budget: options.Budget = None,
    dollars: options.Dollars = None,
    kind: Annotated[str, typer.Option(help="The dataset's format, where the file does not show it.")] = "",
    split: Annotated[
        str, typer.Option(help="A split of NarrativeQA or LiteraryQA: train, valid or validation, test.")
    ] = "",
    name: options.Name = "",
    only: Annotated[
        bool, typer.Option("--only", help="Resume without the methods of an earlier start that are not named now.")
    ] = False,
    record: Annotated[Path | None, typer.Option(help="Run this record.json's experiment (on DATASET).")] = None,
    estimate: options.Estimate = False,
    show: Annotated[bool, typer.Option("--show", help="Print the answers so far, and ask nothing.")] = False,
    report: Annotated[
        list[Path] | None,
        typer.Option(
            help="Also write the report: .md, .html, .json, .csv (a row a method) or answers.csv (a row an answer).",
            show_default=False,
        ),
    ] = None,
    scheduler: Annotated[str, typer.Option(help="Run on the Dask cluster at this address, tcp://….")] = "",
    json: options.Json = False,
) -> None:
    """Measure methods on a benchmark. Prints what it would cost before it starts, and resumes where it stopped."""
    if dataset is None and record is None:
        raise typer.BadParameter(
            "give a published dataset, a file such as my.questions.json, or --record", param_hint="DATASET"
        )
    with report_errors(as_json=json):
        from readagent_core.evaluation.experiment import Experiment, read_record

        recorded: dict[str, Any] | None = None
        formats = [(path, _format(path)) for path in report or ()]
        if record is not None:
            recorded = read_record(record)
            if recorded is None:
                raise SettingsError(f"{record}: there is no such record.")
            experiment = Experiment.from_dict(recorded["experiment"], path=dataset)
        else:
            plan = {"max_words": max_words, "min_words": min_words, "pagination": pagination}
            experiment = _experiment(
                dataset or Path(), method or [], look_ups=look_ups, words=words or [], kind=kind, split=split,
                limit=limit, documents=documents, books=books, seed=seed, runs=runs, preset=preset, rate=rate,
                connections=connections, most_words=budget, most_dollars=dollars,
                plan={n: v for n, v in plan.items() if v is not None},
            )  # fmt: skip
        on_cluster = None
        if scheduler:
            with needs_packages("corpus"):
                from readagent_core.corpus.asking import run_on_cluster
            on_cluster = partial(run_on_cluster, scheduler=scheduler)
        run_experiment(
            experiment, name=name, leave_out=only, only_estimate=estimate, only_show=show, formats=formats, json=json,
            record=recorded, run=on_cluster,
        )  # fmt: skip


def make_arms(names: list[str], *, look_ups: int, words: Sequence[int] = ()) -> tuple[Arm, ...]:
    """Return the arms with these names, of 'all' every method; each within every number of ``words``, if any."""
    from readagent_core.answering.base import AskSettings
    from readagent_core.answering.registry import all_methods
    from readagent_core.evaluation.arms import parse, with_words

    chosen = list(all_methods()) if names == ["all"] else names
    with usage_errors():
        arms = tuple(parse(text, AskSettings(look_ups=look_ups)) for text in chosen)
        return with_words(arms, list(words)) if words else arms


def _experiment(dataset: Path, names: list[str], *, look_ups: int, words: list[int], **rest: Any) -> Experiment:
    from readagent_core.evaluation.datasets import open_dataset
    from readagent_core.evaluation.experiment import Experiment

    parts = {part: rest.pop(part) for part in ("kind", "split", "limit", "documents", "books", "seed")}
    arms = make_arms(names or list(METHODS), look_ups=look_ups, words=words)
    data = open_dataset(dataset, **parts)
    if data.kind == "mind2web" and names in ([], ["all"]):
        arms = make_arms(list(WEB_METHODS), look_ups=look_ups, words=words)
    return Experiment(data, arms, **rest)


def run_experiment(
    experiment: Experiment,
    *,
    name: str,
    only_estimate: bool,
    json: bool,
    leave_out: bool = False,
    only_show: bool = False,
    formats: Sequence[tuple[Path, str]] = (),
    record: dict[str, Any] | None = None,
    run: Callable[..., object] | None = None,
) -> Path:
    """Run an experiment, or estimate or show it, and return its folder.

    ``formats``: files to write, each with its format. ``record``: what the experiment must agree with. ``run``: see
    ``starting.start``.
    """
    from readagent_core.evaluation.cost_estimate import estimate, readings_made
    from readagent_core.evaluation.experiment import default_name, find_changes, folder_for, resumed_experiment
    from readagent_core.evaluation.formats import save_report, to_dict
    from readagent_core.evaluation.questions import Questions
    from readagent_core.evaluation.score_table import load_scores
    from readagent_core.evaluation.starting import load_summary, start
    from readagent_core.models import connect_embedder

    workspace = open_workspace()
    folder = folder_for(workspace.home, name or default_name(experiment, workspace.model.name))
    if not only_show:
        embedder = connect_embedder(workspace.settings).name
        changed = find_changes(record, experiment, workspace.model, embedder=embedder) if record else []
        if changed:
            say_aside(f"Not as in the record: {', '.join(changed)}.")
        whole = resumed_experiment(folder, experiment, leave_out=leave_out)
        expected = estimate(whole, done=load_scores(folder), made=readings_made(workspace))
        more = len(whole.arms_to_run) - len(experiment.arms)
        if more and expected.answers:
            say_aside(f"Together with {count_of(more, 'other method')} from the earlier start.")
        price, built_in = workspace.model.price, not workspace.model.is_language_model
        if only_estimate:
            if json:
                print_json({"estimate": {**vars(expected), "dollars": expected.dollars(price)}, "folder": str(folder)})
            else:
                say(expected.sentence(price, built_in=built_in))
            return folder
        say_aside(expected.sentence(price, built_in=built_in))
        more_of_start = {"run": run} if run else {}
        job, _ = start(workspace, experiment, name=folder.name, leave_out=leave_out, **more_of_start)
        try:
            wait_for(job, _line)
        except KeyboardInterrupt:
            say_aside(f"The answers so far are in {folder}; --show prints them.")
            raise
    summary = load_summary(folder)
    questions = Questions.of(folder, summary.record) if formats else None
    for path, format in formats:
        save_report(summary, path, format, questions)
        say_aside(f"Written: {path}")
    if json:
        print_json({"folder": str(folder), **to_dict(summary)})
    else:
        _show(summary, folder)
    return folder


def _format(path: Path) -> str:
    from readagent_core.evaluation.formats import FORMATS, format_of

    format = format_of(path)
    if not format:
        raise WrongUsage(f"{path}: a report ends with {', '.join(f'.{f}' for f in FORMATS)}.")
    return format


def _line(snapshot: Snapshot) -> str:
    from readagent_core.models.cost.prices import money

    progress = snapshot.value
    if progress is None or not hasattr(progress, "documents"):
        return "Preparing"
    failed = f", {progress.failed:,} failed" if progress.failed else ""
    speed = f", {progress.done / progress.seconds:.1f} a second" if progress.seconds > 2 and progress.done else ""
    read = f"{count_of(progress.documents, 'document')} read"
    if progress.words_read < progress.words_to_read:
        read += f", gists made of {progress.words_read:,} of {progress.words_to_read:,} words"
    return (
        f"{progress.done:,} of {progress.total:,} answers{speed}{failed}; {read}; "
        f"{progress.words:,} words sent{f', {money(progress.dollars)}' if progress.dollars else ''}"
    )


def _show(summary: Summary, folder: Path) -> None:
    from readagent_core.evaluation.report import headline, reading_facts, results_in_words
    from readagent_core.evaluation.tables import report_tables

    for sentence in (*headline(summary), *results_in_words(summary)):
        say(sentence)
    for title, (header, rows), note in report_tables(summary):
        say()
        say(title)
        for line in _columns(header, rows):
            say(line)
        if note:
            say(note)
    say()
    for fact in reading_facts(summary):
        say(fact)
    say(f"Saved in {folder}")


def _columns(header: list[str], rows: list[list[str]]) -> list[str]:
    """Return the table in plain columns: the first one aligned left, the others right."""
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header))]
    lines = []
    for row in (header, ["─" * width for width in widths], *rows):
        cells = [row[0].ljust(widths[0]), *[cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]]
        lines.append("  ".join(cells).rstrip())
    return lines
