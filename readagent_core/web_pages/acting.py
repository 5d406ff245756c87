"""Decides the next action on a web page: look-up in parallel, then the action (Appendix E); and the paper's baselines.

The steps are events, like those of ``methods``: the last one is ``Answered``, whose ``extra["action"]`` is the action
as ``Action.to_dict`` gives it, or None where no reply named one that is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from readagent_core.answering.base import FOUND_BY_SEARCH, AskSettings, Event, Expanded, LookedUp, Question
from readagent_core.answering.look_up_replies import parse_look_up
from readagent_core.answering.resources import Resources
from readagent_core.answering.retrieval import rank_by_bm25, rank_by_embedding
from readagent_core.answering.run import Run
from readagent_core.answering.word_budget import max_context_words, take_fitting
from readagent_core.cancel import CancelToken
from readagent_core.errors import EmptyReplyError, RefusedError, SettingsError, WindowError
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.prompts import Prompt, example_numbers, render, render_fragment
from readagent_core.tags import escape_tags
from readagent_core.web_pages.actions import Action, describe_action, find_problem, parse_action
from readagent_core.web_pages.memory import PageMemory
from readagent_core.words import count_words, first_words

LOOK_UPS = 5  # the paper's larger setting
TRIES = 3  # prompts for one action
BY_WORDS = (
    "The built-in reader goes by words alone, and nothing that it looked at shares a further word with the task. "
    "Say the task in words that stand on the page, or connect a model."
)
WINDOW_TRIES = 6  # each time with half of the words
NO_ACTION = "No next action was found."


@dataclass(frozen=True)
class WebTask:
    """What is to be done on a website. ``previous``: the actions done so far, in words, the first one first."""

    task: str
    previous: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The task with the previous actions, as a search for snippets uses it."""
        return "\n".join((self.task, *self.previous))


def act(
    task: WebTask,
    page: PageMemory,
    model: ChatModel,
    settings: AskSettings,
    cancel: CancelToken,
    *,
    resources: Resources | None = None,
    method: str = "read-agent-p",
) -> Iterator[Event]:
    """Yield the events of one decision by ``method``, a key of METHODS.

    Raises ModelError, CancelledError, or SettingsError for an unknown method.
    """
    if method not in METHODS:
        raise SettingsError(f"{method} cannot act on web pages. Choose one of: {', '.join(METHODS)}.")
    run = Run(method, Question(task.text), page.memory, Metered(model), settings, cancel, resources or Resources())
    yield from METHODS[method](_Step(task, page, run))


def action_of(extra: object) -> Action | None:
    """Return the action in the ``extra`` of an answer; None where none was found."""
    found = extra.get("action") if isinstance(extra, dict) else None
    return Action.from_dict(found) if found else None


@dataclass
class _Step:
    """One decision. ``limit``: most words of text in a prompt, None for no limit."""

    task: WebTask
    page: PageMemory
    run: Run
    limit: int | None = None

    def prompt(self, template: str, shown: str, memory: str, **values: str) -> Prompt:
        language = self.run.language
        previous = "\n".join(self.task.previous) or render_fragment("act.none", language)
        fields: dict[str, Any] = {
            "question": escape_tags(self.task.task.strip()),
            "previous": escape_tags(previous),
            **values,
        }
        return render(template, language, shown=shown, memory=memory, **fields)

    def about_gists(self) -> str:
        return render_fragment("page_gists", self.run.language, title=self.run.title)

    def about_html(self, *, whole: bool) -> str:
        part = "" if whole else render_fragment("page_html.part", self.run.language)
        return render_fragment("page_html", self.run.language, title=self.run.title, part=part)

    def measure(self) -> None:
        """Set the limit by the settings and the model's window."""
        run = self.run
        run.model.learn_window(run.cancel)
        around = self.prompt("act", self.about_gists(), "").words
        sample = self.page.memory.page_text(1) if self.page.snippets else ""
        self.limit = max_context_words(run.settings, run.model, sample=sample, around=around)


