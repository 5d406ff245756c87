"""The commands themselves. Each imports what it needs when it runs, so that ``--help`` answers at once."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagent_core.command_line.evaluating import evaluate
from readagent_core.command_line.output import (
    WrongUsage,
    answer_json,
    document_json,
    memory_json,
    print_json,
    say,
    say_aside,
    told,
    usage,
    wait_for,
)
from readagent_core.errors import DocumentError, ReadAgentError, SettingsError
from readagent_core.words import count_of

if TYPE_CHECKING:
    from readagent_core.jobs import Snapshot
    from readagent_core.library.records import Book, Reading
    from readagent_core.memory import GistMemory
    from readagent_core.plan import ReadingPlan
    from readagent_core.study import Study

app = typer.Typer(
    name="readagent",
    help="Read long texts with a gist memory: pages, gists, look-ups.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

READING_SPEED = 240  # words a minute; adults read 238 (non-fiction) to 260 (fiction), Brysbaert 2019

File = Annotated[Path, typer.Argument(help="A book: .txt, .md, .html, .epub, .pdf or .docx.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
Password = Annotated[str, typer.Option("--password", help="Password of a locked PDF.", show_default=False)]
Preset = Annotated[str | None, typer.Option(help="article, meeting, book or script; by default chosen for the text.")]
MaxWords = Annotated[int | None, typer.Option(min=1, help="Most words of a page.")]
MinWords = Annotated[int | None, typer.Option(min=1, help="Fewest words before a pause may come.")]
Pagination = Annotated[str | None, typer.Option(help="pause, many, one-pass or uniform.")]
Connections = Annotated[int | None, typer.Option(min=1, help="Model calls at once.")]


@app.command()
def inspect(file: File, json: Json = False, password: Password = "") -> None:
    """What was understood of a file: title, sections, words, warnings."""
    with told(as_json=json):
        from readagent_core.loaders.child_process import load_in_child_process

        document = load_in_child_process(_bytes(file), file.name, password=password)
        minutes = max(1, round(document.words / READING_SPEED))
        if json:
            more = {"right_to_left": document.right_to_left, "has_cover": document.cover is not None}
            warnings = [asdict(notice) for notice in document.warnings]
            print_json({**document_json(document), "minutes": minutes, **more, "warnings": warnings})
            return
        say(document.title + (f", by {document.author}" if document.author else ""))
        say(
            f"{document.format}, language {document.language}: {count_of(document.words, 'word')} in "
            f"{count_of(len(document.paragraphs), 'paragraph')} and {count_of(len(document.sections), 'section')}, "
            f"about {count_of(minutes, 'minute')} to read"
        )
        for section in document.sections:
            say(f"{'  ' * section.level}{section.title}")
        for warning in document.warnings:
            say(f"Note: {warning.message}")


@app.command()
def read(
    file: File,
    preset: Preset = None,
    max_words: MaxWords = None,
    min_words: MinWords = None,
    pagination: Pagination = None,
    connections: Connections = None,
    json: Json = False,
    password: Password = "",
) -> None:
    """Read a file into pages and gists; goes on where an earlier reading stopped."""
    with told(as_json=json):
        study = open_study()
        plan = _plan(preset, max_words=max_words, min_words=min_words, pagination=pagination)
        book = study.open_file(_bytes(file), file.name, password=password)
        reading, memory = _read(study, book, plan, connections=connections)
        if json:
            print_json(memory_json(memory, reading.usage))
            return
        for page in memory.pages:
            gist = memory.gists[page.number - 1]
            say(f"Page {page.number} ({count_of(page.words, 'word')}, gist {gist.words if gist else 0:,})")
            say(gist.text if gist else "(no gist yet)")
            if page.reason and page.number < len(memory.pages):
                say(f"  ‖ {page.reason}")
            say()
        say(
            f"{count_of(len(memory.pages), 'page')}: {count_of(sum(p.words for p in memory.pages), 'word')} kept in "
            f"{memory.gist_words:,} ({memory.compression_rate:.1f} % fewer), read by {memory.model}"
        )


@app.command()
def ask(
    file: File,
    question: Annotated[str, typer.Argument(help="What to ask.", show_default=False)],
    option: Annotated[list[str] | None, typer.Option(help="A choice; repeat for each, in order.")] = None,
    method: Annotated[str, typer.Option(help="How to answer; see `methods`.")] = "read-agent-p",
    look_ups: Annotated[int, typer.Option(min=0, help="Most pages to read again.")] = 3,
    up_to: Annotated[int | None, typer.Option(min=1, help="Leave pages after this one out of every prompt.")] = None,
    preset: Preset = None,
    max_words: MaxWords = None,
    min_words: MinWords = None,
    connections: Connections = None,
    json: Json = False,
    password: Password = "",
) -> None:
    """Ask about a file, which is read first where it has not been."""
    with told(as_json=json):
        from readagent_core import methods
        from readagent_core.methods.base import AskSettings, Question

        with usage():
            methods.method(method)  # an unknown name is told before anything is read
        study = open_study()
        plan = _plan(preset, max_words=max_words, min_words=min_words, pagination=None)
        book = study.open_file(_bytes(file), file.name, password=password)
        reading, memory = _memory(study, book, plan, connections=connections)
        if up_to is not None and up_to > len(memory.pages):
            held = count_of(len(memory.pages), "page")
            raise WrongUsage(f"This book has {held}; --up-to {up_to} is beyond the last one.")
        asked = Question(question, tuple(option or ()))
        exchange, job = study.ask(
            book.id,
            asked,
            method=method,
            settings=AskSettings(look_ups=look_ups),
            up_to=up_to,
            reading_id=reading.id,
        )
        wait_for(job, lambda _: f"Asked: {study.model.name}")
        answer = _answer(study, exchange.id)
        if json:
            print_json(answer_json(question, answer))
            return
        say(answer.text)
        say()
        if answer.option is not None:
            say(f"Option: {asked.options[answer.option]}")
        pages = ", ".join(map(str, answer.looked_up))
        say(f"Looked up: page {pages}" if pages else "Answered without looking a page up.")
        say(f"Read {answer.memory_words:,} of {memory.document.words:,} words – {answer.compression_rate:.1f} % fewer")
        for note in answer.notes:
            say(f"Note: {note}")


@app.command()
def methods() -> None:
    """The ways of answering that `ask` and `evaluate` know."""
    from readagent_core.methods import all_methods

    for found in all_methods().values():
        say(f"{found.name:16} {found.title}: {found.about}")


@app.command()
def export(
    file: File,
    format: Annotated[str, typer.Option(help="md, html, json or epub.")] = "md",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file, not to stdout.")] = None,
    preset: Preset = None,
    max_words: MaxWords = None,
    min_words: MinWords = None,
    connections: Connections = None,
    password: Password = "",
) -> None:
    """The gist memory of a file, which is read first where it has not been."""
    with told(as_json=False):
        from readagent_core.study.exporting import FORMATS, file_name
        from readagent_core.study.exporting import export as exported

        if format not in FORMATS:
            raise typer.BadParameter(f"choose one of {', '.join(FORMATS)}", param_hint="--format")
        study = open_study()
        plan = _plan(preset, max_words=max_words, min_words=min_words, pagination=None)
        book = study.open_file(_bytes(file), file.name, password=password)
        _, memory = _memory(study, book, plan, connections=connections)
        data = exported(memory, format)
        if output is None and (format != "epub" or not sys.stdout.isatty()):
            sys.stdout.buffer.write(data)
            return
        path = output or Path(file_name(memory, format))
        try:
            path.write_bytes(data)
        except OSError as error:
            raise SettingsError(f"{path} cannot be written ({error.strerror}). Name another with --output.") from None
        say_aside(f"Written: {path}")


app.command()(evaluate)


# --- what several commands need ---------------------------------------------------------------------------


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise DocumentError(f"{file} cannot be read ({error.strerror or 'no such file'}).") from None


def open_study() -> Study:
    """The study over the settings in force. Raises SettingsError where the model's key is in a keyring that does not
    give it: another reader than the chosen one would be a surprise.
    """
    from readagent_core.settings import load_settings
    from readagent_core.study import Study

    settings = load_settings()
    if settings.key_trouble:
        raise SettingsError(f"{settings.key_trouble} Here, READAGENT_API_KEY gives it too.")
    return Study(settings)


def _plan(preset: str | None, **changes: Any) -> ReadingPlan | None:
    """The plan asked for on the command line; None where nothing was said, then the study chooses."""
    if preset is None and all(value is None for value in changes.values()):
        return None
    from readagent_core.plan import ReadingPlan

    with usage():
        return ReadingPlan.from_preset(preset or "article", **changes)


def _memory(
    study: Study, book: Book, plan: ReadingPlan | None, *, connections: int | None
) -> tuple[Reading, GistMemory]:
    """The book's complete reading by the model in force, or, where there is none yet, a new one."""
    found = study.newest_memory(book.id) if plan is None else None
    if found is not None and found[1].complete and found[0].model == study.model.name:
        return found
    return _read(study, book, plan, connections=connections)


