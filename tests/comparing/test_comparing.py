"""Several methods on one question: rows that stand on their own, kept, stopped, saved as files."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from readagent_core.answering.asking import ask
from readagent_core.answering.base import AskSettings, Question
from readagent_core.answering.registry import all_methods
from readagent_core.cancel import CancelToken, key_lock
from readagent_core.citations.answer_parsing import split_evidence
from readagent_core.comparing import comparing
from readagent_core.comparing.comparison import Comparison, fewer_words, is_past_limit, is_right
from readagent_core.document import Document, Paragraph
from readagent_core.errors import BudgetError, CancelledError, NotInLibraryError, SettingsError
from readagent_core.export.comparison import export_comparison
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.prompts import Prompt, render_fragment
from readagent_core.settings.saved import ModelOptions
from readagent_core.workspace import Workspace
from tests.fakes.model import FakeModel, Reply
from tests.fakes.sensible import sensible, understood
from tests.fakes.server import FakeServer
from tests.incoming.blocking import Blocking
from tests.recordings import make_memory, recording

KEEPER = "the-keeper-of-harrow-light"
SIX = ("read-agent-p", "gist-mem", "bm25", "memwalker", "semantic-compression", "full-text")
QUESTION = Question("Why did Ambrose Vane put out Harrow Light?", ("To hide", "To make a ship stop", "No oil"))


def recorded_book(workspace: Workspace) -> str:
    memory = recording(KEEPER).memory
    book = workspace.library.add(memory.document)
    workspace.library.add_memory(book.id, memory)
    workspace.library.set_limit(book.id, on=False)  # it is a story, of which nothing is read
    return book.id


def test_figures_are_of_the_same_text_where_only_some_pages_have_gists(open_workspace) -> None:  # type: ignore[no-untyped-def]
    workspace = open_workspace()
    memory = recording(KEEPER).memory
    book = workspace.library.add(memory.document)
    some = (*memory.gists[:6], *[None] * (len(memory.pages) - 6))
    workspace.library.add_memory(book.id, replace(memory, gists=some, complete=False))
    workspace.library.set_limit(book.id, on=False)
    found = compared(workspace, book.id, names=("gist-mem", "bm25", "full-text"))
    seen = [(fewer_words(found, e.answer), e.answer.memory_words) for e in found.entries if e.answer]
    assert [rate for rate, _ in seen] == [100 * (1 - words / memory.document.words) for _, words in seen]
    assert seen[2][0] == pytest.approx(0, abs=2)  # the whole of it
    assert "6 of them had a gist" in export_comparison(found, "html").decode()
    assert "had a gist" not in export_comparison(replace(found, gists=None), "html").decode()


def compared(workspace: Workspace, book_id: str, **changes: object) -> Comparison:
    wanted = {"question": QUESTION, "names": SIX, "settings": AskSettings(), "correct": 1, **changes}
    books = wanted.pop("books", [book_id])
    job = comparing.compare(workspace, books, wanted.pop("question"), wanted.pop("names"), **wanted)  # type: ignore[arg-type]
    snapshot = job.join(120)
    assert isinstance(snapshot.value, Comparison)
    return snapshot.value


def test_six_methods_answer_side_by_side_and_are_kept(workspace: Workspace) -> None:
    book_id = recorded_book(workspace)
    found = compared(workspace, book_id)
    assert [e.method for e in found.entries] == list(SIX)
    assert {e.state for e in found.entries} == {"done"}
    assert found.ended
    assert all(e.answer is not None and e.text for e in found.entries)
    assert comparing.last_comparison(workspace, book_id) == found
    assert all(is_right(found, e) in (True, False) for e in found.entries)
    store = workspace.library.artifacts(workspace.library.book(book_id).document_id)
    saved = store.load("comparison", "last")
    del saved["books"]
    store.save("comparison", "last", {**saved, "paragraphs": 5})  # as earlier versions saved it
    old = comparing.last_comparison(workspace, book_id)
    assert old is not None
    assert (old.entries, [(book.id, book.paragraphs) for book in old.books]) == (found.entries, [(book_id, 5)])


def test_sentences_copied_from_a_text_without_numbers_of_pages_lead_to_their_pages(workspace: Workspace) -> None:
    """The built-in reader's answers: of one book, and of two, where a page is named with its book."""
    keeper = recorded_book(workspace)
    asked = {"question": Question("Who is Nora Pell?"), "names": ["full-text"]}
    found = compared(workspace, keeper, correct=None, **asked)
    (entry,) = found.entries
    body, evidence = split_evidence(entry.text)
    assert body.endswith("whose name is Nora Pell … [1]")
    assert evidence.endswith('whose name is Nora Pell;"')
    assert ">page 1</span>" in export_comparison(found, "html").decode()

    other = make_memory([f"Nobody put out light number {n} there." for n in range(1, 5)])
    second = workspace.library.add(other.document)
    workspace.library.add_memory(second.id, other)
    (of_two,) = compared(workspace, keeper, correct=None, books=[second.id, keeper], **asked).entries
    assert " [2.1]" in of_two.text


