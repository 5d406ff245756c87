"""Sign-in by the password that this computer made."""

from __future__ import annotations

import hashlib
import json

import pytest

from readagent_core.errors import SignInError
from readagent_core.sharing import access as module
from readagent_core.sharing.access import FILE, Access, device_name

PHONE = "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0"


def test_the_password_signs_in_until_there_is_another(tmp_path):
    access = Access(tmp_path)
    access.keep(on=True)
    token = access.sign_in(f" {access.password.upper()} ", "192.168.1.9", PHONE)
    again = Access(tmp_path)  # after a restart
    assert (again.on, again.password) == (True, access.password)
    device = again.device(token)
    assert device is not None
    assert device.name == "Phone, Firefox"
    stored = (tmp_path / FILE).read_text()
    assert token not in stored
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    again.sign_out(device.id)
    assert again.device(token) is None
    token = again.sign_in(again.password, "a", "")
    before = again.password
    again.new_password()
    assert again.device(token) is None
    with pytest.raises(SignInError):
        again.check(before, "b")
    assert again.device("") is None


def test_an_old_cookie_ends(tmp_path, monkeypatch):
    access = Access(tmp_path)
    token = access.sign_in(access.password, "a", "")
    values = json.loads((tmp_path / FILE).read_text())
    values["devices"][0]["since"] -= 31 * 86_400
    (tmp_path / FILE).write_text(json.dumps(values))
    assert Access(tmp_path).device(token) is None
    for damaged in ("{", "[1]", '{"devices": [{"a": 1}]}', "null"):
        (tmp_path / FILE).write_text(damaged)
        assert Access(tmp_path).devices == ()


def test_guessing_has_to_wait(tmp_path, monkeypatch):
    access, now = Access(tmp_path), [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    said = []
    for _ in range(5):
        with pytest.raises(SignInError) as caught:
            access.check("wrong", "10.0.0.5")
        said.append(str(caught.value))
    assert said[1] == "That is not the password. Three more tries, then a wait of one minute."
    with pytest.raises(SignInError, match="Wait one minute"):
        access.check(access.password, "10.0.0.5")  # the right one too, or waiting would be no wait
    access.check(hashlib.md5(access.password.encode()).hexdigest(), "10.0.0.6", hashed=True)
    for n in range(40):
        with pytest.raises(SignInError):
            access.check("wrong", f"10.0.1.{n}")
    with pytest.raises(SignInError):
        access.check(access.password, "10.0.2.1")  # many addresses make no more tries
    now[0] = 61.0
    access.check(access.password, "10.0.0.5")


@pytest.mark.parametrize(("agent", "name"), [
    ("Mozilla/5.0 (iPad; CPU OS 18_0) AppleWebKit/605 Version/18.0 Mobile/15E148 Safari/604.1", "Tablet, Safari"),
    ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537 Chrome/140.0 Mobile Safari/537", "Phone, Chrome"),
    ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/140.0 Safari/537 Edg/140.0", "Computer, Edge"),
    ("", "Computer"),
])  # fmt: skip
def test_a_device_is_named(agent, name):
    assert device_name(agent) == name
