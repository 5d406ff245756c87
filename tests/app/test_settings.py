"""The Settings screen: a model is connected, tested, limited, and left again; a key shows itself nowhere."""

from __future__ import annotations

import json
import stat
from dataclasses import replace

import pytest

from pages.parts.settings import model_tab, other_tabs
from readagent_core.errors import SettingsError
from readagent_core.models import connection
from readagent_core.models.base import Completion
from readagent_core.models.cache.model import store_reply
from readagent_core.models.cache.store import CacheState, ReplyCache
from readagent_core.models.server import probe
from readagent_core.models.server.probe import Check, Found
from readagent_core.settings import Secret, load_settings
from readagent_core.workspace import Workspace, connecting, key_places
from tests.fakes.keyrings import InMemory, Locked
from tests.fakes.server import FakeServer, Reply, error

KEY = "sk-marker-0123456789abcdef"


@pytest.fixture(autouse=True)
def nothing_left_open():
    yield
    connection.close_all()


@pytest.fixture(autouse=True)
def no_servers_of_the_machine(monkeypatch):
    """The machine the tests run on may have an Ollama of its own."""
    monkeypatch.setattr(probe, "find_local", list)


@pytest.fixture
def workspace(own_home):
    made = Workspace(load_settings())
    yield made
    made.library.close()


def texts(at) -> str:
    shown = [*at.markdown, *at.caption, *at.text, *at.subheader, *at.title]
    return "\n".join(str(element.value) for element in shown)


# --- what is decided ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("localhost:1234", "http://localhost:1234/v1"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1"),
        ("api.example.org", "https://api.example.org/v1"),
        ("192.168.0.7:8000", "http://192.168.0.7:8000/v1"),
        ("https://openrouter.ai/api/v1/chat/completions", "https://openrouter.ai/api/v1"),
        ("  https://x.org/v1beta/openai ", "https://x.org/v1beta/openai"),
    ],
)
def test_an_address_is_made_whole(typed, address):
    assert connecting.complete_address(typed) == address


@pytest.mark.parametrize("typed", ["", "   ", "two words", "ftp://x/v1", "http://", "file:///etc/passwd"])
def test_what_is_no_address_is_told(typed):
    with pytest.raises(SettingsError):
        connecting.complete_address(typed)


def test_a_key_is_kept_only_when_asked(workspace, own_home):
    use = {"address": "https://x.org/v1", "model": "m"}
    connecting.use_model(workspace, **use, key=Secret(KEY))
    assert workspace.settings.api_key.reveal() == KEY
    assert KEY not in (own_home / "settings.json").read_text(encoding="utf-8")
    assert load_settings().api_key == Secret()
    connecting.use_model(workspace, **use, key=Secret(KEY), place=key_places.FILE)
    assert load_settings().api_key.reveal() == KEY
    assert stat.S_IMODE((own_home / "settings.json").stat().st_mode) == 0o600
    connecting.use_built_in(workspace)
    assert KEY not in (own_home / "settings.json").read_text(encoding="utf-8")
    assert not workspace.model.is_language_model


def test_a_key_in_memory_outlives_a_change_of_other_settings(workspace):
    connecting.use_model(workspace, address="https://x.org/v1", model="m", key=Secret(KEY))
    connecting.change_settings(workspace, {"budget_month": 3.0})
    assert workspace.settings.api_key.reveal() == KEY
    assert workspace.settings.model == "m"
    assert workspace.settings.saved["budget_month"] == 3.0


def test_what_the_environment_says_comes_back_and_that_is_told(workspace, monkeypatch):
    monkeypatch.setenv("READAGENT_MODEL", "theirs")
    monkeypatch.setenv("READAGENT_BASE_URL", "http://theirs/v1")
    connecting.use_model(workspace, address="http://mine/v1", model="mine", key=Secret())
    assert workspace.settings.model == "mine"
    assert "environment names a model too" in connecting.override_notice(workspace.settings)
    connecting.use_built_in(workspace)
    assert not workspace.settings.connected
    assert connecting.override_notice(workspace.settings)


def test_the_tests_verdict():
    good, weak, failed = (Check("x", state) for state in ("good", "weak", "failed"))
    outcomes = [
        connecting.VERDICTS[connecting.outcome_of(checks)] for checks in ((good, good), (good, weak), (weak, failed))
    ]
    assert outcomes == ["The test passed", "The test passed, with limits", "This model will struggle"]


def test_the_cards_say_what_was_found():
    ollama, studio = probe.PRESETS[:2]
    found = [Found(ollama, "http://localhost:11434/v1", ("a", "b", "c")), Found(studio, "http://localhost:1234/v1", ())]
    assert model_tab.captions(found)[0] == "Free and private. Two servers found."
    assert model_tab.captions([])[0] == "Free and private. No server found yet."
    assert [model_tab.model_count(f) for f in found] == [
        "localhost:11434 · 3 models",
        "localhost:1234 · no model loaded",
    ]


