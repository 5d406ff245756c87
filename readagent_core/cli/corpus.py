"""``corpus``: reads thousands of books on a Dask cluster, shows how far it is, and asks about them."""

from __future__ import annotations

import json as json_module
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from readagent_core.cli import options
from readagent_core.cli.output import needs_packages, print_json, report_errors, say, say_aside, wait_for
from readagent_core.cli.shared import open_workspace, plan_from_options
from readagent_core.errors import SettingsError
from readagent_core.words import count_of

if TYPE_CHECKING:
    from readagent_core.corpus.gisting import CorpusProgress
    from readagent_core.corpus.store import CorpusFolder
    from readagent_core.jobs import Job, Snapshot

_BAR = 20  # characters
app = typer.Typer(help="Thousands of books: read and ask them on a Dask cluster.", no_args_is_help=True)

Out = Annotated[str, typer.Argument(metavar="DIR", help="The output folder, or its s3://… or gs://… address.")]
Scheduler = Annotated[str, typer.Option(help="A Dask cluster's address, tcp://…; by default one is started here.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes of the cluster started here; 0: within this one.")]
Server = Annotated[
    list[str] | None, typer.Option(help="A model server's address; repeat for several with the same model.")
]
Connections = Annotated[int, typer.Option(min=1, help="Model calls at once, of all workers together.")]


@app.command(name="read")
def read_corpus(
    source: Annotated[str, typer.Argument(help="A folder of books, or a manifest: a file with a name on each line.")],
    out: Annotated[str, typer.Option(help="The output folder, or its s3://… or gs://… address.")],
    scheduler: Scheduler = "",
    workers: Workers = 0,
    server: Server = None,
    connections: Connections = 32,
    preset: options.Preset = None,
    max_words: options.MaxWords = None,
    min_words: options.MinWords = None,
    pagination: options.Pagination = None,
    budget: Annotated[int | None, typer.Option(min=1, help="Stop when this many words were sent and received.")] = None,
    dollars: options.Dollars = None,
    failed: Annotated[bool, typer.Option("--failed", help="Read the books that failed, and no others.")] = False,
    estimate: options.Estimate = False,
    json: options.Json = False,
) -> None:
    """Read every book of SOURCE that is not read yet. Prints what it would take before it starts."""
    with report_errors(as_json=json), needs_packages("corpus"):
        from readagent_core.corpus.gisting import CorpusPlan, estimate_corpus, read_corpus, to_read
        from readagent_core.corpus.store import CorpusFolder, list_sources
        from readagent_core.corpus.tables import write_tables
        from readagent_core.evaluation.starting import check_price
        from readagent_core.jobs import Jobs

        workspace = open_workspace()
        model = workspace.model
        plan = plan_from_options(preset, max_words=max_words, min_words=min_words, pagination=pagination)
        check_price(model, dollars)
        folder, files = CorpusFolder(out), list_sources(source)
        left = to_read(folder, files, failed=failed)
        expected = estimate_corpus(left, plan)
        say_aside(expected.sentence(model.price))
        if estimate:
            figures = {**vars(expected), "dollars": expected.dollars(model.price)}
            print_json({"estimate": figures}) if json else say(expected.sentence(model.price))
            return
        folder.prepare({"model": model.name, "plan": plan.to_dict() if plan else None}, books=len(files))
        if failed:
            folder.forget_failures([file.key for file in left])
        wanted = CorpusPlan(
            out=out, servers=tuple(server or ()), plan=plan, connections=connections, scheduler=scheduler,
            workers=workers, most_words=budget, most_dollars=dollars,
        )  # fmt: skip

        def work(job: Job) -> CorpusProgress:
            return read_corpus(
                wanted, left, model, cancel=job, expected=expected,
                on_change=lambda now: job.publish(done=now.done + now.failed, total=now.total, value=now),
            )  # fmt: skip

        if left:
            wait_for(Jobs().start("read corpus", work), _Line())
            write_tables(folder)
        _show_status(folder, as_json=json)


class _Line:
    """The line of a snapshot; what workers reported since the last one goes to stderr first."""

    def __init__(self) -> None:
        self._shown: tuple[str, ...] = ()

    def __call__(self, snapshot: Snapshot) -> str:
        from readagent_core.models.cost.prices import money

        now: CorpusProgress | None = snapshot.value
        if now is None:
            return "Starting the workers"
        for notice in now.notices:
            if notice not in self._shown:
                say_aside(notice)
        self._shown = now.notices
        filled = round(_BAR * now.share)
        parts = [
            f"{'█' * filled}{'░' * (_BAR - filled)} {now.done:,} of {count_of(now.total, 'book')}",
            f"{count_of(now.pages, 'page')}",
            f"{now.words / max(now.seconds, 0.1):,.0f} words a second",
            *([f"{now.failed:,} failed"] if now.failed else []),
            *([money(now.spent.cost)] if now.spent.cost else []),
            *([f"{_duration(now.seconds_left)} left"] if now.seconds_left else []),
            count_of(now.workers, "worker"),
            *([now.dashboard] if now.dashboard else []),
        ]
        return " · ".join(parts)