def test_a_method_that_fails_leaves_the_others_be(workspace: Workspace) -> None:
    book_id = recorded_book(workspace)

    def reply(prompt: Prompt) -> Reply:
        if prompt.task == "look_up":
            return BudgetError("The budget is used.")
        if prompt.task == "choose_pages":
            raise RuntimeError("a bug")
        return "Answer: (B)"

    workspace._model = FakeModel(reply)
    found = compared(workspace, book_id, names=("read-agent-p", "bm25", "gist-mem"))
    states = {e.method: e for e in found.entries}
    assert states["read-agent-p"].state == "failed"
    assert states["read-agent-p"].error == "The budget is used."
    assert states["bm25"].error == comparing.UNEXPECTED
    assert states["gist-mem"].state == "done"
    assert is_right(found, states["gist-mem"]) is True
    assert is_right(found, states["bm25"]) is None


def test_a_method_is_asked_as_the_model_needs_it(open_workspace: Callable[..., Workspace]) -> None:
    model = FakeModel(lambda prompt: "Page []" if prompt.task == "look_up" else "Answer: (B)")
    model.options = ModelOptions(reason_first=True)
    workspace = open_workspace("http://localhost:1/v1", model=model)
    compared(workspace, recorded_book(workspace), names=("gist-mem",))
    assert render_fragment("choose.reason_first", "en") in model.prompts[-1].text


@pytest.mark.parametrize(("task", "honours"), [("answer", False), ("compress", False), ("answer", True)])
def test_stopping_ends_it_and_keeps_what_was_answered(workspace: Workspace, task: str, honours: bool) -> None:
    """Even a method that never looks at the cancellation does not keep the others' answers waiting."""
    book_id = recorded_book(workspace)
    workspace._model = model = Blocking(BuiltInReader(), task, honours=honours)
    names = ("bm25", "read-agent-p", "recurrence", "memwalker", "semantic-compression")
    asked = Question("Why did Ambrose Vane put out Harrow Light?")
    job = comparing.compare(workspace, [book_id], asked, names, settings=AskSettings())
    assert model.waiting.wait(20)
    job.cancel()
    snapshot = job.join(20)  # ends while the methods that do not look still wait for the model
    model.free.set()
    assert snapshot.state == "cancelled"
    kept = comparing.last_comparison(workspace, book_id)
    assert kept is not None
    assert kept.ended
    assert "cancelled" in {e.state for e in kept.entries}
    assert all(e.text for e in kept.entries if e.state == "done")
    assert snapshot.value == kept


