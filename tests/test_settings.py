"""Settings: the first place that has a value wins, and a key is never printed.

The system's keyring: whether it can be used, its problems in plain words, read once, waited for a limited time.
"""

from __future__ import annotations

import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import keyring
import pytest
from keyring.backends import chainer, fail, null

from readagent_core import keyrings, settings
from readagent_core.errors import SettingsError
from readagent_core.secret import Secret
from readagent_core.settings.saved import FILE, SavedSettings, read_file
from tests.fakes.keyrings import Failing, InMemory, Locked, Nowhere, Waiting

KEY = "sk-marker-0123456789"
HERE = "https://x.org/v1"
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def memory(in_keyring):
    return in_keyring(InMemory())


def test_no_test_meets_a_keyring_of_the_machine():
    assert isinstance(keyring.get_keyring(), null.Keyring)
    code = "import keyring; print(type(keyring.get_keyring()).__module__)"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "keyring.backends.null"


class Alone(chainer.ChainerBackend):
    backends = ()


class Chain(chainer.ChainerBackend):
    backends = (InMemory(),)


@pytest.mark.parametrize(
    ("backend", "usable"),
    [(InMemory, True), (null.Keyring, False), (fail.Keyring, False), (Nowhere, False), (Alone, False), (Chain, True)],
)
def test_which_keyring_can_be_used(in_keyring, monkeypatch, backend, usable):
    in_keyring(backend())
    assert keyrings.usable() is usable
    monkeypatch.setattr(keyring.core, "_keyring_backend", None)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "there.is.no.Such")  # one that cannot be loaded
    keyrings.usable.cache_clear()
    assert not keyrings.usable()


def test_half_of_a_short_key_is_never_shown():
    assert (Secret("12345678").masked(), Secret("123456789").masked()) == ("••••", "••••6789")


def test_put_read_and_removed_for_each_address_and_home(memory, tmp_path):
    keyrings.put(tmp_path, HERE, Secret(KEY))
    assert list(memory.kept.values()) == [KEY]
    assert keyrings.get(tmp_path, HERE).reveal() == KEY
    keyrings.put(tmp_path, HERE, Secret("another"))
    assert keyrings.get(tmp_path, f"{HERE}/") == Secret("another")
    for home, address in ((tmp_path / "b", HERE), (tmp_path, "https://y.org/v1")):
        with pytest.raises(SettingsError, match="does not hold"):
            keyrings.get(home, address)
        keyrings.remove(home, address)  # nothing there is nothing to do
    assert list(memory.kept.values()) == ["another"]
    keyrings.remove(tmp_path, HERE)
    assert memory.kept == {}
    with pytest.raises(SettingsError, match=r"does not hold the key any more. Enter the key again"):
        keyrings.get(tmp_path, HERE)


def test_a_key_is_read_once(memory, tmp_path):
    memory.kept = {(f"ReadAgent ({tmp_path})", HERE): KEY}  # as the version before wrote it
    for _ in range(5):
        assert keyrings.get(tmp_path, f"{HERE}/").reveal() == KEY
    keyrings.put(tmp_path, HERE, Secret(KEY))  # as it is already
    assert [call[0] for call in memory.asked] == ["get"]


@pytest.mark.parametrize(
    ("backend", "says"),
    [(Locked, "is locked, or did not let"), (Failing, "cannot be used just now"), (null.Keyring, "no keyring")],
)
def test_every_problem_is_named_in_our_words_and_never_with_the_key(in_keyring, tmp_path, backend, says):
    in_keyring(backend())
    for act in (
        lambda: keyrings.get(tmp_path, HERE),
        lambda: keyrings.put(tmp_path, HERE, Secret(KEY)),
        lambda: keyrings.remove(tmp_path, HERE),
    ):
        with pytest.raises(SettingsError, match=says) as caught:
            act()
        error = caught.value
        seen = set()
        while error is not None and id(error) not in seen:  # what a log of the chain would show
            seen.add(id(error))
            assert KEY not in repr(error)
            error = error.__cause__ or error.__context__