def _duration(seconds: float) -> str:
    """Return '40 s', '12 min' or '3 h 20 min'."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60:,} h {minutes % 60} min"


@app.command()
def status(out: Out, json: options.Json = False) -> None:
    """How many books are read, which failed and why; also makes the Parquet tables."""
    with report_errors(as_json=json), needs_packages("corpus"):
        from readagent_core.corpus.store import CorpusFolder
        from readagent_core.corpus.tables import write_tables

        folder = CorpusFolder(out)
        write_tables(folder)
        _show_status(folder, as_json=json)


def _show_status(folder: CorpusFolder, *, as_json: bool) -> None:
    from readagent_core.corpus.store import BOOKS, FAILED, SETTINGS
    from readagent_core.models.cost.prices import money

    settings = folder.load(SETTINGS)
    if settings is None:
        raise SettingsError(f"{folder.address} holds no corpus. Read one with: readagent corpus read FOLDER --out DIR.")
    read, spent = len(folder.keys(BOOKS)), folder.spent
    failures = [json_module.loads(data) for _, data in folder.load_all(FAILED)]
    left = max(0, int(settings["books"]) - read - len(failures))
    if as_json:
        print_json({"folder": folder.address, "books": settings["books"], "read": read, "left": left,
                    "failed": failures, "model": settings["model"], "usage": spent.to_dict()})  # fmt: skip
        return
    for failure in failures:
        say(f"Failed: {failure['file']}: {failure['error']}")
    cost = f", {money(spent.cost)}" if spent.cost else ""
    books = count_of(int(settings["books"]), "book")
    say(
        f"{read:,} of {books} read by {settings['model']}, {len(failures):,} failed, "
        f"{left:,} left; {count_of(spent.calls, 'call')}, {spent.words_in:,} words sent{cost}"
    )
    if failures:
        say("Read those that failed again with --failed.")


@app.command(name="import")
def import_corpus(out: Out, json: options.Json = False) -> None:
    """Add the books of DIR to the library with their gists, so that the app shows them."""
    with report_errors(as_json=json), needs_packages("corpus"):
        from readagent_core.corpus.importing import ImportReport, start_import
        from readagent_core.corpus.store import CorpusFolder

        job = start_import(open_workspace(), CorpusFolder(out))
        wait_for(job, lambda now: f"Importing {now.done:,.0f} of {now.total:,.0f}")
        report: ImportReport = job.snapshot.value
        if json:
            print_json(vars(report))
            return
        for key, reason in report.refused:
            say(f"Not imported: {key}: {reason}")
        say(f"{count_of(report.imported, 'book')} imported, {report.present:,} already there")


@app.command(name="ask")
def ask_corpus(
    out: Out,
    questions: Annotated[Path, typer.Argument(help="JSON lines: 'file', 'question', and 'options' or 'references'.")],
    method: options.Methods = None,
    scheduler: Scheduler = "",
    workers: Workers = 0,
    server: Server = None,
    connections: Connections = 32,
    limit: options.Limit = None,
    runs: options.Runs = 1,
    look_ups: options.LookUps = 3,
    rate: options.Rate = True,
    budget: options.Budget = None,
    dollars: options.Dollars = None,
    name: options.Name = "",
    estimate: options.Estimate = False,
    json: options.Json = False,
) -> None:
    """Ask questions about the books of DIR, and score the answers; nothing is read again."""
    with report_errors(as_json=json), needs_packages("corpus"):
        from readagent_core.cli.evaluate import make_arms, run_experiment
        from readagent_core.corpus.asking import CorpusQuestions, question_rows, run_on_cluster
        from readagent_core.corpus.store import SETTINGS, CorpusFolder
        from readagent_core.corpus.tables import write_questions, write_tables
        from readagent_core.evaluation.experiment import Experiment

        folder = CorpusFolder(out)
        write_tables(folder)  # which the questions find their books in
        plan = (folder.load(SETTINGS) or {}).get("plan") or {}
        dataset = CorpusQuestions(questions, "corpus", limit=limit, out=out)
        experiment = Experiment(
            dataset, make_arms(method or ["read-agent-p"], look_ups=look_ups), runs=runs, rate=rate,
            preset=plan.pop("preset", ""), plan=plan, connections=connections, most_words=budget, most_dollars=dollars,
        )  # fmt: skip
        there = partial(run_on_cluster, scheduler=scheduler, workers=workers, servers=server or ())
        results = run_experiment(experiment, name=name, only_estimate=estimate, json=json, run=there)
        if not estimate:
            write_questions(folder, question_rows(results, dataset))
