"""Errors of model servers: what is made of each published body, over real HTTP, and of the parts of a body.

fault_bodies.json holds error bodies that providers really sent, by provider and kind. Messages are trimmed to the part
that decides; account names are left out. null: no published body was found. A status of 200 is an error that came in
the body of a reply that had begun well. Bodies whose source is a documentation page are put together from the fields it
names. Mistral's status for a wrong model is not in its source. ``window``: the limit that the body names, in tokens;
``wait``: the seconds it asks for; ``daily``: a day's quota. Ollama cuts a long prompt instead of refusing it: see
"prompt cut" in faults.FAULTS.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.models.server import faults, retry
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.prompts import Prompt
from tests.fakes.server import FakeServer, Reply, error

KINDS: dict[str, type[errors.ModelError]] = {
    "rate limit": errors.RateLimitError,
    "no credit": errors.NoCreditError,
    "bad key": errors.KeyRefusedError,
    "no model": errors.UnknownModelError,
    "too long": errors.WindowError,
    "refused": errors.RefusedError,
    "overloaded": errors.ServerFailedError,
}
BODIES = json.loads(Path(__file__).with_name("fault_bodies.json").read_text(encoding="utf-8"))
FOUND = [(who, kind, body) for who, kinds in BODIES.items() for kind, body in kinds.items() if body]
RETRYABLE = {"rate limit", "refused", "overloaded"}  # all others stop the work at once


def raised(reply: Reply) -> errors.ModelError:
    """What a model raises when its server answers a call with ``reply``."""
    with FakeServer(lambda _: reply) as server:
        model = OpenAIServer(server.url, "fake-model", window=500)  # so that a larger limit in a body is not tried
        with pytest.raises(errors.ModelError) as caught:
            model.complete(Prompt("answer", "What did Mrs. Oake win?", reply_words=20), CancelToken())
        model.close()
    return caught.value


def test_every_provider_has_a_row_for_every_kind():
    assert all(set(KINDS) <= set(kinds) for kinds in BODIES.values())
    assert len(FOUND) > 50


@pytest.mark.parametrize(("who", "kind", "body"), FOUND, ids=[f"{who}: {kind}" for who, kind, _ in FOUND])
def test_a_published_body(who: str, kind: str, body: dict):
    kind = kind.partition(",")[0]
    found = raised(Reply(status=body["status"], body=json.dumps(body["json"]), headers=body.get("headers", {})))
    assert type(found) is KINDS[kind]
    assert (type(found) in retry.RETRIES) is (kind in RETRYABLE)
    assert getattr(found, "retry_after", None) == (pytest.approx(body["wait"]) if "wait" in body else None)
    assert ("daily quota" in str(found)) is body.get("daily", False)
    if isinstance(found, errors.WindowError):
        assert found.window == body.get("window")


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


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please try again in 9m38.016s. Need more tokens?", 578.016),  # continuedev/continue, issue 10920
        ("Please try again in 174ms.", 0.174),  # continuedev/continue, issue 11472
        ("Please retry in 447.165279ms.", 0.447165279),  # continuedev/continue, issue 9996
        ("Try again in 30 seconds.", 30),  # Azure-Samples/azure-search-openai-demo, issue 177
        ("try again in 1h2m", 3720),
        ("try again later", None),
    ],
)
def test_the_wait_named_in_a_message(words, seconds):
    assert faults.retry_after({}, words) == (pytest.approx(seconds) if seconds else None)


def test_the_wait_named_in_a_header_comes_first():
    assert faults.retry_after({"retry-after-ms": "1500"}, "try again in 9s") == 1.5
    assert faults.retry_after({"retry-after": "7"}, "try again in 9s") == 7
    assert faults.retry_after({"retry-after": "soon"}, "try again in 9s") == 9
