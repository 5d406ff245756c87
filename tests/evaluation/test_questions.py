"""Question by question: the walk through a folder, the replays, and what every report file says of them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from readagent_core.answering.base import AskSettings
from readagent_core.errors import DatasetError, SettingsError
from readagent_core.evaluation import formats, html
from readagent_core.evaluation.arms import Arm, arm_titles, recorded_arms
from readagent_core.evaluation.formats import format_of, list_wrong, render_report, save_report
from readagent_core.evaluation.questions import Questions, is_right, verdict
from readagent_core.evaluation.report import summarise
from readagent_core.evaluation.results import JsonLines
from readagent_core.evaluation.score_table import load_scores
from tests.evaluation.made import FULL, P3, asked, chosen, free, record, write_folder

HOSTILE = '</pre></details><script>alert(1)</script><img src=x onerror="alert(2)"> & **bold** | $x$'


def three(folder, **changes):
    """Question 0: both right; 1: P3 alone is right; 2: neither. Stored in another order than the dataset's."""
    right = {0: (P3, FULL), 1: (P3,), 2: ()}
    results = [chosen(arm, item, arm in right[item], **changes) for item in (2, 0, 1) for arm in (FULL, P3)]
    return write_folder(folder, results)


def report(questions, format):
    found = summarise(record(), load_scores(questions.folder), wanted=6)
    return render_report(found, format, questions).decode("utf-8-sig")


def page(questions):
    return BeautifulSoup(report(questions, "html"), "lxml")


# --- the walk ---------------------------------------------------------------------------------------


def test_questions_come_in_the_datasets_order_and_answers_in_the_arms(tmp_path):
    questions = three(tmp_path)
    assert [(entry.item, entry.counts, entry.wrong, entry.differ) for entry in questions.entries] == [
        (0, "2 of 2 right", False, False),
        (1, "1 of 2 right", True, True),
        (2, "0 of 2 right", True, False),
    ]
    assert [[(r.item, r.arm) for r in results] for _, results in questions] == [
        [(item, arm.key) for arm in (P3, FULL)] for item in range(3)
    ]


def test_the_last_answer_counts_and_runs_stand_side_by_side(tmp_path):
    results = [
        chosen(P3, 0, False, error="ServerFailedError: gone", option=None),
        chosen(P3, 0, True, run=2),
        chosen(P3, 0, True),
    ]
    questions = write_folder(tmp_path, results)
    (found,) = [results for _, results in questions]
    assert [(questions.answered_by(r), verdict(r)) for r in found] == [
        (P3.title, "right"),
        (f"{P3.title}, run 2", "right"),
    ]


def test_an_experiment_still_running_is_seen_as_far_as_its_whole_lines(tmp_path):
    before = three(tmp_path)
    assert len(before) == 3  # looked at now
    line = json.dumps(chosen(P3, 3, True).to_dict()).encode()
    file = tmp_path / "results.jsonl"
    file.write_bytes(file.read_bytes() + line[:90])
    assert [e.item for e in Questions.of(tmp_path, record()).entries] == [0, 1, 2]
    file.write_bytes(file.read_bytes() + line[90:] + b"\n")
    assert [e.item for e in Questions.of(tmp_path, record()).entries] == [0, 1, 2, 3]
    assert len(json.loads(report(before, "json"))["questions"]) == 3  # what came in since is not seen
    file.write_bytes(file.read_bytes() + b"nonsense\n")
    with pytest.raises(DatasetError, match="line 8"):
        len(Questions.of(tmp_path, record()))


def test_nothing_there_is_no_question(tmp_path):
    questions = Questions.of(tmp_path, record())
    assert (len(questions), list(questions), list_wrong(questions)) == (0, [], [])
    assert not page(questions).select(".questions")
    assert json.loads(report(questions, "json"))["questions"] == []


