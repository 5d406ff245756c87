"""The commands themselves. Each imports what it needs when it runs, so that ``--help`` answers at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from readagent_core import __version__
from readagent_core.cli import options
from readagent_core.cli.act import act
from readagent_core.cli.ask import ask
from readagent_core.cli.backup import backup, restore
from readagent_core.cli.cast import cast
from readagent_core.cli.catalogue import catalogue
from readagent_core.cli.check_model import check_model
from readagent_core.cli.corpus import app as corpus
from readagent_core.cli.evaluate import evaluate
from readagent_core.cli.folders import (
    import_folder,
    inspect_folder,
    inspection_json,
    inspection_line,
    notice_lines,
    title_line,
)
from readagent_core.cli.mcp import mcp
from readagent_core.cli.model import app as model
from readagent_core.cli.notes import notes
from readagent_core.cli.output import memory_json, print_json, report_errors, say, say_aside, show_pages
from readagent_core.cli.questions import questions
from readagent_core.cli.recognise import recognise
from readagent_core.cli.shared import check_format, complete_gisting, open_book, plan_from_options, write_file
from readagent_core.words import count_of

app = typer.Typer(
    name="readagent",
    help="Read long texts with a gist memory: pages, gists, look-ups.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        say(f"readagent {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


@app.command(name="app")
def run_app(
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The port it answers on; 8501 by default.")] = None,
    window: Annotated[
        bool, typer.Option("--window", help="Open it in a window of its own, not in the browser.")
    ] = False,
    share: Annotated[
        bool, typer.Option("--share", help="Also answer this home network, with a password: Settings, On my phone.")
    ] = False,
) -> None:
    """Start the app and open it in the browser."""
    import os
    import runpy

    from readagent_core.resources import APP
    from readagent_core.restart import offer_restart

    if share:
        os.environ.setdefault("READAGENT_SHARE", "on")
    if window:
        from readagent_core.cli.window import open_window

        with report_errors(as_json=False):
            open_window(port)
        return
    offer_restart([sys.executable, "-m", "readagent_core", *sys.argv[1:]])
    sys.argv = ["streamlit", "run", str(APP / "app.py"), "--server.port", str(port or 8501)]
    runpy.run_module("streamlit", run_name="__main__")


@app.command()
def inspect(
    file: options.File,
    every: Annotated[bool, typer.Option("--all", help="FILE is a folder: report every book in it.")] = False,
    json: options.Json = False,
    password: options.Password = "",
) -> None:
    """What was understood of a file: title, sections, words, warnings."""
    with report_errors(as_json=json):
        from readagent_core.api import open_document

        if every:
            inspect_folder(Path(file), as_json=json, password=password)
            return
        with show_pages() as progress:
            document = open_document(file, password=password, progress=progress)
        if json:
            print_json(inspection_json(document))
            return
        say(title_line(document))
        say(inspection_line(document))
        for section in document.sections:
            say(f"{'  ' * section.level}{section.title}")
        for line in notice_lines(document):
            say(line)


@app.command()
def read(
    file: options.File,
    preset: options.Preset = None,
    max_words: options.MaxWords = None,
    min_words: options.MinWords = None,
    pagination: options.Pagination = None,
    connections: options.Connections = None,
    json: options.Json = False,
    password: options.Password = "",
) -> None:
    """Read a file into pages and gists; resumes where an earlier gisting stopped."""
    with report_errors(as_json=json):
        plan = plan_from_options(preset, max_words=max_words, min_words=min_words, pagination=pagination)
        workspace, book = open_book(file, password=password)
        gisting, memory = complete_gisting(workspace, book, plan, connections=connections)
        if json:
            print_json(memory_json(memory, gisting.usage))
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
            f"{memory.gist_words:,} ({memory.compression_rate:.1f} % fewer); {memory.made_by}"
        )


@app.command()
def methods() -> None:
    """The ways of answering that `ask` and `evaluate` know."""
    from readagent_core.answering.registry import all_methods, method_faults

    width = max(len(name) for name in all_methods())
    for found in all_methods().values():
        say(f"{found.name:{width}}  {found.title}: {found.about}")
    for fault in method_faults():
        say_aside(fault)


@app.command()
def export(
    file: options.File,
    format: Annotated[str, typer.Option(help="md, html, json, epub or skill (a folder for agents).")] = "md",
    output: options.Output = None,
    preset: options.Preset = None,
    max_words: options.MaxWords = None,
    min_words: options.MinWords = None,
    connections: options.Connections = None,
    whole: Annotated[bool, typer.Option("--whole", help="The pages that the spoiler limit keeps out, too.")] = False,
    notes: Annotated[bool, typer.Option("--notes", help="In html and epub, your highlights and notes, too.")] = False,
    password: options.Password = "",
) -> None:
    """The gist memory of a file, which is read first where it has not been; as far as its spoiler limit lets in."""
    with report_errors(as_json=False):
        from readagent_core.answering.library_shelf import make_book_gist
        from readagent_core.answering.limits import NOTHING_LET_IN
        from readagent_core.errors import SettingsError
        from readagent_core.export.gisting import export_gisting, memory_to_export
        from readagent_core.export.memory import MEMORY_FORMATS, memory_file_name

        check_format(format, MEMORY_FORMATS)
        plan = plan_from_options(preset, max_words=max_words, min_words=min_words)
        workspace, book = open_book(file, password=password)
        gisting, memory = complete_gisting(workspace, book, plan, connections=connections)
        part = memory_to_export(workspace, gisting, whole=whole)
        if not part.pages:
            raise SettingsError(f"{NOTHING_LET_IN} --whole exports everything.")
        if len(part.pages) < len(memory.pages):
            say_aside(f"Pages 1 to {len(part.pages)}: the spoiler limit keeps the others out. --whole has them too.")
        book_gist = make_book_gist(workspace, part) if format == "skill" else ""
        data = export_gisting(workspace, gisting, format, whole=whole, with_notes=notes, book_gist=book_gist)
        if output is None and (format not in ("epub", "skill") or not sys.stdout.isatty()):
            sys.stdout.buffer.write(data)
            return
        path = output or Path(memory_file_name(memory, format))
        if format == "skill" and not path.suffix:  # a ZIP file
            path = path.with_name(f"{path.name}.zip")
        write_file(path, data)


app.command()(ask)
app.command(name="import")(import_folder)
app.command()(catalogue)
app.command(name="check-model")(check_model)
app.command()(recognise)
app.command()(notes)
app.command()(cast)
app.command()(questions)
app.command()(evaluate)
app.add_typer(corpus, name="corpus")
app.add_typer(model, name="model")
app.command()(backup)
app.command()(restore)
app.command()(mcp)
app.command()(act)


def main() -> None:
    """Run the command line. Exits with 2 for unknown commands and options, with 1 for an explained error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()
