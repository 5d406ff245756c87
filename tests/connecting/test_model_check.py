"""The test of a model: every prompt of every method, what holds, and the settings that suit."""

from __future__ import annotations

import pytest

from readagent_core import errors
from readagent_core.answering.asking import ask
from readagent_core.answering.base import Question
from readagent_core.cancel import CancelToken
from readagent_core.connecting import connecting
from readagent_core.connecting.checking import check, suitable_options, tasks
from readagent_core.connecting.checking.text import QUESTIONS, story
from readagent_core.gisting.job import start_gisting, usual_plan
from readagent_core.models.builtin.reader import ANSWERS
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.settings import Secret
from readagent_core.settings.saved import ModelOptions, read_file
from tests.fakes.capable import capable
from tests.fakes.sensible import sensible, understood
from tests.fakes.server import FakeServer, Reply
from tests.fakes.weak import WeakModel

BROKEN = WeakModel({"breaks the form": 1.0})


def checked(server: FakeServer, *, quick: bool = False) -> dict[str, check.Check]:
    model = OpenAIServer(server.url, "fake-model")
    try:
        return {found.id: found for found in check.check_model(model, CancelToken(), quick=quick)}
    finally:
        model.close()


def options(checks: dict[str, check.Check]) -> dict[str, object]:
    return suitable_options.suitable_options(checks.values()).to_dict()


def test_every_prompt_of_every_method_is_tested():
    tested = {task for part in check.PARTS for task in part.tasks}
    # the forms of 'explore' and 'answer' with numbers of books; what is asked about saved web pages
    others = {"explore_shelf", "answer_shelf", "gist_snippet", "look_up_snippets", "act"}
    assert tested == set(tasks.TASKS) == set(ANSWERS) - others  # a new prompt needs an entry here too
    for part in check.PARTS:
        assert all(len(tasks.prompts_of(task, most)) == most for task, most in part.tasks.items())


def test_the_quick_form_takes_a_dozen_prompts_and_finds_what_fails():
    with FakeServer(capable, window=32_768) as server:
        found = checked(server, quick=True)
        assert len(server.chats) <= 12
        assert {one.state for one in found.values()} <= {"good", "unknown"}
        assert options(found) == {}
    with FakeServer(lambda _: "I do not know.", window=32_768) as server:
        found = checked(server, quick=True)
        assert options(found)["pagination"] == "uniform"
        test = connecting.ModelTest("m", "http://x/v1", tuple(found.values()), quick=True)
        assert connecting.verdict_of(test) == "6 short tasks failed"


def test_a_slow_model_gets_even_pages_and_answers_from_one_prompt():
    slow, why = suitable_options.suitable_for_speed(ModelOptions(), 15.0, 4.0)
    assert (slow.pagination, slow.method, len(why)) == ("uniform", "recall-once", 2)
    assert suitable_options.suitable_for_speed(ModelOptions(), 400.0, 40.0) == (ModelOptions(), [])
    assert suitable_options.suitable_for_speed(ModelOptions(), 0.0, 0.0) == (ModelOptions(), [])
    told = check._speed(check.Speed(1500, 100.0, 400, 100.0))
    assert (told.state, told.figure) == ("weak", "15 tokens a second read, 4 written")
    assert "3 hours" in told.advice


def test_the_answers_known_are_on_their_pages():
    memory = story()
    for known in QUESTIONS:
        words = known.options[known.right].split(",")[0]
        assert words in memory.page_text(known.page)
        assert words not in memory.gist_text  # without looking up it cannot be known


def test_a_model_that_can_do_the_job():
    with FakeServer(capable, kind="vllm", window=32_768) as server:
        checks = checked(server)
        sent = [chat.text for chat in server.chats]
    assert {(found.state, found.advice) for found in checks.values()} == {("good", ""), ("unknown", "")}
    assert (checks["pause"].figure, checks["pause"].at_once) == ("3 of 3", 3)
    assert checks["window"].figure == "32,768 tokens"
    assert checks["streams"].figure.startswith("first word ")
    assert "form" not in checks
    assert options(checks) == {}
    assert len(sent) == len(set(sent)) == 46
    assert not any("Your last reply" in text for text in sent)


def test_a_model_that_chats_instead():
    with FakeServer(lambda text: "What a lovely story!", refuses=frozenset({"stream"}), kind="ollama") as server:
        checks = checked(server)
    parts = {part.id for part in check.PARTS} | {"refuse", "reason"}
    assert {checks[name].state for name in parts} == {"failed"}
    assert (checks["streams"].state, checks["form"].state) == ("weak", "weak")
    assert "by rule" in checks["pause"].advice
    assert "OLLAMA_CONTEXT_LENGTH" in checks["window"].advice
    assert options(checks) == {
        "pagination": "uniform",
        "small_pages": True,
        "method": "recall-once",
        "notes_apart": True,
        "plain_answers": True,
    }


@pytest.mark.parametrize(
    ("seen", "figure"),
    [
        ({"tokens_in": 2000, "tokens_reused": 1900}, "95% of it"),
        ({"tokens_in": 2000, "tokens_reused": 0}, "not seen"),
        ({"delay": 0.7}, "first word "),  # of the first long prompt only, as a server without such a count behaves
    ],
)
def test_a_server_that_reuses_the_beginning_of_a_prompt(seen, figure):
    def before(n: int, text: str) -> Reply | None:
        first = text.endswith("the word: one.")
        if not text.endswith(("the word: one.", "the word: two.")) or ("delay" in seen and not first):
            return None
        return Reply("OK.", **seen)

    with FakeServer(capable, before=before) as server:
        checks = checked(server)
    assert checks["reuse"].figure.startswith(figure)
    assert options(checks) == ({} if figure == "not seen" else {"opened_after": True})


