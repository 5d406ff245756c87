"""The Evaluate screen without a browser: the form, a run with the built-in reader, and what it then shows."""

from __future__ import annotations

import json
import re
import shutil
import threading
from html import escape

from pages.parts.evaluate.report_view import FILES
from pages.parts.shared.shell import as_text
from readagent_core.evaluation.experiment import read_record, write_record
from readagent_core.evaluation.formats import render_report
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.starting import list_experiments, load_summary
from readagent_core.library.own_questions import OwnQuestion
from tests.fakes.server import Reply

SCREEN = "pages/evaluate.py"


def shown(at):
    return "\n".join([t.value for t in at.text] + [c.value for c in at.caption])


def finish(at):
    """Wait for the running experiment, then draw the screen again."""
    from pages.parts.shared.cached import get_workspace

    for job in get_workspace().jobs.running():
        job.join(120)
    return at.run()


def small(at, *names):
    """Two questions of the bundled novella, of these methods."""
    at.multiselect(key="evaluate_methods").set_value(list(names))
    at.number_input(key="evaluate_limit").set_value(2)
    return at.run()


def ask_file(app, path):
    """The screen after an experiment of one method with the questions in a file."""
    at = app(SCREEN)
    at.selectbox(key="evaluate_data").set_value("A file or folder on this computer").run()
    at.text_input(key="evaluate_path").set_value(str(path)).run()
    small(at, "gist-mem")
    at.button(key="evaluate_start").click().run()
    return finish(at)


def test_the_recorded_experiment_is_at_one_click_and_a_run_shows_its_table_and_has_reports(app, own_home):
    at = app(SCREEN)
    assert re.search(r"20\d\d\u2011\d\d\u2011\d\d\.$", shown(at), re.MULTILINE)  # a date is not broken over two lines
    assert "New experiment" not in [part.label for part in at.expander]  # the form is open while there is no result
    at.button(key="evaluate_show_recorded").click().run()
    assert not at.exception
    assert at.expander[0].label == "New experiment"
    assert any("A recording of" in line.value for line in at.markdown)
    assert [t.label for t in at.tabs] == ["Results", "Tables", "Questions", "Gists", "Record"]
    assert not list_experiments(own_home)
    at.button(key="evaluate_close").click().run()
    assert not at.tabs
    # an experiment of one's own
    assert "No experiment of yours yet" in [heading.value for heading in at.subheader]
    assert "about" in shown(at)  # what it would cost
    assert at.button(key="evaluate_start").label == "Start"
    at = small(at)
    assert at.button(key="evaluate_start").disabled
    assert "Choose at least one method" in shown(at)
    at = small(at, "gist-mem", "full-text")
    at.button(key="evaluate_start").click().run()
    assert not at.session_state["evaluate_form"]  # the run comes first
    at = finish(at)
    assert not at.exception
    assert [t.label for t in at.tabs] == ["Results", "Tables", "Questions", "Gists", "Record"]
    assert len(at.selectbox(key="evaluate_experiment").options) == 1
    assert not any("A recording of" in line.value for line in at.markdown)
    assert "2 questions" in shown(at)
    assert "No language model was connected" in shown(at)
    assert "← right" not in shown(at)  # nothing of the story is read yet
    assert "with every figure and answer: they tell of pages of The Keeper" in shown(at)
    assert not [button for button in at.button if str(button.key).startswith("evaluate_wrong")]
    at.button(key="evaluate_hidden_show").click().run()
    assert "← right" in shown(at)
    assert "with every figure and answer: they" not in shown(at)
    assert at.button(key="evaluate_start").label == "Show results"
    assert "all answers are in" in shown(at)
    labels = [button.proto.label for button in at.get("download_button")]
    assert labels == ["One HTML page", "Markdown", "CSV of methods", "CSV of answers", "JSON"]
    (entry,) = list_experiments(own_home)
    found = load_summary(entry.folder)
    reports = {f: render_report(found, f, Questions.of(entry.folder, found.record)).decode() for f in FILES}
    asked = json.loads(reports["json"])["questions"]
    assert [len(question["answers"]) for question in asked] == [2, 2]
    for question in asked:
        assert escape(question["question"]) in reports["html"]
    assert reports["answers.csv"].count("read-agent") == 0
    assert reports["answers.csv"].count("gist-mem:") == 2