def test_an_answer_nobody_judged_is_not_called_wrong(tmp_path):
    unrated, partly = free(P3, 0, 0.4), free(FULL, 0, 0.4, "partial")
    gone = free(P3, 1, 0.0, error="ReplyError: nothing")
    silent = chosen(P3, 2, False, option=None)
    assert [(is_right(r), verdict(r)) for r in (unrated, partly, gone, silent)] == [
        (None, "not judged"),
        (False, "agrees in part"),
        (False, "no answer"),
        (False, "named no option"),
    ]
    questions = write_folder(tmp_path, [unrated, gone])
    assert [entry.counts for entry in questions.entries] == ["1 answer, not judged", "0 of 1 right"]
    assert [entry.wrong for entry in questions.entries] == [False, True]


def test_arms_apart_by_look_ups_alone_have_names_apart():
    arms = (P3, Arm("read-agent-p", AskSettings(look_ups=5)), FULL)
    found = arm_titles(recorded_arms(record(arms=arms)))
    assert len(set(found.values())) == 3
    assert found["read-agent-p:5"].endswith("look-ups: 5")
    assert found[FULL.key] == FULL.title


# --- replays ----------------------------------------------------------------------------------------


def test_a_replay_is_read_at_its_place_and_only_if_it_is_the_answers_own(tmp_path):
    results = [chosen(arm, item, False) for item in range(3) for arm in (P3, FULL)]
    questions = write_folder(tmp_path, results)
    lines = JsonLines(tmp_path / "replays.jsonl")
    lines.append({"key": [0, 1, P3.key, 2], "events": [asked(reply="run two")]})
    for _, answers in questions:
        for result in answers:
            assert questions.read_replay(result) == [asked()]
            assert questions.read_replay(replace(result, run=2)) == []  # another's place
            assert questions.read_replay(replace(result, replay=result.replay + 1)) == []  # amid a line
            assert questions.read_replay(replace(result, replay=10**9)) == []
            assert questions.read_replay(replace(result, replay=None)) == []


@pytest.mark.parametrize("left", [b"", b'{"key": [0, 2, "full', None])
def test_without_its_replays_the_report_still_comes_and_says_so(tmp_path, left):
    questions = three(tmp_path)
    if left is None:
        (tmp_path / "replays.jsonl").unlink()
    else:
        (tmp_path / "replays.jsonl").write_bytes(left)
    soup = page(questions)
    assert len(soup.select(".a details")) == 3
    assert all("is missing" in told.text for told in soup.select(".a details"))


# --- HTML -------------------------------------------------------------------------------------------


def test_the_page_tells_each_question_folded_and_replays_what_was_not_right(tmp_path):
    soup = page(three(tmp_path, notes=("cut to fit",), answer="Answer: (B)\nEvidence:\n[2] *rang*", memory_words=120))
    found = soup.select(".questions > details.q")
    assert [q["class"] for q in found] == [["q"], ["q", "wrong", "differ"], ["q", "wrong"]]
    assert not any(q.has_attr("open") for q in soup.select("details"))
    assert "1 of 2 right" in found[1].summary.text
    assert "What rang?" in found[1].summary.text
    assert [li.text for li in found[1].select("li.gold")] == ["(A) a ← right"]
    first, second = found[1].select(".a")
    assert "✓ right" in first.text
    assert not first.select("details")
    assert "✗ not right" in second.text
    assert [line.text for line in second.select(".text")] == ["page 2 rang"]  # the letter is said once
    for told in ("(B) b", "Evidence", "Looked up pages 2, 3", "120 of 400 words in context", "Note: cut to fit"):
        assert told in second.text
    replay = second.select_one("details")
    assert [pre.text for pre in replay.select("pre")] == ["Answer: (B)", "What rang? The bell."]
    assert replay.find("details").summary.text == "Prompt, 4 words"
    values = [(radio["value"], radio.has_attr("checked")) for radio in soup.select("input[type=radio][name=show]")]
    assert values == [("all", True), ("wrong", False), ("differ", False)]
    assert [label.text.strip() for label in soup.select("label")] == ["All: 3", "Not right: 2", "Methods disagree: 1"]


