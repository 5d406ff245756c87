"""A comparison as files and as elements: every text escaped, the same drawing on the screen and in the HTML page."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from bs4 import BeautifulSoup

from readagent_core.answering.base import Answer, Question
from readagent_core.comparing import comparing
from readagent_core.comparing.comparison import ComparedAnswer, ComparedBook, Comparison, EntryState
from readagent_core.errors import SettingsError
from readagent_core.export import comparison_view as view
from readagent_core.export.comparison import comparison_row, export_comparison
from readagent_core.export.comparison_drawings import draw_strip, draw_tree
from readagent_core.export.comparison_words import describe_step, describe_walk, usage_line
from readagent_core.models.builtin.reader import NAME as BUILT_IN
from readagent_core.models.builtin.replies import NEAREST, NOT_FOUND
from readagent_core.usage import Usage
from readagent_core.workspace import Workspace
from tests.comparing.test_comparing import SIX, compared, recorded_book
from tests.fakes.model import FakeModel


def comparison(
    entry: ComparedAnswer, *, correct: int | None = 1, options: tuple[str, ...] = ("no", "yes")
) -> Comparison:
    return Comparison("T", "en", "Who?", options, correct, 100, (40, 60), "m", 0.0, (entry,))


def drawn(entry: ComparedAnswer) -> BeautifulSoup:
    return BeautifulSoup("".join(map(view.to_html, view.draw_comparison(comparison(entry)))), "lxml")


def table(found: Comparison) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(export_comparison(found, "csv").decode("utf-8-sig"))))


def test_a_file_to_take_away(workspace: Workspace) -> None:
    found = compared(workspace, recorded_book(workspace))
    rows = table(found)
    assert [row["method id"] for row in rows] == list(SIX)
    assert int(rows[-1]["words seen"]) > 9000
    markdown = export_comparison(found, "md").decode()
    assert "| Gists only |" in markdown
    html = export_comparison(found, "html").decode()
    assert html.count('class="hm"') == len(SIX)
    assert "Why did Ambrose Vane put out Harrow Light?" in html
    assert '<i class="node read"' in html
    assert "The walk: " in html
    assert "topics, shortened one by one" in html
    assert "http" not in html.replace("http-equiv", "")
    with pytest.raises(SettingsError):
        export_comparison(found, "pdf")


def test_a_model_s_words_are_never_markup_or_formulas(workspace: Workspace) -> None:
    evil = '=HYPERLINK("http://x")<img src=x onerror=alert(1)> [a](http://x) ![b](http://x)'
    workspace._model = FakeModel(lambda _: evil)
    found = compared(workspace, recorded_book(workspace), names=("gist-mem",), question=Question("<script>?"))
    html = export_comparison(found, "html").decode()
    assert "<img" not in html
    assert "<script" not in html
    assert "](http" not in export_comparison(found, "md").decode().replace("\\]", "")
    assert table(found)[0]["answer"].startswith("'=")


def test_hostile_text_in_every_place_of_a_row_stays_text() -> None:
    evil = '"><img src=x onerror=alert(1)>'
    node: dict[str, Any] = {
        "id": 0,
        "parent": None,
        "children": [],
        "level": 0,
        "words": 9,
        "pages": [1],
        "summary": evil,
    }
    topic = {"begins": evil, "words": 9, "kept": 3, "stretches": [(0, 9)]}
    extra = {
        "tree": [node],
        "walk": [{"node": 0, "action": -2, "reason": evil}],
        "share_read": 1.0,
        "stray": False,
        "recovered": False,
        "topics": [topic],
    }
    answer = Answer(evil, "memwalker", seen={1: "full"}, notes=(evil,), extra=extra)
    entry = ComparedAnswer("memwalker", "failed", text=f"{evil}\nEvidence:\nSo {evil}", answer=answer, error=evil)
    page = drawn(entry)
    assert not page.find_all("img")
    assert page.get_text().count(evil) == 5  # error, answer, note, evidence, reason
    assert page.select_one(".node")["title"] == evil
    assert evil in page.select_one(".t0")["title"]


def test_a_free_answer_is_set_beside_the_known_one_without_a_verdict(workspace: Workspace) -> None:
    book_id = recorded_book(workspace)
    workspace._model = FakeModel(lambda prompt: 'To make a ship stop [3].\nEvidence:\n[3] "stop"')
    asked = Question("Why did Ambrose Vane put out Harrow Light?")
    unknown = compared(workspace, book_id, question=asked, names=("gist-mem",), correct=None)
    assert view.verdict(unknown, unknown.entries[0]) is None
    assert view.known_answer(unknown).startswith("No known answer to judge by.")
    old = {name: value for name, value in asdict(unknown).items() if name != "references"}
    for entry in old["entries"]:
        del entry["rouge"]  # saved by an earlier version
    assert Comparison.from_dict(old) == unknown
    known = ("To make a ship stop.", " ")
    found = compared(workspace, book_id, question=asked, names=("gist-mem",), correct=None, references=known)
    entry = found.entries[0]
    assert found.references == ("To make a ship stop.",)
    assert entry.rouge["rouge1"] == entry.rouge["rougeL"] == 1.0  # the citation is no part of it
    shared = "Words shared with the known answer: 100 % (ROUGE-1); in the same order: 100 % (ROUGE-L)"
    assert view.verdict(found, entry) == ("none", shared)
    assert view.known_answer(found) == "Known answer: To make a ship stop."
    assert comparing.last_comparison(workspace, book_id) == found
    assert comparison_row(found, entry)["rouge-l"] == "100.0"
    for format in ("md", "html"):
        text = export_comparison(found, format).decode()
        assert "To make a ship stop" in text
        assert "in the same order: 100 %" in text


# --- the drawing ------------------------------------------------------------------------------------------


def test_a_row_that_has_not_ended_or_was_stopped_has_no_figures() -> None:
    page = drawn(ComparedAnswer("gist-mem", "running", text="An"))
    assert page.select_one("li.r")["data-state"] == "running"
    assert page.select_one(".a").get_text() == "An"
    assert page.select_one(".caret")
    assert not page.select(".fig, .hm")
    assert "Waiting for its turn" in drawn(ComparedAnswer("gist-mem")).get_text()
    stopped = drawn(ComparedAnswer("gist-mem", "cancelled", error=comparing.STOPPED))
    assert stopped.select_one(".err").get_text() == "Stopped."


def test_what_was_sent_is_said_only_where_something_was() -> None:
    sent = Usage(calls=2, words_in=900, words_out=40)
    assert usage_line(Answer("x", "full-text", usage=sent)) == "2 calls · 900 words sent · 40 back"
    assert usage_line(Answer("x", "full-text", usage=Usage(cached_calls=2))) == "2 calls answered from the cache"
    assert (
        "Seconds"
        not in drawn(ComparedAnswer("full-text", "done", text="x", answer=Answer("x", "full-text"))).get_text()
    )
    answer = Answer("x", "full-text", usage=sent)
    built_in = replace(comparison(ComparedAnswer("full-text", "done", text="x", answer=answer)), model=BUILT_IN)
    assert "sent" not in "".join(map(view.to_html, view.draw_comparison(built_in)))


def test_not_found_claims_no_more_than_the_method_saw() -> None:
    def said(text: str, seen: dict[int, str]) -> str:
        entry = ComparedAnswer("full-text", "done", text=text, answer=Answer(text, "full-text", seen=seen))
        found = replace(comparison(entry), model=BUILT_IN)
        return BeautifulSoup("".join(map(view.to_html, view.draw_comparison(found))), "lxml").get_text()

    for text in (NOT_FOUND["en"], "Not found in this book."):  # as it is said now, and was before
        assert "Not found in this book." in said(text, {1: "full", 2: "full"})
        assert "Not found in what it saw." in said(text, {1: "full", 2: "gist"})


def test_the_date_of_a_recording_is_said_once() -> None:
    answered = comparison(ComparedAnswer("gist-mem", "done", text="x"))
    day = datetime.fromtimestamp(answered.asked, UTC).date().isoformat()
    for one in (answered, replace(answered, recorded=day)):
        assert export_comparison(one, "html").decode().count(day) == 1


def test_a_row_says_who_was_right_and_sets_the_evidence_apart() -> None:
    text = 'Answer: (B) yes, the *Second Wife*. [2].\n\n**Evidence:**\n[2] "the words"\n[2] "Second Wife"'
    answer = Answer(text, "gist-mem", option=1, seen={1: "gist", 2: "full"}, looked_up=(2,), memory_words=50)
    entry = ComparedAnswer("gist-mem", "done", text=text, answer=answer)
    page = drawn(entry)
    assert [cell["class"] for cell in page.select(".hm i")] == [["gi"], ["full"]]
    assert [cell["style"] for cell in page.select(".hm i")] == ["flex-grow:40", "flex-grow:60"]
    assert page.select_one(".sr").get_text() == "Seen in full: page 2"
    assert page.select_one(".v.ok").get_text() == "Right: (B) yes"
    assert page.select_one(".a").get_text() == "yes, the Second Wife. page 2."  # the verdict has the letter
    assert page.select_one(".a em").get_text() == "Second Wife"
    assert page.select_one(".a button.cite.page")["data-page"] == "2"
    assert [line.get_text() for line in page.select("details .a")] == [
        'page 2 "the words"'
    ]  # what is said is no evidence
    assert not page.select_one("details").has_attr("open")
    assert page.select_one(".bar b")["style"] == "width:50.0%"
    assert "yes, the *Second Wife*. [page 2]" in export_comparison(comparison(entry), "md").decode()
    (row,) = table(comparison(entry))
    assert (row["method"], row["answer"]) == ("Gists only", "yes, the Second Wife. [page 2].")
    assert (row["evidence"], row["fewer words in %"]) == ('[page 2] "the words"', "50.0")
    wrong = ComparedAnswer("x", answer=Answer("", "x", option=0))
    assert view.verdict(comparison(wrong), wrong) == ("no", "Wrong: (A) no")
    assert view.verdict(comparison(wrong, correct=None), wrong) == ("none", "Chose (A) no")
    chose_none = ComparedAnswer("x", answer=Answer("", "x"))
    assert view.verdict(comparison(chose_none), chose_none) == ("no", "Named no option")


def test_in_a_long_book_neighbours_of_one_kind_are_one_cell() -> None:
    answer = Answer("So.", "read-agent-p", seen={n: "full" if n == 70 else "gist" for n in range(1, 201)})
    entry = ComparedAnswer("read-agent-p", "done", text="So.", answer=answer)
    long = Comparison("T", "en", "Who?", (), None, 2000, (10,) * 200, "m", 0.0, (entry,))
    page = BeautifulSoup("".join(map(view.to_html, view.draw_comparison(long))), "lxml")
    cells = [(cell["title"], cell["style"]) for cell in page.select(".hm.dense > i")]
    assert cells == [
        ("Pages 1 to 69: seen in short", "flex-grow:690"),
        ("Page 70: seen in full", "flex-grow:10"),
        ("Pages 71 to 200: seen in short", "flex-grow:1300"),
    ]


def test_a_part_that_was_seen_in_one_gist_is_one_low_cell_and_one_citation() -> None:
    seen = {1: "gist", 2: "part", 3: "part", 4: "full", 5: "part"}
    entry = ComparedAnswer("zoom", "done", text="So [2-3]. And [4].", answer=Answer("", "zoom", seen=seen))
    long = Comparison("T", "en", "Who?", (), None, 50, (10,) * 5, "m", 0.0, (entry,))
    page = BeautifulSoup("".join(map(view.to_html, view.draw_comparison(long))), "lxml")
    assert [(cell["class"][0], cell["style"]) for cell in page.select(".hm > i")] == [
        ("gi", "flex-grow:10"), ("pt", "flex-grow:20"), ("full", "flex-grow:10"), ("pt", "flex-grow:10"),
    ]  # fmt: skip
    assert [chip.get_text() for chip in page.select("button.cite")] == ["gist of pages 2 to 3", "page 4"]
    assert page.select_one(".lg .pt")
    assert page.select_one(".sr").get_text() == "Seen in full: page 4; in one gist of several pages: 3 pages"


def test_a_walk_in_words() -> None:
    nodes: list[dict[str, Any]] = [
        {"id": 0, "parent": 2, "children": [], "pages": [1]},
        {"id": 1, "parent": 2, "children": [], "pages": [2, 3]},
        {"id": 2, "parent": None, "children": [0, 1], "pages": [1, 2, 3]},
    ]
    steps = [{"node": 2, "action": 0}, {"node": 0, "action": -1}, {"node": 2, "action": 1}, {"node": 1, "action": -2}]
    assert [describe_step(nodes, s) for s in steps] == [
        "At the top: into part 1 of 2.",
        "Page 1: not here, back up.",
        "At the top: into part 2 of 2.",
        "Pages 2 to 3: read, and answered.",
    ]
    extra = {"walk": steps, "stray": True, "recovered": True, "share_read": 0.5}
    assert describe_walk(Answer("", "memwalker", extra=extra)) == (
        "The walk: 4 steps, went astray and came back; 50 % of the text read"
    )


def test_a_tree_has_the_numbers_of_the_steps_that_visited_each_node() -> None:
    top = {"id": 1, "level": 1, "children": [0], "words": 9, "summary": "All."}
    leaf = {"id": 0, "level": 0, "children": [], "words": 0, "summary": "A part."}
    drawn = draw_tree([leaf, top], [{"node": 1}, {"node": 0}, {"node": 1}])
    above, below = (level[2] for level in drawn[2:])
    assert (above[1]["class"], above[2]) == ("node at", "1 3")
    assert (below[1]["class"], below[1]["style"], below[2]) == ("node read", "flex-grow:1", "2")


def test_pages_too_narrow_for_cells_of_their_own_are_one() -> None:
    long, short = ComparedBook("a", "Fog", 20), ComparedBook("b", "Ice", 20)
    _, _, *parts = draw_strip({}, [1000] * 20 + [10] * 20, (long, short))
    assert [len(cells) for _, _, *cells in parts] == [20, 1]


def test_several_books_are_named_in_strips_chips_walks_and_files() -> None:
    books = (ComparedBook("a", "Fog", 2), ComparedBook("b", "Ice", 3, 7))
    tree = [{"id": 0, "parent": 1, "children": [], "level": 0, "words": 9, "pages": [2, 3], "summary": ""}]
    walk = {"tree": tree, "walk": [{"node": 0, "action": -2, "reason": ""}]}
    answer = Answer(
        "", "memwalker", seen={2: "full", 3: "full", 4: "gist"}, extra={**walk, "share_read": 1.0, "stray": False,
                                                                        "recovered": False}
    )  # fmt: skip
    entry = ComparedAnswer("memwalker", "done", text="So it was [1.2, 2.2], not [3.1] or [2.9].", answer=answer)
    found = Comparison("Fog; Ice", "en", "Who?", (), None, 50, (10,) * 5, "m", 0.0, (entry,), books=books)
    page = BeautifulSoup("".join(map(view.to_html, view.draw_comparison(found))), "lxml")
    assert [title.get_text() for title in page.select(".books span")] == ["Fog", "Ice"]
    assert [len(box.select("i")) for box in page.select(".hm.several > div")] == [2, 3]
    assert page.select(".hm i")[2]["title"] == "Ice, page 1: seen in full"
    assert [(cite.get_text(), cite.get("data-book"), cite.get("data-page")) for cite in page.select(".cite")] == [
        ("Fog, p. 2", "a", "2"),
        ("Ice, p. 2, gist", "b", "2"),
        ("in no book", None, None),
        ("in no book", None, None),
    ]
    assert page.select_one(".sr").get_text() == "Seen in full: Fog, page 2; Ice, page 1"
    assert page.select_one(".did").get_text() == "Fog, page 2 to Ice, page 1: read, and answered."
    assert table(found)[0]["pages in full"] == "1.2 2.1"
    markdown = export_comparison(found, "md").decode()
    assert "- Book 1: Fog\n- Book 2: Ice (spoiler limit: page 3)\n" in markdown
    assert "2 books, 50 words · " in markdown
    assert "Book 2: Ice (spoiler limit: page 3)" in export_comparison(found, "html").decode()


def test_before_a_comparison_the_words_of_gists_and_pages_are_counted() -> None:
    rows = view.draw_methods(
        ["gist-mem", "read-agent-p", "full-text"], [100] * 10, dict.fromkeys(range(1, 11), 20), look_ups=2
    )
    page = BeautifulSoup("".join(map(view.to_html, rows)), "lxml")
    assert [cell.get_text() for cell in page.select("dd")] == ["about 200", "about 360", "about 1,000"]
    rows = view.draw_methods(["gist-mem", "full-text"], [100] * 10, {}, look_ups=2)  # no gist is made yet
    page = BeautifulSoup("".join(map(view.to_html, rows)), "lxml")
    assert [cell.get_text() for cell in page.select("dd, .mid")] == [
        "Sees the gists, once they are made.",
        "",
        "about 1,000",
    ]


def test_the_numbers_under_a_strip_are_as_many_as_have_room() -> None:
    def numbers(pages: int, *full: int) -> list[str]:
        strip = draw_strip(dict.fromkeys(full, "full"), [100] * pages, ())
        found = BeautifulSoup(view.to_html(strip), "lxml").select("span")
        return [" ".join([span.get_text(), *span.get("class", [])]) for span in found]

    assert numbers(25, 3, 10, 11, 25) == ["3", "10", "11 wide", "25"]  # hidden on a phone
    assert numbers(60, 10, 11, 13) == ["10", "13 wide"]
    assert numbers(8, *range(1, 9)) == [str(n) for n in range(1, 9)]


def test_an_example_shows_what_a_method_can_see() -> None:
    assert view.example_pages("search-agent", 6, 2, range(1, 7)) == {2: "passage", 5: "passage"}
    assert view.example_pages("bm25", 6, 2, range(1, 7)) == {2: "full", 5: "full"}
    assert view.example_pages("recall", 2, 1, range(1, 3)) == {1: "gist", 2: "passage"}
    assert view.example_pages("gist-mem", 2, 1, range(1, 3)) == {1: "gist", 2: "gist"}
    assert view.example_pages("full-text", 2, 1, range(1, 3)) == {1: "full", 2: "full"}
    assert view.example_pages("read-agent-p", 2, 1, range(1, 3)) == {1: "gist", 2: "full"}
    assert view.example_pages("read-agent-p", 6, 1, [1, 2]) == {1: "gist", 2: "full"}  # no other page has a gist
    assert view.example_pages("bm25", 6, 1, [1, 2]) == {4: "full"}
    assert view.example_pages("semantic-compression", 6, 2, range(1, 7)) is None  # it makes a memory of its own


def test_what_the_built_in_reader_says_itself_is_not_set_as_a_sentence_of_the_book() -> None:
    entry = ComparedAnswer("bm25", EntryState.DONE, text=f"{NEAREST}\n\nThe box stood open. [2]")
    found = Comparison("T", "en", "Who?", (), None, 50, (10,) * 5, BUILT_IN, 0.0, (entry,))
    page = BeautifulSoup(export_comparison(found, "html"), "lxml")
    assert [sentence.get_text() for sentence in page.select(".copied")] == ["The box stood open. page 2"]
    assert NEAREST in [said.get_text() for said in page.select(".mid > .dim")]
