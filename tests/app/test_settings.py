"""The Settings screen: a model is connected, tested, limited, and left again; a key shows itself nowhere."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import closing
from dataclasses import replace

import pytest

from pages.parts.settings import model_tab, other_tabs, phone
from pages.parts.shared import sharing
from pages.parts.shared.cached import get_workspace, news_of_start, restore_chosen
from readagent_core.cancel import CancelToken
from readagent_core.companion import freedict, looking_up
from readagent_core.connecting import connecting, key_places, local_models
from readagent_core.connecting.checking.check import FAILED, GOOD, WEAK, Check
from readagent_core.dictionaries.shelf import FOLDER
from readagent_core.document import Document, Paragraph
from readagent_core.errors import SettingsError
from readagent_core.incoming.opening import KEEP_ORIGINALS
from readagent_core.library import Library
from readagent_core.library.backup import back_up, restore, unpack
from readagent_core.library.restoring import restore_at_start
from readagent_core.models import connection
from readagent_core.models.base import Completion
from readagent_core.models.cache.model import store_reply
from readagent_core.models.cache.store import CacheState, ReplyCache
from readagent_core.models.local import files
from readagent_core.models.local.server import WHERE
from readagent_core.models.server import probe
from readagent_core.models.server.probe import Found
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret, load_settings
from tests.app.conftest import open_tab
from tests.dictionaries.making import make_stardict
from tests.fakes.capable import capable
from tests.fakes.hub import Hub
from tests.fakes.keyrings import InMemory, Locked
from tests.fakes.server import FakeServer, Reply, error
from tests.fakes.weak import WeakModel
from tests.fakes.web import WebServer, reply
from tests.models.test_local_files import gguf

KEY = "sk-marker-0123456789abcdef"


@pytest.fixture(autouse=True)
def nothing_left_open():
    yield
    connection.close_all()


@pytest.fixture(autouse=True)
def no_servers_of_the_machine(monkeypatch):
    """The machine the tests run on may have an Ollama of its own."""
    monkeypatch.setattr(probe, "find_local", list)


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


def test_what_the_environment_says_comes_back_and_that_is_told(workspace, monkeypatch):
    monkeypatch.setenv("READAGENT_MODEL", "theirs")
    monkeypatch.setenv("READAGENT_BASE_URL", "http://theirs/v1")
    connecting.use_model(workspace, address="http://mine/v1", model="mine", key=Secret())
    assert workspace.settings.model == "mine"
    assert "environment names a model too" in connecting.override_notice(workspace.settings)
    connecting.use_built_in(workspace)
    assert not workspace.settings.connected
    assert connecting.override_notice(workspace.settings)


def test_a_server_without_a_model_is_reported_on_the_screen_and_not_beside_it(app, monkeypatch):
    monkeypatch.setenv("READAGENT_BASE_URL", "http://127.0.0.1:9/v1")
    at = app("pages/settings.py")
    assert any("no model" in caption.value for caption in at.main.caption)
    assert not at.sidebar.caption


def test_an_address_that_is_only_remembered_is_no_trouble_at_the_next_start(app, workspace, own_home):
    connecting.use_model(workspace, address="http://127.0.0.1:9/v1", model="ghost", key=Secret())
    connecting.use_built_in(workspace)
    (own_home / "settings.json").write_bytes((workspace.home / "settings.json").read_bytes())
    at = app("pages/settings.py")
    assert not any("A server is set" in caption.value for caption in at.caption)


def test_verdicts_cards_and_the_stores_line():
    good, weak, failed = (Check("x", "X", state) for state in (GOOD, WEAK, FAILED))
    outcomes = [connecting.outcome_of(checks) for checks in ((good, good), (good, weak), (weak, failed))]
    assert [connecting.VERDICTS[outcome] for outcome in outcomes] == [
        "The test passed", "The test passed, with limits", "This model will struggle",
    ]  # fmt: skip
    ollama, studio = probe.PRESETS[:2]
    found = [Found(ollama, "http://localhost:11434/v1", ("a", "b", "c")), Found(studio, "http://localhost:1234/v1", ())]
    assert model_tab.captions(found, team=False)["local"] == "Free and private. 2 servers found."
    assert model_tab.captions([], team=False)["local"] == "Free and private. No server found yet."
    counts = [model_tab.model_count(f) for f in found]
    assert counts == ["localhost:11434 · 3 models", "localhost:1234 · no model loaded"]
    assert other_tabs.cache_line(CacheState(0, 0, 1)) == "No replies are stored yet."
    line = other_tabs.cache_line(CacheState(1200, 3_500_000, 512 * 2**20))
    assert line == "1,200 replies, 3.3 MB of at most 512.0 MB."


def model_box(at):
    return next(box for box in at.selectbox if box.label == "Model")


def model_of(at):
    return model_box(at).value


def type_model(at, name):
    box = model_box(at)
    box.options.append(name)  # AppTest sends no other
    box.set_value(name).run()


def choose_server(app, address, *, key=KEY, place=""):
    """Choose another server, type its address and a key, and use its model with the key saved in ``place``."""
    at = app("pages/settings.py")
    at.radio(key="model_kind").set_value("other").run()
    at.selectbox(key="other_server").set_value("own").run()
    at.text_input(key="other_own_address").set_value(address).run()
    at.text_input(key="other_own_key_0").set_value(key).run()
    if place:
        use_with_key_in(at, place)
    return at


def use_with_key_in(at, place):
    at.radio(key="other_own_keep").set_value(place).run()
    at.button(key="other_own_use").click().run()
    assert not at.exception


# --- the screen -----------------------------------------------------------------------------------


def test_a_model_found_here_is_connected_in_two_clicks(app, monkeypatch, own_home):
    with FakeServer(kind="ollama", models=("llama3.1:8b", "qwen3:4b")) as server:
        here = replace(probe.PRESETS[0], address=server.url)
        monkeypatch.setattr(probe, "find_local", lambda: [Found(here, server.url, ("llama3.1:8b", "qwen3:4b"))])
        at = app("pages/settings.py")
        assert at.radio(key="model_kind").value == "builtin"  # for a newcomer
        assert [tab.label for tab in at.tabs] == ["Model", "Appearance", "Dictionaries", "Storage", "On my phone"]
        at.radio(key="model_kind").set_value("local").run()
        assert model_of(at) == "llama3.1:8b"
        at.button(key="local_ollama_use").click().run()
        assert not at.exception
        assert "In use now: llama3.1:8b" in texts(at)
        at.button(key="use_builtin").click().run()
        assert "In use now" not in texts(at)
    assert json.loads((own_home / "settings.json").read_text(encoding="utf-8"))["base_url"] == server.url


def test_without_a_model_use_and_test_say_what_is_missing(app):
    at = app("pages/settings.py")
    at.radio(key="model_kind").set_value("openai").run()
    at.button(key="openai_use").click().run()
    said = [caption.value for caption in at.caption]
    assert any("Key missing" in words for words in said)
    assert not any("In use" in words and "material/check" in words for words in said)  # nothing is chosen
    at.radio(key="model_kind").set_value("other").run()
    at.selectbox(key="other_server").set_value("own").run()
    at.text_input(key="other_own_address").set_value("http://127.0.0.1:9/v1").run()
    for key in ("other_own_use", "other_own_test"):
        at.button(key=key).click().run()
        assert any("Choose a model first" in caption.value for caption in at.caption)
        assert "A setting cannot be used" not in texts(at)


def test_the_model_in_use_at_an_own_address_is_named_when_settings_are_opened_again(app, workspace, monkeypatch):
    monkeypatch.setattr("pages.parts.shared.cached.Workspace", lambda settings, **_: workspace)
    connecting.use_model(workspace, address="http://127.0.0.1:9/v1", model="ghost", key=Secret())
    at = app("pages/settings.py")
    assert model_of(at) == "ghost"
    connecting.start_model_test(workspace, address="http://127.0.0.1:9/v1", model="ghost", key=Secret()).join(120)
    at.session_state["screen"] = "Settings"
    at.run()
    assert "The test did not get through" in texts(at)
    assert "The model cannot be reached." in texts(at)
    assert texts(at).count("Start the server, or check its address.") == 2  # of what is in use, and in the form
    assert "What was done so far" not in texts(at)  # nothing was


def test_the_card_of_the_model_that_came_into_use_is_the_chosen_one(app, monkeypatch, tmp_path):
    """Of a file of one's own, tried in a job; a name that is no file says so before it is pressed."""

    def use(workspace, name):
        def work(_):
            connecting.use_model(workspace, address=WHERE, model=name, key=Secret())

        return workspace.jobs.start(local_models.INSTALL_KEY, work, subject=name)

    monkeypatch.setattr(local_models, "start_use", use)
    at = app("pages/settings.py")
    at.radio(key="model_kind").set_value("other").run()
    at.text_input(key="own_model_file").set_value(str(tmp_path / "none.gguf")).run()
    assert "use_own_file" not in {button.key for button in at.button}
    assert any("There is no file of this name" in caption.value for caption in at.caption)
    (tmp_path / "own.gguf").write_bytes(gguf())
    at.text_input(key="own_model_file").set_value(str(tmp_path / "own.gguf")).run()
    at.button(key="use_own_file").click().run()
    get_workspace().jobs.get(local_models.INSTALL_KEY).join(20)
    at.run()
    assert at.radio(key="model_kind").value == "own"
    assert "In use now: own in this app" in texts(at)
    at.radio(key="model_kind").set_value("openai").run()
    at.button(key="use_builtin").click().run()
    assert at.radio(key="model_kind").value == "builtin"


