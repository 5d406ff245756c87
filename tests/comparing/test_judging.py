"""A model's verdict beside a known answer: what its reply may look like, and what a comparison makes of it."""

from __future__ import annotations

import pytest

from readagent_core.answering.base import Question
from readagent_core.comparing.comparison import Comparison
from readagent_core.comparing.judging import DIFFERENT, PARTLY, SAME, parse_judgement
from readagent_core.errors import ReplyError, ServerFailedError
from readagent_core.export.comparison import comparison_row, export_comparison
from readagent_core.export.comparison_view import verdict
from readagent_core.prompts import Prompt
from readagent_core.workspace import Workspace
from tests.comparing.test_comparing import compared, recorded_book
from tests.fakes.model import FakeModel, Reply


@pytest.mark.parametrize(
    ("reply", "wanted", "reason"),
    [
        ("Verdict: SAME\nBecause both say sealing wax.", SAME, "Both say sealing wax."),
        ("**Verdict:** Partly\n\n**Because** the year is missing.", PARTLY, "The year is missing."),
        ("verdict: different.\nBecause: it names another man.", DIFFERENT, "It names another man."),
        ("Verdict: Not the same", None, ""),
        ("Partially", PARTLY, ""),
        ("The answers are the same. Because they are.", SAME, ""),
        ("<think>same? no</think>Verdict: DIFFERENT", DIFFERENT, ""),
        ("判定：一部同じ\n理由：年が欠けています。", PARTLY, "年が欠けています。"),
        ("判定：同じ", SAME, ""),
        ("判定：違う\n理由：別の人です。", DIFFERENT, "別の人です。"),
        ("Verdict: SAME, PARTLY or DIFFERENT", None, ""),
        ("Verdict: ...", None, ""),
        ("I cannot tell.", None, ""),
        ("", None, ""),
    ],
)
def test_replies_with_and_without_a_verdict(reply: str, wanted: str | None, reason: str) -> None:
    if wanted is None:
        with pytest.raises(ReplyError):
            parse_judgement(reply)
    else:
        found = parse_judgement(reply)
        assert (found.verdict, found.reason) == (wanted, reason)


def judged(workspace: Workspace, verdict_reply: Reply, **changes: object) -> tuple[Comparison, FakeModel]:
    def reply(prompt: Prompt) -> Reply:
        return verdict_reply if prompt.task == "judge" else "It was sealing wax [2]."

    model = FakeModel(reply)
    workspace._model = model
    asked = {"question": Question("With what?"), "correct": None, "references": ("Sealing wax",), "judged": True}
    return compared(workspace, recorded_book(workspace), names=("gist-mem", "full-text"), **{**asked, **changes}), model


def test_each_answer_is_judged_once_and_the_verdict_is_said_to_be_the_models(workspace: Workspace) -> None:
    found, model = judged(workspace, "Verdict: PARTLY\nBecause the colour is missing.")
    assert model.tasks().count("judge") == 2
    prompt = next(p for p in model.prompts if p.task == "judge")
    assert prompt.fields["reference"] == "Sealing wax"
    assert "[2]" not in prompt.fields["answer"]
    for entry in found.entries:
        assert entry.state == "done"
        assert verdict(found, entry) == ("none", "Verdict of fake-model: in part the same as the known answer")
        assert comparison_row(found, entry)["verdict of the model"] == "partly"
    for kind in ("html", "md"):
        text = export_comparison(found, kind).decode()
        assert "Verdict of fake-model" in text
        assert "The colour is missing" in text


@pytest.mark.parametrize("trouble", [ServerFailedError("The server failed."), "Who knows?"])
def test_a_verdict_that_cannot_be_had_leaves_the_answer(workspace: Workspace, trouble: Reply) -> None:
    found, _ = judged(workspace, trouble)
    for entry in found.entries:
        assert (entry.state, entry.verdict) == ("done", "")
        assert entry.reason.startswith("No verdict: ")
        assert entry.rouge


@pytest.mark.parametrize("changes", [{"judged": False}, {"references": ()}])
def test_nothing_is_judged_unasked_or_without_a_known_answer(workspace: Workspace, changes: dict[str, object]) -> None:
    found, model = judged(workspace, "Verdict: SAME", **changes)
    assert "judge" not in model.tasks()
    assert not any(entry.verdict or entry.reason for entry in found.entries)