def test_looked_up_pages_and_notes_stand_in_the_replay(tmp_path):
    events = [
        asked(task="look_up"),
        {"kind": "LookedUp", "pages": [4], "reply": "", "refused": ["page <99>: there is no such page"]},
        {"kind": "LookedUp", "pages": [2, 3], "reply": ""},  # as the line of figures says it
        {"kind": "Expanded", "pages": [4], "memory_words": 9},
        {"kind": "Noted", "text": "taken <by> rule"},
        {"kind": "AnswerPart", "text": "never shown"},
    ]
    told = page(write_folder(tmp_path, [chosen(P3, 0, False)], events=events)).select_one(".a details").text
    for part in ("Step 1: look up", "Looked up page 4; not opened: page <99>", "taken <by> rule"):
        assert part in told
    assert "never shown" not in told
    assert "pages 2, 3" not in told


def test_nothing_a_dataset_or_a_model_wrote_becomes_markup(tmp_path):
    everywhere = chosen(
        P3, 0, False, question=HOSTILE, options=(HOSTILE, HOSTILE, "c", "d"), title=HOSTILE, notes=(HOSTILE,),
        answer=f"{HOSTILE}\nEvidence:\n{HOSTILE}",
    )  # fmt: skip
    told = replace(free(P3, 1, 0.2, "wrong"), references=(HOSTILE,), error=HOSTILE)
    events = [
        asked(HOSTILE, HOSTILE, HOSTILE),
        {"kind": "LookedUp", "pages": [1], "reply": HOSTILE, "refused": [HOSTILE]},
        {"kind": "Noted", "text": HOSTILE},
    ]
    questions = write_folder(tmp_path, [everywhere, told], events=events)
    soup = page(questions)
    assert not soup.find_all(["script", "img"])
    assert len(soup.select(".questions > details.q")) == 2
    assert soup.find(string=lambda text: HOSTILE in text)
    for line in report(questions, "md").splitlines():
        assert "<img" not in line.replace("\\<", "")
        if line.startswith("| 1 "):
            assert "\\| $x\\$" in line  # a formula that never ends is none
    assert json.loads(report(questions, "json"))["questions"][0]["question"] == HOSTILE


def test_prompts_are_left_out_once_the_file_is_large_and_each_step_says_so(tmp_path):
    results = [chosen(P3, item, False) for item in range(40)]
    questions = write_folder(tmp_path, results, events=[asked(prompt="word " * 2_000, reply="a reply")])
    found = BeautifulSoup("".join(html.render_questions(questions, 1_000, most=200_000)), "lxml").select("details.q")
    included = [len(question.select("pre")) == 2 for question in found]
    assert included == sorted(included, reverse=True)  # the first questions have theirs, the later ones none
    assert 10 < sum(included) < 25
    for question, has_prompt in zip(found, included, strict=True):
        assert "a reply" in question.text
        assert ("The prompt is left out" in question.text) != has_prompt
    with_all = "".join(html.render_questions(questions))
    assert "left out" not in with_all
    assert with_all.count("<pre") == 80
    assert "".join(html.render_questions(questions, most=0)).count("<pre") == 40


# --- the other formats ------------------------------------------------------------------------------


def test_json_has_every_answer_and_no_prompt(tmp_path):
    text = report(three(tmp_path), "json")
    data = json.loads(text)
    assert data["rows"][0]["answers"] == 3
    assert [[a["verdict"] for a in q["answers"]] for q in data["questions"]] == [
        ["right", "right"],
        ["right", "not right"],
        ["not right", "not right"],
    ]
    assert data["questions"][1]["options"] == ["a", "b", "c", "d"]
    assert (data["questions"][1]["right"], data["questions"][1]["answers"][1]["option"]) == (0, 1)
    assert data["questions"][1]["answers"][1]["looked_up"] == [2, 3]
    assert "The bell" not in text
    assert "/" not in data["record"]["experiment"]["dataset"]["path"]  # no folder of this computer