def _within_window(step: _Step, work: Callable[[], Generator[Event, None, None]]) -> Generator[Event, None, None]:
    """Run ``work`` with the limit measured, again with half of the words each time they are too many for the server."""
    step.measure()
    for left in range(WINDOW_TRIES, -1, -1):
        try:
            yield from work()
        except WindowError:
            if not left:
                raise
            step.limit = max(1, (step.limit or count_words(step.page.memory.whole_text)) // 2)
            yield step.run.note(f"The prompt was too long for the model's window; tried with {step.limit:,} words.")
        else:
            return


def _read_agent(step: _Step) -> Generator[Event, None, None]:
    def work() -> Generator[Event, None, None]:
        without = yield from _gists_that_fit(step)
        looks = step.run.name != "gist-mem" and step.run.settings.look_ups
        opened = (yield from _look_up(step, without)) if looks else ()
        memory = step.page.text(opened, without=without)
        yield from _choose(step, step.prompt("act", step.about_gists(), memory), opened, memory, gists=True)

    yield from _within_window(step, work)


def _gists_that_fit(step: _Step) -> Generator[Event, None, frozenset[int]]:
    """Return the snippets whose gists have to be left out: those that share least with the task."""
    costs = {n: count_words(step.page.entries[n - 1]) for n in rank_by_bm25(step.task.text, step.page.memory)}
    fitting, _ = take_fitting(costs, step.limit)
    without = frozenset(costs) - frozenset(fitting)
    if without:
        yield step.run.note(f"{len(without):,} of {len(costs):,} gists do not fit into the prompt and were left out.")
    return without


def _look_up(step: _Step, without: frozenset[int]) -> Generator[Event, None, tuple[int, ...]]:
    run, page = step.run, step.page
    k, memory = run.settings.look_ups, page.text(without=without)
    example = example_numbers(len(page.snippets), min(k, 2))
    prompt = step.prompt("look_up_snippets", step.about_gists(), memory, k=str(k), example=example)
    run.steps = 1
    try:
        reply = (yield from run.ask(prompt)).text
    except (EmptyReplyError, RefusedError):
        yield run.note("The model did not say which parts to look at; the action was chosen from the gists.")
        return ()
    readable = [snippet.number for snippet in page.snippets if snippet.number not in without]
    named = parse_look_up(reply, readable, limit=k, exists=len(page.snippets))
    costs = {n: count_words(page.opened_entry(n)) - count_words(page.entries[n - 1]) for n in named.pages}
    opened, too_long = take_fitting(costs, None if step.limit is None else step.limit - count_words(memory))
    refused = tuple(one.text("part") for one in (*named.refused, *too_long))
    yield LookedUp(opened, reply, named.reason, refused)
    if too_long:
        yield run.note("Not every part named fits into the prompt.")
    if opened:
        yield Expanded(tuple(sorted(opened)), count_words(page.text(opened, without=without)))
    return opened


def _full_page(step: _Step) -> Generator[Event, None, None]:
    def work() -> Generator[Event, None, None]:
        whole = step.page.memory.whole_text
        fits = step.limit is None or count_words(whole) <= step.limit
        memory = whole if fits else first_words(whole, step.limit or 1)
        if not fits:
            yield step.run.note(f"The page was cut after {step.limit:,} words, which fit into the prompt.")
        yield from _choose(step, step.prompt("act", step.about_html(whole=fits), memory), (), memory)

    yield from _within_window(step, work)


def _retrieval(rank: Callable[[_Step], Sequence[int]]) -> Callable[[_Step], Generator[Event, None, None]]:
    """Return the method that shows the model the HTML of the best snippets of a ranking, the best first."""

    def choose(step: _Step) -> Generator[Event, None, None]:
        best = list(rank(step))[: max(1, step.run.settings.look_ups)]

        def work() -> Generator[Event, None, None]:
            taken, _ = take_fitting({n: count_words(step.page.html(n)) for n in best}, step.limit)
            if not taken:
                raise WindowError("Not even one part of the page fits into the prompt.", step.run.model.window)
            memory = "\n\n".join(step.page.html(n) for n in taken)
            yield LookedUp(taken, "", FOUND_BY_SEARCH)
            yield Expanded(tuple(sorted(taken)), count_words(memory))
            yield from _choose(step, step.prompt("act", step.about_html(whole=False), memory), taken, memory)

        yield from _within_window(step, work)

    return choose


def _choose(
    step: _Step, prompt: Prompt, opened: tuple[int, ...], memory: str, *, gists: bool = False
) -> Generator[Event, None, None]:
    """Ask for the action, again with what was wrong, and end the run. ``memory``: the text in the prompt."""
    run, page = step.run, step.page.page
    asked, found, problem = prompt, None, ""
    for attempt in range(TRIES if run.model.is_language_model else 1):
        try:
            reply = (yield from run.ask(asked)).text
        except (EmptyReplyError, RefusedError) as error:
            problem = type(error).__name__
            continue
        action = parse_action(reply)
        problem = find_problem(action, page)
        if not problem:
            found = action
            if attempt:
                yield run.note("A reply named no possible action; asked again.")
            break
        asked = prompt.with_follow_up("act.again", problem=problem)
    if found is None:
        failed = (
            f"No reply named a possible action, in {TRIES} requests: see “Prompt and reply”. Say the task in other "
            "words, or let more parts be read in full."
        )
        yield run.note(failed if run.model.is_language_model else BY_WORDS)
    seen = {snippet.number: "gist" for snippet in step.page.snippets} if gists else {}
    yield run.finish(
        describe_action(found, page) if found else NO_ACTION,
        memory_words=count_words(memory),
        looked_up=opened,
        seen={**seen, **dict.fromkeys(sorted(opened), "full")},
        extra={"action": found.to_dict() if found else None},
    )


METHODS: dict[str, Callable[[_Step], Generator[Event, None, None]]] = {
    "read-agent-p": _read_agent,
    "gist-mem": _read_agent,
    "bm25": _retrieval(lambda step: rank_by_bm25(step.task.text, step.page.memory)),
    "neural": _retrieval(lambda step: rank_by_embedding(step.run)),
    "full-text": _full_page,
}
NEEDS_GISTS = ("read-agent-p", "gist-mem")