def test_a_tab_is_drawn_when_it_is_opened_first_and_then_stays(app):
    at = app("pages/settings.py")
    at.radio(key="model_kind").set_value("openai").run()
    at.text_input(key="openai_key_0").set_value("typed, not saved").run()
    assert not at.select_slider
    open_tab(at, "Appearance")
    assert at.select_slider(key="look_size").value == 18
    at.select_slider(key="look_size").set_value(24).run()
    assert any("24px" in one.proto.body and "I came to Harrow" in one.proto.body for one in at.get("html"))
    assert "clear_cache" not in {button.key for button in at.button}
    assert at.text_input(key="openai_key_0").value == "typed, not saved"


def test_without_a_keyring_two_places_are_offered_and_the_key_is_not_shown_again(app, own_home):
    with FakeServer(key=KEY, models=("gpt-test",)) as server:
        at = choose_server(app, server.url)
        assert model_of(at) == "gpt-test"
        at.button(key="other_own_use").click().run()
        assert KEY not in texts(at)
        assert at.text_input(key="other_own_key_1").value == ""
        assert at.text_input(key="other_own_key_1").placeholder == "••••cdef is in use"
        at.text_input(key="other_own_address").set_value(server.url.split("/")[2]).run()  # the same, as people type it
        assert at.text_input(key="other_own_key_1").placeholder == "••••cdef is in use"
        assert at.button(key="other_own_use").proto.type == "secondary"
        assert KEY not in (own_home / "settings.json").read_text(encoding="utf-8")
        assert at.radio(key="other_own_keep").options == ["Only until the app stops", "In a file only you can read"]
        use_with_key_in(at, key_places.FILE)
        assert "The file is not encrypted." in texts(at)
    assert load_settings().origin["api_key"] == "settings"