def test_the_csv_of_answers_has_a_row_an_answer_and_no_formula(tmp_path):
    results = [
        chosen(P3, 0, True, answer="=1+1", question="@sum"),
        replace(free(FULL, 1, 0.25, "partial"), references=("x", "y")),
    ]
    text = report(write_folder(tmp_path, results), "answers.csv")
    first, second = csv.DictReader(io.StringIO(text))
    assert (first["number"], first["arm"], first["method"], first["verdict"]) == ("1", P3.key, P3.title, "right")
    assert (first["answer"], first["question"], first["chosen"]) == ("'=1+1", "'@sum", "(A) a")
    assert (first["options"].count("\n"), first["known_answer"], first["looked_up"]) == (3, "(A) a", "2 3")
    assert (second["verdict"], second["right"], second["rouge_l"]) == ("agrees in part", "no", "0.25")
    assert second["known_answer"] == "x\ny"
    with pytest.raises(SettingsError, match="folder"):
        render_report(summarise(record(), load_scores(tmp_path)), "answers.csv")


def test_markdown_lists_what_went_wrong_and_says_where_it_ends(tmp_path, monkeypatch):
    text = report(three(tmp_path, answer="x"), "md")
    assert "2 questions of 3 had at least one answer that is not right." in text
    listed = [line for line in text.splitlines() if "What rang?" in line]
    assert listed == ["| 2 | What rang? | (A) a | ✓ | ✗ (B) |", "| 3 | What rang? | (A) a | ✗ (B) | ✗ (B) |"]
    monkeypatch.setattr(formats, "MOST_LISTED", 1)
    text = report(three(tmp_path / "again"), "md")
    assert "The first 1 are listed" in text
    assert text.count("What rang?") == 1


def test_markdown_counts_runs_and_tells_what_is_missing(tmp_path):
    results = [chosen(P3, 0, run != 2, run=run) for run in (1, 2, 3)]
    results += [free(FULL, 1, 0.1, "wrong"), free(P3, 1, 0.1), chosen(FULL, 2, False, option=None, error="gone")]
    lines = list_wrong(write_folder(tmp_path, results))
    assert [line.split(" | ")[3:] for line in lines if line.startswith("| ") and "rang" in line] == [
        ["2 of 3", " |"],
        ["–", "✗ does not agree |"],
        ["", "✗ no answer |"],
    ]


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("report.html", "html"), ("a.CSV", "csv"), ("answers.csv", "answers.csv"), ("fog.answers.csv", "answers.csv"),
        ("fog.pdf", ""), ("csv", ""),
    ],
)  # fmt: skip
def test_the_format_is_told_from_the_name(tmp_path, name, format):
    assert format_of(tmp_path / name) == format


def test_a_report_is_saved_whole_or_not_at_all(tmp_path):
    questions = three(tmp_path)
    found = summarise(record(), load_scores(tmp_path))
    target = tmp_path / "report.json"
    save_report(found, target, "json", questions)
    whole = target.read_bytes()
    assert len(json.loads(whole)["questions"]) == 3
    (tmp_path / "results.jsonl").write_bytes(b"x" * 10_000)
    with pytest.raises(DatasetError):
        save_report(found, target, "json", questions)
    assert target.read_bytes() == whole
    with pytest.raises(SettingsError, match="cannot be written"):
        save_report(found, tmp_path / "none" / "report.json", "json", questions)
    (tmp_path / "null.json").symlink_to("/dev/null")
    with pytest.raises(SettingsError, match="it is a device"):  # a superuser's /dev/null stays one
        save_report(found, tmp_path / "null.json", "json", questions)
    assert not list(tmp_path.glob("*.new"))