def test_a_hostile_dataset_is_shown_as_its_letters_and_a_broken_one_is_told(app, tmp_path):
    hostile = "<img src=x onerror=alert(1)> **bold** $$x$$ [l](http://x)"
    rows = [{"question": hostile, "options": [hostile, "a dog"], "answer": 0}]
    text = "\n\n".join(f"{hostile} The keeper lit lamp number {n} in the fog that night." for n in range(12))
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"title": hostile, "text": text, "questions": rows}), encoding="utf-8")
    at = ask_file(app, path)
    assert not at.exception
    assert any(t.value == hostile for t in at.text)
    for element in [*at.markdown, *at.caption]:
        assert "onerror" not in element.value
    assert f"1 question about {hostile}, answered by" in shown(at)
    broken = tmp_path / "broken.json"
    broken.write_text('{"questions": [{}]}', encoding="utf-8")
    at.text_input(key="evaluate_path").set_value(str(broken)).run()
    assert not at.exception
    assert "broken.json" in shown(at)


def test_a_dropped_file_is_kept_for_tomorrow(app, own_home):
    rows = [{"question": "What rang?", "options": ["a bell", "a dog"], "answer": 0}]
    data = json.dumps({"title": "Fog", "text": "The bell rang in the fog. " * 40, "questions": rows}).encode()
    at = app(SCREEN)
    at.selectbox(key="evaluate_data").set_value("Upload a file").run()
    assert at.button(key="evaluate_start").disabled
    at.file_uploader(key="evaluate_file").set_value(("../fog.json", data, "application/json")).run()
    assert not at.exception
    found = list((own_home / "evaluations" / "data").glob("*/*.json"))
    assert [path.name for path in found] == ["fog.json"]
    assert "1 question on 1 document" in shown(at)


def test_a_file_without_questions_is_refused_in_a_sentence_of_ours(app):
    picture = ("shop.png", b"\x89PNG\r\n\x1a\n" + bytes(64), "image/png")
    at = app(SCREEN)
    at.selectbox(key="evaluate_data").set_value("Upload a file").run()
    at.file_uploader(key="evaluate_file").set_value(picture).run()
    assert not at.exception
    assert "a dataset is a file of JSON lines" in shown(at)
    at.segmented_control(key="evaluate_part").set_value("Your own questions").run()
    at.file_uploader(key="evaluate_own_file_0").set_value(picture).run()
    assert not at.exception
    assert "not text. Save it as CSV" in shown(at)


def test_a_wrong_answer_is_one_click_from_its_replay(app, tmp_path):
    path = tmp_path / "mine.json"
    rows = [{"question": "Who barked at the moon’s *edge*?", "options": ["a *dog*", "a bell"], "answer": 0}]
    text = "The bell rang at the moon in the fog, and rang again. " * 40
    path.write_text(json.dumps({"title": "Fog", "text": text, "questions": rows}), encoding="utf-8")
    at = ask_file(app, path)
    (wrong,) = [button for button in at.button if button.key.startswith("evaluate_wrong_")]
    assert wrong.label.startswith("Who barked at the moon’s \\*edge\\*\\?")
    before = len(at.expander)
    wrong.click().run()
    assert not at.exception
    assert [step.label for step in at.expander[before:]]
    assert all(step.label.startswith("Step ") for step in at.expander[before:])


def test_methods_of_an_earlier_start_can_be_left_out(app, own_home):
    at = small(app(SCREEN), "full-text")
    at.button(key="evaluate_start").click().run()
    finish(at)
    at.number_input(key="evaluate_limit").set_value(3)
    at.multiselect(key="evaluate_methods").set_value(["bm25"]).run()
    assert "4 answers to come" in shown(at)  # three of the search and the third of full text
    toggle = at.toggle(key="evaluate_finish_others")
    assert "Full text" in toggle.label
    toggle.set_value(False).run()
    assert "3 answers to come" in shown(at)
    at.session_state["evaluate_form"] = True
    at.run()
    at.button(key="evaluate_start").click().run()
    assert not at.session_state["evaluate_form"]  # folded again, by the second start as well
    finish(at)
    (entry,) = list_experiments(own_home)
    assert sorted(row.answers for row in load_summary(entry.folder).rows) == [2, 3]