def test_with_a_keyring_the_key_is_kept_there_moved_and_removed(app, own_home, in_keyring):
    ring = in_keyring(InMemory())
    with FakeServer(key=KEY, models=("gpt-test",)) as server, FakeServer(models=("gpt-test",)) as other:
        at = choose_server(app, server.url, place=key_places.KEYRING)
        place = at.radio(key="other_own_keep")
        assert place.options == ["Only until the app stops", "In the system's keyring", "In a file only you can read"]
        assert place.value == key_places.KEYRING
        assert "Your system encrypts it" in texts(at)
        assert at.text_input(key="other_own_key_1").placeholder == "••••cdef is in use"
        assert KEY not in texts(at)
        assert list(ring.kept.values()) == [KEY]
        use_with_key_in(at, key_places.FILE)
        assert (ring.kept, load_settings().origin["api_key"]) == ({}, "settings")
        use_with_key_in(at, key_places.KEYRING)
        assert KEY not in (own_home / "settings.json").read_text(encoding="utf-8")
        assert list(ring.kept.values()) == [KEY]
        at.text_input(key="other_own_address").set_value(other.url).run()
        assert at.text_input(key="other_own_key_3").placeholder == "Only if this server asks for one"
        assert other.requests
        assert not any(KEY in str(request.headers) for request in other.requests)
        at.button(key="use_builtin").click().run()
        assert not at.exception
        assert ring.kept == {}


@pytest.fixture
def locked_key(in_keyring, workspace):
    """``locked_key(address)``: connects gpt-test with a key in a keyring, then returns that keyring, locked."""

    def lock(address):
        ring = in_keyring(Locked())
        ring.open = True
        connecting.use_model(workspace, address=address, model="gpt-test", key=Secret(KEY), place=key_places.KEYRING)
        ring.open = False
        return in_keyring(ring)

    return lock