def test_the_stores_line():
    assert other_tabs.cache_line(CacheState(0, 0, 1)) == "No replies are stored yet."
    line = other_tabs.cache_line(CacheState(1200, 3_500_000, 512 * 2**20))
    assert line == "1,200 replies, 3.3 MB of at most 512.0 MB."


# --- the screen -----------------------------------------------------------------------------------


def test_a_newcomer_sees_the_built_in_reader_chosen(app):
    at = app("pages/settings.py")
    assert not at.exception
    assert at.radio(key="model_kind").value == "builtin"
    assert [tab.label for tab in at.tabs] == ["Model", "Reading", "Appearance", "Storage"]


def test_a_model_found_here_is_connected_in_two_clicks(app, monkeypatch, own_home):
    with FakeServer(kind="ollama", models=("llama3.1:8b", "qwen3:4b")) as server:
        here = replace(probe.PRESETS[0], address=server.url)
        monkeypatch.setattr(probe, "find_local", lambda: [Found(here, server.url, ("llama3.1:8b", "qwen3:4b"))])
        at = app("pages/settings.py")
        at.radio(key="model_kind").set_value("local").run()
        assert at.selectbox(key="local_ollama_model_2").value == "llama3.1:8b"
        at.button(key="local_ollama_use").click().run()
        assert not at.exception
        assert "In use now: llama3.1:8b" in texts(at)
        at.button(key="use_builtin").click().run()
        assert "In use now" not in texts(at)
    assert json.loads((own_home / "settings.json").read_text(encoding="utf-8"))["base_url"] == server.url


def test_a_key_is_taken_and_never_put_back(app, own_home):
    with FakeServer(key=KEY, models=("gpt-test",)) as server:
        at = app("pages/settings.py")
        at.radio(key="model_kind").set_value("other").run()
        at.selectbox(key="other_server").set_value("own").run()
        at.text_input(key="other_own_address").set_value(server.url).run()
        at.text_input(key="other_own_key_0").set_value(KEY).run()
        assert at.selectbox(key="other_own_model_1").value == "gpt-test"
        at.button(key="other_own_use").click().run()
        assert not at.exception
        assert at.text_input(key="other_own_key_1").value == ""
        assert KEY not in texts(at)
        assert at.text_input(key="other_own_key_1").placeholder == "••••cdef is in use"
    assert KEY not in (own_home / "settings.json").read_text(encoding="utf-8")


def connected_with(at, server, place):
    at.radio(key="model_kind").set_value("other").run()
    at.selectbox(key="other_server").set_value("own").run()
    at.text_input(key="other_own_address").set_value(server.url).run()
    at.text_input(key="other_own_key_0").set_value(KEY).run()
    at.radio(key="other_own_keep").set_value(place).run()
    at.button(key="other_own_use").click().run()
    assert not at.exception


def test_without_a_keyring_two_places_are_offered(app, own_home):
    with FakeServer(key=KEY, models=("gpt-test",)) as server:
        at = app("pages/settings.py")
        connected_with(at, server, key_places.FILE)
        place = at.radio(key="other_own_keep")
        assert place.options == ["Only until the app stops", "In a file only you can read"]
        assert "The file is not encrypted." in texts(at)
    assert load_settings().origin["api_key"] == "settings"


def test_with_a_keyring_the_key_is_kept_there_moved_and_removed(app, own_home, in_keyring):
    ring = in_keyring(InMemory())
    with FakeServer(key=KEY, models=("gpt-test",)) as server:
        at = app("pages/settings.py")
        connected_with(at, server, key_places.KEYRING)
        place = at.radio(key="other_own_keep")
        assert place.options == ["Only until the app stops", "In the system's keyring", "In a file only you can read"]
        assert place.value == key_places.KEYRING
        assert "Your system encrypts it" in texts(at)
        assert at.text_input(key="other_own_key_1").placeholder == "••••cdef is in use"
        assert KEY not in texts(at)
        assert list(ring.kept.values()) == [KEY]
        place.set_value(key_places.FILE).run()
        at.button(key="other_own_use").click().run()
        assert (ring.kept, load_settings().origin["api_key"]) == ({}, "settings")
        at.radio(key="other_own_keep").set_value(key_places.KEYRING).run()
        at.button(key="other_own_use").click().run()
        assert KEY not in (own_home / "settings.json").read_text(encoding="utf-8")
        assert list(ring.kept.values()) == [KEY]
        with FakeServer(models=("gpt-test",)) as other:
            at.text_input(key="other_own_address").set_value(other.url).run()
            assert at.text_input(key="other_own_key_3").placeholder == "Not needed here"
            assert other.requests
            assert not any(KEY in str(request.headers) for request in other.requests)
        at.button(key="use_builtin").click().run()
        assert not at.exception
        assert ring.kept == {}