def test_no_page_after_the_spoiler_limit_reaches_the_server(open_workspace: Callable[..., Workspace]) -> None:
    """Every method, over HTTP, also after a comparison of the whole book, which stored trees and summaries."""

    def echo(prompt: str) -> str:
        named = " ".join(dict.fromkeys(re.findall(r"pageword[0-9]+", prompt)))
        return f"I want to look up Page [2, 9, 12]. Answer: (A) {named}"

    texts = [f"pageword{n} stands here. " + "And more was said of it. " * 20 for n in range(1, 13)]
    memory = make_memory(texts, [f"gistword{n} only." for n in range(1, 13)], title="A Book", complete=True)
    with FakeServer(echo) as server:
        workspace = open_workspace(server.url)
        book_id = workspace.library.add(memory.document).id
        workspace.library.add_memory(book_id, memory)
        whole = compared(workspace, book_id, names=tuple(all_methods()), correct=None)
        assert any("pageword12 stands" in request.text for request in server.chats)
        workspace.library.set_limit(book_id, on=True, paragraph=5)
        before = len(server.chats)
        found = compared(workspace, book_id, names=tuple(all_methods()), correct=None)
        sent = [request.text for request in server.chats[before:]]
    assert {e.state for e in found.entries} == {"done"}, [e.error for e in found.entries]
    seen = {int(n) for text in sent for n in re.findall(r"(?:page|gist)word([0-9]+)", text)}
    assert seen
    assert max(seen) <= 5
    assert (len(found.pages), found.books[0].paragraphs) == (5, 5)
    assert all(max(e.answer.seen, default=0) <= 5 for e in found.entries if e.answer)
    assert is_past_limit(whole, {book_id: 5})
    assert not is_past_limit(found, {book_id: 5})
    assert is_past_limit(found, {book_id: 4})
    workspace.library.set_furthest(book_id, 4)
    workspace.library.set_limit(book_id, on=True, paragraph=None)  # follows the reader
    assert len(compared(workspace, book_id, names=("bm25",), correct=None).pages) == 4
    workspace.library.set_limit(book_id, on=True, paragraph=0)
    with pytest.raises(SettingsError, match="keeps every page out"):
        compared(workspace, book_id)


def test_what_cannot_be_compared_is_told(workspace: Workspace) -> None:
    book = workspace.library.add(Document("Unread", (Paragraph("One. Two."),)))
    with pytest.raises(NotInLibraryError, match="has no gists yet"):
        compared(workspace, book.id)
    with pytest.raises(SettingsError, match="question"):
        compared(workspace, book.id, question=Question("  "))
    with pytest.raises(SettingsError, match="at least one"):
        compared(workspace, book.id, names=())
    assert comparing.last_comparison(workspace, book.id) is None


@pytest.mark.parametrize(
    ("name", "mark"),
    [("memwalker", "tree_segment"), ("semantic-compression", "compress"), ("recurrence", "carry")],
)
def test_two_questions_at_once_build_what_a_method_needs_once(
    open_workspace: Callable[..., Workspace], name: str, mark: str
) -> None:
    """Asked on two screens at the same time, the reply cache left aside: every call goes to the server once."""
    with FakeServer(sensible, latency=0.02) as server:
        workspace = open_workspace(server.url)
        book_id = recorded_book(workspace)
        jobs = [
            ask(workspace, book_id, Question(text), method=name, use_cache=False)[1]
            for text in ("Who lit it?", "Who left?")
        ]
        assert [job.join(60).state for job in jobs] == ["done", "done"]
    asked = [understood(request.text) for request in server.requests if "chat" in request.path]
    built = [prompt.text for prompt in asked if prompt is not None and prompt.task == mark]
    assert built
    assert len(built) == len(set(built))


def test_whoever_waits_for_a_tree_can_be_stopped() -> None:
    cancel = CancelToken()
    with key_lock("a tree", CancelToken()), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(key_lock("a tree", cancel).__enter__)
        assert not waiting.done()
        cancel.cancel()
        assert isinstance(waiting.exception(5), CancelledError)
    with key_lock("a tree", CancelToken()):  # free again
        pass