def test_over_a_locked_keyring_the_screen_says_so_and_asks_for_the_key(app, locked_key, workspace):
    with FakeServer(key=KEY, models=("gpt-test",)) as server:
        ring = locked_key(server.url)
        workspace.library.set_preference("connect note hidden", True)
        assert "The system's keyring is locked" in texts(app())  # the note at the top of the library, hidden or not
        at = app("pages/settings.py")
        assert not at.exception
        assert "The system's keyring is locked" in texts(at)
        assert at.radio(key="model_kind").value == "other"
        assert at.text_input(key="other_own_key_0").placeholder == "Paste it here"
        assert model_of(at) == "gpt-test"
        assert server.requests == []  # without its key the server is not asked
        ring.open = True
        at.text_input(key="other_own_key_0").set_value(KEY).run()
        at.button(key="other_own_use").click().run()
        assert not at.exception
        assert "In use now: gpt-test" in texts(at)
        assert "keyring is locked" not in texts(at)


def test_a_model_whose_key_is_in_a_locked_keyring_can_be_left(app, locked_key):
    locked_key("https://x.org/v1")
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


def test_a_key_goes_to_no_other_server_than_the_one_it_was_typed_for(app):
    with FakeServer(key=KEY, models=("gpt-test",)) as server, FakeServer(models=("gpt-test",)) as other:
        at = choose_server(app, server.url)
        at.text_input(key="other_own_address").set_value(f"{server.url}/").run()
        assert at.text_input(key="other_own_key_0").value == KEY
        for typed in ("no address", other.url):
            at.text_input(key="other_own_address").set_value(typed).run()
        assert at.text_input(key="other_own_key_1").value == ""
        assert f"The key typed for {server.url.split('/')[2]} was removed." in texts(at).replace("\\", "")
        at.button(key="other_own_use").click().run()
        assert "In use now: gpt-test" in texts(at)
        assert other.requests
        assert not any(KEY in str(request.headers) for request in other.requests)


def test_a_changed_address_takes_its_own_model(app):
    with (
        FakeServer(models=("a-1", "a-2")) as first,
        FakeServer(models=("b-1", "b-2")) as second,
        FakeServer(models=("hidden",), lists_models=False) as silent,
    ):
        at = choose_server(app, first.url, key="")
        model_box(at).set_value("a-2").run()
        at.button(key="other_own_use").click().run()
        for typed, model in (
            (second.url, "b-1"), ("http://127.0.0.1:9/v1", None), (first.url, "a-2"), ("no address", None),
            (silent.url, None), (second.url, "b-1"),
        ):  # fmt: skip
            at.text_input(key="other_own_address").set_value(typed).run()
            assert not at.exception
            assert model_of(at) == model, typed
            assert ("Not in use yet" not in texts(at)) == (typed == first.url)
            assert ("does not list its models" in texts(at)) == (typed == silent.url)


def test_a_wrong_key_and_a_missing_address_are_reported_and_nothing_is_changed(app, own_home):
    with FakeServer(key="right") as server:
        at = choose_server(app, server.url)
        assert "did not accept the key" in texts(at)
        assert KEY not in texts(at)
        type_model(at, "gpt-test")  # the server lists none to this key
        at.text_input(key="other_own_key_0").set_value("").run()
        assert "This server asks for a key" in texts(at)
        at.button(key="other_own_use").click().run()
        assert "In use now: the built-in reader" in texts(at)
        assert texts(at).count("Key missing") == 1
        at.button(key="other_own_test").click().run()
        get_workspace().jobs.get(connecting.TEST_KEY).join(60)
        assert texts(at.run()).count("Key missing") == 2  # the test says it too
        assert "did not accept the key" not in texts(at)
    at.text_input(key="other_own_address").set_value("foo bar").run()
    assert "“foo bar” is no address" in texts(at)
    assert "other_own_list_again" not in {button.key for button in at.button}
    at = choose_server(app, "")
    at.button(key="other_own_use").click().run()
    assert "Enter the address of the server" in texts(at)
    assert not (own_home / "settings.json").exists()