def test_over_a_locked_keyring_the_screen_says_so_and_asks_for_the_key(app, own_home, in_keyring, workspace):
    ring = in_keyring(Locked())
    ring.open = True
    with FakeServer(key=KEY, models=("gpt-test",)) as server:
        connecting.use_model(workspace, address=server.url, model="gpt-test", key=Secret(KEY), place=key_places.KEYRING)
        ring.open = False
        in_keyring(ring)
        workspace.library.set_preference("connect note hidden", True)
        assert "The system's keyring is locked" in texts(app())  # the note at the top of the library, hidden or not
        at = app("pages/settings.py")
        assert not at.exception
        assert "The system's keyring is locked" in texts(at)
        assert at.radio(key="model_kind").value == "other"
        assert at.text_input(key="other_own_key_0").placeholder == "Paste it here"
        assert at.selectbox(key="other_own_model_1").value == "gpt-test"
        assert server.requests == []  # without its key the server is not asked
        ring.open = True
        at.text_input(key="other_own_key_0").set_value(KEY).run()
        at.button(key="other_own_use").click().run()
        assert not at.exception
        assert "In use now: gpt-test" in texts(at)
        assert "keyring is locked" not in texts(at)


def test_a_model_whose_key_is_locked_in_can_be_left(app, in_keyring, workspace):
    ring = in_keyring(Locked())
    ring.open = True
    connecting.use_model(workspace, address="https://x.org/v1", model="m", key=Secret(KEY), place=key_places.KEYRING)
    ring.open = False
    in_keyring(ring)
    at = app("pages/settings.py")
    at.button(key="use_builtin").click().run()
    assert not at.exception
    assert "A key is still in it" in texts(at)
    assert not load_settings().key_trouble
    assert "does not give the key" not in texts(at.run())


def test_a_key_of_the_environment_goes_to_no_address_typed_over_the_makers(app, monkeypatch):
    asked = []
    monkeypatch.setattr(probe, "list_models", lambda address, key: asked.append((address, key)) or probe.Listing())
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    at = app("pages/settings.py")
    at.radio(key="model_kind").set_value("openai").run()
    assert at.text_input(key="openai_key_0").placeholder == "••••cdef is in use"
    at.text_input(key="openai_address").set_value("http://127.0.0.1:9/v1").run()
    assert at.text_input(key="openai_key_0").placeholder == "Paste it here"
    assert asked == [(model_tab.OPENAI.address, Secret(KEY))]


def test_a_wrong_key_is_told_where_it_was_typed(app):
    with FakeServer(key="right") as server:
        at = app("pages/settings.py")
        at.radio(key="model_kind").set_value("other").run()
        at.selectbox(key="other_server").set_value("own").run()
        at.text_input(key="other_own_address").set_value(server.url).run()
        at.text_input(key="other_own_key_0").set_value(KEY).run()
        assert "did not accept the key" in texts(at)
        assert KEY not in texts(at)


def test_nothing_chosen_is_told_and_nothing_is_changed(app, own_home):
    at = app("pages/settings.py")
    at.radio(key="model_kind").set_value("other").run()
    at.selectbox(key="other_server").set_value("own").run()
    at.button(key="other_own_use").click().run()
    assert "Enter the address of the server" in texts(at)
    assert not (own_home / "settings.json").exists()


def test_the_budget_is_kept_as_it_is_typed(app, own_home):
    at = app("pages/settings.py")
    at.number_input(key="budget_month").set_value(10.0).run()
    assert not at.exception
    assert json.loads((own_home / "settings.json").read_text(encoding="utf-8")) == {"budget_month": 10.0}
    assert "of \\$10.00" in texts(at)


def test_the_test_runs_as_a_job_and_is_shown(app, workspace, monkeypatch):
    monkeypatch.setattr("pages.parts.shared.cached.Workspace", lambda settings, **_: workspace)
    with FakeServer(kind="vllm", window=8192) as server:
        job = connecting.start_model_test(workspace, address=server.url, model="fake-model", key=Secret())
        assert job.join(20).state == "done"
    at = app("pages/settings.py")
    assert "The test passed" in texts(at)
    assert "5 of 5" in texts(at)
    assert "8,192 tokens" in texts(at)


def test_a_test_that_cannot_begin_says_why(app, workspace, monkeypatch):
    monkeypatch.setattr("pages.parts.shared.cached.Workspace", lambda settings, **_: workspace)
    with FakeServer(lambda text: Reply(status=402, error=error("pay"))) as server:
        connecting.start_model_test(workspace, address=server.url, model="fake-model", key=Secret()).join(20)
    at = app("pages/settings.py")
    assert "out of credit" in texts(at)


def test_replies_are_forgotten_when_asked(app, own_home):
    cache = ReplyCache(own_home)
    store_reply(cache, "a", Completion("good"))
    cache.close()
    at = app("pages/settings.py")
    assert "1 reply," in texts(at)
    at.button(key="clear_cache").click().run()
    assert "No replies are stored yet." in texts(at)