def test_a_keyring_that_failed_is_not_read_again(in_keyring, tmp_path):
    ring = in_keyring(Locked())
    for _ in range(2):
        with pytest.raises(SettingsError, match=r"locked.*start ReadAgent again"):
            keyrings.get(tmp_path, HERE)
        ring.open = True
    keyrings.put(tmp_path, HERE, Secret(KEY))
    assert keyrings.get(tmp_path, HERE).reveal() == KEY


def test_one_that_waits_for_its_password_is_waited_for_once_and_a_call_given_up_is_never_made(
    in_keyring, tmp_path, monkeypatch
):
    waiting = in_keyring(Waiting())
    monkeypatch.setattr(keyrings, "SECONDS", 0.05)
    with pytest.raises(SettingsError, match="has not answered"):
        keyrings.get(tmp_path, HERE)
    with pytest.raises(SettingsError, match=r"has not answered.*settings were not changed"):
        keyrings.put(tmp_path, HERE, Secret(KEY))
    monkeypatch.setattr(keyrings, "SECONDS", 20)
    began = time.monotonic()
    with pytest.raises(SettingsError, match="has not answered"):
        keyrings.get(tmp_path, HERE)
    assert time.monotonic() - began < 5
    waiting.answered.set()
    for thread in threading.enumerate():
        if thread.name == "keyring":
            thread.join(120)
    assert [call[0] for call in waiting.asked] == ["get"]
    assert waiting.kept == {}


def test_a_keyring_that_never_answers_does_not_hold_up_the_end_of_the_process():
    code = (
        "import keyring, pathlib\n"
        "from tests.fakes.keyrings import Waiting\n"
        "from readagent_core import keyrings\n"
        "keyring.set_keyring(Waiting())\n"
        "keyrings.SECONDS = 0.05\n"
        "try: keyrings.get(pathlib.Path('.'), 'x')\n"
        "except Exception as error: print(error)\n"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=25, cwd=ROOT)
    assert "has not answered" in child.stdout


def load(tmp_path, environment=None, secrets=None):
    path = tmp_path / "secrets.toml"
    if secrets is not None:
        path.write_text(secrets, encoding="utf-8")
    return settings.load_settings({"READAGENT_HOME": str(tmp_path / "h"), **(environment or {})}, secrets=path)


def test_order_of_places(tmp_path):
    nothing = load(tmp_path)
    assert (nothing.connected, nothing.origin) == (False, {})
    home = settings.home_folder({"READAGENT_HOME": str(tmp_path / "h")})
    settings.save_settings(home, {"base_url": "http://kept/v1", "model": "kept", "api_key": KEY})
    assert load(tmp_path).model == "kept"
    secrets = 'READAGENT_MODEL = "secret"\n'
    assert load(tmp_path, secrets=secrets).model == "secret"
    found = load(tmp_path, {"READAGENT_MODEL": "here"}, secrets)
    assert found.model == "here"
    assert found.base_url == "http://kept/v1"
    assert found.origin == {"base_url": "settings", "api_key": "settings", "model": "environment"}
    assert found.connected


def test_links_are_on_unless_the_first_place_that_says_something_turns_them_off(tmp_path):
    assert load(tmp_path).links
    settings.save_settings(settings.home_folder({"READAGENT_HOME": str(tmp_path / "h")}), {"links": "off"})
    assert not load(tmp_path).links
    found = load(tmp_path, {"READAGENT_LINKS": "ON"})
    assert (found.links, found.origin) == (True, {"links": "environment"})
    for value in ("off", "0", "false", "disabled"):
        assert not load(tmp_path, {"READAGENT_LINKS": value}).links