def test_a_key_that_was_refused_marks_its_model_at_once_is_kept_until_removed_and_the_way_back_is_told(app):
    with FakeServer(key="right", models=("gpt-test",)) as server:
        at = choose_server(app, server.url)
        type_model(at, "gpt-test")  # the server lists none to this key
        at.button(key="other_own_use").click().run()
        assert not at.exception

        def mark():
            return next(link.proto.label for link in app().get("page_link") if "settings" in link.proto.page)

        assert mark() == "Not working: gpt\\-test"
        assert "In use, but not working: the key was not accepted" in texts(at)
        drawn = [element.value for element in at.main if hasattr(element, "value")]
        order = [next(n for n, one in enumerate(drawn) if said in str(one)) for said in ("In use now:", "No account")]
        assert order == sorted(order)  # what is in use comes before what may be installed
        assert "A key is kept for this server: only until the app stops" in texts(at)
        at.button(key="remove_key").click().run()
        assert not at.exception
        assert "A key is kept" not in texts(at)
        assert mark() == "Not working: gpt\\-test"
        assert texts(at).count("its key is missing") == 2  # at the top, and below the buttons
        assert at.text_input(key="other_own_key_2").placeholder == "Paste it here"  # the server asked for one
        at.text_input(key="other_own_key_2").set_value("right").run()
        at.button(key="other_own_use").click().run()
        at.run()
        assert mark() == "gpt\\-test"
        at.button(key="use_builtin").click().run()
        assert not at.exception
        assert "To come back, choose “Another server” below. Its key was deleted here" in texts(at)
        at.radio(key="model_kind").set_value("other").run()
        at.selectbox(key="other_server").set_value("own").run()
        assert at.text_input(key="other_own_address").value == server.url


def test_no_file_is_used_while_another_model_is_being_tried(app, workspace, monkeypatch, tmp_path):
    monkeypatch.setattr("pages.parts.shared.cached.Workspace", lambda settings, **_: workspace)
    file = tmp_path / "own.gguf"
    file.write_bytes(gguf())
    at = app("pages/settings.py")
    at.text_input(key="own_model_file").set_value(str(file)).run()
    assert not at.button(key="use_own_file").disabled
    ended = threading.Event()
    job = workspace.jobs.start(local_models.INSTALL_KEY, lambda _: ended.wait(60))
    assert at.run().button(key="use_own_file").disabled
    ended.set()
    job.join(60)


def test_the_model_of_this_app_is_tested_where_it_is_chosen(app, monkeypatch, tmp_path):
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    monkeypatch.setenv("READAGENT_BASE_URL", WHERE)
    monkeypatch.setenv("READAGENT_MODEL", str(tmp_path / "own.gguf"))
    at = app("pages/settings.py")
    at.button(key="own_test").click().run()
    get_workspace().jobs.get(connecting.TEST_KEY).join(60)
    at.run()
    assert not at.exception
    assert "The test did not get through" in texts(at)  # it is no model


def test_the_budget_is_kept_as_it_is_typed_and_replies_are_forgotten_when_asked(app, own_home):
    cache = ReplyCache(own_home)
    store_reply(cache, "a", Completion("good"))
    cache.close()
    at = app("pages/settings.py")
    at.number_input(key="budget_month").set_value(10.0).run()
    assert not at.exception
    assert json.loads((own_home / "settings.json").read_text(encoding="utf-8")) == {"budget_month": 10.0}
    assert "of \\$10.00" in texts(at)
    assert "1 reply," in texts(open_tab(at, "Storage"))
    at.button(key="clear_cache").click().run()
    assert "No replies are stored yet." in texts(at)


def test_a_backup_from_settings_is_the_library(app, own_home, tmp_path, monkeypatch):
    """The button makes the file only when it is pressed, and a restored one has every book."""
    offered = {}
    monkeypatch.setattr(other_tabs.st, "download_button", lambda label, data, **_: offered.update({label: data}))
    at = open_tab(app("pages/settings.py"), "Storage")
    assert not at.exception
    (tmp_path / "backup.zip").write_bytes(offered["Download a backup"]())
    (tmp_path / "restored").mkdir()
    restore(tmp_path / "backup.zip", tmp_path / "restored")
    libraries = [Library(own_home), Library(tmp_path / "restored")]
    ids = [{book.id for book in library.books()} for library in libraries]
    assert ids[0]
    assert ids[0] == ids[1]
    for library in libraries:
        library.close()


def test_a_reader_that_is_only_chosen_is_told_as_not_used(app):
    at = app("pages/settings.py")
    assert "Not in use yet" not in texts(at)
    at.radio(key="model_kind").set_value("openai").run()
    assert "Not in use yet: the built-in reader reads and answers" in texts(at)


