"""A key is in one place at a time: moved, forgotten, refused by a locked keyring, never found for another server."""

from __future__ import annotations

import json

import pytest

from readagent_core import keyrings
from readagent_core.connecting import connecting
from readagent_core.connecting.key_places import FILE, KEYRING, MEMORY
from readagent_core.errors import SettingsError
from readagent_core.settings import Secret, load_settings
from tests.fakes.keyrings import InMemory, Locked

KEY = "sk-marker-0123456789abcdef"
HERE, THERE = "https://x.org/v1", "https://y.org/v1"


@pytest.fixture
def ring(in_keyring):
    return in_keyring(InMemory())


def use(workspace, place, *, address=HERE, key=KEY):
    return connecting.use_model(workspace, address=address, model="m", key=Secret(key), place=place)


def kept(home):
    return json.loads((home / "settings.json").read_text(encoding="utf-8"))


def anywhere(home):
    """Files below ``home`` that hold the key."""
    return [path.name for path in home.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def as_after_a_start(monkeypatch):
    """The process knows nothing yet of what is in the keyring."""
    monkeypatch.setattr(keyrings, "_READ", {})
    return load_settings()


@pytest.mark.parametrize("first", [MEMORY, KEYRING, FILE])
@pytest.mark.parametrize(
    ("then", "written"), [(MEMORY, {}), (KEYRING, {"api_key_in": "keyring"}), (FILE, {"api_key": KEY})]
)
def test_moved_it_is_in_the_new_place_alone(workspace, ring, own_home, monkeypatch, first, then, written):
    use(workspace, first)
    chosen = use(workspace, then)
    assert (chosen.api_key.reveal(), chosen.origin["api_key"]) == (KEY, then)
    assert kept(own_home) == {"base_url": HERE, "model": "m", **written}
    assert list(ring.kept.values()) == ([KEY] if then == KEYRING else [])
    assert anywhere(own_home) == (["settings.json"] if then == FILE else [])
    found = as_after_a_start(monkeypatch)
    assert found.api_key == Secret("" if then == MEMORY else KEY)
    assert found.origin.get("api_key", MEMORY) == then
    assert found.connected
    # other settings leave it where it is, and the built-in reader leaves none behind
    chosen = connecting.change_settings(workspace, {"budget_month": 3.0})
    assert (chosen.api_key.reveal(), chosen.origin["api_key"], chosen.model) == (KEY, then, "m")
    assert kept(own_home) == {"base_url": HERE, "model": "m", "budget_month": 3.0, **written}
    connecting.use_built_in(workspace)
    assert (ring.kept, anywhere(own_home)) == ({}, [])
    found = as_after_a_start(monkeypatch)
    assert (found.api_key, found.key_trouble, found.connected) == (Secret(), "", False)


@pytest.mark.parametrize("place", [KEYRING, FILE])
def test_a_key_goes_with_no_other_address(workspace, ring, own_home, monkeypatch, place):
    use(workspace, place)
    monkeypatch.setenv("READAGENT_BASE_URL", THERE)
    found = as_after_a_start(monkeypatch)
    assert (found.base_url, found.api_key, found.key_trouble) == (THERE, Secret(), "")
    monkeypatch.delenv("READAGENT_BASE_URL")
    use(workspace, place, address=THERE, key="sk-of-the-other-server")
    assert KEY not in ring.kept.values()
    assert anywhere(own_home) == []
    assert as_after_a_start(monkeypatch).api_key.reveal() == "sk-of-the-other-server"


def test_what_the_environment_says_comes_first(workspace, ring, monkeypatch, tmp_path):
    use(workspace, KEYRING)
    monkeypatch.setenv("READAGENT_API_KEY", "sk-of-the-environment")
    ring.asked.clear()
    found = as_after_a_start(monkeypatch)
    assert (found.api_key.reveal(), found.origin["api_key"]) == ("sk-of-the-environment", "environment")
    monkeypatch.delenv("READAGENT_API_KEY")
    path = tmp_path / "secrets.toml"
    path.write_text('READAGENT_API_KEY = "sk-of-secrets"', encoding="utf-8")
    assert load_settings(secrets=path).origin["api_key"] == "secrets"
    assert ring.asked == []


def test_a_locked_keyring_keeps_nothing_and_changes_nothing(workspace, in_keyring, own_home):
    use(workspace, FILE)
    before = kept(own_home)
    in_keyring(Locked())
    with pytest.raises(SettingsError, match=r"locked.*settings were not changed"):
        use(workspace, KEYRING)
    assert kept(own_home) == before
    assert workspace.settings.origin["api_key"] == "settings"


@pytest.fixture
def locked(workspace, in_keyring, monkeypatch):
    """A workspace that was started over a key in a keyring that is locked now."""
    ring = in_keyring(Locked())
    ring.open = True
    use(workspace, KEYRING)
    ring.open = False
    workspace.reconnect(as_after_a_start(monkeypatch))
    return ring


def test_over_a_locked_keyring_the_app_starts_and_says_so(workspace, locked, monkeypatch):
    assert "is locked" in workspace.settings.key_trouble
    assert (workspace.settings.model, workspace.settings.connected) == ("m", False)
    assert not workspace.model.is_language_model
    connecting.change_settings(workspace, {"budget_month": 3.0})
    assert "is locked" in workspace.settings.key_trouble
    locked.open = True
    found = as_after_a_start(monkeypatch)
    assert (found.api_key.reveal(), found.key_trouble, found.connected) == (KEY, "", True)


def test_without_entering_it_the_key_stays_where_it_is_and_entered_again_it_connects(workspace, locked, own_home):
    assert "is locked" in use(workspace, MEMORY, key="").key_trouble
    assert kept(own_home)["api_key_in"] == "keyring"
    assert list(locked.kept.values()) == [KEY]
    with pytest.raises(SettingsError, match=r"locked.*remove “ReadAgent” with the system's own tool"):
        use(workspace, FILE)
    assert (workspace.settings.key_trouble, workspace.settings.connected) == ("", True)
    assert workspace.settings.api_key.reveal() == KEY
    assert "api_key_in" not in kept(own_home)


def test_a_locked_keyring_does_not_stop_the_way_back_to_the_built_in_reader(workspace, locked, monkeypatch):
    with pytest.raises(SettingsError, match="A key is still in it"):
        connecting.use_built_in(workspace)
    assert (workspace.settings.model, workspace.settings.key_trouble) == ("", "")
    assert as_after_a_start(monkeypatch).api_key == Secret()
