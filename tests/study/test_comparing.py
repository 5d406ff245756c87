"""Several methods on one question: rows that stand on their own, kept, stopped, saved as files."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph
from readagent_core.errors import BudgetError, CancelledError, NotInLibraryError, SettingsError
from readagent_core.methods.base import AskSettings, Question
from readagent_core.methods.support.resources import build_lock
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.prompts import Prompt
from readagent_core.settings import Settings
from readagent_core.study import Study, comparing, comparing_export, comparing_told
from readagent_core.study.comparing import Comparison
from tests.fakes.model import FakeModel, Reply
from tests.fakes.sensible import sensible, understood
from tests.fakes.server import FakeServer
from tests.recordings import recording

KEEPER = "the-keeper-of-harrow-light"
SIX = ("read-agent-p", "gist-mem", "bm25", "memwalker", "semantic-compression", "full-text")
QUESTION = Question("Why did Ambrose Vane put out Harrow Light?", ("To hide", "To make a ship stop", "No oil"))


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    study = Study(Settings(tmp_path), model=BuiltInReader())
    yield study
    study.library.close()


def kept_book(study: Study) -> str:
    memory = recording(KEEPER).memory
    book = study.library.add(memory.document)
    study.library.add_memory(book.id, memory)
    return book.id


def compared(study: Study, book_id: str, **changes: object) -> Comparison:
    wanted = {"question": QUESTION, "names": SIX, "settings": AskSettings(), "correct": 1, **changes}
    job = comparing.compare(study, book_id, wanted.pop("question"), wanted.pop("names"), **wanted)  # type: ignore[arg-type]
    snapshot = job.join(30)
    assert isinstance(snapshot.value, Comparison)
    return snapshot.value


def test_six_methods_answer_side_by_side_and_are_kept(study: Study) -> None:
    book_id = kept_book(study)
    found = compared(study, book_id)
    assert [e.method for e in found.entries] == list(SIX)
    assert {e.state for e in found.entries} == {"done"}
    assert found.ended
    assert all(e.answer is not None and e.text for e in found.entries)
    assert comparing.last(study, book_id) == found
    assert all(comparing.right(found, e) in (True, False) for e in found.entries)
    assert study.library.artifact(study.library.book(book_id).document_id, "comparison", "last")


def test_a_method_that_fails_leaves_the_others_be(study: Study) -> None:
    book_id = kept_book(study)

    def reply(prompt: Prompt) -> Reply:
        if prompt.task == "look_up":
            return BudgetError("The budget is used.")
        if prompt.task == "choose_pages":
            raise RuntimeError("a bug")
        return "Answer: (B)"

    study._model = FakeModel(reply)
    found = compared(study, book_id, names=("read-agent-p", "bm25", "gist-mem"))
    states = {e.method: e for e in found.entries}
    assert states["read-agent-p"].state == "failed"
    assert states["read-agent-p"].error == "The budget is used."
    assert states["bm25"].error == comparing.OURS
    assert states["gist-mem"].state == "done"
    assert comparing.right(found, states["gist-mem"]) is True
    assert comparing.right(found, states["bm25"]) is None


def test_stopping_keeps_what_was_answered(study: Study) -> None:
    book_id = kept_book(study)
    waiting, go = threading.Event(), threading.Event()

    class Slow(BuiltInReader):
        def complete(self, prompt: Prompt, cancel: CancelToken):  # type: ignore[no-untyped-def]
            if prompt.task == "carry":
                waiting.set()
                go.wait(10)
            return super().complete(prompt, cancel)

    study._model = Slow()
    job = comparing.compare(study, book_id, QUESTION, ("gist-mem", "recurrence"), settings=AskSettings())
    assert waiting.wait(10)
    job.cancel()
    go.set()
    snapshot = job.join(20)
    assert snapshot.state == "cancelled"
    kept = comparing.last(study, book_id)
    assert kept is not None
    assert kept.entries[1].state == "cancelled"


def test_what_cannot_be_compared_is_told(study: Study) -> None:
    book = study.library.add(Document("Unread", (Paragraph("One. Two."),)))
    with pytest.raises(NotInLibraryError, match="not been read"):
        compared(study, book.id)
    with pytest.raises(SettingsError, match="question"):
        compared(study, book.id, question=Question("  "))
    with pytest.raises(SettingsError, match="at least one"):
        compared(study, book.id, names=())
    assert comparing.last(study, book.id) is None


def test_a_file_to_take_away(study: Study) -> None:
    found = compared(study, kept_book(study))
    rows = list(csv.reader(io.StringIO(comparing_export.export(found, "csv").decode("utf-8-sig"))))
    assert len(rows) == 1 + len(SIX)
    assert rows[1][rows[0].index("method")] == "read-agent-p"
    assert int(rows[-1][rows[0].index("words seen")]) > 9000
    markdown = comparing_export.export(found, "md").decode()
    assert "| Gists only |" in markdown
    html = comparing_export.export(found, "html").decode()
    assert html.count('class="hm"') == len(SIX)
    assert "Why did Ambrose Vane put out Harrow Light?" in html
    assert '<i class="node read"' in html
    assert "The walk: " in html
    assert "topics, shortened one by one" in html
    assert "http" not in html.replace("http-equiv", "")
    with pytest.raises(SettingsError):
        comparing_export.export(found, "pdf")


def test_a_model_s_words_are_never_markup_or_formulas(study: Study) -> None:
    evil = '=HYPERLINK("http://x")<img src=x onerror=alert(1)> [a](http://x) ![b](http://x)'
    study._model = FakeModel(lambda _: evil)
    found = compared(study, kept_book(study), names=("gist-mem",), question=Question("<script>?"), correct=None)
    html = comparing_export.export(found, "html").decode()
    assert "<img" not in html
    assert "<script" not in html
    assert "](http" not in comparing_export.export(found, "md").decode().replace("\\]", "")
    table = list(csv.reader(io.StringIO(comparing_export.export(found, "csv").decode("utf-8-sig"))))
    assert table[1][table[0].index("answer")].startswith("'=")


def test_a_free_answer_is_set_beside_the_known_one_without_a_verdict(study: Study) -> None:
    book_id = kept_book(study)
    study._model = FakeModel(lambda prompt: 'To make a ship stop [3].\nEvidence:\n[3] "stop"')
    asked = Question("Why did Ambrose Vane put out Harrow Light?")
    known = ("To make a ship stop.", " ")
    found = compared(study, book_id, question=asked, names=("gist-mem",), correct=None, references=known)
    entry = found.entries[0]
    assert found.references == ("To make a ship stop.",)
    assert entry.rouge["rouge1"] == entry.rouge["rougeL"] == 1.0  # the citation is no part of it
    told = comparing_told.verdict(found, entry)
    assert told == {
        "kind": "none",
        "text": "Words alike with the known answer: 100 % (ROUGE-1); in the same order: 100 % (ROUGE-L)",
    }
    assert comparing_told.judged_by(found) == "Known answer: To make a ship stop."
    assert comparing.last(study, book_id) == found
    assert comparing_export.record(found, entry)["rouge-l"] == "100.0"
    for format in ("md", "html"):
        text = comparing_export.export(found, format).decode()
        assert "To make a ship stop" in text
        assert "in the same order: 100 %" in text


def test_without_a_known_answer_that_is_said(study: Study) -> None:
    found = compared(study, kept_book(study), question=Question("Who?"), names=("gist-mem",), correct=None)
    assert comparing_told.verdict(found, found.entries[0]) is None
    assert comparing_told.judged_by(found).startswith("No known answer to judge by.")
    old = {name: value for name, value in found.to_dict().items() if name != "references"}
    for entry in old["entries"]:
        del entry["rouge"]  # kept by an earlier version
    assert Comparison.from_dict(old) == found


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("memwalker", "tree_segment"),
        ("semantic-compression", "compress"),
        ("recurrence", "carry"),
    ],
)
def test_two_questions_at_once_build_what_a_method_needs_once(tmp_path: Path, name: str, mark: str) -> None:
    """Asked on two screens at the same time, the reply cache left aside: every call goes to the server once."""
    with FakeServer(sensible, latency=0.02) as server:
        study = Study(Settings(tmp_path, base_url=server.url, model="fake-model"))
        book_id = kept_book(study)
        jobs = [study.ask(book_id, Question(text), method=name, anew=True)[1] for text in ("Who lit it?", "Who left?")]
        assert [job.join(60).state for job in jobs] == ["done", "done"]
        study.library.close()
    asked = [understood(request.text) for request in server.requests if "chat" in request.path]
    built = [prompt.text for prompt in asked if prompt is not None and prompt.task == mark]
    assert built
    assert len(built) == len(set(built))


def test_whoever_waits_for_a_tree_can_be_stopped() -> None:
    cancel, inside = CancelToken(), threading.Event()

    def wait() -> None:
        inside.set()
        with pytest.raises(CancelledError), build_lock("a tree", cancel):
            raise AssertionError("it was being built")

    with build_lock("a tree", CancelToken()):
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert inside.wait(5)
        cancel.cancel()
        waiting.join(5)
        assert not waiting.is_alive()
    with build_lock("a tree", CancelToken()):  # free again
        pass
