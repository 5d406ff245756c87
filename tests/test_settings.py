"""Settings: the first place that has a value wins, and a key is never printed."""

from __future__ import annotations

import stat

import pytest

from readagent_core import settings
from readagent_core.errors import SettingsError

KEY = "sk-marker-0123456789"


def load(tmp_path, environment=None, secrets=None):
    path = tmp_path / "secrets.toml"
    if secrets is not None:
        path.write_text(secrets, encoding="utf-8")
    return settings.load_settings({"READAGENT_HOME": str(tmp_path / "h"), **(environment or {})}, secrets=path)


def test_nothing_set_is_not_connected(tmp_path):
    found = load(tmp_path)
    assert not found.connected
    assert found.origin == {}


def test_order_of_places(tmp_path):
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


def test_openai_names_are_a_fallback(tmp_path):
    found = load(tmp_path, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://o/v1"})
    assert found.api_key.reveal() == KEY
    assert found.base_url == "http://o/v1"
    assert load(tmp_path, {"OPENAI_API_KEY": "x", "READAGENT_API_KEY": KEY}).api_key.reveal() == KEY


def test_a_key_shows_itself_nowhere(tmp_path):
    found = load(tmp_path, {"READAGENT_API_KEY": KEY})
    assert KEY not in repr(found)
    assert KEY not in f"{found.api_key}"
    assert found.api_key.masked() == "••••6789"


def test_settings_are_readable_by_this_user_only(tmp_path):
    home = settings.home_folder({"READAGENT_HOME": str(tmp_path / "h")})
    settings.save_settings(home, {"api_key": KEY, "theme": "dark"})
    assert stat.S_IMODE((home / settings.FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    settings.save_settings(home, {"api_key": None})
    assert settings.read_saved_settings(home) == {"theme": "dark"}


def test_a_damaged_file_is_an_error(tmp_path):
    home = settings.home_folder({"READAGENT_HOME": str(tmp_path / "h")})
    (home / settings.FILE).write_text("{", encoding="utf-8")
    with pytest.raises(SettingsError, match="damaged"):
        load(tmp_path)
    (home / settings.FILE).unlink()
    with pytest.raises(SettingsError, match="TOML"):
        load(tmp_path, secrets="= =")


def test_a_home_that_cannot_be_created(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match="READAGENT_HOME"):
        settings.home_folder({"READAGENT_HOME": str(tmp_path / "file" / "below")})
