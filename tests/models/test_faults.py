"""Errors of model servers: what is made of the parts of a body. ``test_wire`` has published bodies."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.models.server import faults
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.prompts import Prompt
from tests.fakes.server import FakeServer, Reply, error


def raised(reply: Reply) -> errors.ModelError:
    """What a model raises when its server answers a call with ``reply``."""
    with FakeServer(lambda _: reply) as server:
        model = OpenAIServer(server.url, "fake-model", window=500)  # so that a larger limit in a body is not tried
        with pytest.raises(errors.ModelError) as caught:
            model.complete(Prompt("answer", "What did Mrs. Oake win?", reply_words=20), CancelToken())
        model.close()
    return caught.value


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=500, error=error("See your plan and billing details.")), errors.ServerFailedError),
        (Reply(status=400, error=error("Unknown parameter: 'safety_identifier'.")), errors.BadRequestError),
        (Reply(status=429, error=error("Add billing to raise your limit.")), errors.RateLimitError),
        (Reply(status=429, body="too many requests, see billing"), errors.RateLimitError),
        (Reply(status=400, body='{"error": {"message": null, "code": [1], "details": "x"}}'), errors.BadRequestError),
        (Reply(status=400, body="[" * 100_000), errors.BadRequestError),
        (Reply(status=404, error=error("File Not Found")), errors.BadRequestError),
        (Reply(status=403, error=error("Country not supported")), errors.KeyRefusedError),
    ],
)
def test_a_word_alone_does_not_decide(reply, kind):
    assert type(raised(reply)) is kind


@pytest.mark.parametrize("status", [400, 403, 405, 406, 501])
def test_a_web_page_in_place_of_an_answer_is_told(status):
    assert "web page came" in str(raised(Reply(status=status, body="<!doctype html><html><body>No</body></html>")))


@pytest.mark.parametrize(
    ("address", "remedy"),
    [
        *(
            (f"http://{name}:1234/v1", "Start the server")
            for name in ("localhost", "192.168.0.7", "nas", "nas.lan", "[::1]")
        ),
        *((f"https://{name}/v1", "internet connection") for name in ("api.openai.com", "104.18.7.192")),
    ],
)
def test_who_is_not_reached_is_started_if_near_and_else_the_connection_is_checked(address, remedy):
    assert remedy in str(faults.explain(httpx2.ConnectError("no"), where=address, model="m"))


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please try again in 9m38.016s. Need more tokens?", 578.016),  # continuedev/continue, issue 10920
        ("Please try again in 174ms.", 0.174),  # continuedev/continue, issue 11472
        ("Please retry in 447.165279ms.", 0.447165279),  # continuedev/continue, issue 9996
        ("Try again in 30 seconds.", 30),  # Azure-Samples/azure-search-openai-demo, issue 177
        ("try again in 1h2m", 3720),
        ("try again later", None),
        ("try again in 1d", 86_400),
        ("Please wait for about 12 seconds", 12),
        ("Try again in 9999999999 days", None),
    ],
)
def test_the_wait_named_in_a_message(words, seconds):
    assert faults.retry_after({}, words) == (pytest.approx(seconds) if seconds else None)


def test_the_wait_named_in_a_header_comes_first():
    assert faults.retry_after({"retry-after-ms": "1500"}, "try again in 9s") == 1.5
    assert faults.retry_after({"retry-after": "7"}, "try again in 9s") == 7
    assert faults.retry_after({"retry-after": "soon"}, "try again in 9s") == 9


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ({"x-ms-retry-after-ms": "2500", "retry-after": "3"}, 2.5),
        ({"X-RateLimit-Retry-After": "9"}, 9),
        ({"retry_after_seconds": 4}, 4),
        ({"RateLimit": "limit=100, remaining=0, reset=30"}, 30),
        ({"RateLimit": '"default";r=0;t=40, "day";r=5;t=9000'}, 40),
        ({"RateLimit": '"default";r=10;t=40'}, None),
        ({"x-ratelimit-reset-requests": "1m30s", "x-ratelimit-remaining-requests": "3"}, None),
        ({"x-ratelimit-reset-tokens": "1m30s", "x-ratelimit-remaining-tokens": "0", "RateLimit": "remaining=9"}, 90),
        ({"anthropic-ratelimit-tokens-reset": "2015-01-01T00:00:00Z", "anthropic-ratelimit-tokens-remaining": "0"}, 0),
    ],
)
def test_a_wait_in_the_fields_that_servers_have(fields, seconds):
    assert faults.retry_after(fields) == seconds


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("12", 12),
        ("12.5", 12.5),
        (" 7 ", 7),
        ("1m30s", 90),
        ("500ms", 0.5),
        ("-4", 0),
        ("Thu, 01 Jan 2015 00:00:00 GMT", 0),
        ("2015-01-01T00:00:00Z", 0),
        ("2015-01-01T00:00:00", 0),
        *(
            (text, None)
            for text in (
                "inf",
                "nan",
                "1e999",
                "Thu, 01 Jan 99999 00:00:00 GMT",
                "9999-12-31T23:59:59Z",
                "20240101",
                "soon",
                "",
                "5, 6",
                "9" * 400,
            )
        ),
    ],
)
def test_a_wait_of_any_kind(header, seconds):
    found = faults.retry_after({"retry-after": header})
    assert found == seconds


OVERFLOWS = json.loads(Path(__file__).with_name("overflows.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("words", "window"), OVERFLOWS["too long"])
def test_a_prompt_that_is_too_long_in_the_words_of_each_engine(words, window):
    found = faults.from_status(400, json.dumps({"error": {"message": words}}), {}, where="http://h/v1", model="m")
    assert type(found) is errors.WindowError
    assert found.window == window


@pytest.mark.parametrize("words", OVERFLOWS["something else"])
def test_words_that_only_look_like_that(words):
    found = faults.from_status(400, json.dumps({"error": {"message": words}}), {}, where="http://h/v1", model="m")
    assert type(found) is not errors.WindowError


@pytest.mark.parametrize(
    ("seconds", "told"),
    [("20", "20 s"), ("100", "100 s"), ("400", "7 minutes"), ("10800", "3 hours"), ("180000", "2 days")],
)
def test_a_wait_is_told_in_the_unit_that_people_use(seconds: str, told: str) -> None:
    found = faults.from_status(429, "", {"retry-after": seconds}, where="https://x.org/v1", model="m")
    assert f" for {told}" in str(found)


def test_the_way_to_settings_can_be_left_out_there():
    ways = [row.remedy for row in faults.FAULTS.values() if "Settings" in row.remedy]
    assert all(" in Settings" in remedy for remedy in ways)
    assert "Settings" not in errors.OR_TEST.replace(" in Settings", "")