def test_what_was_finished_stays_when_more_is_asked_for_and_stopped(app, own_home):
    at = small(app(SCREEN), "full-text")
    at.button(key="evaluate_start").click().run()
    finish(at)
    (entry,) = list_experiments(own_home)
    before = load_summary(entry.folder)
    record = read_record(entry.folder)
    more = {**record["experiment"], "runs": 3}
    write_record(entry.folder, {**record, "experiment": more})  # as it is when a second asking is stopped
    results = entry.folder / "results.jsonl"
    first = json.loads(results.read_text(encoding="utf-8").splitlines()[0])
    with results.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**first, "run": 2, "correct": not first["correct"]}) + "\n")
    found = load_summary(entry.folder)
    assert (found.rows, found.answers, found.more) == (before.rows, 2, 3)
    at = app(SCREEN)
    assert "Finished with 2 answers" in shown(at)
    assert at.button(key="evaluate_continue").label == "Continue: 3 answers to come"
    record = read_record(entry.folder)
    write_record(entry.folder, {**record, "model": {**record["model"], "name": "another"}})
    other = app(SCREEN)
    assert "Begun with another: choose it again in Settings" in shown(other)
    assert not [button for button in other.button if button.key == "evaluate_continue"]
    write_record(entry.folder, record)
    at.button(key="evaluate_continue").click().run()
    at = finish(at)
    assert not at.exception
    assert (load_summary(entry.folder).answers, load_summary(entry.folder).more) == (6, 0)


def test_own_questions_are_a_part_of_the_screen(app):
    from pages.parts.evaluate import own_questions
    from pages.parts.shared import book as current
    from pages.parts.shared.cached import get_workspace

    at = app(SCREEN)
    at.segmented_control(key="evaluate_part").set_value("Your own questions").run()
    workspace = get_workspace()
    book = current.current(workspace)
    assert at.button(key="evaluate_start").disabled
    assert "at least one question" in shown(at)
    assert "need a language model" in shown(at)  # why none can be suggested
    asked = own_questions.asked_before(workspace, book)
    assert asked
    rows = [OwnQuestion(asked[0]), OwnQuestion("What rang?", "A bell", ("A dog",)), OwnQuestion("Who?", "Vane")]
    workspace.library.set_own_questions(book.id, rows)
    assert asked[0] not in own_questions.asked_before(workspace, book)
    at = at.run()
    assert not at.exception
    assert "1 question left out" in shown(at)
    assert "shown without a judgement" in shown(at)  # no language model is connected
    assert "2 questions on 1 document" in shown(at)
    at.multiselect(key="evaluate_methods").set_value(["bm25"]).run()
    at.button(key="evaluate_start").click().run()
    at = finish(at)
    assert not at.exception
    assert "all answers are in" in shown(at)


def test_a_label_escapes_only_what_markdown_knows():
    assert as_text("Vane’s *own* [lamp]_x_") == r"Vane’s \*own\* \[lamp\]\_x\_"