def test_a_chosen_backup_can_be_called_off(app, own_home, tmp_path, monkeypatch):
    at = app("pages/settings.py")
    back_up(own_home, tmp_path / "backup.zip")
    restore_at_start(own_home, unpack(tmp_path / "backup.zip", own_home))
    open_tab(at, "Storage")
    assert "Restored at the next start" in texts(at)
    assert "End ReadAgent where it was started" in texts(at)
    assert at.button(key="restore").disabled
    with monkeypatch.context() as started_by_the_command:
        started_by_the_command.setenv("READAGENT_RESTART", "can")
        open_tab(at, "Storage")
        assert at.button(key="restart").label == "Restart and restore now"
        assert "End ReadAgent where it was started" not in texts(at)
    open_tab(at, "Storage")
    assert "Another library takes the place of this one" in texts(app("pages/library.py"))
    at.button(key="leave_in_place").click().run()
    assert "Restored at the next start" not in texts(at)
    assert not at.exception


def test_the_start_restores_before_the_library_is_opened(own_home, tmp_path):
    library = Library(own_home)
    back_up(own_home, tmp_path / "backup.zip")
    library.add(Document("Later", (Paragraph("A text."),)), source_name="later.txt")
    restore_at_start(own_home, unpack(tmp_path / "backup.zip", own_home))
    restore_chosen()
    assert "was not restored" in news_of_start()
    library.close()
    restore_chosen()
    assert "was restored" in news_of_start()
    assert not news_of_start()
    library = Library(own_home)
    assert not library.books()
    library.close()


def test_original_files_are_stored_until_that_is_turned_off_and_removed_when_asked(app, own_home):
    library = Library(own_home)
    book = library.add(Document("A book", (Paragraph("Some words."),)))
    library.keep_original(book.id, "a.pdf", b"x" * 300_000)
    at = open_tab(app("pages/settings.py"), "Storage")
    assert f"0.3 MB in {library.originals_folder}" in texts(at)
    at.toggle(key="keep_originals").set_value(False).run()
    assert library.preference(KEEP_ORIGINALS, True) is False
    assert library.original_size(book.id) == 300_000
    at.button(key="remove_originals").click().run()
    assert not at.exception
    assert library.original(book.id) is None
    assert "None are stored." in texts(at)
    library.close()


@pytest.mark.parametrize(
    ("server", "shown"),
    [
        (
            {"replies": capable, "kind": "vllm", "window": 8192},
            ("The test passed", "5 of 5", "8,192 tokens", "usual settings"),
        ),
        ({"replies": lambda text: Reply(status=402, error=error("pay"))}, ("did not get through", "out of credit")),
    ],
)
def test_the_result_of_a_models_test_is_shown(app, workspace, monkeypatch, server, shown):
    monkeypatch.setattr("pages.parts.shared.cached.Workspace", lambda settings, **_: workspace)
    with FakeServer(**server) as running:
        connecting.use_model(workspace, address=running.url, model="fake-model", key=Secret())
        connecting.start_model_test(workspace, address=running.url, model="fake-model", key=Secret()).join(120)
        at = app("pages/settings.py")
        assert [text for text in shown if text not in texts(at)] == []
        at.text_input(key="other_own_key_0").set_value(KEY).run()  # it was not tested with this one
        assert shown[0] not in texts(at)
        at.text_input(key="other_own_key_0").set_value("").run()
        assert shown[0] in texts(at)
    connecting.use_built_in(workspace)
    assert shown[0] not in texts(app("pages/settings.py"))  # of a model that is used no more


def test_a_model_that_cannot_be_reached_is_marked_in_the_bar_until_it_answers(app, workspace, monkeypatch):
    monkeypatch.setattr("pages.parts.shared.cached.Workspace", lambda settings, **_: workspace)

    def said() -> str:
        return next(link.proto.label for link in app().get("page_link") if "settings" in link.proto.page)

    wrong: list[Reply] = []
    with FakeServer(replies=lambda text: wrong[0] if wrong else capable(text)) as running:
        for wrong in ([], [Reply(status=401, error=error("wrong key"))], []):
            connecting.start_model_test(
                workspace, address=running.url, model="fake-model", key=Secret(), quick=True
            ).join(120)
            connecting.use_model(workspace, address=running.url, model="fake-model", key=Secret())
            assert said() == ("Not working: fake\\-model" if wrong else "fake\\-model")
            assert ("When last asked" in texts(app("pages/settings.py"))) == bool(wrong)