def test_a_form_obeyed_after_asking_again():
    def reply(text: str) -> str:
        again = "Your last reply" in text
        asked = understood(text)
        return "Hm." if asked and asked.task in ("paginate", "choose") and not again else capable(text)

    with FakeServer(reply) as server:
        pause = checked(server)["pause"]
    assert (pause.at_once, pause.again, pause.never, pause.state) == (0, 3, 0, "weak")
    assert pause.figure == "0 of 3"
    assert pause.advice.startswith("3 more when asked again. ")


def test_what_a_model_cannot_do_is_told():
    def reply(text: str) -> str:
        said = capable(text).replace("The text does not", "She was called Marta, and the text does")
        return said.replace('"', '" The zeppelin ')

    with FakeServer(reply) as server:
        checks = checked(server)
    for found in (checks["quote"], checks["refuse"]):
        assert found.state != "good"
        assert found.never
        assert found.advice


def test_pages_one_at_a_time_for_a_model_that_cannot_name_several():
    def reply(text: str) -> str:
        asked = understood(text)
        return "Hm." if asked and asked.task in ("look_up", "look_up_ranked") else capable(text)

    with FakeServer(reply) as server:
        assert options(checked(server)) == {"method": "read-agent-s"}


def test_reasons_first_for_a_model_that_is_right_more_often_so():
    def reply(text: str) -> str:
        asked = understood(text)
        guesses = asked and asked.task == "choose" and "First compare" not in text and "none" not in text
        return "Answer: (A)" if guesses else capable(text)

    with FakeServer(reply) as server:
        assert options(checked(server)) == {"reason_first": True}


@pytest.mark.parametrize("enforces", [True, False])
def test_a_schema_where_the_form_breaks_without_one(enforces):
    with FakeServer(BROKEN, enforces=enforces) as server:
        checks = checked(server)
    assert checks["form"].state == ("good" if enforces else "weak")
    assert options(checks).get("json_replies", False) is enforces
    assert ("pagination" in options(checks)) is not enforces


def test_a_model_that_only_guesses_can_still_be_used():
    good, guesses = check.Check("quote", "Q", check.GOOD), check.Check("refuse", "R", check.FAILED)
    assert connecting.outcome_of((good, guesses)) == "weak"
    assert connecting.outcome_of((good, check.Check("reuse", "R", check.UNKNOWN))) == "good"
    assert connecting.outcome_of((guesses, check.Check("quote", "Q", check.FAILED))) == "failed"


def test_a_server_that_ignores_a_schema_does_not_enforce_it():
    def reply(text: str) -> str:
        asked = understood(text)
        return "Hm." if asked and asked.task == "look_up_ranked" else capable(text)

    with FakeServer(reply) as server:
        checks = checked(server)
    assert (checks["form"].state, checks["form"].at_once) == ("weak", 0)
    assert options(checks) == {}


def test_one_fault_in_the_test_counts_as_one():
    with FakeServer(capable, before=lambda n, text: Reply(status=500) if n == 5 else None) as server:
        assert sum(found.again + found.never for found in checked(server).values()) == 1


@pytest.mark.parametrize("answered", [0, 9])
def test_a_model_that_does_not_answer_is_told(answered):
    def refuse(n: int, text: str) -> Reply | None:
        return Reply(status=401) if n >= answered else None

    with FakeServer(capable, before=refuse) as server:
        with pytest.raises(errors.KeyRefusedError):
            checked(server)
        assert len(server.chats) == answered + 1


def test_settings_are_saved_for_this_model_and_used(open_workspace):
    wanted = ModelOptions(True, "uniform", "read-agent-s", True, True, True, True, True, ("why",))
    with FakeServer(sensible, enforces=True, window=32_768) as server:
        workspace = open_workspace(server.url, reason_first=["another"])
        connecting.save_model_options(workspace, "fake-model", wanted)
        assert workspace.settings.saved.options_of("fake-model") == wanted
        assert workspace.settings.saved.options_of("another") == ModelOptions(reason_first=True)
        assert (usual_plan(workspace, 500).max_words, usual_plan(workspace, 500).min_words) == (300, 140)
        book = workspace.library.add(story().document)
        start_gisting(workspace, book.id).join(120)
        assert workspace.library.gistings(book.id)[0].plan.pagination == "uniform"
        exchange, job = ask(workspace, book.id, Question("Who?", ("Ida", "Pell")))
        job.join(120)
        assert (exchange.settings["reason_first"], exchange.settings["plain"]) == (True, True)
        assert exchange.settings["extra"] == {"opened": "after"}
        assert any("response_format" in chat.payload for chat in server.chats)
        connecting.save_model_options(workspace, "fake-model", ModelOptions())
        assert read_file(workspace.home)[0] == {"reason_first": ["another"]}


def test_the_test_runs_as_a_job_without_what_was_saved(open_workspace):
    with FakeServer(capable) as server:
        workspace = open_workspace(server.url, json_replies=["fake-model"])
        job = connecting.start_model_test(workspace, address=server.url, model="fake-model", key=Secret())
        job.join(120)
        assert not any("response_format" in chat.payload for chat in server.chats)
    tested = job.snapshot.value
    assert connecting.outcome_of(tested.checks) == "good"
    assert tested.options.to_dict() == {}