def test_an_experiment_that_was_stopped_is_continued_from_its_own_results(app, own_home):
    at = small(app(SCREEN), "gist-mem")
    at.button(key="evaluate_start").click().run()
    finish(at)
    (entry,) = list_experiments(own_home)
    results = entry.folder / "results.jsonl"
    lines = results.read_text(encoding="utf-8").splitlines()
    last = max(i for i, line in enumerate(lines) if "gist-mem" in line)
    results.write_text("".join(f"{line}\n" for i, line in enumerate(lines) if i != last), encoding="utf-8")
    at = app(SCREEN)  # the form does not say what this experiment was
    again = at.button(key="evaluate_continue")
    assert again.label == "Continue: 1 answer to come"
    again.click().run()
    at = finish(at)
    assert not at.exception
    assert load_summary(entry.folder).answers == 2
    assert not [button for button in at.button if button.key == "evaluate_continue"]
    shutil.copytree(entry.folder, entry.folder.with_name("twin"))  # begun in the same minute
    at.run()
    assert len(set(at.selectbox(key="evaluate_experiment").options)) == 2
    shutil.rmtree(entry.folder.with_name("twin"))
    at.selectbox(key="evaluate_experiment").set_value(entry.name).run()
    at.button(key=f"evaluate_delete_{entry.name}").click().run()
    assert list_experiments(own_home) == []
    at.button(key="evaluate_undo").click().run()
    assert at.selectbox(key="evaluate_experiment").value == entry.name
    assert load_summary(entry.folder).answers == 2
    at.button(key=f"evaluate_delete_{entry.name}").click().run()
    assert not at.exception
    assert list_experiments(own_home) == []
    assert "No experiment of yours yet" in [heading.value for heading in at.subheader]
    entry.folder.mkdir()  # begun again
    at.run()
    assert not [button for button in at.button if button.key == "evaluate_undo"]


def test_stopped_half_way_shows_what_is_there_and_goes_on(app, fake_server, tmp_path):
    """Held at the last look-up and stopped there; what was answered is not asked again."""
    from pages.parts.shared.cached import get_workspace

    path, go, held = tmp_path / "dev.jsonl", threading.Event(), threading.Event()
    gist, shorten = threading.Event(), threading.Event()
    rows = [story(1, ["What rang first?", "What rang next?"]), story(2, ["Held back?"])]
    path.write_text("\n".join(rows), encoding="utf-8")

    def before(_: int, text: str) -> Reply | None:
        if "Held back?" in text and "Do not answer it yet" in text and not go.is_set():  # one more call is to come
            held.set()
            go.wait(90)
        if "Held back?" not in text and "Story" not in text:
            gist.set()
            shorten.wait(90)
        return None

    fake_server.before = before
    at = app(SCREEN)
    at.selectbox(key="evaluate_data").set_value("A file or folder on this computer").run()
    at.text_input(key="evaluate_path").set_value(str(path)).run()
    assert "3 questions on 2 documents, 12 answers to come" in shown(at)
    at.button(key="evaluate_start").click().run()
    assert gist.wait(60)
    making = re.compile(r"Step 1 of 2: making gists · 0 of [\d,]+ words · .* so far")
    for _ in range(100):  # the job tells of a document from a thread of its own
        at.run()
        if making.match(at.get("progress")[0].proto.text):
            break
    assert making.match(at.get("progress")[0].proto.text)
    shorten.set()
    assert held.wait(60)
    (job,) = get_workspace().jobs.running()
    for _ in range(600):
        if job.snapshot.done == 11:
            break
        job.join(0.1)
    at.run()
    assert [bar.proto.text for bar in at.get("progress")] == ["11 of 12 answers · 2 documents read"]
    at.button(key="evaluate_stop").click().run()
    go.set()
    at = finish(at)
    assert "Not finished: 11 of 12 answers are in." in "".join(line.value for line in at.markdown) + shown(at)
    assert not [button for button in at.button if button.key == "evaluate_stop"]
    again = at.button(key="evaluate_start")
    assert again.label == "Continue"
    asked_before = len(fake_server.requests)
    again.click().run()
    at = finish(at)
    assert "all answers are in" in shown(at)
    more = [request.text for request in fake_server.requests[asked_before:]]
    assert more
    assert not any("What rang" in text for text in more)


def story(number, questions):
    said = "The keeper of light {n} rang bell {k} in the fog and wrote it down with care that night."
    text = "\n\n".join(" ".join(said.format(n=number, k=k) for k in range(p, p + 3)) for p in range(16))
    options = ["a lamp", "a bell", "a boat", "a dog"]
    asked = [{"question": q, "options": options, "gold_label": 1 + at % 4} for at, q in enumerate(questions)]
    return json.dumps({"title": f"Story {number}", "article": text, "questions": asked})
