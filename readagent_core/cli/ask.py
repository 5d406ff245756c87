"""The command that asks about a file, about several, or about a shelf or tag of the library.

Each function imports what it needs when it runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagent_core.cli import options
from readagent_core.cli.output import (
    WrongUsage,
    answer_json,
    print_json,
    report_errors,
    say,
    say_aside,
    usage_errors,
    wait_for,
)
from readagent_core.cli.shared import complete_gisting, open_book, open_workspace, plan_from_options
from readagent_core.errors import ReadAgentError
from readagent_core.model_names import short_name
from readagent_core.words import count_of

if TYPE_CHECKING:
    from readagent_core.answering.base import Answer, Question
    from readagent_core.jobs import Job
    from readagent_core.library.records import Exchange, Gisting
    from readagent_core.memory import GistMemory
    from readagent_core.plan import GistingPlan
    from readagent_core.workspace import Workspace


def ask(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE]... QUESTION",
            help="One file or several (paths or web addresses), then what to ask of them.",
            show_default=False,
        ),
    ],
    shelf: Annotated[str | None, typer.Option(help="Ask the books on this shelf of the library.")] = None,
    tag: Annotated[str | None, typer.Option(help="Ask the books of the library that have this tag.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="A choice; repeat for each, in order.")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="How to answer; see `methods`. Several books: zoom.",
            show_default="read-agent-p, or what suits the model",
        ),
    ] = None,
    look_ups: Annotated[int, typer.Option(min=0, help="Most pages to read again.")] = 3,
    up_to: Annotated[int | None, typer.Option(min=1, help="Leave pages after this one out of every prompt.")] = None,
    preset: options.Preset = None,
    max_words: options.MaxWords = None,
    min_words: options.MinWords = None,
    connections: options.Connections = None,
    json: options.Json = False,
    password: options.Password = "",
) -> None:
    """Ask about a file or several, which are read first where they have not been, or about a shelf or tag."""
    with report_errors(as_json=json):
        from readagent_core.answering import asking
        from readagent_core.answering.ask import named_method
        from readagent_core.answering.base import AskSettings, Question

        *files, question = words
        several = len(files) != 1
        if (not files) == (shelf is None and tag is None) or (shelf is not None and tag is not None):
            raise WrongUsage("Name the files to ask, or one of --shelf and --tag, and last the question.")
        if several and up_to is not None:
            raise WrongUsage(
                "--up-to is for one book. Of several, each is seen up to its own spoiler limit in the library."
            )
        with usage_errors():
            if method:  # before anything is read
                named_method(method, several=several)
        plan = plan_from_options(preset, max_words=max_words, min_words=min_words)
        settings = AskSettings(look_ups=look_ups, may_decline=True)
        asked = Question(question, tuple(option or ()))
        read = partial(_read, plan=plan, connections=connections, password=password)
        if several:
            workspace, about, books = _books(files, shelf, tag, read)
            asked_about: list[str] | str = books
            which: dict[str, Any] = {"about": about}
        else:
            workspace, gisting, memory = read(files[0])
            if up_to is not None and up_to > len(memory.pages):
                pages = count_of(len(memory.pages), "page")
                raise WrongUsage(f"This book has {pages}; --up-to {up_to} is beyond the last one.")
            asked_about, which = gisting.book_id, {"up_to": up_to, "gisting_id": gisting.id}
        exchange, job = asking.ask(workspace, asked_about, asked, method=method or "", settings=settings, **which)
        answer, signature = _wait(workspace, exchange, job)
        if json:
            shown = _books_shown(workspace, answer) if answer.books else {}
            print_json({**answer_json(asked.text, answer, answered_by=signature), **shown})
        else:
            _say_answer(asked, answer, signature, words=exchange.facts.words)


def _read(
    file: str, *, plan: GistingPlan | None, connections: int | None, password: str
) -> tuple[Workspace, Gisting, GistMemory]:
    workspace, book = open_book(file, password=password)
    return workspace, *complete_gisting(workspace, book, plan, connections=connections)


def _books(
    files: list[str],
    shelf: str | None,
    tag: str | None,
    read: Callable[[str], tuple[Workspace, Gisting, GistMemory]],
) -> tuple[Workspace, str, list[str]]:
    """The workspace, what was chosen in words, and the ids of the books; files are read where they were not."""
    if files:
        found = [read(file) for file in files]
        return found[-1][0], "books", [gisting.book_id for _, gisting, _ in found]
    workspace = open_workspace()
    if shelf is not None:
        return workspace, f"shelf {shelf}", workspace.library.books_on_shelf(shelf)
    return workspace, f"tag {tag}", workspace.library.books_with_tag(tag or "")


def _books_shown(workspace: Workspace, answer: Answer) -> dict[str, Any]:
    """What the JSON of an answer from several books says of them, and the citations."""
    from readagent_core.answering.library_shelf import checked_answer_of_several

    checked = checked_answer_of_several(workspace, answer.text, answer)
    cited = [{"book": c.book, "page": c.page, "state": c.state, "quotation": c.quotation} for c in checked.citations]
    shown = [
        {
            "number": book.number,
            "id": book.id,
            "title": book.title,
            "shown_by": book.how,
            "up_to": book.up_to,
            "looked_up": list(book.looked_up),
        }
        for book in answer.books
    ]
    return {"books": shown, "citations": cited}


def _wait(workspace: Workspace, exchange: Exchange, job: Job) -> tuple[Answer, str]:
    """Wait for the answer; returns it, and who gave it. Raises ReadAgentError where none came."""
    from readagent_core.answering.replay import answer_of, events_of
    from readagent_core.answering.signature import signature_of

    wait_for(job, lambda _: f"Asked: {short_name(workspace.model.name)}")
    saved = workspace.library.exchange(exchange.id)
    answer = answer_of(events_of(saved))
    if answer is None:
        raise ReadAgentError(saved.error or "No answer came. Please ask again.")
    return answer, signature_of(exchange).line


def _say_answer(asked: Question, answer: Answer, signature: str, *, words: int) -> None:
    """Print an answer from a text of so many ``words``."""
    from readagent_core.answering.costs import words_sent

    say_aside(signature)
    say(answer.text)
    say()
    if answer.option is not None:
        say(f"Option: {asked.options[answer.option]}")
    for book in answer.books:
        pages = ", ".join(f"{book.number}.{page}" for page in book.looked_up)
        say(f"Book {book.number}: {book.title}{f', looked up: {pages}' if pages else ''}")
    if not answer.books:
        named = ", ".join(map(str, answer.looked_up))
        pages = f"page{'s' if len(answer.looked_up) > 1 else ''} {named}"
        say(f"Looked up: {pages}" if named else "Answered without looking a page up.")
    say(f"Read {answer.memory_words:,} of {words:,} words – {answer.compression_rate:.1f} % fewer")
    if sent := words_sent(answer.usage):
        say(f"Sent {sent}")
    for note in answer.notes:
        say(f"Note: {note}")