def _read(study: Study, book: Book, plan: ReadingPlan | None, *, connections: int | None) -> tuple[Reading, GistMemory]:
    if not study.model.is_language_model:
        half = study.settings.base_url and not study.settings.model
        told = "A server is set, but no model of it: set READAGENT_MODEL too." if half else (
            "Set READAGENT_BASE_URL and READAGENT_MODEL to connect one.")  # fmt: skip
        say_aside(f"No language model is connected: the built-in reader reads. {told}")
    from readagent_core.study.reading import start_reading

    job = start_reading(study, book.id, plan, connections=connections)
    wait_for(job, _reading_line)
    reading = study.library.reading(int(job.key.split()[-1]))
    return reading, study.library.memory(reading.id)


def _reading_line(snapshot: Snapshot) -> str:
    progress = snapshot.value
    if progress is None or not hasattr(progress, "pages"):
        return "Reading"
    pages, gists = _number(progress.pages), _number(progress.gists)
    share = f", {100 * progress.words_read / progress.words_total:.0f} %" if progress.words_total else ""
    return f"Reading: {count_of(pages, 'page')}, {count_of(gists, 'gist')}{share}"


def _number(value: Any) -> int:
    return value if isinstance(value, int) else len(value)


def _answer(study: Study, exchange_id: str) -> Any:
    from readagent_core.methods.base import Answered, event_from_dict

    kept = study.library.exchange(exchange_id)
    for event in reversed(kept.events):
        found = event_from_dict(event)
        if isinstance(found, Answered):
            return found.answer
    raise ReadAgentError(kept.error or "No answer came. Please ask again.")


def main() -> None:
    """Entry: unknown commands and options end with 2, told errors with 1."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()
