"""A conversation as a file: every text escaped, every event in the JSON, quotations as they were cut."""

from __future__ import annotations

import json

import pytest
from bs4 import BeautifulSoup

from readagent_core.answering import replay
from readagent_core.answering.asking import ask
from readagent_core.answering.base import Question
from readagent_core.citations import check
from readagent_core.errors import NotInLibraryError, SettingsError
from readagent_core.export.citation_labels import quote_citation
from readagent_core.export.conversation import answer_as_text, export_conversation
from readagent_core.export.replay import export_replay
from readagent_core.incoming.samples import add_samples
from tests.answering.test_asking import a_book, a_memory, asked, reply
from tests.fakes.model import FakeModel
from tests.recordings import make_memory


@pytest.fixture
def exported(open_workspace):
    """``exported(format)``: a talk of two questions as a file."""
    workspace = open_workspace(model=FakeModel(reply))
    book, gisting = a_book(workspace, a_memory())
    first, _ = asked(workspace, book, gisting, "Who is <script>alert(1)</script> & *Vane*?")
    second = Question("Which?", ("a <cat>", "a dog"))
    asked(workspace, book, gisting, question=second, conversation_id=first.conversation_id)
    return lambda format, talk=first.conversation_id, without=(): export_conversation(
        workspace, talk, format=format, without=[first.id for _ in without], without_prompts=[first.id]
    ).decode()


def test_each_format_has_what_was_said_and_nothing_unescaped(exported):
    text = exported("md")
    assert "So it was [from page 2]" in text
    assert "\nWent back to pages 2 and 5: “see.”\n" in text
    assert "\n*fake" in text  # who answered, before the answer
    assert text.count("Who is") == 1  # the conversation's name is the beginning of its question
    assert "\n> Page 2: “pageword2 stands here”\n" in text
    assert "words" in text
    rest = exported("md", without=["first"])
    assert "## Which?" in rest
    assert "## Who is" not in rest
    page = exported("html")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a &lt;cat&gt;" in page
    assert '<p class="facts">Went back to pages 2 and 5: “see' in page
    assert "<blockquote><small>Page 2</small> “pageword2 stands here”" in page
    assert "default-src" in page
    data = json.loads(exported("json"))
    assert [e["state"] for e in data["exchanges"]] == ["done", "done"]
    assert data["exchanges"][0]["events"][-1]["kind"] == "Answered"
    assert data["exchanges"][0]["looked_up"] == [2, 5]
    assert ["Asked" in {event["kind"] for event in one["events"]} for one in data["exchanges"]] == [False, True]
    with pytest.raises(SettingsError, match="md, html, json"):
        exported("docx")
    with pytest.raises(NotInLibraryError):
        exported("md", "gone")


def test_copied_sentences_are_quotations_with_their_page_and_are_said_once(workspace):
    book = next(b for b in add_samples(workspace) if b.title.startswith("The Keeper"))
    exchange, job = ask(workspace, book.id, Question("Who was the keeper before Vane, and why did Vane vanish?"))
    job.join(60)
    text, page = (
        export_conversation(workspace, exchange.conversation_id, format=format).decode() for format in ("md", "html")
    )
    nearest = "All eight hands safe. Cargo slate. Keeper Vane aboard, collarbone broken, otherwise well."
    assert "\n\nFound no sentence" in text
    assert f"The nearest:\n\n> {nearest} [page 22]\n\n> I am" in text
    assert "\nOpened pages " in text  # the reason is no quotation
    assert '<p class="facts">Opened pages ' in page
    assert text.count(nearest) == page.count(f"<blockquote>{nearest}") == 1
    assert "from page" not in text + page
    assert "; nothing was understood · ReadAgent" in text
    assert "; nothing was understood · ReadAgent" in page
    stored = workspace.library.exchange(exchange.id)
    replay_page = BeautifulSoup(export_replay(workspace, exchange.id), "lxml")
    assert replay_page.select_one(".said p:not(.bar *)").get_text(strip=True).endswith("The nearest:")
    quoted = [sentence.get_text(" ", strip=True) for sentence in replay_page.select("blockquote")]
    assert quoted[0] == f"{nearest} page 22"
    events, memory = replay.events_of(stored), workspace.library.memory(stored.gisting_id)
    answer = replay.answer_of(events)
    checked = replay.checked_answer(answer.text, answer, memory)
    copied = answer_as_text(stored, events, checked, about="The Keeper, by one", document=memory.document)
    asked, _, first, *_ = copied.split("\n\n")
    assert asked == f"{stored.question} — The Keeper, by one"
    assert first == f"{nearest} [page 22]"
    assert copied.count(nearest) == 1


def test_paragraphs_left_out_of_an_excerpt_in_a_replay_are_marked(workspace):
    book = next(b for b in add_samples(workspace) if b.title.startswith("The Keeper"))
    exchange, job = ask(workspace, book.id, Question("What did Tilda see at the window?"))
    job.join(60)
    page = BeautifulSoup(export_replay(workspace, exchange.id), "lxml")
    (excerpt,) = page.select("section.answer > .row")
    shown = [paragraph.get_text() for paragraph in excerpt.select("p")]
    assert [text == "…" for text in shown] == [False, False, True, False]


def test_a_replay_by_passages_shows_what_was_sent_and_marks_what_is_quoted(workspace):
    book = next(b for b in add_samples(workspace) if b.title.startswith("The Keeper"))
    exchange, job = ask(workspace, book.id, Question("Who painted the bedroom door?"), method="recall")
    job.join(60)
    page = BeautifulSoup(export_replay(workspace, exchange.id), "lxml")
    memory = workspace.library.memory(workspace.library.exchange(exchange.id).gisting_id)
    (whole,) = page.select("section.gists")
    assert len(whole.select(".row")) == len(memory.pages)
    (sent,) = page.select("section.memory")
    assert "a short view of the gists, with passages of page" in sent.select_one(".caption").get_text()
    assert {row["class"][1] for row in sent.select(".row")} == {"full"}
    assert sum(len(row.get_text().split()) for row in sent.select(".row")) < 400  # PASSAGE_WORDS
    (answer,) = page.select("section.answer")
    copied = [quoted.get_text(strip=True) for quoted in page.select("section.answer blockquote")]
    marked = [mark.get_text() for mark in answer.select(":scope > .row mark")]
    assert len(marked) == len(copied) > 0


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("The ferry was late that evening.", "“The ferry was late that evening.”"),
        ("The ferry was late that evening", "“The ferry was late that evening”"),  # only the full stop is missing
        ("The ferry was late", "“The ferry was late” …"),
        ("was late that evening.", "… “was late that evening.”"),
        ("was late", "… “was late” …"),
        ("late that evening. Nobody asked", "… “late that evening. Nobody asked” …"),
        ("It was the river", "“It was the river” …"),  # speech that goes on after a comma
        ("the ferryman said", "… “the ferryman said”"),
        ("was late ... and he went home", "… “was late ... and he went home”"),
        ("… was late …", "“… was late …”"),  # the model said so itself
    ],
)
def test_a_quotation_cut_out_of_its_sentence_shows_that_outside_its_marks(words, shown):
    texts = ("The ferry was late that evening. Nobody asked how.", "“It was the river,” the ferryman said.",
             "So much he told us, and he went home.")  # fmt: skip
    memory = make_memory(texts, ["Late."], per_page=3)
    (citation,) = check(f'It was so [1].\n\nEvidence:\n[1] "{words}"', memory, full=[1]).citations
    assert citation.places
    assert quote_citation(citation, memory.document) == shown
