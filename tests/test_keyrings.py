"""The system's keyring: whether it can be used, its problems in plain words, read once, waited for a limited time."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import keyring
import pytest
from keyring.backends import chainer, fail, null

from readagent_core import keyrings
from readagent_core.errors import SettingsError
from readagent_core.secret import Secret
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


def test_the_package_is_not_imported_before_it_is_asked():
    code = (
        "import sys, readagent_core.keyrings, readagent_core.settings as s; s.load_settings()\n"
        "import readagent_core.workspace.connecting; print('keyring' in sys.modules)"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert child.stdout.strip() == "False"


class Alone(chainer.ChainerBackend):
    backends = ()


class Chain(chainer.ChainerBackend):
    backends = (InMemory(),)


@pytest.mark.parametrize(
    ("backend", "usable"),
    [(InMemory, True), (null.Keyring, False), (fail.Keyring, False), (Nowhere, False), (Alone, False), (Chain, True)],
)
def test_which_keyring_can_be_used(in_keyring, backend, usable):
    in_keyring(backend())
    assert keyrings.usable() is usable


def test_a_keyring_that_cannot_be_loaded_is_none(in_keyring, monkeypatch):
    in_keyring(InMemory())
    monkeypatch.setattr(keyring.core, "_keyring_backend", None)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "there.is.no.Such")
    assert not keyrings.usable()


def test_put_read_and_removed(memory, tmp_path):
    keyrings.put(tmp_path, HERE, Secret(KEY))
    assert list(memory.kept.values()) == [KEY]
    assert keyrings.get(tmp_path, HERE).reveal() == KEY
    keyrings.put(tmp_path, HERE, Secret("another"))
    assert keyrings.get(tmp_path, f"{HERE}/") == Secret("another")
    keyrings.remove(tmp_path, HERE)
    assert memory.kept == {}
    keyrings.remove(tmp_path, HERE)  # nothing there is nothing to do
    with pytest.raises(SettingsError, match=r"does not hold the key any more. Enter the key again"):
        keyrings.get(tmp_path, HERE)


def test_each_address_and_each_home_has_its_own(memory, tmp_path):
    keyrings.put(tmp_path / "a", HERE, Secret(KEY))
    for home, address in ((tmp_path / "b", HERE), (tmp_path / "a", "https://y.org/v1")):
        with pytest.raises(SettingsError, match="does not hold"):
            keyrings.get(home, address)
        keyrings.remove(home, address)
    assert list(memory.kept.values()) == [KEY]


def test_the_entry_of_the_version_before_is_found(memory, tmp_path):
    memory.kept = {(f"ReadAgent ({tmp_path})", HERE): KEY}
    assert keyrings.get(tmp_path, f"{HERE}/").reveal() == KEY


def test_a_key_is_read_once(memory, tmp_path):
    memory.kept = {keyrings._entry(tmp_path, HERE): KEY}
    for _ in range(5):
        assert keyrings.get(tmp_path, HERE).reveal() == KEY
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


@pytest.fixture
def waiting(in_keyring, tmp_path, monkeypatch):
    """A keyring that has just not answered in time."""
    ring = in_keyring(Waiting())
    monkeypatch.setattr(keyrings, "SECONDS", 0.05)
    with pytest.raises(SettingsError, match="has not answered"):
        keyrings.get(tmp_path, HERE)
    return ring


def test_one_that_waits_for_its_password_is_waited_for_once(waiting, tmp_path, monkeypatch):
    monkeypatch.setattr(keyrings, "SECONDS", 20)
    began = time.monotonic()
    with pytest.raises(SettingsError, match="has not answered"):
        keyrings.get(tmp_path, HERE)
    assert time.monotonic() - began < 5
    waiting.answered.set()


def test_a_call_given_up_while_another_waits_is_never_made(waiting, tmp_path):
    with pytest.raises(SettingsError, match=r"has not answered.*settings were not changed"):
        keyrings.put(tmp_path, HERE, Secret(KEY))
    waiting.answered.set()
    for thread in threading.enumerate():
        if thread.name == "keyring":
            thread.join(20)
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