def test_learnt_limits_are_shown_reset_found_again_and_forgotten_with_the_models_file(app, workspace, monkeypatch):
    monkeypatch.setattr("pages.parts.shared.cached.Workspace", lambda settings, **_: workspace)
    said = ("maximum context length is 2048 tokens. However, you requested 2500", "max_tokens should be in [1, 512]")
    refusals: list[Reply] = []

    def learn():
        refusals.extend(Reply(status=400, error=error(text)) for text in said)
        workspace.model.without_cache().complete(Prompt("gist", "word " * 800, reply_words=50), CancelToken())

    def refuse(*_):
        return refusals.pop() if refusals else None

    with FakeServer(before=refuse, kind="ollama", num_ctx=8192, file="of Monday") as server:
        connecting.use_model(workspace, address=server.url, model="fake-model", key=Secret())
        learn()
        limiter = workspace.model.limiter
        limiter.allow(8)
        limiter.too_many(0.0)
        at = app("pages/settings.py")
        shown = [f"{name} tokens (the server said so)." for name in ("Context window: 2,048", "Longest reply: 512")]
        calls = f"Calls at once: {limiter.lowered}, slowly more again (the server said so)."
        assert [text for text in (*shown, calls) if text not in texts(at)] == []
        at.button(key="forget_limits").click().run()
        assert not at.exception
        assert "Calls at once" not in texts(at)
        assert limiter.allowed == 8
        assert "tokens (" not in texts(at)
        assert workspace.model.window == 8192  # as the server says it
        learn()
        at.run()
        assert [text for text in shown if text not in texts(at)] == []
        server.traits.file = "of Tuesday"
        workspace.model.server.sizes.to_ask = True  # as after the reply of a model that was not loaded
        assert workspace.model.window == 8192
        at.run()
        assert "tokens (" not in texts(at)
        assert "forget_limits" not in [button.key for button in at.button]


def test_settings_that_suit_a_weak_model_are_offered_and_can_be_changed(app, workspace, monkeypatch):
    monkeypatch.setattr("pages.parts.shared.cached.Workspace", lambda settings, **_: workspace)
    with FakeServer(WeakModel({"breaks the form": 1.0}), enforces=True) as running:
        connecting.use_model(workspace, address=running.url, model="fake-model", key=Secret())
        connecting.start_model_test(workspace, address=running.url, model="fake-model", key=Secret()).join(120)
        at = app("pages/settings.py")
        assert "asked for in JSON" in texts(at)
        at.button(key="use_options").click().run()
        assert workspace.settings.saved.options_of("fake-model").json_replies
        assert "It has the settings that suit it." in texts(at)
        switch = next(toggle for toggle in at.toggle if toggle.label == "Fixed reply forms")
        assert switch.value is True
        switch.set_value(False).run()
        next(toggle for toggle in at.toggle if toggle.label == "Reasons before the letter").set_value(True).run()
        assert not at.exception
        now = workspace.settings.saved.options_of("fake-model")
        assert (now.json_replies, now.reason_first) == (False, True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"prices": [1], "connections": "x", "timeout": 1e9, "cache_days": 1e9}', ["prices", "connections"]),
        ("[]", ["Nothing of it is used"]),
        ("{", ["not valid JSON"]),
    ],
)
def test_a_damaged_settings_file_is_told_on_every_screen_and_harms_none(app, own_home, text, told):
    own_home.mkdir(mode=0o700)
    (own_home / "settings.json").write_text(text)
    for screen in ("pages/settings.py", "pages/ask.py", ""):
        at = app(screen)
        assert not at.exception
    shown = " ".join(caption.value for caption in at.sidebar.caption).replace("\\", "")
    assert [word for word in told if word not in shown] == []


