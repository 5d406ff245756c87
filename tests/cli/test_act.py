"""``readagent act``: from a saved web page and a task to the next action, with a model on loopback and without one."""

from __future__ import annotations

import pytest

from readagent_core.cancel import CancelToken
from tests.cli.running import run_here, run_json
from tests.fakes.sensible import understood
from tests.fakes.server import FakeServer
from tests.web_pages.pages import knowing, shop

CANCEL = CancelToken()


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "shop.html"
    path.write_text(shop(), encoding="utf-8")
    return path


def test_act_names_the_element_and_what_it_rests_on(saved):
    model = knowing("501", "TYPE", "10203")
    with FakeServer(lambda text: model.complete(understood(text), CANCEL).text) as server:
        found = run_json("act", saved, "--task", "Find lamps", "--previous", "[a]  Home -> CLICK", "--previous", "b",
                         server=server)  # fmt: skip
        assert found["action"] == {"element": "501", "operation": "TYPE", "value": "10203", "reason": ""}
        assert found["answer"] == "Type “10203” into the field “Zip code”."
        assert found["answered_by"] == "fake-model"
        snippets = found["page"]["snippets"]
        assert len(snippets) > 2
        assert all(part["gist"] for part in snippets)
        assert len(server.chats) == found["usage"]["calls"] == len(snippets) + 2
        assert "[a]  Home -> CLICK\nb" in server.chats[-1].text
        asked = len(server.chats)
        out, _ = run_here("act", saved, "--task", "Find lamps", "--look-ups", "0", server=server)
        assert len(server.chats) == asked + 1, "the gists are in the reply cache"
        assert "Element 501, TYPE, value 10203" in out


def test_without_a_model_it_is_said_to_be_word_statistics(saved):
    out, told = run_here("act", saved, "--task", "Search & go")
    assert "Click the button “Search & go”." in out
    assert "word statistics" in told
    out, _ = run_here("act", saved, "--task", "xyzzy")
    assert "No next action was found." in out


def test_wrong_use_is_explained(saved, tmp_path):
    assert "cannot act on web pages" in run_here("act", saved, "--task", "x", "--method", "zoom", code=2)[1]
    assert "cannot be read" in run_here("act", tmp_path / "none.html", "--task", "x", code=1)[1]
    empty = tmp_path / "empty.html"
    empty.write_text("<script>1</script>")
    assert "nothing to see" in run_json("act", empty, "--task", "x", code=1)["error"]["message"]