def test_openai_names_are_a_fallback_and_a_key_shows_itself_nowhere(tmp_path):
    found = load(tmp_path, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://o/v1"})
    assert found.api_key.reveal() == KEY
    assert found.base_url == "http://o/v1"
    assert KEY not in repr(found)
    assert KEY not in f"{found.api_key}"
    assert found.api_key.masked() == "••••6789"
    assert load(tmp_path, {"OPENAI_API_KEY": "x", "READAGENT_API_KEY": KEY}).api_key.reveal() == KEY


def test_settings_are_readable_by_this_user_only(tmp_path):
    home = settings.home_folder({"READAGENT_HOME": str(tmp_path / "h")})
    settings.save_settings(home, {"api_key": KEY, "theme": "dark"})
    assert stat.S_IMODE((home / FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    settings.save_settings(home, {"api_key": None})
    assert read_file(home) == ({"theme": "dark"}, "")


def test_what_cannot_be_used_is_an_error(tmp_path):
    home = settings.home_folder({"READAGENT_HOME": str(tmp_path / "h")})
    (home / FILE).touch()
    with pytest.raises(SettingsError, match="READAGENT_HOME"):
        settings.home_folder({"READAGENT_HOME": str(home / FILE / "below")})
    with pytest.raises(SettingsError, match="TOML"):
        load(tmp_path, secrets="= =")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"prices": [1]}', ["'prices'"]),
        ('{"prices": {"m": "cheap", "n": [1, 2]}}', ["'prices: m'"]),
        ('{"prices": {"m": [1, Infinity]}}', ["'prices: m'"]),
        ('{"connections": "x", "at_once": true}', ["'connections'", "'at_once'"]),
        (
            '{"timeout": -3, "budget_book": NaN, "ahead": 1e999}',
            ["'ahead'", "'timeout'", "'budget_book'"],
        ),
        ('{"cache_days": [], "cache_megabytes": {}}', ["'cache_megabytes'", "'cache_days'"]),
        ('{"window": "8k", "windows": 5, "temperature": "hot"}', ["'window'", "'temperature'", "'windows'"]),
        ('{"suited": {"m": 1, "n": {"pagination": "no"}}}', ["'suited: m'", "'suited: n'"]),
        ('{"reason_first": "m", "json_replies": [1]}', ["'reason_first'", "'json_replies'"]),
        ('{"base_url": 5, "model": ["m"], "api_key": "sk-elsewhere"}', ["'base_url'", "'model'"]),
        (
            '{"links": 3, "embedding_model": 1, "server_model": ""}',
            ["'embedding_model'", "'server_model'", "'links'"],
        ),
        ("[1]", ["settings.json"]),
        ("null", ["settings.json"]),
        ("{", ["settings.json"]),
        ("[" * 100_000, ["settings.json"]),
        ('{"ahead": ' + "9" * 5000 + "}", ["settings.json"]),
        ('{"a": "\xff"}', ["settings.json"]),
    ],
)
def test_a_setting_of_another_type_is_told_by_its_name_and_the_default_is_used(tmp_path, caplog, text, names):
    home = settings.home_folder({"READAGENT_HOME": str(tmp_path / "h")})
    (home / FILE).write_bytes(text.encode("latin-1"))
    saved = load(tmp_path).saved
    assert [next((name for name in names if name in fault), fault) for fault in saved.faults] == names
    assert [record.getMessage() for record in caplog.records] == list(saved.faults)
    assert saved == SavedSettings(faults=saved.faults, prices={"n": (1.0, 2.0)} if '"n": [1, 2]' in text else {})


def test_what_a_newer_version_wrote_and_a_damaged_file_are_kept_when_something_is_saved(tmp_path):
    home = settings.home_folder({"READAGENT_HOME": str(tmp_path / "h")})
    (home / FILE).write_text('{"voice": {"speed": 2}, "prices": {"m": [1, 2, "", 0, "euro"], "n": [3, 4]}}')
    settings.save_settings(home, {"prices": {"n": None, "o": [5, 6]}, "timeout": 9})
    assert read_file(home)[0] == {
        "voice": {"speed": 2}, "prices": {"m": [1, 2, "", 0, "euro"], "o": [5, 6]}, "timeout": 9
    }  # fmt: skip
    (home / FILE).write_text("{'by': 'hand'}")
    settings.save_settings(home, {"timeout": 9})
    assert read_file(home) == ({"timeout": 9}, "")
    assert (home / f"{FILE}.old").read_text() == "{'by': 'hand'}"