def test_a_model_on_this_computer_that_cannot_be_had_says_why(app, monkeypatch, tmp_path):
    with Hub(b"no model at all") as hub:
        listed = tmp_path / "models.toml"
        listed.write_text(hub.entry())
        monkeypatch.setenv("READAGENT_HUB", hub.url)
        monkeypatch.setenv("READAGENT_MODELS", str(listed))
        at = app("pages/settings.py")
        at.button(key="install_tiny").click().run()
        get_workspace().jobs.get(local_models.INSTALL_KEY).join(20)
        at.run()
        assert any("not a GGUF file" in text.value for text in at.text)
        assert not files.offers(get_workspace().settings)[0].is_installed(get_workspace().home)
        monkeypatch.setattr(local_models, "computer", lambda _: local_models.Computer(4 * 10**9, 10**9, 2, 10**12))
        at.run()
        assert at.button(key="install_tiny").disabled
        assert any("Needs 1.1 GB of memory; 1.0 GB is free" in caption.value for caption in at.caption)
        at.text_input(key="own_model_file").set_value(str(listed)).run()
        assert any("models\\.toml is not a GGUF file" in caption.value for caption in at.caption)
        assert "use_own_file" not in {button.key for button in at.button}
        assert not at.exception


def test_without_a_network_the_phone_tab_says_why_and_what_to_do_and_stays_off(app, monkeypatch):
    with closing(asyncio.new_event_loop()) as loop:
        monkeypatch.setitem(sharing._KEEPER, "sharing", sharing.Sharing(lambda *_: None, loop, ""))
    monkeypatch.setattr(sharing.psutil, "net_if_addrs", dict)  # this computer may be in one
    monkeypatch.setattr(phone, "is_other_device", bool)  # AppTest's cookies are mocks
    at = open_tab(app("pages/settings.py"), "On my phone")
    at.toggle(key="share_on").set_value(True).run()
    said = " ".join(text.value for text in [*at.markdown, *at.text])
    assert "Your other devices cannot reach this computer" in said
    assert "Connect it, by Wi-Fi or cable" in said
    assert not at.toggle(key="share_on").value


def test_a_free_dictionary_is_chosen_from_the_list(app, monkeypatch) -> None:
    with WebServer({}) as server:
        monkeypatch.setenv("READAGENT_DICTIONARIES", server.at("/list"))
        at = open_tab(app("pages/settings.py"), "Dictionaries")
        at.button(key="find_dictionary").click().run()
        get_workspace().jobs.get(freedict.LISTING).join(30)
        assert "Try again later. Or fetch a dictionary" in texts(at.run())
        release = {"platform": "dictd", "URL": server.at("/file"), "size": "9", "checksum": "0" * 128}
        entry = {"name": "eng-deu", "headwords": "7", "releases": [release]}
        server.pages = {"/list": reply(json.dumps([entry]).encode()), "/file": reply(b"a text...")}
        at.button(key="find_dictionary").click().run()
        get_workspace().jobs.get(freedict.LISTING).join(30)
        assert at.run().selectbox[0].options == ["English to German, 7 words, 0.1 MB"]
        make_stardict(get_workspace().home / FOLDER / "freedict-en-de", [("go", b"gehen")])
        assert at.run().selectbox[0].options == ["English to German, 7 words, 0.1 MB, here already"]
        assert at.button(key="get_dictionary").label == "Get it again"
        at.button(key="get_dictionary").click().run()
        get_workspace().jobs.get(freedict.GETTING).join(30)
        assert "not the published file" in texts(at.run())


def test_a_dictionary_that_was_put_there_while_the_app_ran_is_listed(app, tmp_path) -> None:
    at = open_tab(app("pages/settings.py"), "Dictionaries")
    assert "freedict.org" in texts(at)
    make_stardict(get_workspace().home / FOLDER, [("go", b"to move")])
    at.run()
    looking_up.indexing(get_workspace()).join(30)
    assert "A made one &nbsp; :gray[1\u00a0word]" in texts(at.run())
    next(button for button in at.button if button.label == "Remove it").click().run()
    assert "A made one" not in texts(at)
    assert not [*(get_workspace().home / FOLDER).iterdir()]
    get_workspace().library.set_preference(looking_up.FOLDERS, ["/not/there", str(tmp_path)])
    assert "/not/there is not there" in texts(at.run())
    assert f"No dictionary was found in {tmp_path}" in texts(at)
    at.file_uploader(key="dictionary_file_0").upload("broken.zip", b"no archive", "application/zip").run()
    assert "broken.zip is no ZIP or tar archive" in texts(at)
    assert at.file_uploader(key="dictionary_file_1").value is None  # the next file may be chosen
    at.file_uploader(key="dictionary_file_1").upload("made.ifo", b"StarDict's", "text/plain").run()
    assert "made.ifo is one of the files of a dictionary" in texts(at)
    at.button(key="dictionary_folder_0").click().run()
    assert "made.ifo" not in texts(at)  # something else was done since
