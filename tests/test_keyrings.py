"""The system's keyring: usable or not, its troubles in plain words, asked once, never waited for without end."""

from __future__ import annotations

import subprocess
import sys
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
        "import readagent_core.study.connecting; print('keyring' in sys.modules)"
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


def test_kept_had_and_forgotten(memory, tmp_path):
    keyrings.put(tmp_path, HERE, Secret(KEY))
    assert list(memory.kept.values()) == [KEY]
    assert keyrings.get(tmp_path, HERE).reveal() == KEY
    keyrings.put(tmp_path, HERE, Secret("another"))
    assert keyrings.get(tmp_path, f"{HERE}/") == Secret("another")
    keyrings.forget(tmp_path, HERE)
    assert memory.kept == {}
    keyrings.forget(tmp_path, HERE)  # nothing there is nothing to do
    with pytest.raises(SettingsError, match=r"does not hold the key any more. Enter the key anew"):
        keyrings.get(tmp_path, HERE)


def test_each_address_and_each_home_has_its_own(memory, tmp_path):
    keyrings.put(tmp_path / "a", HERE, Secret(KEY))
    for home, address in ((tmp_path / "b", HERE), (tmp_path / "a", "https://y.org/v1")):
        with pytest.raises(SettingsError, match="does not hold"):
            keyrings.get(home, address)
        keyrings.forget(home, address)
    assert list(memory.kept.values()) == [KEY]


def test_it_is_asked_once(in_keyring, tmp_path):
    keyrings_before = in_keyring(InMemory())
    keyrings.put(tmp_path, HERE, Secret(KEY))
    memory = in_keyring(InMemory())
    memory.kept = keyrings_before.kept
    for _ in range(5):
        assert keyrings.get(tmp_path, HERE).reveal() == KEY
    keyrings.put(tmp_path, HERE, Secret(KEY))  # as it is already
    assert [call[0] for call in memory.asked] == ["get"]


@pytest.mark.parametrize(
    ("backend", "says"),
    [(Locked, "is locked, or did not let"), (Failing, "cannot be used just now"), (null.Keyring, "no keyring")],
)
def test_every_trouble_is_told_in_our_words_and_never_with_the_key(in_keyring, tmp_path, backend, says):
    in_keyring(backend())
    for act in (
        lambda: keyrings.get(tmp_path, HERE),
        lambda: keyrings.put(tmp_path, HERE, Secret(KEY)),
        lambda: keyrings.forget(tmp_path, HERE),
    ):
        with pytest.raises(SettingsError, match=says) as caught:
            act()
        error = caught.value
        seen = set()
        while error is not None and id(error) not in seen:  # what a log of the chain would show
            seen.add(id(error))
            assert KEY not in repr(error)
            error = error.__cause__ or error.__context__


def test_what_failed_is_not_asked_again_by_itself(in_keyring, tmp_path):
    ring = in_keyring(Locked())
    for _ in range(2):
        with pytest.raises(SettingsError, match="locked"):
            keyrings.get(tmp_path, HERE)
    ring.open = True
    ring.kept = {keyrings._entry(tmp_path, HERE): KEY}
    with pytest.raises(SettingsError, match="locked"):
        keyrings.get(tmp_path, HERE)
    keyrings.ask_again()
    assert keyrings.get(tmp_path, HERE).reveal() == KEY


def test_one_that_waits_for_its_password_holds_nobody_up(in_keyring, tmp_path, monkeypatch):
    ring = in_keyring(Waiting())
    ring.kept = {keyrings._entry(tmp_path, HERE): KEY}
    monkeypatch.setattr(keyrings, "MOMENT", 0.05)
    with pytest.raises(SettingsError, match="has not answered"):
        keyrings.get(tmp_path, HERE)
    monkeypatch.setattr(keyrings, "MOMENT", 20)
    began = time.monotonic()
    for _ in range(20):
        with pytest.raises(SettingsError, match="has not answered"):
            keyrings.get(tmp_path, HERE)
    assert time.monotonic() - began < 5  # only the first waits
    ring.answered.set()
    assert keyrings.get(tmp_path, HERE, 20).reveal() == KEY
    assert len(ring.asked) == 1


def test_a_key_said_not_to_be_kept_is_not_kept_later(in_keyring, tmp_path, monkeypatch):
    ring = in_keyring(Waiting())
    monkeypatch.setattr(keyrings, "PATIENCE", 0.05)
    with pytest.raises(SettingsError, match=r"has not answered.*nothing was changed"):
        keyrings.put(tmp_path, HERE, Secret(KEY))
    with pytest.raises(SettingsError, match="has not answered"):  # one window at a time
        keyrings.put(tmp_path, HERE, Secret("another"))
    writing = keyrings._CALLS["writing",]
    ring.answered.set()
    assert writing._over.wait(20)
    assert [call[0] for call in ring.asked] == ["set", "delete"]
    assert ring.kept == {}
