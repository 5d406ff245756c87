"""CSV cells that a spreadsheet takes for text, and values whose ``repr`` stays short."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

import readagent_core as ra
from readagent_core.answering.base import Answer, Question
from readagent_core.document import Document, Paragraph, Picture
from readagent_core.evaluation.question_tables import csv_rows
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.models.base import Completion
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt
from readagent_core.text_files import csv_line, escape_markdown
from tests.cli.running import run_here

FORMULAS = [
    "=1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\r\n=1",
    "＝1", "﹦1", "＋1", "－1", "＠SUM(A1)", " =1", "\u3000=1",
    "\u200b=1", "\ufeff=1", "\u2028=1", "\x00=1", "\x85=1", "\u202e=1", "\u00ad \u2060＝1", " " * 200 + "=1",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula_and_none_begins_a_row(text):
    for cell in (text, f"A note.{text}"):
        line = csv_line(["Fog", cell, "end"])
        rows = list(csv.reader(io.StringIO(line, newline=""), strict=True))
        assert [row[0] for row in rows] == ["Fog"]
        assert rows[0][2] == "end"
        assert len(line.replace("\r", "\n").split("\n")) == 2 or '"' in line.split("\n")[0]
        assert "\r" not in line
    assert next(csv.reader([csv_line([text]).replace("\n", " ")]))[0].startswith("'")


def test_a_guarded_cell_is_read_as_it_was():
    for cell in ("＝1", " =1", "'=1", "It's", "'quoted'"):
        guarded = csv_line(["question", cell])
        [(_, cells)] = csv_rows(guarded)
        assert cells[1] == (cell if cell != "'=1" else "=1")


SIGNS = st.text(st.sampled_from("ab1 *_~$`\\\\<>|#[]()!:.-+=%&;^/\n"), min_size=1, max_size=24)


@given(st.lists(SIGNS, min_size=1, max_size=3))
@example(["- a\n--Yes\n---\n1. x", "a | b\n:-|-", "[a](b) ![c](d)\n===\n[x]: y"])
@settings(max_examples=400, derandomize=True)
def test_escaped_markdown_is_only_letters_also_in_a_list_a_quote_and_italics(texts):
    for before, after in (("", ""), ("- ", ""), ("> ", ""), ("**a** *", "*")):
        lines = [line for text in texts for line in text.splitlines() if line.strip()]
        shown = [" ".join(line.split()) for line in lines]
        source = "\n\n".join(f"{before}{escape_markdown(line)}{after}" for line in shown)
        tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).use(dollarmath_plugin).parse(source)
        inline = [token.children for token in tokens if token.type == "inline"]
        allowed = {"text", "text_special"} | {f"{kind}_{end}" for kind in ("em", "strong") for end in ("open", "close")}
        assert {child.type for children in inline for child in children} <= allowed
        said = ["".join(child.content for child in children) for children in inline]
        assert [one.removeprefix("a ") if after else one for one in said] == shown
    joined = MarkdownIt("gfm-like", {"linkify": False}).parse(escape_markdown("\n".join(texts)))
    assert {token.type for token in joined} <= {"paragraph_open", "inline", "paragraph_close", "code_block"}


def test_signs_that_are_no_mark_up_stay_as_they_are():
    plain = "He did [page 1]; snake_case, 2 * 3 < 4 & $5 or ~6 %, C:\\Users #1 (see [a]) 3.14 --Yes -5"
    assert escape_markdown(plain) == plain


def test_what_holds_a_text_has_a_short_repr():
    text = "The keeper rang the bell. " * 10_000
    paragraphs = tuple(Paragraph(text) for _ in range(500))
    document = Document("Fog", paragraphs, pictures=(Picture("0" * 32, "image/png", text.encode()),))
    pages = tuple(Page(n, n - 1, n, 50_000, reason=text) for n in range(1, 501))
    memory = GistMemory(document, GistingPlan(), pages, tuple(Gist(text) for _ in pages))
    values = [document, memory, document.pictures[0], Question(text, (text,) * 9), Prompt("gist", text, {"text": text})]
    values += [Answer(text, "zoom", notes=(text,) * 9), Completion(text), [Gist(text)] * 3]
    for value in values:
        assert len(repr(value)) < 2_000, type(value)
    assert "title='Fog'" in repr(document)


def test_the_version_is_told():
    assert run_here("--version")[0] == f"readagent {ra.__version__}\n"
